"""Unit files of systemd: how a service is found on a machine and what its settings say.

Mirrors systemd: src/shared/conf-parser.c, src/core/load-fragment.c and systemd.syntax(7), as far as services go.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.apimachinery.clock import MILLISECOND, SECOND, Micros
from app.cluster.nodes.filesystem import FileError, FileSystem

FOLDERS = ("/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system")
"""Where units lie, the strongest first."""
WANTS = "/etc/systemd/system/multi-user.target.wants"
_MAX_LINES = 2000
_LISTS = frozenset({"ExecStart", "ExecStartPre", "ExecStop", "Environment", "EnvironmentFile", "Documentation"})
_KNOWN = {
    "Unit": "Description Documentation Wants Requires BindsTo After Before PartOf Conflicts StartLimitInterval "
    "StartLimitIntervalSec StartLimitBurst ConditionPathExists DefaultDependencies OnFailure",
    "Service": "Type ExecStart ExecStartPre ExecStartPost ExecStop ExecReload Restart RestartSec User Group "
    "WorkingDirectory Environment EnvironmentFile StartLimitInterval StartLimitBurst TimeoutStartSec TimeoutStopSec "
    "TimeoutSec KillMode KillSignal LimitNOFILE LimitNPROC LimitCORE TasksMax Delegate OOMScoreAdjust CPUAccounting "
    "MemoryAccounting StandardOutput StandardError SyslogIdentifier RemainAfterExit PIDFile Slice Nice",
    "Install": "WantedBy RequiredBy Alias Also DefaultInstance",
}
_UNITS: dict[str, Micros] = {
    "": SECOND, "s": SECOND, "sec": SECOND, "second": SECOND, "seconds": SECOND, "ms": MILLISECOND, "msec": MILLISECOND,
    "m": 60 * SECOND, "min": 60 * SECOND, "minute": 60 * SECOND, "minutes": 60 * SECOND,
    "h": 3600 * SECOND, "hr": 3600 * SECOND, "hour": 3600 * SECOND, "hours": 3600 * SECOND,
}  # fmt: skip
_SPAN = re.compile(r"(\d{1,9})(?:\.(\d{1,6}))?\s{0,4}([a-z]{0,8})\s{0,4}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_BARE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


@dataclass(frozen=True)
class Unit:
    """One service as its files define it. `settings` maps section and key to the values, in their order."""

    name: str
    path: str
    drop_ins: tuple[str, ...] = ()
    settings: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    """What systemd writes to the journal about the files."""

    def values(self, key: str, section: str = "Service") -> tuple[str, ...]:
        """All values of a list."""
        return self.settings.get((section, key), ())

    def value(self, key: str, default: str = "", section: str = "Service") -> str:
        """The last value, which wins."""
        found = self.values(key, section)
        return found[-1] if found else default

    def state(self) -> list[Any]:
        """The unit as JSON."""
        settings = [[section, key, list(values)] for (section, key), values in sorted(self.settings.items())]
        return [self.name, self.path, list(self.drop_ins), settings, list(self.remarks)]

    @classmethod
    def restore(cls, state: list[Any]) -> Unit:
        """The unit from `state()`."""
        name, path, drop_ins, settings, remarks = state
        found = {(section, key): tuple(values) for section, key, values in settings}
        return cls(name, path, tuple(drop_ins), found, tuple(remarks))

    @property
    def description(self) -> str:
        """What the unit calls itself."""
        return self.value("Description", section="Unit") or self.name

    @property
    def title(self) -> str:
        """`kubelet.service - kubelet: The Kubernetes Node Agent`."""
        return self.name if self.description == self.name else f"{self.name} - {self.description}"

    def span(self, key: str, default: Micros, section: str = "Service") -> Micros:
        """A span of time; what cannot be read is as if it were not there."""
        read = span(self.value(key, section=section))
        return default if read is None else read


def span(text: str) -> Micros | None:
    """`10`, `1.5s`, `2min 30s` in microseconds; None for what is none (src/basic/time-util.c: parse_sec)."""
    text = text.strip()
    if not text:
        return None
    at = total = 0
    while at < len(text):
        match = _SPAN.match(text, at)
        if match is None or match.group(3) not in _UNITS:
            return None
        unit = _UNITS[match.group(3)]
        fraction = match.group(2) or ""
        total += int(match.group(1)) * unit + (int(fraction) * unit // 10 ** len(fraction) if fraction else 0)
        at = match.end()
    return total


def full_name(name: str) -> str:
    """`kubelet.service` of `kubelet`."""
    return name if "." in posixpath.basename(name) else f"{name}.service"


def load(files: FileSystem, name: str) -> Unit | None:
    """A service by its full name, with its drop-ins; None where no file defines it."""
    path = next((path for folder in FOLDERS if files.exists(path := f"{folder}/{name}")), None)
    if path is None:
        return None
    settings: dict[tuple[str, str], tuple[str, ...]] = {}
    remarks: list[str] = []
    drop_ins = _drop_ins(files, name)
    for source in (path, *drop_ins):
        _read(files, source, settings, remarks)
    return Unit(name, path, tuple(drop_ins), settings, tuple(remarks))


def names(files: FileSystem) -> list[str]:
    """The full names of all services that files define."""
    found: set[str] = set()
    for folder in FOLDERS:
        try:
            found.update(name for name in files.names(folder) if name.endswith(".service"))
        except FileError:
            continue
    return sorted(found)


def _drop_ins(files: FileSystem, name: str) -> list[str]:
    """Drop-ins by name, each from the strongest folder that has it (systemd.unit(5))."""
    found: dict[str, str] = {}
    for folder in FOLDERS:
        try:
            inside = files.names(f"{folder}/{name}.d")
        except FileError:
            continue
        for part in inside:
            if part.endswith(".conf"):
                found.setdefault(part, f"{folder}/{name}.d/{part}")
    return [found[part] for part in sorted(found)]


def _read(files: FileSystem, path: str, settings: dict[tuple[str, str], tuple[str, ...]], remarks: list[str]) -> None:
    try:
        text = files.read(path)
    except FileError:
        return
    section = ""
    for number, line in _lines(text):
        where = f"{path}:{number}"
        if line.startswith("["):
            section = line[1:-1] if line.endswith("]") else ""
            if not section:
                remarks.append(f"{where}: Invalid section header '{line}'")
            elif section not in _KNOWN and not section.startswith("X-"):
                remarks.append(f"{where}: Unknown section '{section}'. Ignoring.")
            continue
        key, equals, value = line.partition("=")
        key, value = key.strip(), value.strip()
        if not equals:
            remarks.append(f"{where}: Missing '=', ignoring line.")
        elif not section:
            remarks.append(f"{where}: Assignment outside of section. Ignoring.")
        elif section in _KNOWN and key not in _KNOWN[section].split() and not key.startswith("X-"):
            remarks.append(f"{where}: Unknown key '{key}' in section [{section}], ignoring.")
        elif not value and key in _LISTS:
            settings[section, key] = ()
        elif key in _LISTS:
            settings[section, key] = (*settings.get((section, key), ()), value)
        else:
            settings[section, key] = (value,)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines with a meaning and their numbers; a backslash at the end continues a line."""
    held = ""
    for number, raw in enumerate(text.splitlines()[:_MAX_LINES], 1):
        line = raw.strip()
        if not held and line[:1] in {"", "#", ";"}:
            continue
        if held and line[:1] in {"#", ";"}:
            continue
        if line.endswith("\\"):
            held += line[:-1] + " "
            continue
        yield number, held + line
        held = ""
    if held.strip():
        yield _MAX_LINES, held.strip()


