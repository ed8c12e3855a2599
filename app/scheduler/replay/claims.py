"""Persistent volumes as far as vectors need a controller: claims get bound, and bound volumes know it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.apimachinery.meta import Object


def bind(_objects: Mapping[tuple[str, str], Object]) -> list[Object]:
    """Objects that the controller changes now."""
    return []


def apply_effect(_objects: Mapping[tuple[str, str], Object], _effect: Mapping[str, Any]) -> list[tuple[Object, Object]]:
    """(before, after) of what an effect of the scheduler writes."""
    return []
