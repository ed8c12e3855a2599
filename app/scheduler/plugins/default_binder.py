"""DefaultBinder: writes the binding (plugins/defaultbinder/default_binder.go)."""

from __future__ import annotations

from app.scheduler.framework.cycle_state import CycleState
from app.scheduler.framework.interface import Plugin
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.status import Status


class DefaultBinder(Plugin):
    """Asks for the binding; the engine's caller posts it."""

    NAME = "DefaultBinder"

    def bind(self, state: CycleState, pod: PodInfo, node: str) -> Status | None:
        """Add the effect `bind`."""
        state.effects.append({"effect": "bind", "pod": pod.key, "node": node})
        return None
