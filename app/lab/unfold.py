"""From a worker's JSON back to views: the inverse of what orjson makes of the dataclasses in `views`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.apimachinery.messages import Message
from app.lab.views import (
    ChangeView,
    EventView,
    FieldChange,
    Gauge,
    NodeView,
    PodView,
    Problem,
    ResultView,
)


def sentence(data: Mapping[str, Any] | None) -> Message | None:
    """A sentence, or None where there is none. Its facts may be sentences themselves."""
    if not data:
        return None
    return Message(data["text"], {name: _fact(fact) for name, fact in (data.get("facts") or {}).items()})


def _fact(fact: Any) -> Any:
    return sentence(fact) if isinstance(fact, dict) and fact.keys() == {"text", "facts"} else fact


def node(data: Mapping[str, Any]) -> NodeView:
    """A node."""
    gauges = {name: Gauge(**data[name]) for name in ("cpu", "memory", "pods")}
    return NodeView(**{**data, **gauges, "roles": tuple(data["roles"]), "taints": tuple(data["taints"])})


def pod(data: Mapping[str, Any]) -> PodView:
    """A pod."""
    return PodView(**{**data, "why": sentence(data["why"])})


def event(data: Mapping[str, Any]) -> EventView:
    """An event."""
    return EventView(**data)


def change(data: Mapping[str, Any]) -> ChangeView:
    """An object that differs from the start."""
    return ChangeView(**{**data, "fields": tuple(FieldChange(**field) for field in data["fields"])})


def problem(data: Mapping[str, Any]) -> Problem:
    """Something wrong in what was sent."""
    return Problem(
        message=sentence(data["message"]) or Message(""),
        line=int(data.get("line") or 0),
        column=int(data.get("column") or 0),
        advice=sentence(data.get("advice")),
    )


def result(data: Mapping[str, Any], text: str) -> ResultView:
    """One check's verdict; `text` is the check's own sentence in the reader's language."""
    return ResultView(
        name=data["name"],
        text=text,
        status=data["status"],
        points=data["points"],
        possible=data["possible"],
        looked_for=sentence(data.get("looked_for")),
        found=sentence(data.get("found")),
        where=sentence(data.get("where")),
    )
