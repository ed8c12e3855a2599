"""What a shell script comes to: how long it runs, what it prints, how it ends. Read for its meaning, never executed.

Every command takes its time at once, loops are gone through, and all of it is bounded: a script that would go on for
longer than `_MAX_STEPS` commands counts as one that goes on for ever.
"""

from __future__ import annotations

import ast
import operator
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from app.apimachinery.clock import SECOND, Instant, Micros
from app.cluster.nodes import shell_syntax as syntax
from app.cluster.nodes.shell_syntax import Choice, Command, Loop, Script, Simple, Step, Word
from app.cluster.processes import QUICK, Run

_MAX_SCRIPT = 10_000
_MAX_STEPS = 400
_MAX_LINES = 50
_LONGEST_LINE = 4_000
_MAX_WORDS = 200
_DEEPEST = 20
_DATE = "%a %b %e %H:%M:%S %Z %Y"
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z_0-9]*)=(.*)", re.DOTALL)
_VARIABLE = re.compile(
    r"\$(?:\{(\w+)(?::?([-=+])([^}]{0,500}))?\}|(\w+|[?#$@*!]))"
    r"|\$\(\((.{0,200}?)\)\)|\$\(([^()]{0,1000})\)|`([^`]{0,1000})`"
)
_IGNORED = frozenset(
    {
        ":",
        "true",
        "cd",
        "set",
        "export",
        "readonly",
        "local",
        "unset",
        "read",
        "trap",
        "shift",
        "umask",
        "ulimit",
        "kill",
    }
)
_SHELLS = frozenset({"sh", "bash", "ash", "dash"})
_COMPARED: Mapping[str, Callable[[int, int], bool]] = {
    "-eq": operator.eq,
    "-ne": operator.ne,
    "-lt": operator.lt,
    "-le": operator.le,
    "-gt": operator.gt,
    "-ge": operator.ge,
}
_CALCULATED: Mapping[type, Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
}

Outside = Callable[[Sequence[str]], Run]
"""What a program that the shell has not built in does."""


def is_own(name: str) -> bool:
    """Whether this module knows what the program does."""
    return name in _OWN


@dataclass
class Shell:
    """One shell: when it began, its variables, the files it knows, what other programs do."""

    now: Instant
    outside: Outside
    variables: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    host: str = "localhost"

    def call(self, argv: Sequence[str]) -> Run:
        """What becomes of one command without a shell around it."""
        return _Reading(self).run(_literal(argv))

    def run(self, script: str, *, strict: bool = False) -> Run:
        """What becomes of a script; `strict`: the first failure ends it (`sh -e`)."""
        text = script[:_MAX_SCRIPT]
        try:
            tree = syntax.parse(text)
        except syntax.SyntaxProblemError:
            tree = _literal(_flat(text))
        reading = _Reading(self)
        reading.strict = strict
        return reading.run(tree)


def _literal(words: Sequence[str]) -> Script:
    """One command of words that are what they are."""
    return Script((Step((Simple(tuple((syntax.Part(word, expands=False, splits=False),) for word in words)),)),))


def _flat(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True) or ["true"]
    except ValueError:
        return text.split() or ["true"]


class _EndError(Exception):
    """The script is over: it said so, or it goes on for ever."""

    def __init__(self, code: int | None, stops: Micros | None = None) -> None:
        super().__init__()
        self.code = code
        self.stops = stops


class _NextError(Exception):
    """`break` or `continue`."""

    def __init__(self, *, leaves: bool) -> None:
        super().__init__()
        self.leaves = leaves


