"""What a container's process does: how long it runs, what it prints, how it ends.

Commands are read for their meaning (`sleep 30`, `sh -c "echo hi; exit 1"`), never executed. Programs that take part
in the cluster, as kube-scheduler does, are given to the kubelet by whoever builds the cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.apimachinery import meta, quantity
from app.apimachinery.clock import MINUTE, SECOND, Instant, Micros
from app.cluster.nodes import environment, interpreters, shell
from app.cluster.nodes.images import Image
from app.cluster.processes import QUICK, Launch, Program, Run

_DAY = 24 * 60 * MINUTE


def argv_of(container: Mapping[str, Any], image: Image) -> tuple[str, ...]:
    """The process's arguments: the container's command and args over the image's (Docker's ENTRYPOINT and CMD)."""
    command, args = container.get("command") or [], container.get("args") or []
    if command:
        return (*command, *args)
    return (*image.entrypoint, *(args or image.command))


def start(launch: Launch, image: Image, programs: Mapping[str, Program]) -> Run:
    """What the container's process does."""
    if not launch.argv:
        return Run(failure="no command specified")
    own = _shell_of(launch, image)
    launch = replace(launch, argv=tuple(environment.expanded(text, own.variables) for text in launch.argv))
    name = launch.argv[0].rpartition("/")[2]
    if name in programs and (name in image.programs or name == launch.argv[0]):
        return programs[name](launch)
    if name in image.programs:
        return _own_program(launch, image, name)
    if not image.shell or name not in _COMMON:
        return Run(failure=_not_found(launch.argv[0]))
    if name in _SHELLS:
        return _shell(launch.argv[1:], own)
    return own.call(launch.argv) if shell.is_own(name) else _command(launch.argv)


def on_a_machine(argv: Sequence[str], now: Instant, variables: Mapping[str, str]) -> Run:
    """What a program does that a service of a machine starts."""
    name = argv[0].rpartition("/")[2]
    if name in _SHELLS:
        return _shell(argv[1:], shell.Shell(now, _command, dict(variables)))
    return _command(argv) if name in _COMMON else Run()


def _own_program(launch: Launch, image: Image, name: str) -> Run:
    if name == "stress":
        return _stress(launch)
    if name == "hello":
        return Run(runs=QUICK, lines=("", "Hello from Docker!"))
    if name in {"curl", "redis-cli"}:
        return Run(runs=QUICK)
    if name in interpreters.NAMES and (done := interpreters.run(launch.argv)) is not None:
        return done
    return Run(ports=image.ports or None)


def _not_found(name: str) -> str:
    if "/" in name:
        detail = f'exec: "{name}": stat {name}: no such file or directory'
    else:
        detail = f'exec: "{name}": executable file not found in $PATH'
    return (
        "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: "
        f"unable to start container process: error during container init: {detail}"
    )


def _shell(arguments: Sequence[str], own: shell.Shell) -> Run:
    """A shell: without a script and without a terminal it reads end of file and ends."""
    for position, argument in enumerate(arguments):
        if argument.startswith("-") and argument.endswith("c") and position + 1 < len(arguments):
            return own.run(arguments[position + 1], strict="e" in argument)
    return Run(runs=QUICK)


def _shell_of(launch: Launch, image: Image) -> shell.Shell:
    """A shell in the container, with its variables and its mounted files."""

    def outside(argv: Sequence[str]) -> Run:
        name = argv[0].rpartition("/")[2]
        if name in image.programs:
            return _own_program(replace(launch, argv=tuple(argv)), image, name)
        if name == "nslookup":
            return _lookup(launch, argv)
        return _command(argv)

    variables = environment.of(launch.client, launch.pod, launch.container)
    host = environment.hostname(launch.pod)
    return shell.Shell(launch.now, outside, variables, dict(launch.files), host)


