"""The services of one machine: what runs, what failed, what is tried again (systemd: src/core/service.c).

A unit's state is JSON in the machine's memory, and only there once something happened to it: a unit of the base
that has no entry runs since the machine was made. What a program does is the host's business; what comes of its end
is decided here.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from app.apimachinery.clock import MILLISECOND, SECOND, Instant, Micros
from app.cluster.nodes import journal, unit_files
from app.cluster.nodes.filesystem import FileError, FileSystem
from app.cluster.nodes.unit_files import Unit
from app.cluster.processes import Run

EXIT, RESTART = "exit", "restart"
_RESTART_PAUSE: Micros = 100 * MILLISECOND
_LIMIT_SPAN: Micros = 10 * SECOND
_LIMIT_COUNT = 5
_FIRST_PID = 1500
_EXEC_FAILED = 203
_EXIT_NAMES = {0: "SUCCESS", 1: "FAILURE", 2: "INVALIDARGUMENT", 203: "EXEC", 217: "USER", 255: "n/a"}
_SIGNALS = {137: "9/KILL", 143: "15/TERM"}


class Host(Protocol):
    """The machine as its service manager needs it."""

    @property
    def name(self) -> str:
        """The machine's name."""

    @property
    def now(self) -> Instant:
        """The instant."""

    @property
    def state(self) -> dict[str, Any]:
        """The machine's memory: `units`, `pids`, `journal`."""

    @property
    def files(self) -> FileSystem:
        """The files as they are."""

    @property
    def base(self) -> FileSystem:
        """The files as the machine came."""

    def launch(self, unit: str, argv: Sequence[str], variables: Mapping[str, str]) -> Run:
        """Begin a program."""

    def ended(self, unit: str) -> None:
        """The program of a unit is no more."""

    def at(self, unit: str, step: str, delay: Micros) -> None:
        """Call `fired(unit, step)` after a delay."""

    def cancel(self, unit: str, step: str) -> None:
        """Do not, after all."""


