"""The part of the shell's grammar that containers' scripts are written in: lists, pipes, loops, conditions.

A script becomes a tree; what it means is in `shell`. Nothing here recurses deeper than `_DEEPEST`, and a script that
is not understood is a flat list of its words.
"""

from __future__ import annotations

from dataclasses import dataclass

_DEEPEST = 12
_OPERATORS = ("&&", "||", ";;", ">>", "2>&1", "2>", ">", "<", ";", "&", "|", "(", ")", "\n")
_REDIRECTIONS = frozenset({">", ">>", "2>", "<"})
_CLOSERS = frozenset({"do", "done", "then", "elif", "else", "fi", "}", ")"})


class SyntaxProblemError(ValueError):
    """A script that the reader does not understand."""


@dataclass(frozen=True)
class Part:
    """A piece of a word: its text, whether variables in it are expanded, whether the result may split into words."""

    text: str
    expands: bool = True
    splits: bool = True


Word = tuple[Part, ...]
Token = str | Word
"""An operator or a word."""


@dataclass(frozen=True)
class Simple:
    """A command with its words, and the files that its output goes to."""

    words: tuple[Word, ...]
    output: Word = ()
    appends: bool = False


@dataclass(frozen=True)
class Loop:
    """`for NAME in WORDS`, or `while`/`until` where there is a condition."""

    body: Script
    name: str = ""
    words: tuple[Word, ...] = ()
    condition: Script | None = None
    until: bool = False


@dataclass(frozen=True)
class Choice:
    """`if`: conditions with what follows, in order; an empty condition is `else`."""

    branches: tuple[tuple[Script | None, Script], ...]


@dataclass(frozen=True)
class Group:
    """`{ …; }`, or `( … )`, which is a shell of its own."""

    body: Script
    apart: bool


Command = Simple | Loop | Choice | Group


@dataclass(frozen=True)
class Step:
    """A pipe of commands, and how the one before decides about it: `;`, `&&`, `||`; in the background or not."""

    pipe: tuple[Command, ...]
    after: str = ";"
    background: bool = False


@dataclass(frozen=True)
class Script:
    """Steps in order."""

    steps: tuple[Step, ...] = ()


def parse(text: str) -> Script:
    """The tree of a script. SyntaxProblemError."""
    reader = _Reader(tokens(text))
    script = reader.script()
    if reader.peek() is not None:
        raise SyntaxProblemError("unexpected end of a group")
    return script


def tokens(text: str) -> list[Token]:
    """The words and operators. SyntaxProblemError for a quotation without an end."""
    found: list[Token] = []
    word: list[Part] = []
    position = 0
    while position < len(text):
        letter = text[position]
        operator = next((op for op in _OPERATORS if text.startswith(op, position)), "")
        if operator and not (operator.startswith("2") and word):
            _close(found, word)
            found.append(operator)
            position += len(operator)
        elif letter in " \t\r":
            _close(found, word)
            position += 1
        elif letter == "#" and not word:
            end = text.find("\n", position)
            position = len(text) if end < 0 else end
        else:
            part, position = _part(text, position)
            word.append(part)
    _close(found, word)
    return found


def _close(found: list[Token], word: list[Part]) -> None:
    if word:
        found.append(tuple(word))
        word.clear()


def _part(text: str, start: int) -> tuple[Part, int]:
    letter = text[start]
    if letter == "'":
        end = text.find("'", start + 1)
        if end < 0:
            raise SyntaxProblemError("unterminated quoted string")
        return Part(text[start + 1 : end], expands=False, splits=False), end + 1
    if letter == '"':
        return _double_quoted(text, start + 1)
    if letter == "\\":
        return Part(text[start + 1 : start + 2], expands=False, splits=False), start + 2
    end = start
    while end < len(text) and text[end] not in "'\"\\ \t\r\n;&|<>()":
        if text[end] == "$" or text[end] == "`":
            end = _after_expansion(text, end)
        else:
            end += 1
    return Part(text[start:end]), max(end, start + 1)


def _double_quoted(text: str, start: int) -> tuple[Part, int]:
    end = start
    while end < len(text) and text[end] != '"':
        end = end + 2 if text[end] == "\\" else _after_expansion(text, end) if text[end] in "$`" else end + 1
    if end >= len(text):
        raise SyntaxProblemError("unterminated quoted string")
    inner = text[start:end]
    for mark in ('\\"', "\\\\", "\\`"):
        inner = inner.replace(mark, mark[1:])
    return Part(inner, splits=False), end + 1


