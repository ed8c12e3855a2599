"""YAML text to values with places: a composer over libyaml's events that never recurses and bounds what it builds.

Depth, aliases and the number of values (each alias counted with all that it stands for) are limited while reading,
so that a few hundred bytes cannot become a gigabyte.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import yaml

from app.apimachinery import yaml_problems, yaml_scalars
from app.apimachinery.messages import N_, Message

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 50
MAX_ALIASES = 20
MAX_VALUES = 100_000
"""Values in one text, aliases written out."""

Position = tuple[int, int]
"""Line and column, both from 1."""


@dataclass(frozen=True)
class Limits:
    """How large and how involved a text may be. The defaults are for what learners send."""

    size: int = MAX_BYTES
    depth: int = MAX_DEPTH
    aliases: int = MAX_ALIASES
    values: int = MAX_VALUES


LEARNERS = Limits()

Progress = Callable[[float], None]
"""Is told now and then which part of a text, from 0 to 1, has been read."""

_EVENTS_BETWEEN = 4096


class ManifestError(Exception):
    """The text is not a list of manifests: what is wrong, where (line and column from 1), what to write."""

    def __init__(self, problem: Message, line: int = 1, column: int = 1, advice: Message | None = None) -> None:
        super().__init__(problem, line, column, advice)
        self.problem = problem
        self.line = line
        self.column = column
        self.advice = advice

    @property
    def template(self) -> str:
        """The problem's English template, for translation."""
        return self.problem.text

    @property
    def facts(self) -> dict[str, Any]:
        """What goes into the template."""
        return dict(self.problem.facts)

    def __str__(self) -> str:
        text = f"line {self.line}, column {self.column}: {self.problem}"
        return f"{text} {self.advice}" if self.advice else text


@dataclass
class Node:
    """A value with its place, the places of what it holds, and how many values it counts for."""

    value: Any
    position: Position
    children: dict[str, tuple[Position, Node]] | list[Node] | None = None
    size: int = 1


@dataclass
class _Frame:
    """A collection that is being read."""

    node: Node
    anchor: str
    key: tuple[str, Position] | None = None
    merged: dict[str, tuple[Position, Node]] = field(default_factory=dict)


