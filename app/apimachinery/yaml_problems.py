"""From what libyaml says to what a beginner understands: the problem, the place, and what to write.

libyaml reports where it gave up, which is often a line after the mistake; so the lines around are looked at for
the mistakes that people really make.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml

from app.apimachinery.messages import N_, Message

FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
"""Characters that YAML does not take (printable characters and line breaks are all that it takes)."""

_CROWDED = re.compile(r"^([ ]*(?:- +)*)([A-Za-z][\w./-]{0,80}):(?=[\"'\w\[{])", re.ASCII)
_TAB = re.compile(r"^[ ]*(?:- *)*\t")
_LOOK_BACK = 2


@dataclass(frozen=True)
class Explanation:
    """A problem, where it is (line and column from 1), and what to write instead."""

    problem: Message
    position: tuple[int, int]
    advice: Message | None = None


def place(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset."""
    before = text[:offset]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def crowded_colon(text: str, line: int) -> Explanation | None:
    """`effect:"NoSchedule"` on a line: a colon without a space after it."""
    lines = text.split("\n")
    if not 1 <= line <= len(lines):
        return None
    found = _CROWDED.match(lines[line - 1])
    if not found:
        return None
    facts = {"right": f"{found[2]}: ", "wrong": f"{found[2]}:"}
    advice = Message(N_("Write “{right}” with a space after the colon, not “{wrong}”."), facts)
    return Explanation(Message(N_("There is no space after the colon.")), (line, found.end()), advice)


def _tab(text: str, line: int) -> Explanation | None:
    found = _TAB.match(text.split("\n")[line - 1])
    if not found:
        return None
    return Explanation(
        Message(N_("This line is indented with a tab.")),
        (line, found.end()),
        Message(N_("Use spaces: YAML takes no tabs for indentation.")),
    )


_KNOWN: tuple[tuple[str, str, str], ...] = (
    (
        "maximum nesting depth",
        N_("This is nested too deeply."),
        N_("No manifest needs that: write it flatter."),
    ),
    (
        "mapping values are not allowed",
        N_("There is a colon here that does not fit the lines above."),
        N_("Check the indentation of this line and the one above; put text that holds “: ” in quotes."),
    ),
    (
        "could not find expected ':'",
        N_("This line is neither “field: value” nor part of the text above."),
        N_("Write a colon and a space after the field's name, and check the indentation."),
    ),
    (
        "did not find expected key",
        N_("The indentation of this line does not fit the lines above."),
        N_("Fields of the same thing begin in the same column."),
    ),
    (
        "did not find expected '-' indicator",
        N_("This line stands in a list and is no item of it."),
        N_("Begin items with “- ” in the same column; indent further fields of an item under its first one."),
    ),
    (
        "block sequence entries are not allowed",
        N_("A list cannot begin here."),
        N_("Put the “- ” on a line of its own below the field's name."),
    ),
    (
        "cannot start any token",
        N_("A value cannot begin with this character."),
        N_("Put the value in quotes."),
    ),
    (
        "found unexpected end of stream",
        N_("A quote is opened and never closed."),
        N_("Close it with the same kind of quote."),
    ),
    (
        "did not find expected ',' or",
        N_("A bracket is not closed, or a comma is missing."),
        N_("Separate items with commas and close every [ and {{."),
    ),
    (
        "found unknown escape character",
        N_("A backslash stands before a character that it cannot stand before."),
        N_("Use single quotes, in which a backslash is just itself."),
    ),
    (
        "found undefined tag handle",
        N_("“!” begins a tag, which has no meaning in a manifest."),
        N_("Put the value in quotes."),
    ),
    (
        "did not find expected alphabetic or numeric character",
        N_("“*” and “&” begin YAML aliases and anchors."),
        N_("Put the value in quotes."),
    ),
    (
        "did not find expected <document start>",
        N_("After a value another one follows where a manifest should end."),
        N_("Check the indentation, and put “---” between two manifests."),
    ),
)

_LEFT_OPEN = ("found unexpected end of stream", "did not find expected ',' or")
"""What is best shown where it was opened, not where the parser gave up."""


def explain(text: str, error: yaml.MarkedYAMLError) -> Explanation:
    """What a parser's error means."""
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    last = text.count("\n") + 1
    started = error.context_mark.line + 1 if error.context_mark else line
    near = dict.fromkeys([line, started, *range(max(1, line - _LOOK_BACK), line)])
    for look in (_tab, crowded_colon):
        for candidate in near:
            found = look(text, candidate) if candidate <= last else None
            if found:
                return found
    said = str(error.problem or "")
    if error.context_mark and any(known in said for known in _LEFT_OPEN):
        line, column = error.context_mark.line + 1, error.context_mark.column + 1
    for known, problem, advice in _KNOWN:
        if known in said:
            return Explanation(Message(problem), (line, column), Message(advice))
    return Explanation(Message(N_("This is not YAML: {problem}."), {"problem": said}), (line, column))