def _after_expansion(text: str, start: int) -> int:
    """Where `$(…)`, `${…}`, a backquoted command or a lone `$` ends."""
    if text[start] == "`":
        end = text.find("`", start + 1)
        return len(text) if end < 0 else end + 1
    opener = text[start + 1 : start + 2]
    closer = {"(": ")", "{": "}"}.get(opener)
    if closer is None:
        return start + 1
    depth, position = 0, start + 1
    while position < len(text):
        depth += (text[position] == opener) - (text[position] == closer)
        position += 1
        if depth == 0:
            return position
    return len(text)


def keyword(token: Token | None) -> str:
    """The token as an operator or a bare word; empty for a word with quotes or expansions."""
    if isinstance(token, str):
        return token
    if token is not None and len(token) == 1 and token[0].splits and "$" not in token[0].text:
        return token[0].text
    return ""


class _Reader:
    """Reads tokens from left to right."""

    def __init__(self, found: list[Token]) -> None:
        self._tokens = found
        self._position = 0
        self._depth = 0

    def peek(self) -> Token | None:
        return self._tokens[self._position] if self._position < len(self._tokens) else None

    def _next(self) -> Token | None:
        token = self.peek()
        self._position += 1
        return token

    def _expect(self, wanted: str) -> None:
        self._skip_lines()
        if keyword(self._next()) != wanted:
            raise SyntaxProblemError(f"expecting {wanted}")

    def _skip_lines(self) -> None:
        while self.peek() in ("\n", ";"):
            self._position += 1

    def script(self) -> Script:
        """Steps up to a word that closes a group, or the end."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise SyntaxProblemError("nested too deep")
        steps: list[Step] = []
        after = ";"
        while True:
            self._skip_lines()
            token = self.peek()
            if token is None or keyword(token) in _CLOSERS or token == ";;":
                break
            pipe = self._pipe()
            operator = self.peek()
            background = operator == "&"
            if operator in ("&&", "||", ";", "&", "\n"):
                self._position += 1
            steps.append(Step(pipe, after, background))
            after = operator if operator in ("&&", "||") else ";"
        self._depth -= 1
        return Script(tuple(steps))

    def _pipe(self) -> tuple[Command, ...]:
        commands = [self._command()]
        while self.peek() == "|":
            self._position += 1
            self._skip_lines()
            commands.append(self._command())
        return tuple(commands)

    def _command(self) -> Command:
        self._skip_lines()
        word = keyword(self.peek())
        if word == "for":
            return self._for()
        if word in {"while", "until"}:
            self._position += 1
            condition = self.script()
            return Loop(self._body(), condition=condition, until=word == "until")
        if word == "if":
            return self._if()
        if word in {"{", "("}:
            self._position += 1
            body = self.script()
            self._expect({"{": "}", "(": ")"}[word])
            return Group(body, apart=word == "(")
        return self._simple()

    def _for(self) -> Loop:
        self._position += 1
        name = keyword(self._next())
        words: list[Word] = []
        if keyword(self.peek()) == "in":
            self._position += 1
            while (token := self.peek()) is not None and not isinstance(token, str):
                words.append(token)
                self._position += 1
        return Loop(self._body(), name=name, words=tuple(words))

    def _body(self) -> Script:
        self._expect("do")
        body = self.script()
        self._expect("done")
        return body

    def _if(self) -> Choice:
        branches: list[tuple[Script | None, Script]] = []
        word = keyword(self._next())
        while word in {"if", "elif"}:
            condition = self.script()
            self._expect("then")
            branches.append((condition, self.script()))
            self._skip_lines()
            word = keyword(self._next())
        if word == "else":
            branches.append((None, self.script()))
            self._skip_lines()
            word = keyword(self._next())
        if word != "fi":
            raise SyntaxProblemError("expecting fi")
        return Choice(tuple(branches))

    def _simple(self) -> Simple:
        words: list[Word] = []
        output: Word = ()
        appends = False
        while (token := self.peek()) is not None:
            if isinstance(token, str):
                if token == "2>&1":
                    self._position += 1
                    continue
                if token not in _REDIRECTIONS:
                    break
                self._position += 1
                goal = self._next()
                if isinstance(goal, tuple) and token in {">", ">>"}:
                    output, appends = goal, token == ">>"
                continue
            words.append(token)
            self._position += 1
        if not words and not output:
            raise SyntaxProblemError(f"unexpected {self.peek()!r}")
        return Simple(tuple(words), output, appends)