class _Reading:
    """One reading of a script."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.variables = shell.variables
        self.files = dict(shell.files)
        self.elapsed: Micros = 0
        self.lines: list[str] = []
        self.code = 0
        self.steps = 0
        self.strict = False
        self.depth = 0
        self.background: list[Micros | None] = []

    def run(self, tree: Script) -> Run:
        """What becomes of the whole script."""
        try:
            self._script(tree)
        except _EndError as end:
            if end.code is None:
                return Run(lines=tuple(self.lines), stops=end.stops)
            self.code = end.code
        except _NextError:
            self.code = 0
        return Run(runs=max(self.elapsed, QUICK), code=self.code, lines=tuple(self.lines), stops=None)

    def _script(self, script: Script) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _EndError(None)
        for number, step in enumerate(script.steps):
            if (step.after == "&&" and self.code) or (step.after == "||" and not self.code):
                continue
            self._step(step)
            tested = number + 1 < len(script.steps) and script.steps[number + 1].after != ";"
            if self.strict and self.code and not tested:
                raise _EndError(self.code)
        self.depth -= 1

    def _step(self, step: Step) -> None:
        if not step.background:
            self._pipe(step.pipe)
            return
        began, code, depth = self.elapsed, self.code, self.depth
        try:
            self._pipe(step.pipe)
            self.background.append(self.elapsed)
        except _EndError as end:
            self.background.append(None if end.code is None else self.elapsed)
        self.elapsed, self.code, self.depth = began, code, depth

    def _apart(self, script: Script) -> None:
        """A shell of its own: its `exit` ends nothing else, and its variables are gone with it."""
        depth, variables = self.depth, dict(self.variables)
        try:
            self._script(script)
        except _EndError as end:
            if end.code is None:
                raise
            self.code = end.code
        self.depth, self.variables = depth, variables

    def _pipe(self, commands: Sequence[Command]) -> None:
        """Together they take as long as the longest; what the first prints goes through those that only pass it on."""
        if len(commands) == 1:
            self._command(commands[0])
            return
        began, longest, shown = self.elapsed, self.elapsed, self.lines
        passed: list[str] = []
        for command in commands:
            self.lines, self.elapsed = [], began
            self._command(command)
            name = self._name(command)
            passed = passed + self.lines if name in {"cat", "tee", "sort", "head", "tail", "grep"} else self.lines
            longest = max(longest, self.elapsed)
        self.lines, self.elapsed = shown, longest
        for line in passed:
            self.say(line)

    def _name(self, command: Command) -> str:
        return syntax.keyword(command.words[0]) if isinstance(command, Simple) and command.words else ""

    def _command(self, command: Command) -> None:
        self.steps += 1
        if self.steps > _MAX_STEPS:
            raise _EndError(None)
        if isinstance(command, Simple):
            self._simple(command)
        elif isinstance(command, Loop):
            self._loop(command)
        elif isinstance(command, Choice):
            self._choice(command)
        elif command.apart:
            self._apart(command.body)
        else:
            self._script(command.body)

    # ---- loops and conditions

    def _loop(self, loop: Loop) -> None:
        self.code = 0
        if loop.condition is None:
            for word in self._words(loop.words):
                self.variables[loop.name] = word
                if not self._round(loop.body):
                    return
            return
        while self._holds(loop.condition) != loop.until:
            before = self._moving()
            if not self._round(loop.body):
                return
            if self._moving() == before:
                raise _EndError(None)
        self.code = 0

    def _moving(self) -> tuple[object, ...]:
        """What a condition can depend on: a loop that changes none of it has no end."""
        return tuple(self.variables.items()), tuple(self.files.items())

    def _round(self, body: Script) -> bool:
        depth = self.depth
        try:
            self._script(body)
        except _NextError as jump:
            self.depth = depth
            return not jump.leaves
        return True

    def _choice(self, choice: Choice) -> None:
        for condition, body in choice.branches:
            if condition is None or self._holds(condition):
                self.code = 0
                self._script(body)
                return
        self.code = 0

    def _holds(self, condition: Script) -> bool:
        strict, self.strict = self.strict, False
        self.code = 0
        self._script(condition)
        self.strict = strict
        return self.code == 0

    # ---- commands

    def _simple(self, command: Simple) -> None:
        words = self._words(command.words)
        while words and (given := _ASSIGNMENT.fullmatch(words[0])):
            self.variables[given[1]] = given[2]
            words = words[1:]
            self.code = 0
        shown = self.lines
        if command.output:
            self.lines = []
        try:
            if words:
                self.call(words)
        finally:
            printed, self.lines = self.lines, shown
            if command.output:
                self._write(self._words((command.output,)), printed, appends=command.appends)
            else:
                self.lines = printed

    def _write(self, paths: Sequence[str], lines: Sequence[str], *, appends: bool) -> None:
        text = "".join(f"{line}\n" for line in lines)
        for path in paths[:1]:
            if path != "/dev/null" and (path in self.files or len(self.files) < _MAX_WORDS):
                self.files[path] = ((self.files.get(path, "") if appends else "") + text)[:_MAX_SCRIPT]

    def call(self, words: list[str]) -> None:
        """Run one command, its words already expanded."""
        name, arguments = words[0].rpartition("/")[2], words[1:]
        if name == "!":
            self.call(arguments or ["true"])
            self.code = 0 if self.code else 1
            return
        own = _OWN.get(name)
        if own is not None:
            self.code = 0
            own(self, arguments)
        elif name in _IGNORED:
            self.code = 0
        elif name in _SHELLS and "-c" in arguments[:1] and len(arguments) > 1:
            self._apart(_tree(arguments[1]))
        else:
            self._run_outside(words)

    def _run_outside(self, words: Sequence[str]) -> None:
        run = self.shell.outside(words)
        for line in run.lines:
            self.say(line)
        if run.runs is None:
            raise _EndError(None, run.stops)
        self.elapsed += run.runs if words[0].rpartition("/")[2] == "sleep" else 0
        self.code = run.code

    def say(self, line: str) -> None:
        """Print a line."""
        if len(self.lines) < _MAX_LINES:
            self.lines.append(line[:_LONGEST_LINE])

    # ---- words

    def _words(self, words: Sequence[Word]) -> list[str]:
        found: list[str] = []
        for word in words:
            texts, whole = [""], any(not part.splits for part in word)
            for part in word:
                text = self._expanded(part.text) if part.expands else part.text
                pieces = text.split() if part.splits and part.expands and "$" in part.text else [text]
                texts[-1] += pieces[0] if pieces else ""
                texts += pieces[1:]
            found += [text for text in texts if text or whole]
            if len(found) > _MAX_WORDS:
                return found[:_MAX_WORDS]
        return found

    def _expanded(self, text: str) -> str:
        return _VARIABLE.sub(self._value, text)[:_MAX_SCRIPT] if "$" in text or "`" in text else text

    def _value(self, match: re.Match[str]) -> str:
        braced, mark, other, plain, sum_, command, quoted = match.groups()
        if sum_ is not None:
            return str(self._calculated(sum_))
        if command is not None or quoted is not None:
            return self._output_of(command or quoted or "")
        name = braced or plain or ""
        value = {"?": str(self.code), "#": "0", "$": "1"}.get(name) or self.variables.get(name, "")
        if mark in {"-", "="} and not value:
            return other or ""
        return (other or "") if mark == "+" and value else value

    def _output_of(self, script: str) -> str:
        """What `$(…)` prints; a command in it that has no end is the script's own."""
        shown, self.lines = self.lines, []
        try:
            self._apart(_tree(script))
            return "\n".join(self.lines)
        finally:
            self.lines = shown

    def _calculated(self, text: str) -> int:
        """The number of `$((…))`; 0 for what is none."""
        known = re.sub(r"\$?([A-Za-z_]\w*)", lambda name: self.variables.get(name[1], "") or "0", text)
        try:
            return _number(ast.parse(known.strip()[:200], mode="eval").body)
        except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
            return 0


