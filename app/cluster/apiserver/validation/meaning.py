"""When two values mean the same to the server (k8s.io/apimachinery/pkg/api/equality: Semantic)."""

from __future__ import annotations

from typing import Any


def meant(value: Any) -> Any:
    """The value without what is empty, for a list that is empty equals none (apiequality.Semantic)."""
    if isinstance(value, dict):
        kept = {key: meant(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item is not None and item not in ([], {}, "")}
    return [meant(item) for item in value] if isinstance(value, list) else value