class UnitError(Exception):
    """A job could not be done. `code` is systemctl's exit code."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


class Systemd:
    """The service manager of a machine."""

    def __init__(self, host: Host) -> None:
        self.host = host

    # ---- what is known

    def definition(self, name: str) -> Unit | None:
        """The unit as it was last read: files that changed since count after `daemon_reload`."""
        kept = self._units().get(name, {}).get("loaded")
        if kept is not None:
            return Unit.restore(kept)
        return unit_files.load(self.host.base, name) or unit_files.load(self.host.files, name)

    def needs_reload(self, name: str) -> bool:
        """Whether the files say something else than what was read."""
        return unit_files.load(self.host.files, name) != self.definition(name)

    def record(self, name: str) -> dict[str, Any]:
        """The unit's state: `active`, `sub`, `since`, `pid`, `argv`, `result`, `code`, `restarts`."""
        found = self._units().get(name, {})
        if "active" in found:
            return found
        if self._runs_from_the_start(name):
            since = self.host.base.stat(f"{unit_files.WANTS}/{name}", follow=False).changed
            return {**_RUNNING, "since": since, "pid": _FIRST_PID - sum(map(ord, name)) % 800, **found}
        return {"active": "inactive", "sub": "dead", "since": 0, **found}

    def is_enabled(self, name: str) -> bool:
        """Whether the unit starts with the machine."""
        return self.host.files.exists(f"{unit_files.WANTS}/{name}")

    def running(self) -> list[str]:
        """The units whose program runs."""
        names = {*unit_files.names(self.host.base), *self._units()}
        return sorted(name for name in names if self.record(name)["active"] == "active")

    # ---- jobs

    def start(self, name: str) -> None:
        """Start a unit that does not run. UnitError."""
        unit = self._loaded(name, "start")
        if self.record(name)["active"] in {"active", "activating"} and self.record(name)["sub"] != "auto-restart":
            return
        self.host.cancel(name, RESTART)
        self._set(name, restarts=0)
        self._launch(unit)
        if self.record(name)["active"] == "failed":
            raise UnitError(
                f"Job for {name} failed because the control process exited with error code.\n"
                f'See "systemctl status {name}" and "journalctl -xeu {name}" for details.'
            )

    def stop(self, name: str) -> None:
        """Stop a unit. UnitError where there is none."""
        if self.definition(name) is None:
            raise UnitError(f"Failed to stop {name}: Unit {name} not loaded.", 5)
        unit, record = self._unit(name), self.record(name)
        for step in (EXIT, RESTART):
            self.host.cancel(name, step)
        if record["active"] in {"inactive", "failed"}:
            return
        self._say(name, f"Stopping {unit.title}...")
        self._end(name, "inactive", "dead", result="success", code=0)
        self._say(name, f"{name}: Deactivated successfully.", f"Stopped {unit.title}.")

    def restart(self, name: str) -> None:
        """Stop and start a unit. UnitError."""
        self._loaded(name, "restart")
        self.stop(name)
        self.start(name)

    def enable(self, name: str) -> str:
        """Link the unit into its target; what systemctl prints. UnitError."""
        unit = self._on_disk(name, "enable")
        if not unit.values("WantedBy", "Install"):
            raise UnitError(
                "The unit files have no installation config (WantedBy=, RequiredBy=, UpheldBy=,\n"
                "Also=, or Alias= settings in the [Install] section, and DefaultInstance= for\n"
                "template units). This means they are not meant to be enabled or disabled using systemctl.",
                0,
            )
        link = f"{unit_files.WANTS}/{name}"
        if self.host.files.exists(link):
            return ""
        self.host.files.make_directory(unit_files.WANTS, parents=True)
        self.host.files.link(unit.path, link)
        return f"Created symlink {link} \u2192 {unit.path}.\n"

    def disable(self, name: str) -> str:
        """Remove the unit's link; what systemctl prints. UnitError."""
        self._on_disk(name, "disable")
        link = f"{unit_files.WANTS}/{name}"
        if not self.is_enabled(name):
            return ""
        self.host.files.remove(link)
        return f'Removed "{link}".\n'

    def daemon_reload(self) -> None:
        """Read all unit files anew."""
        for name in {*unit_files.names(self.host.files), *self._units()}:
            self._read(name)

    def reset_failed(self, name: str) -> None:
        """Forget that a unit failed."""
        if self.record(name)["active"] == "failed":
            self._set(name, active="inactive", sub="dead")

    def fired(self, name: str, step: str) -> None:
        """A timer of a unit went off."""
        if step == EXIT and self.record(name)["active"] in {"active", "activating"}:
            self._exited(name)
        elif step == RESTART and self.record(name)["sub"] == "auto-restart":
            unit = self._unit(name)
            count = int(self.record(name).get("restarts") or 0) + 1
            self._set(name, restarts=count)
            self._say(name, f"{name}: Scheduled restart job, restart counter is at {count}.")
            self._launch(unit)

    # ---- inside

    def _units(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = self.host.state.setdefault("units", {})
        return found

    def _runs_from_the_start(self, name: str) -> bool:
        return self.host.base.exists(f"{unit_files.WANTS}/{name}")

    def _unit(self, name: str) -> Unit:
        return self.definition(name) or Unit(name, "")

    def _loaded(self, name: str, verb: str) -> Unit:
        """The unit for a job; one that is idle and not part of the machine is read anew, as systemd forgets it."""
        if self.record(name)["active"] in {"inactive", "failed"} and not self._runs_from_the_start(name):
            self._read(name)
        unit = self.definition(name)
        if unit is None:
            raise UnitError(f"Failed to {verb} {name}: Unit {name} not found.", 5)
        return unit

    def _on_disk(self, name: str, verb: str) -> Unit:
        unit = unit_files.load(self.host.files, name)
        if unit is None:
            raise UnitError(f"Failed to {verb} unit: Unit file {name} does not exist.")
        return unit

    def _read(self, name: str) -> None:
        unit = unit_files.load(self.host.files, name)
        record = self._units().get(name, {})
        if unit == unit_files.load(self.host.base, name):
            record.pop("loaded", None)
        elif unit is not None:
            self._units().setdefault(name, {})["loaded"] = unit.state()
        if unit is None and record.get("active") in {None, "inactive"}:
            self._units().pop(name, None)

    def _set(self, name: str, **values: Any) -> None:
        self._units()[name] = {**self.record(name), **values}

    def _say(self, name: str, *lines: str) -> None:
        journal.write(self.host.state, self.host.now, name, ("systemd", 1), lines)

    def _launch(self, unit: Unit) -> None:
        """Begin the program; what cannot begin has failed at once (service_enter_start)."""
        name = unit.name
        self._say(name, *unit.remarks)
        lines = unit.values("ExecStart")
        if not lines:
            self._say(name, f"{name}: Service has no ExecStart=, ExecStop=, or SuccessAction=. Refusing.")
            raise UnitError(
                f"Failed to start {name}: Unit {name} has a bad unit file setting.\n"
                f"See system logs and 'systemctl status {name}' for details."
            )
        if self._too_often(unit):
            return
        variables, problem = unit_files.environment(unit, self.host.files)
        if problem:
            self._say(name, f"{name}: {problem}", f"{name}: Failed with result 'resources'.")
            self._set(name, active="failed", sub="failed", since=self.host.now, result="resources")
            return
        argv = unit_files.command(lines[-1], variables)
        pid = self._next_pid()
        waits = unit.value("Type") == "oneshot"
        self._set(
            name,
            active="activating" if waits else "active",
            sub="start" if waits else "running",
            since=self.host.now,
            pid=pid,
            argv=argv,
            result="success",
        )
        self._say(name, f"{'Starting' if waits else 'Started'} {unit.title}{'...' if waits else '.'}")
        run = self._run_of(unit, argv, variables, pid)
        if run.runs is not None:
            self._set(name, ends=run.code)
            self.host.at(name, EXIT, run.runs)

    def _run_of(self, unit: Unit, argv: Sequence[str], variables: Mapping[str, str], pid: int) -> Run:
        problem = self._executable_problem(argv)
        if problem:
            self._say(unit.name, f"{unit.name}: Failed at step EXEC spawning {argv[0] if argv else ''}: {problem}")
            return Run(runs=0, code=_EXEC_FAILED)
        run = self.host.launch(unit.name, argv, variables)
        journal.write(self.host.state, self.host.now, unit.name, (posixpath.basename(argv[0]), pid), run.lines)
        return run

    def _executable_problem(self, argv: Sequence[str]) -> str:
        if not argv or not argv[0]:
            return "Invalid argument"
        try:
            entry = self.host.files.stat(self.path_of(argv[0]))
        except FileError as error:
            return error.text
        return "" if entry.kind == "f" and entry.mode & 0o111 else "Permission denied"

    def path_of(self, program: str) -> str:
        """Where a program lies; a bare name is looked for as systemd does."""
        if program.startswith("/"):
            return program
        folders = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin")
        return next((p for f in folders if self.host.files.exists(p := f"{f}/{program}")), f"/usr/bin/{program}")

    def _too_often(self, unit: Unit) -> bool:
        """Whether the unit was started as often as it may be in its time (unit_start_limit_test)."""
        section = "Unit"
        span = unit.span("StartLimitIntervalSec", unit.span("StartLimitInterval", -1, section), section)
        span = unit.span("StartLimitInterval", _LIMIT_SPAN) if span < 0 else span
        count = unit.value("StartLimitBurst", section=section) or unit.value("StartLimitBurst")
        burst = int(count) if count.isdecimal() and len(count) < 10 else _LIMIT_COUNT
        if span <= 0:
            return False
        starts = [at for at in self.record(unit.name).get("starts") or [] if at > self.host.now - span]
        if len(starts) >= burst:
            self._say(
                unit.name,
                f"{unit.name}: Start request repeated too quickly.",
                f"{unit.name}: Failed with result 'exit-code'.",
                f"Failed to start {unit.title}.",
            )
            self._set(unit.name, active="failed", sub="failed", since=self.host.now)
            return True
        self._set(unit.name, starts=[*starts, self.host.now][-burst:])
        return False

    def _exited(self, name: str) -> None:
        """The program ended by itself (service_sigchld_event)."""
        unit, code = self._unit(name), int(self.record(name).get("ends") or 0)
        result = "success" if code == 0 else "exit-code"
        if code:
            self._say(name, f"{name}: Main process exited, code=exited, status={status_of(code)}")
            self._say(name, f"{name}: Failed with result '{result}'.")
        else:
            self._say(name, f"{name}: Deactivated successfully.")
            if self.record(name)["active"] == "activating":
                self._say(name, f"Finished {unit.title}.")
        policy = unit.value("Restart", "no")
        if policy == "always" or (policy == "on-failure" and code) or (policy == "on-success" and not code):
            self._end(name, "activating", "auto-restart", result=result, code=code)
            self.host.at(name, RESTART, unit.span("RestartSec", _RESTART_PAUSE))
        elif code:
            self._end(name, "failed", "failed", result=result, code=code)
        else:
            self._end(name, "inactive", "dead", result=result, code=0)

    def _end(self, name: str, active: str, sub: str, *, result: str, code: int) -> None:
        ran = self.record(name)
        self._set(name, active=active, sub=sub, since=self.host.now, result=result, code=code, last=ran.get("pid"))
        self._units()[name].pop("pid", None)
        self.host.ended(name)

    def _next_pid(self) -> int:
        pid = int(self.host.state.get("pids") or _FIRST_PID) + 1
        self.host.state["pids"] = pid
        return pid


_RUNNING: dict[str, Any] = {"active": "active", "sub": "running", "result": "success"}


def status_of(code: int) -> str:
    """`1/FAILURE`, `203/EXEC` (src/shared/exit-status.c)."""
    return _SIGNALS.get(code) or f"{code}/{_EXIT_NAMES.get(code, 'n/a')}"