def _lookup(launch: Launch, argv: Sequence[str]) -> Run:
    """`nslookup NAME`: a Service's name is found while there is the Service."""
    name, namespace, *_ = [*next((text for text in argv[1:] if not text.startswith("-")), "").split("."), "", ""]
    own = meta.namespace_of(launch.pod) or "default"
    if launch.client.find("services", name, namespace or own) is None:
        return Run(runs=QUICK, code=1, lines=(f"** server can't find {argv[-1]}: NXDOMAIN",))
    return Run(runs=QUICK)


def _command(argv: Sequence[str]) -> Run:
    name = argv[0].rpartition("/")[2]
    if name == "sleep":
        return _sleep(argv[1:])
    if name in {"tail", "watch", "top", "httpd", "nc", "crond", "nginx"} and (
        name != "tail" or "-f" in argv or "-F" in argv
    ):
        return Run(stops=None if name == "tail" else QUICK)
    if name not in _COMMON:
        return Run(runs=QUICK, code=127, lines=(f"sh: {argv[0]}: not found",))
    return Run(runs=QUICK)


def _sleep(arguments: Sequence[str]) -> Run:
    """`sleep 30`, `sleep 1h 5m`, `sleep infinity`. As the first process of a container it ignores SIGTERM."""
    total: Micros = 0
    for argument in arguments:
        if argument in {"infinity", "inf"}:
            return Run(stops=None)
        unit = {"s": SECOND, "m": MINUTE, "h": 60 * MINUTE, "d": _DAY}.get(argument[-1:], 0)
        number = argument[:-1] if unit else argument
        whole, _, part = number.partition(".")
        if not (whole + part).isdecimal() or len(number) > 12:
            return Run(runs=QUICK, code=1, lines=(f"sleep: invalid number '{argument}'",))
        total += int(float(number) * (unit or SECOND))
    if not arguments:
        return Run(runs=QUICK, code=1, lines=("sleep: missing operand",))
    return Run(runs=max(total, 1), stops=None)


def _stress(launch: Launch) -> Run:
    """The stress images: more memory than the limit allows ends the container (OOMKilled)."""
    wanted = 0
    for position, argument in enumerate(launch.argv[:-1]):
        if argument in {"--vm-bytes", "-mem-total", "--mem-total"}:
            wanted = _bytes(launch.argv[position + 1])
    limit = ((launch.container.get("resources") or {}).get("limits") or {}).get("memory")
    if limit and wanted > quantity.parse(str(limit)).value():
        return Run(runs=SECOND, code=137, reason="OOMKilled", lines=("stress: dispatching hogs",))
    return Run(lines=("stress: dispatching hogs",), stops=QUICK)


def _bytes(text: str) -> int:
    unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text.removesuffix("i").removesuffix("B")[-1:].upper(), 1)
    digits = "".join(letter for letter in text[:12] if letter.isdecimal())
    return int(digits or 0) * unit


_SHELLS = frozenset({"sh", "bash", "ash", "dash"})
_COMMON = frozenset({
    "arch", "ash", "awk", "base64", "basename", "bash", "cat", "chmod", "chown", "cp", "crond", "cut",
    "dash", "date", "dd", "df", "dirname", "dmesg", "du", "echo", "env", "expr", "false", "find", "free",
    "grep", "gunzip", "gzip", "head", "hexdump", "hostname", "httpd", "id", "ifconfig", "ip", "kill",
    "ln", "ls", "md5sum", "mkdir", "mktemp", "mount", "mv", "nc", "netstat", "nproc", "nslookup", "od",
    "ping", "printenv", "printf", "ps", "pwd", "rm", "rmdir", "sed", "seq", "sh", "sha256sum", "sleep",
    "sort", "stat", "sync", "tail", "tar", "tee", "test", "time", "timeout", "top", "touch", "tr",
    "true", "umount", "uname", "uniq", "uptime", "vi", "watch", "wc", "wget", "whoami", "xargs", "yes",
})  # fmt: skip
