"""The kinds of checks. A new kind is a module of `checks/`, a line here, and a field of `model.Check`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from app.exercises.checking import Unit
from app.exercises.checks import event, object, placement, probe, scheduled_by  # noqa: A004 (a check's name)

UNITS: Mapping[str, Unit] = MappingProxyType(
    {
        "object": object,
        "placement": placement,
        "scheduledBy": scheduled_by,
        "event": event,
        "probe": probe,
    }
)
"""The field in the file → the module that judges it."""
