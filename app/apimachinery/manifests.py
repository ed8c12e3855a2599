"""Manifests: YAML text to objects, strictly, with the place of every field.

What is read is what kubectl reads (sigs.k8s.io/yaml: YAML 1.1 booleans, numbers as JSON, dates as text), but a
mistake gets a sentence with line, column and what to write instead. The text is the learner's, so everything is
bounded: bytes, depth, aliases, the size after aliases, and nothing recurses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from app.apimachinery import yaml_problems
from app.apimachinery.messages import N_, Message
from app.apimachinery.meta import Object
from app.apimachinery.yaml_composer import (
    LEARNERS,
    MAX_BYTES,
    Limits,
    ManifestError,
    Node,
    Position,
    Progress,
    compose,
)

__all__ = ["MAX_BYTES", "Document", "Limits", "ManifestError", "load", "parse"]


@dataclass(frozen=True)
class Document:
    """One manifest: the object, the line on which it begins, and where its fields stand."""

    object: Object
    line: int
    _node: Node = field(repr=False, compare=False)

    def where(self, path: str) -> Position:
        """Line and column of a field, named as the API does: `spec.containers[0].image`, `requests[cpu]`.

        A field that is not there is where the nearest one around it is.
        """
        node, position = self._node, self._node.position
        rest = path
        while rest:
            step = _step(node, rest)
            if step is None:
                break
            position, node, rest = step
        return position


def _step(node: Node, rest: str) -> tuple[Position, Node, str] | None:
    """One step into a node: (where, what, the path that is left); None where the path leads nowhere."""
    if isinstance(node.children, list):
        found = re.match(r"\[(\d{1,7})\]\.?", rest)
        if not found or int(found[1]) >= len(node.children):
            return None
        item = node.children[int(found[1])]
        return item.position, item, rest[found.end() :]
    if not node.children:
        return None
    # Keys may hold dots themselves, so the longest key that the path begins with is meant.
    fitting = [key for key in node.children if _begins(rest, key)]
    if not fitting:
        return None
    key = max(fitting, key=len)
    position, item = node.children[key]
    left = rest[len(key) + (2 if rest.startswith(f"[{key}]") else 0) :]
    return position, item, left.removeprefix(".")


def _begins(path: str, key: str) -> bool:
    if path.startswith(f"[{key}]"):
        return True
    return path == key or (path.startswith(key) and path[len(key)] in ".[")


def parse(data: bytes | str, limits: Limits = LEARNERS, progress: Progress | None = None) -> list[Document]:
    """The manifests in a text, lists of kind List taken apart. Empty documents among others are passed over.

    `limits` are wider where the text is no learner's.

    Raises:
        ManifestError: the text is too large, is not YAML, or holds something else than mappings with
            `apiVersion` and `kind`.
    """
    text = _text(data, limits.size)
    nodes = [node for node in compose(text, limits, progress) if node.value is not None]
    if not nodes:
        problem = Message(N_("There is no manifest in here: the text is empty or holds only comments."))
        raise ManifestError(problem, 1, 1, Message(N_("Begin with “apiVersion: v1” and “kind: Pod”, for example.")))
    documents: list[Document] = []
    for index, node in enumerate(nodes):
        _require_manifest(node, nodes, index, text)
        documents += _taken_apart(node)
    return documents


def load(data: bytes | str) -> list[Any]:
    """The values of a text's documents, whatever they are: for YAML that is no manifest. ManifestError as `parse`."""
    return [node.value for node in compose(_text(data, MAX_BYTES))]


def _text(data: bytes | str, limit: int) -> str:
    """The text without byte order mark and Windows line ends, checked for size and forbidden characters."""
    size = len(data)
    if size <= limit and isinstance(data, str):
        size = len(data.encode("utf-8", "surrogatepass"))
    if size > limit:
        facts: dict[str, Any] = {"size": size, "limit": limit}
        problem = Message(N_("This is too large: {size} bytes, and at most {limit} are read."), facts)
        raise ManifestError(problem, 1, 1, Message(N_("Send only the manifests that the task asks for.")))
    text = data if isinstance(data, str) else _decoded(data)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    found = yaml_problems.FORBIDDEN.search(text)
    if found:
        line, column = yaml_problems.place(text, found.start())
        facts = {"code": f"U+{ord(found[0]):04X}"}
        problem = Message(N_("Here stands a character that no manifest may hold ({code})."), facts)
        raise ManifestError(problem, line, column, Message(N_("Delete it: the file may not be a text file.")))
    return text


