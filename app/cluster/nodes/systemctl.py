"""`systemctl` on one machine: its verbs, its words, its exit codes (systemd: src/systemctl)."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from app.apimachinery.clock import SECOND, Instant
from app.cluster.nodes import journal, unit_files
from app.cluster.nodes.systemd import Systemd, UnitError, status_of

_DOTS = {"active": "\u25cf", "inactive": "\u25cb", "failed": "\u00d7", "activating": "\u25cf"}
_NOT_RUNNING, _NO_UNIT = 3, 4
_STATUS_LINES = 10
_FLAGS = frozenset({"--no-pager", "-l", "--full", "--now", "--quiet", "-q", "--all", "-a", "--no-legend", "--system"})


@dataclass(frozen=True)
class Output:
    """What a command printed, and its exit code."""

    stdout: str = ""
    stderr: str = ""
    code: int = 0


def run(manager: Systemd, arguments: Sequence[str]) -> Output:
    """Carry out a systemctl command line (without its first word)."""
    words, flags = [], set()
    values = iter(arguments)
    for word in values:
        if word in {"-n", "--lines", "-t", "--type", "--state"}:
            flags.add(f"{word}={next(values, '')}")
        elif word.startswith("-"):
            flags.add(word)
        else:
            words.append(word)
    unknown = sorted(flag for flag in flags if flag not in _FLAGS and "=" not in flag)
    if unknown:
        kind = "unrecognized" if unknown[0].startswith("--") else "invalid"
        shown = unknown[0] if kind == "unrecognized" else unknown[0].lstrip("-")[:1]
        quoted = f"'{shown}'"
        return Output(stderr=f"systemctl: {kind} option {'' if kind == 'unrecognized' else '-- '}{quoted}\n", code=1)
    verb, *names = words or ["list-units"]
    known = _VERBS.get(verb)
    if known is None:
        return Output(stderr=f"Unknown command verb '{verb}'.\n", code=1)
    if known.names and not names:
        return Output(stderr="Too few arguments.\n", code=1)
    return known.run(manager, [unit_files.full_name(name) for name in names], frozenset(flags))


def _each(job: Callable[[Systemd, str], str | None]) -> Callable[[Systemd, Sequence[str], frozenset[str]], Output]:
    """A verb that does its job unit by unit; the last failure's code is the command's."""

    def carry_out(manager: Systemd, names: Sequence[str], flags: frozenset[str]) -> Output:
        said, code = "", 0
        for name in names:
            try:
                if manager.definition(name) is not None and manager.needs_reload(name) and job in _READERS:
                    said += _changed_on_disk(name)
                said += job(manager, name) or ""
                if "--now" in flags and job is Systemd.enable:
                    manager.start(name)
                elif "--now" in flags and job is Systemd.disable:
                    manager.stop(name)
            except UnitError as error:
                said, code = f"{said}{error}\n", error.code
        return Output(stderr=said, code=code)

    return carry_out


def _changed_on_disk(name: str) -> str:
    return (
        f"Warning: The unit file, source configuration file or drop-ins of {name} changed on disk. "
        "Run 'systemctl daemon-reload' to reload units.\n"
    )


_READERS = (Systemd.start, Systemd.stop, Systemd.restart)


def _reload(manager: Systemd, names: Sequence[str], flags: frozenset[str]) -> Output:
    del names, flags
    manager.daemon_reload()
    return Output()


def _is_active(manager: Systemd, names: Sequence[str], flags: frozenset[str]) -> Output:
    states = [manager.record(name)["active"] for name in names]
    shown = "" if flags & {"-q", "--quiet"} else "".join(f"{state}\n" for state in states)
    return Output(shown, code=0 if "active" in states else _NOT_RUNNING)


def _is_failed(manager: Systemd, names: Sequence[str], flags: frozenset[str]) -> Output:
    states = [manager.record(name)["active"] for name in names]
    shown = "" if flags & {"-q", "--quiet"} else "".join(f"{state}\n" for state in states)
    return Output(shown, code=0 if "failed" in states else 1)


def _is_enabled(manager: Systemd, names: Sequence[str], flags: frozenset[str]) -> Output:
    shown, said, code = "", "", 1
    for name in names:
        unit = unit_files.load(manager.host.files, name)
        if unit is None:
            said += f"Failed to get unit file state for {name}: No such file or directory\n"
            continue
        state = _enablement(manager, name, unit)
        code = 0 if state != "disabled" else code
        shown += f"{state}\n"
    return Output("" if flags & {"-q", "--quiet"} else shown, said, code)


def _enablement(manager: Systemd, name: str, unit: unit_files.Unit) -> str:
    if manager.is_enabled(name):
        return "enabled"
    return "disabled" if unit.values("WantedBy", "Install") else "static"


def _cat(manager: Systemd, names: Sequence[str], flags: frozenset[str]) -> Output:
    del flags
    parts: list[str] = []
    for name in names:
        unit = unit_files.load(manager.host.files, name)
        if unit is None:
            return Output("\n".join(parts), f"No files found for {name}.\n", 1)
        for path in (unit.path, *unit.drop_ins):
            text = manager.host.files.read(path)
            parts.append(f"# {path}\n{text}" + ("" if text.endswith("\n") else "\n"))
    return Output("\n".join(parts))


def _status(manager: Systemd, names: Sequence[str], flags: frozenset[str]) -> Output:
    lines = next((flag.partition("=")[2] for flag in flags if flag.startswith(("-n=", "--lines="))), "")
    count = int(lines) if lines.isdecimal() and len(lines) < 6 else _STATUS_LINES
    shown, said, code = [], "", 0
    for name in names:
        if manager.definition(name) is None:
            said += f"Unit {name} could not be found.\n"
            code = _NO_UNIT
            continue
        shown.append(_status_of(manager, name, count))
        if manager.needs_reload(name):
            said += _changed_on_disk(name)
        if manager.record(name)["active"] != "active":
            code = _NOT_RUNNING
    return Output("\n".join(shown), said, code)


def _status_of(manager: Systemd, name: str, count: int) -> str:
    host, record = manager.host, manager.record(name)
    unit = manager.definition(name) or unit_files.Unit(name, "")
    enabled = _enablement(manager, name, unit)
    preset = "enabled" if name in {"kubelet.service", "containerd.service"} else "disabled"
    lines = [f"{_DOTS[record['active']]} {unit.title}"]
    lines.append(f"     Loaded: loaded ({unit.path}; {enabled}; preset: {preset})")
    if unit.drop_ins:
        lines.append(f"    Drop-In: {posixpath.dirname(unit.drop_ins[0])}")
        for number, path in enumerate(unit.drop_ins, 1):
            branch = "\u2514\u2500" if number == len(unit.drop_ins) else "\u251c\u2500"
            lines.append(f"             {branch}{posixpath.basename(path)}")
    lines.append(f"     Active: {_active(record, host.now)}")
    lines += [f"       Docs: {value}" for value in unit.values("Documentation", "Unit")]
    argv = record.get("argv") or _argv(manager, unit)
    program = posixpath.basename(argv[0]) if argv else ""
    if record["active"] in {"active", "activating"} and "pid" in record:
        lines.append(f"   Main PID: {record['pid']} ({program[:15]})")
        lines.append("      Tasks: 11 (limit: 4556)")
        lines.append(f"     CGroup: /system.slice/{name}")
        lines.append(f"             \u2514\u2500{record['pid']} {' '.join(argv)}")
    elif "last" in record:
        ended = f"code=exited, status={status_of(int(record.get('code') or 0))}"
        lines.append(f"    Process: {record['last']} ExecStart={' '.join(argv)} ({ended})")
        lines.append(f"   Main PID: {record['last']} ({ended})")
    told = journal.read(host.state, host.name, name, count)
    return "\n".join([*lines, *(["", *told] if told else [])]) + "\n"


def _active(record: dict[str, object], now: Instant) -> str:
    state = f"{record['active']} ({record['sub']})"
    if record["active"] in {"failed", "activating"} and record.get("result") != "success":
        state += f" (Result: {record.get('result')})"
    since = int(str(record.get("since") or 0))
    if not since:
        return state
    moment = datetime.fromtimestamp(since // SECOND, UTC)
    return f"{state} since {moment:%a %Y-%m-%d %H:%M:%S} UTC; {ago(now - since)} ago"


def ago(span: int) -> str:
    """`5s`, `2min 3s`, `1h 5min`, `2 days` (src/basic/time-util.c: format_timestamp_relative)."""
    seconds = span // SECOND
    if seconds < 60:
        return f"{seconds}s" if seconds else f"{span // 1000}ms"
    if seconds < 3600:
        return f"{seconds // 60}min" + (f" {seconds % 60}s" if seconds % 60 else "")
    if seconds < 86400:
        return f"{seconds // 3600}h" + (f" {seconds % 3600 // 60}min" if seconds % 3600 // 60 else "")
    days = seconds // 86400
    return f"{days} day{'s' if days > 1 else ''}" + (f" {seconds % 86400 // 3600}h" if seconds % 86400 // 3600 else "")


def _argv(manager: Systemd, unit: unit_files.Unit) -> list[str]:
    """The command line of a unit that runs since the machine was made."""
    lines = unit.values("ExecStart")
    variables = unit_files.environment(unit, manager.host.base)[0]
    return unit_files.command(lines[-1], variables) if lines else []


def _list(manager: Systemd, names: Sequence[str], flags: frozenset[str]) -> Output:
    """`list-units`: services that are or were running."""
    del names
    rows = []
    for name in unit_files.names(manager.host.files):
        record = manager.record(name)
        if record["active"] == "inactive" and not flags & {"--all", "-a"}:
            continue
        unit = manager.definition(name) or unit_files.Unit(name, "")
        mark = "\u25cf" if record["active"] == "failed" else " "
        rows.append((mark, name, "loaded", record["active"], record["sub"], unit.description))
    width = max([len(row[1]) for row in rows] + [4])
    lines = [f"  {'UNIT':<{width}} LOAD   ACTIVE   SUB     DESCRIPTION"]
    lines += [f"{m} {n:<{width}} {load:<6} {active:<8} {sub:<7} {text}" for m, n, load, active, sub, text in rows]
    return Output("\n".join(lines) + f"\n\n{len(rows)} loaded units listed.\n")


def _list_files(manager: Systemd, names: Sequence[str], flags: frozenset[str]) -> Output:
    """`list-unit-files`."""
    del names, flags
    rows = []
    for name in unit_files.names(manager.host.files):
        unit = unit_files.load(manager.host.files, name)
        if unit is not None:
            rows.append((name, _enablement(manager, name, unit)))
    width = max([len(row[0]) for row in rows] + [9])
    lines = [f"{'UNIT FILE':<{width}} STATE    PRESET", *(f"{n:<{width}} {s:<8} enabled" for n, s in rows)]
    return Output("\n".join(lines) + f"\n\n{len(rows)} unit files listed.\n")


@dataclass(frozen=True)
class _Verb:
    run: Callable[[Systemd, Sequence[str], frozenset[str]], Output]
    names: bool = True


_VERBS = {
    "start": _Verb(_each(Systemd.start)),
    "stop": _Verb(_each(Systemd.stop)),
    "restart": _Verb(_each(Systemd.restart)),
    "enable": _Verb(_each(Systemd.enable)),
    "disable": _Verb(_each(Systemd.disable)),
    "reset-failed": _Verb(_each(Systemd.reset_failed)),
    "daemon-reload": _Verb(_reload, names=False),
    "is-active": _Verb(_is_active),
    "is-failed": _Verb(_is_failed),
    "is-enabled": _Verb(_is_enabled),
    "status": _Verb(_status),
    "cat": _Verb(_cat),
    "list-units": _Verb(_list, names=False),
    "list-unit-files": _Verb(_list_files, names=False),
}