class _Composer:
    """Builds nodes from parser events, without recursion."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._frames: list[_Frame] = []
        self._anchors: dict[str, Node] = {}
        self._aliases = 0
        self._values = 0
        self.finished: list[Node] = []

    def feed(self, event: yaml.Event) -> None:
        """Take the next event."""
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._begin(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            frame = self._frames.pop()
            for key, held in frame.merged.items():
                self._into(frame.node, key, held, keep=True)
            self._anchor(frame.anchor, frame.node)
            self._place(frame.node)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._anchors = {}

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        position = _position(event)
        try:
            value = yaml_scalars.resolved(event.value, event.tag, plain=bool(event.implicit[0]))
        except yaml_scalars.ScalarError as error:
            raise ManifestError(error.problem, *position, error.advice) from error
        self._count(1, position)
        node = Node(value, position)
        self._anchor(event.anchor, node)
        self._place(node)

    def _begin(self, event: yaml.CollectionStartEvent) -> None:
        position = _position(event)
        if event.tag and not yaml_scalars.is_plain_tag(event.tag):
            raise ManifestError(yaml_scalars.tag_problem(event.tag), *position)
        if len(self._frames) >= self._limits.depth:
            problem = Message(N_("This is nested deeper than {limit} levels."), {"limit": self._limits.depth})
            raise ManifestError(problem, *position, Message(N_("No manifest needs that: write it flatter.")))
        self._count(1, position)
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        node = Node({} if is_mapping else [], position, {} if is_mapping else [])
        if self._frames and self._expects_key(self._frames[-1]):
            raise ManifestError(
                Message(N_("A list or a mapping stands where a field's name is due.")),
                *position,
                Message(N_("If this is text with { } or [ ] in it, put it in quotes.")),
            )
        self._frames.append(_Frame(node, event.anchor or ""))

    def _alias(self, event: yaml.AliasEvent) -> None:
        position = _position(event)
        self._aliases += 1
        if self._aliases > self._limits.aliases:
            facts: dict[str, Any] = {"limit": self._limits.aliases}
            problem = Message(N_("There are more than {limit} aliases (*name) in here."), facts)
            raise ManifestError(problem, *position, Message(N_("Write the values out instead.")))
        target = self._anchors.get(event.anchor or "")
        if target is None:
            facts = {"name": event.anchor}
            raise ManifestError(
                Message(N_("“*{name}” is an alias, and no “&{name}” stands before it."), facts),
                *position,
                Message(N_("If a text begins with *, put it in quotes.")),
            )
        self._count(target.size, position)
        self._place(Node(target.value, position, target.children, target.size))

    def _anchor(self, name: str | None, node: Node) -> None:
        if name:
            self._anchors[name] = node

    @staticmethod
    def _expects_key(frame: _Frame) -> bool:
        return isinstance(frame.node.value, dict) and frame.key is None

    def _place(self, node: Node) -> None:
        """Put a finished node where it belongs: a key, a value, an item, or a whole document."""
        if not self._frames:
            self.finished.append(node)
            return
        frame = self._frames[-1]
        if isinstance(frame.node.children, list):
            frame.node.value.append(node.value)
            frame.node.children.append(node)
            frame.node.size += node.size
        elif frame.key is None:
            frame.key = (self._key(node), node.position)
        else:
            key, position = frame.key
            frame.key = None
            if key == "<<" and isinstance(node.children, dict | list):
                self._merge(frame, node)
            else:
                self._into(frame.node, key, (position, node), keep=False)

    def _count(self, values: int, position: Position) -> None:
        self._values += values
        if self._values > self._limits.values:
            problem = Message(
                N_("There are more than {limit} values in here, aliases written out."), {"limit": self._limits.values}
            )
            advice = Message(N_("Send only the manifests that the task asks for."))
            raise ManifestError(problem, *position, advice)

    @staticmethod
    def _key(node: Node) -> str:
        if node.children is not None:
            raise ManifestError(Message(N_("A list or a mapping stands where a field's name is due.")), *node.position)
        if node.value is None:
            problem = Message(N_("A field has no name before its colon."))
            raise ManifestError(problem, *node.position, Message(N_("Write the name before the colon.")))
        return yaml_scalars.as_key(node.value)

    @staticmethod
    def _into(target: Node, key: str, held: tuple[Position, Node], *, keep: bool) -> None:
        position, node = held
        children = target.children
        if not isinstance(children, dict):
            return
        if key in children:
            if keep:
                return
            first = children[key][0]
            problem = Message(
                N_("“{field}” stands here twice: first on line {line}."), {"field": key, "line": first[0]}
            )
            raise ManifestError(problem, *position, Message(N_("Keep one of the two lines.")))
        target.value[key] = node.value
        children[key] = held
        target.size += node.size + 1

    def _merge(self, frame: _Frame, node: Node) -> None:
        """`<<: *base`: the base's fields, where the mapping has none of its own."""
        sources = node.children if isinstance(node.children, list) else [node]
        for source in sources:
            if not isinstance(source.children, dict):
                raise ManifestError(Message(N_("“<<” takes a mapping, or a list of mappings.")), *node.position)
            for key, held in source.children.items():
                frame.merged.setdefault(key, held)


def compose(text: str, limits: Limits = LEARNERS, progress: Progress | None = None) -> list[Node]:
    """The documents of a text as nodes. ManifestError where it is not YAML or breaks a limit but that of size."""
    composer = _Composer(limits)
    try:
        for number, event in enumerate(yaml.parse(text, Loader=yaml.CSafeLoader)):
            composer.feed(event)
            if progress is not None and number % _EVENTS_BETWEEN == 0 and event.start_mark:
                progress(min(event.start_mark.index / max(len(text), 1), 1.0))
    except yaml.MarkedYAMLError as error:
        found = yaml_problems.explain(text, error)
        raise ManifestError(found.problem, *found.position, found.advice) from error
    except (yaml.YAMLError, ValueError) as error:
        facts = {"problem": str(error).splitlines()[0]}
        raise ManifestError(Message(N_("This is not YAML: {problem}."), facts)) from error
    return composer.finished


def _position(event: yaml.Event) -> Position:
    mark = event.start_mark
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)