def environment(unit: Unit, files: FileSystem) -> tuple[dict[str, str], str]:
    """The variables of a service, and what is wrong with its environment files (a missing one without `-`)."""
    found: dict[str, str] = {}
    for value in unit.values("Environment"):
        found.update(_assignments(split(value)))
    for value in unit.values("EnvironmentFile"):
        path = value.removeprefix("-")
        try:
            lines = [line.strip() for line in files.read(path).splitlines()]
        except FileError as error:
            if not value.startswith("-"):
                return found, f"Failed to load environment files: {error.text}"
            continue
        found.update(_assignments(_unquoted(line) for line in lines if line and line[0] not in "#;"))
    return found, ""


def _assignments(words: Iterable[str]) -> dict[str, str]:
    pairs = (word.partition("=") for word in words)
    return {name: value for name, equals, value in pairs if equals}


def _unquoted(line: str) -> str:
    name, equals, value = line.partition("=")
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    return f"{name.strip()}{equals}{value}"


def split(text: str) -> list[str]:
    """Words as systemd splits them: quotes group, a backslash takes the next character as it is."""
    words: list[str] = []
    word, quote, begun, literal = "", "", False, False
    for char in text:
        if literal:
            word, literal = word + char, False
        elif char == "\\" and quote != "'":
            literal = begun = True
        elif quote:
            word, quote = (word, "") if char == quote else (word + char, quote)
        elif char in "\"'":
            quote, begun = char, True
        elif char.isspace():
            if begun:
                words.append(word)
            word, begun = "", False
        else:
            word, begun = word + char, True
    return [*words, word] if begun else words


def command(text: str, variables: Mapping[str, str]) -> list[str]:
    """The words of an `Exec…=` line: `$NAME` alone is split at spaces, `${NAME}` is one word (systemd.service(5))."""
    words: list[str] = []
    for number, word in enumerate(split(text)):
        if number == 0:
            words.append(word.lstrip("-@:+!|"))
        elif bare := _BARE.fullmatch(word):
            words += split(variables.get(bare.group(1), ""))
        else:
            words.append(_VARIABLE.sub(lambda match: variables.get(match.group(1), ""), word).replace("$$", "$"))
    return words