def _tree(script: str) -> Script:
    try:
        return syntax.parse(script[:_MAX_SCRIPT])
    except syntax.SyntaxProblemError:
        return Script()


def _number(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return int(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _CALCULATED:
        found = _CALCULATED[type(node.op)](_number(node.left), _number(node.right))
        if abs(found) < 1 << 63:
            return found
    raise ValueError("no number")


# ---- what the shell does itself


def _echo(reading: _Reading, arguments: list[str]) -> None:
    escapes = False
    while arguments and re.fullmatch(r"-[neE]+", arguments[0]):
        escapes = escapes or "e" in arguments[0]
        arguments = arguments[1:]
    text = " ".join(arguments)
    for line in (text.replace("\\n", "\n").replace("\\t", "\t") if escapes else text).split("\n"):
        reading.say(line)


def _printf(reading: _Reading, arguments: list[str]) -> None:
    if not arguments:
        return
    text = re.sub(r"%[-0-9.]*[sdi]", "\0", arguments[0].replace("\\n", "\n").replace("\\t", "\t"))
    for value in arguments[1:]:
        text = text.replace("\0", value, 1)
    for line in text.replace("\0", "").replace("%%", "%").removesuffix("\n").split("\n"):
        reading.say(line)


def _exit(reading: _Reading, arguments: list[str]) -> None:
    text = arguments[0] if arguments else str(reading.code)
    raise _EndError(int(text) & 255 if text.isdecimal() and len(text) < 6 else 2 if arguments else 0)


def _exec(reading: _Reading, arguments: list[str]) -> None:
    if arguments:
        reading.call(arguments)
        raise _EndError(reading.code)


def _date(reading: _Reading, arguments: list[str]) -> None:
    form = next((text[1:] for text in arguments if text.startswith("+")), _DATE)
    moment = datetime.fromtimestamp((reading.shell.now + reading.elapsed) // SECOND, UTC)
    reading.say(moment.strftime(form[:100].encode("ascii", "ignore").decode()))


def _false(reading: _Reading, arguments: list[str]) -> None:
    del arguments
    reading.code = 1


def _hostname(reading: _Reading, arguments: list[str]) -> None:
    del arguments
    reading.say(reading.shell.host)


def _env(reading: _Reading, arguments: list[str]) -> None:
    for name in arguments or sorted(reading.variables):
        if name in reading.variables:
            reading.say(reading.variables[name] if arguments else f"{name}={reading.variables[name]}")


def _seq(reading: _Reading, arguments: list[str]) -> None:
    numbers = [int(text) for text in arguments if re.fullmatch(r"-?[0-9]{1,6}", text)]
    first, step = (numbers[0] if len(numbers) > 1 else 1), (numbers[1] if len(numbers) > 2 else 1)
    last = numbers[-1] if numbers else 0
    for number in range(first, last + (1 if step > 0 else -1), step or 1):
        if len(reading.lines) >= _MAX_LINES:
            return
        reading.say(str(number))


def _cat(reading: _Reading, arguments: list[str]) -> None:
    for path in arguments:
        if path in reading.files:
            for line in reading.files[path].removesuffix("\n").split("\n"):
                reading.say(line)


def _timeout(reading: _Reading, arguments: list[str]) -> None:
    """A command that would take longer is ended then, with 124 (busybox: 143)."""
    limit, command = arguments[:1], arguments[1:]
    if not limit or not command or not re.fullmatch(r"[0-9]{1,6}s?", limit[0]):
        reading.code = 125
        return
    end, depth = reading.elapsed + int(limit[0].removesuffix("s")) * SECOND, reading.depth
    try:
        reading.call(command)
    except _EndError as over:
        if over.code is not None:
            raise
        reading.elapsed, reading.depth = end + 1, depth
    if reading.elapsed > end:
        reading.elapsed, reading.code = end, 124


def _jump(*, leaves: bool) -> Callable[[_Reading, list[str]], None]:
    def jump(reading: _Reading, arguments: list[str]) -> None:
        del reading, arguments
        raise _NextError(leaves=leaves)

    return jump


def _wait(reading: _Reading, arguments: list[str]) -> None:
    del arguments
    ends = [end for end in reading.background if end is not None]
    if len(ends) < len(reading.background) or not reading.background:
        if reading.background:
            raise _EndError(None)
        return
    reading.elapsed = max(reading.elapsed, *ends)


def _set(reading: _Reading, arguments: list[str]) -> None:
    for text in arguments:
        if text.startswith("-") and "e" in text[1:]:
            reading.strict = True


def _export(reading: _Reading, arguments: list[str]) -> None:
    for text in arguments:
        if given := _ASSIGNMENT.fullmatch(text):
            reading.variables[given[1]] = given[2]


def _test(reading: _Reading, arguments: list[str]) -> None:
    words = [text for text in arguments if text not in {"]", "]]"}]
    wanted = True
    while words[:1] == ["!"]:
        words, wanted = words[1:], not wanted
    reading.code = 0 if _is_so(reading, words) == wanted else 1


def _is_so(reading: _Reading, words: list[str]) -> bool:
    if len(words) == 2:
        kind, text = words
        return {"-z": not text, "-n": bool(text)}.get(kind, text in reading.files)
    if len(words) == 3:
        left, how, right = words
        if how in _COMPARED:
            return _COMPARED[how](_whole(left), _whole(right))
        return (left != right) if how == "!=" else left == right
    return bool(words and words[0])


def _whole(text: str) -> int:
    return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text, re.ASCII) else 0


_OWN: Mapping[str, Callable[[_Reading, list[str]], None]] = {
    "echo": _echo,
    "printf": _printf,
    "exit": _exit,
    "return": _exit,
    "exec": _exec,
    "date": _date,
    "false": _false,
    "hostname": _hostname,
    "env": _env,
    "printenv": _env,
    "seq": _seq,
    "timeout": _timeout,
    "cat": _cat,
    "break": _jump(leaves=True),
    "continue": _jump(leaves=False),
    "wait": _wait,
    "set": _set,
    "export": _export,
    "test": _test,
    "[": _test,
    "[[": _test,
}
