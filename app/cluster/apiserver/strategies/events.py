"""Events, in their older and their newer form (pkg/registry/core/event/strategy.go)."""

from __future__ import annotations

from collections.abc import Mapping

from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError
from app.cluster.apiserver.strategy import Strategy
from app.cluster.apiserver.validation import events


class EventStrategy(Strategy):
    """Events of core/v1."""

    def validate(self, obj: Object) -> list[FieldError]:
        """The rules that both forms share."""
        return events.legacy(obj)

    def selectable_fields(self, obj: Object) -> Mapping[str, str]:
        """By the object concerned, the reason, the reporter and the type (ToSelectableFields)."""
        involved = obj.get("involvedObject") or {}
        source = (obj.get("source") or {}).get("component") or ""
        parts = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
        return {
            **super().selectable_fields(obj),
            **{f"involvedObject.{part}": str(involved.get(part) or "") for part in parts},
            "reason": obj.get("reason") or "",
            "reportingComponent": obj.get("reportingComponent") or "",
            "source": source or obj.get("reportingComponent") or "",
            "type": obj.get("type") or "",
        }


class NewEventStrategy(EventStrategy):
    """Events of events.k8s.io/v1: what they must say, and that only their series goes on."""

    def validate(self, obj: Object) -> list[FieldError]:
        """The strict rules for whatever comes in the newer form."""
        return events.new_event(obj)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The same for a change."""
        return events.new_event_update(new, old)


STRATEGIES: dict[str, Strategy] = {"events": EventStrategy(), "events.events.k8s.io": NewEventStrategy()}
