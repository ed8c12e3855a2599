"""The shell of a simulated machine: one line in, its output and the shell's new state out.

The bash interpreter is the `bashkit` package: its own parser, files in memory, no network, no process. It is
native code that a learner's line can crash (a recursive `eval` overflows its stack), so `run_line` is only
called in a disposable child process. Between lines the shell is a few kilobytes of bytes, so that any child
can serve any learner.

The bytes of a state: the magic below, one byte with the last exit code, then the interpreter's own snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bashkit import Bash, BashError, BuiltinContext, BuiltinResult

MACHINE = "controlplane"
USER = "root"
HOME = "/root"

_MAGIC = b"cka-shell/1\n"
_FILES = {f"{HOME}/.bashrc": "shopt -s expand_aliases\n"}


class SnapshotError(ValueError):
    """These bytes are not a shell's state, or one of another format."""


@dataclass(frozen=True)
class Limits:
    """What one line may use. The child's own CPU and memory limits stand behind these."""

    line: int = 64 * 1024
    """Characters of the line (a pasted heredoc is one line)."""
    seconds: float = 3.0
    commands: int = 5_000
    loops: int = 50_000
    memory: int = 8 * 1024 * 1024
    """Bytes of the files in memory, and of the variables."""
    output: int = 256 * 1024
    """Bytes of stdout, and of stderr, that are shown."""
    snapshot: int = 4 * 1024 * 1024
    """Bytes of the state that is kept for the next line."""


@dataclass(frozen=True)
class Invocation:
    """A call of one of the lab's own commands: its arguments (without its name), piped text, surroundings."""

    arguments: list[str]
    stdin: str | None
    environment: Mapping[str, str]
    directory: str
    read_file: Callable[[str], bytes]
    write_file: Callable[[str, bytes], None]


@dataclass(frozen=True)
class CommandOutput:
    """What a command printed, and its exit code."""

    stdout: str = ""
    stderr: str = ""
    code: int = 0


Command = Callable[[Invocation], CommandOutput]


@dataclass(frozen=True)
class ShellOutcome:
    """What a line printed, its exit code, the state for the next line, and the prompt that comes next."""

    stdout: str
    stderr: str
    code: int
    snapshot: bytes = field(repr=False)
    prompt: str


def run_line(
    snapshot: bytes | None,
    line: str,
    *,
    limits: Limits | None = None,
    commands: Mapping[str, Command] | None = None,
) -> ShellOutcome:
    """Run one line (or a pasted block) in the shell that `snapshot` describes; None is a fresh shell.

    `commands` are the lab's own, by name. Raises SnapshotError for bytes that no shell wrote. May take the
    whole process down or hang: call it in a child that may be killed.
    """
    limits = limits or Limits()
    shell, last_code = _open(snapshot, limits)
    refusal = _refusal(line, limits)
    if refusal:
        return ShellOutcome("", f"bash: {refusal}\n", 2, _pack(2, shell.snapshot()), _prompt(shell))
    for name, command in (commands or {}).items():
        shell.add_builtin(name, _adapt(command))  # type: ignore[attr-defined] # missing from the package's stubs
    # The interpreter forgets $? between lines; a subshell that exits with it brings it back.
    result = shell.execute_sync(f"(exit {last_code}); {line}" if last_code else line)
    for name in commands or {}:  # a state must not bind its reader to the commands of this version
        shell.remove_builtin(name)  # type: ignore[attr-defined] # missing from the package's stubs
    code = result.exit_code & 0xFF
    stdout = _cut(result.stdout, limits.output, more=result.stdout_truncated)
    stderr = _cut(_spoken(result.stderr), limits.output, more=result.stderr_truncated)
    after = _pack(code, shell.snapshot())
    if len(after) > limits.snapshot:
        stderr += "bash: this shell's files and variables have grown too large; the line's changes are not kept\n"
        shell, _ = _open(snapshot, limits)
        after = _pack(1, shell.snapshot())
    return ShellOutcome(stdout, stderr, code, after, _prompt(shell))


def _open(snapshot: bytes | None, limits: Limits) -> tuple[Bash, int]:
    if snapshot is None:
        shell = Bash(
            username=USER,
            hostname=MACHINE,
            cwd=HOME,
            env={"HOME": HOME, "LANG": "C.UTF-8"},
            max_commands=limits.commands,
            max_loop_iterations=limits.loops,
            max_memory=limits.memory,
            timeout_seconds=limits.seconds,
        )
        for path, text in _FILES.items():
            shell.write_file(path, text)
        shell.execute_sync(f". {HOME}/.bashrc")
        return shell, 0
    if not snapshot.startswith(_MAGIC) or len(snapshot) <= len(_MAGIC):
        raise SnapshotError("not the state of a shell of this version")
    try:
        shell = Bash.from_snapshot(
            snapshot[len(_MAGIC) + 1 :],
            username=USER,
            hostname=MACHINE,
            max_commands=limits.commands,
            max_loop_iterations=limits.loops,
            max_memory=limits.memory,
            timeout_seconds=limits.seconds,
        )
    except BashError as error:
        raise SnapshotError(str(error)) from error
    return shell, snapshot[len(_MAGIC)]


def _pack(code: int, state: bytes) -> bytes:
    return b"".join((_MAGIC, bytes((code,)), state))


def _refusal(line: str, limits: Limits) -> str:
    if len(line) > limits.line:
        return f"the line has {len(line)} characters; at most {limits.line} are read"
    if "\0" in line:
        return "the line contains a NUL character"
    return ""


def _prompt(shell: Bash) -> str:
    directory = shell.shell_state().cwd
    if directory == HOME or directory.startswith(f"{HOME}/"):
        directory = "~" + directory[len(HOME) :]
    return f"{USER}@{MACHINE}:{directory}# "


def _spoken(stderr: str) -> str:
    """The interpreter's own refusals as bash's: one line that names bash and ends."""
    if stderr.startswith("parse error"):
        return f"bash: {stderr.rstrip()}\n"
    for inner in ("resource limit exceeded: ", "execution error: "):
        if stderr.startswith(inner):
            return f"bash: stopped, {stderr.removeprefix(inner).rstrip()}\n"
    return stderr


def _cut(text: str, limit: int, *, more: bool) -> str:
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= limit and not more:
        return text
    shown = encoded[:limit].decode("utf-8", "ignore")
    return f"{shown.rstrip()}\n[The output is longer; the first {len(shown.encode())} bytes are shown.]\n"


def _adapt(command: Command) -> Callable[[BuiltinContext], BuiltinResult]:
    def call(context: BuiltinContext) -> BuiltinResult:
        output = command(
            Invocation(
                arguments=list(context.argv),
                stdin=context.stdin,
                environment=dict(context.env),
                directory=context.cwd,
                read_file=context.fs.read_file,
                write_file=context.fs.write_file,
            )
        )
        return BuiltinResult(stdout=output.stdout, stderr=output.stderr, exit_code=output.code)

    return call
