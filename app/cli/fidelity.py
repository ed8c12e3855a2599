"""The page on how true the lab is: what the registries hold, beside what people wrote about it.

`docs/fidelity/*.yaml` is the hand-written column: `rows` by name, each with `state` (simulated, simplified, stored,
absent) and what `differs`; a kind's `acts_on` lists the fields that something acts upon, by structure; `notes` is
Markdown. What a registry holds and no row describes, or the other way round, is an error, so the page cannot go stale.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from app import settings
from app.apimachinery import manifests
from app.apis import schema, scheme
from app.cluster import admission
from app.cluster.controller_manager import CONTROLLERS
from app.scheduler import registry

SOURCE = settings.ROOT / "docs" / "fidelity"
STATES = ("simulated", "simplified", "stored", "absent")
_OF_EVERY_KIND = frozenset({"apiVersion", "kind", "metadata", "status"})


class FidelityError(ValueError):
    """A row is missing, left over or wrong; the text names the file and what to write."""


def page() -> str:
    """The generated part of docs/fidelity.md. FidelityError where rows and registries disagree."""
    parts = [
        _registry("Scheduler", "scheduler", [*registry.PLUGINS, *registry.UPSTREAM_POINTS, *registry.OLD]),
        _registry("Controllers", "controllers", [controller.NAME for controller in CONTROLLERS]),
        _registry("Admission", "admission", sorted(module.name for module in pkgutil.iter_modules(admission.__path__))),
        _written("API server", "api"),
        _kinds(),
        _notes("Nodes", "nodes"),
        _notes("Not compared with the real thing", "not-compared"),
        _notes("Cases from practice", "cases"),
        _syllabus(),
    ]
    return "\n".join(parts)


def read(name: str) -> dict[str, Any]:
    """One of the hand-written files."""
    (document,) = manifests.load((SOURCE / f"{name}.yaml").read_bytes())
    if not isinstance(document, dict):
        raise FidelityError(f"{name}.yaml: write a mapping")
    return document


def unacted(kind: str, path: str, acted: Iterable[str]) -> list[str]:
    """The fields of one structure of a kind (`spec`, `spec.containers[]`, or "" for the object) that nothing acts upon.

    FidelityError when the structure or one of the named fields is not in the schema.
    """
    info = next(info for info in scheme.KINDS if info.kind == kind)
    structure: schema.Type | None = schema.type_of_kind(info)
    for step in filter(None, path.split(".")):
        field = structure.fields.get(step.removesuffix("[]")) if structure else None
        structure = schema.type_of(field.element if step.endswith("[]") else field.type) if field else None
    if structure is None:
        raise FidelityError(f"kinds.yaml: {kind} has no structure {path}")
    fields = [name for name in structure.fields if path or name not in _OF_EVERY_KIND]
    if unknown := sorted(set(acted) - set(fields)):
        raise FidelityError(f"kinds.yaml: {kind} {path} has no field {', '.join(unknown)}")
    return [name for name in fields if name not in set(acted)]


def _registry(title: str, name: str, built: Sequence[str]) -> str:
    data = read(name)
    rows = _rows(name, data, built)
    table = ["| Name | State | What differs |", "| --- | --- | --- |"]
    table += [f"| {key} | {rows[key]['state']} | {rows[key].get('differs', '')} |" for key in dict.fromkeys(built)]
    return _section(title, table, data)


def _written(title: str, name: str) -> str:
    return _registry(title, name, list(read(name)["rows"]))


def _kinds() -> str:
    data = read("kinds")
    rows = _rows("kinds", data, [info.kind for info in scheme.KINDS])
    table = ["| Kind | Group | Subresources | State | What differs |", "| --- | --- | --- | --- | --- |"]
    for info in scheme.KINDS:
        row = rows[info.kind]
        subresources = ", ".join(info.subresources)
        table.append(
            f"| {info.kind} | {info.api_version} | {subresources} | {row['state']} | {row.get('differs', '')} |"
        )
    return _section("Kinds", table, data) + "\n" + _fields(rows)


def _fields(rows: Mapping[str, Mapping[str, Any]]) -> str:
    lines = [
        "### Fields",
        "",
        "What something acts upon, structure by structure. All other fields can be written and read, are checked",
        "against the schema, and nothing follows them.",
        "",
        "| Kind | Structure | Acted upon | Stored only |",
        "| --- | --- | --- | --- |",
    ]
    for kind, row in rows.items():
        for path, acted in (row.get("acts_on") or {}).items():
            left = unacted(kind, path, acted)
            lines.append(f"| {kind} | {_code([path]) if path else ''} | {_code(acted)} | {_code(left)} |")
    return "\n".join(lines) + "\n"


def _syllabus() -> str:
    data = read("syllabus")
    lines: list[str] = []
    for chapter, sentences in data["chapters"].items():
        lines += [f"### {chapter}", "", "| What a learner does and sees | Shown by |", "| --- | --- |"]
        for sentence, shown in sentences.items():
            where = shown if isinstance(shown, str) else _code(test.partition("::")[2] for test in shown)
            lines.append(f"| {sentence} | {where} |")
        lines.append("")
    return _section("Syllabus", lines, data)


def _rows(name: str, data: Mapping[str, Any], built: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    rows: dict[str, Mapping[str, Any]] = dict(data["rows"])
    if missing := sorted(set(built) - rows.keys()):
        raise FidelityError(f"docs/fidelity/{name}.yaml lacks a row for {', '.join(missing)}")
    if extra := sorted(rows.keys() - set(built)):
        raise FidelityError(f"docs/fidelity/{name}.yaml describes {', '.join(extra)}, which is not there")
    if wrong := sorted(key for key, row in rows.items() if row.get("state") not in STATES):
        raise FidelityError(f"docs/fidelity/{name}.yaml: write {', '.join(STATES)} as state of {', '.join(wrong)}")
    return rows


def _notes(title: str, name: str) -> str:
    return _section(title, [], read(name))


def _section(title: str, table: Sequence[str], data: Mapping[str, Any]) -> str:
    parts = [f"## {title}"]
    if table:
        parts.append("\n".join(table))
    if notes := str(data.get("notes") or "").strip():
        parts.append(notes)
    return "\n\n".join(parts) + "\n"


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def sources() -> list[Path]:
    """The hand-written files."""
    return sorted(SOURCE.glob("*.yaml"))