def _decoded(data: bytes) -> str:
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError as error:
            raise _not_utf8(data[:2], 0) from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(data[: error.start], error.start) from error


def _not_utf8(before: bytes, offset: int) -> ManifestError:
    line, column = yaml_problems.place(before.decode("utf-8", "replace"), offset)
    return ManifestError(
        Message(N_("This is not text in UTF-8.")), line, column, Message(N_("Save the file as UTF-8."))
    )


def _require_manifest(node: Node, nodes: list[Node], index: int, text: str) -> None:
    """Refuse a document that is no object with `apiVersion` and `kind`."""
    line, column = node.position
    if not isinstance(node.value, dict):
        raise _no_mapping(node, text)
    for key, example in (("apiVersion", "apiVersion: v1"), ("kind", "kind: Pod")):
        value = node.value.get(key)
        if isinstance(value, str) and value:
            continue
        if key in node.value:
            places = node.children if isinstance(node.children, dict) else {}
            line, column = places[key][0]
            problem = Message(N_("“{field}” must be a word, such as “{example}”."), {"field": key, "example": example})
            raise ManifestError(problem, line, column)
        raise ManifestError(
            Message(N_("“{field}” is missing."), {"field": key}),
            *_missing_place(node, key),
            _missing_advice(node, key, example, split=len(nodes) > 1 and _halves(nodes, index)),
        )


def _no_mapping(node: Node, text: str) -> ManifestError:
    line, column = node.position
    crowded = yaml_problems.crowded_colon(text, line)
    if crowded:
        return ManifestError(Message(N_("There is no space after the colon.")), *crowded.position, crowded.advice)
    problem = Message(N_("This is not a manifest: it must be fields such as “apiVersion: v1”, one a line."))
    advice = Message(
        N_("Write “apiVersion:”, “kind:”, “metadata:” and “spec:”, each with a space or a line break after it.")
    )
    return ManifestError(problem, line, column, advice)


def _misspelt(node: Node, key: str) -> str:
    return next((name for name in node.value if name.lower() == key.lower()), "")


def _missing_place(node: Node, key: str) -> Position:
    wrong = _misspelt(node, key)
    if wrong and isinstance(node.children, dict):
        return node.children[wrong][0]
    return node.position


def _missing_advice(node: Node, key: str, example: str, *, split: bool) -> Message:
    wrong = _misspelt(node, key)
    if wrong:
        facts = {"right": key, "wrong": wrong}
        return Message(N_("Write “{right}” instead of “{wrong}”: capital letters count."), facts)
    if split:
        return Message(
            N_("“---” begins a new manifest: remove it if this belongs to the one above, or add “{example}”."),
            {"example": example},
        )
    return Message(N_("Add a line such as “{example}”."), {"example": example})


def _halves(nodes: list[Node], index: int) -> bool:
    """Whether a neighbour has what this document lacks or lacks what it has: one manifest cut in two."""
    near = [nodes[place].value for place in (index - 1, index + 1) if 0 <= place < len(nodes)]
    own = set(nodes[index].value)
    return any(isinstance(other, dict) and not (own & set(other)) for other in near)


def _taken_apart(node: Node) -> Iterator[Document]:
    """The document, or a List's items."""
    children = node.children if isinstance(node.children, dict) else {}
    items = children["items"][1] if "items" in children else None
    if not str(node.value["kind"]).endswith("List") or items is None or not isinstance(items.children, list):
        yield Document(node.value, node.position[0], node)
        return
    for item in items.children:
        if not isinstance(item.value, dict) or not item.value.get("kind") or not item.value.get("apiVersion"):
            problem = Message(N_("Each item of a List is a manifest with “apiVersion” and “kind”."))
            raise ManifestError(problem, *item.position)
        yield Document(item.value, item.position[0], item)
