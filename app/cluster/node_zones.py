"""How fast nodes may be emptied: by zone, and not at all where the fault seems to be the watcher's.

Mirrors pkg/controller/nodelifecycle/node_lifecycle_controller.go: handleDisruption, ComputeZoneState, ReducedQPSFunc.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.apimachinery import meta
from app.apimachinery.clock import SECOND, Instant, Micros
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster.loops import Context

PERIOD: Micros = 10 * SECOND
"""Between two nodes of a zone that are tainted NoExecute (node-eviction-rate, 0.1 a second)."""
SLOW_PERIOD: Micros = 100 * SECOND
"""The same in a large zone of which much has failed (secondary-node-eviction-rate)."""
LARGE = 50
"""Nodes beyond which a zone with many failures is still emptied, slowly (large-cluster-size-threshold)."""
UNHEALTHY_SHARE = 55
"""Percent of a zone's nodes from which on it counts as disrupted (unhealthy-zone-threshold)."""
_EXCLUDED = "node.kubernetes.io/exclude-disruption"
_REGION, _ZONE = "topology.kubernetes.io/region", "topology.kubernetes.io/zone"


class Limits:
    """What may be done at this instant, zone by zone."""

    def __init__(self, used: dict[str, Instant], periods: Mapping[str, Micros | None], *, master: bool) -> None:
        self.master_disruption = master
        self._used = used
        self._periods = periods
        self._now: Instant = 0

    def at(self, now: Instant) -> Limits:
        """The same, as of now."""
        self._now = now
        return self

    def are_stopped_in(self, node: Object) -> bool:
        """Whether the node's zone is not emptied at all."""
        return self._periods.get(zone_of(node), PERIOD) is None

    def next_in(self, node: Object) -> Instant:
        """When the next node of the zone may be tainted."""
        zone = zone_of(node)
        period = self._periods.get(zone, PERIOD)
        return self._used[zone] + period if zone in self._used and period is not None else 0

    def used_in(self, node: Object) -> None:
        """A node of the zone is being tainted now."""
        self._used[zone_of(node)] = self._now


def zone_of(node: Object) -> str:
    """Region and zone of a node (component-helpers/node/topology: GetZoneKey)."""
    labels = meta.labels_of(node)
    region, zone = labels.get(_REGION, ""), labels.get(_ZONE, "")
    return f"{region}:{zone}" if region or zone else ""


def limits(context: Context, nodes: Sequence[Object]) -> Limits:
    """What the nodes' health allows. `context.state` keeps when each zone last lost a node."""
    zones: dict[str, list[bool]] = {}
    for node in nodes:
        if _EXCLUDED not in meta.labels_of(node):
            ready = (utils.condition(node, "Ready") or {}).get("status") == "True"
            zones.setdefault(zone_of(node), []).append(ready)
    used: dict[str, Any] = context.state.setdefault("zones", {})
    for zone in [zone for zone, last in used.items() if last + SLOW_PERIOD <= context.now]:
        del used[zone]
    periods = {zone: _period(ready) for zone, ready in zones.items()}
    everything_failed = bool(zones) and not any(any(ready) for ready in zones.values())
    return Limits(used, periods, master=everything_failed).at(context.now)


def _period(ready: Sequence[bool]) -> Micros | None:
    failed = ready.count(False)
    if failed == len(ready) or failed <= 2 or failed * 100 < UNHEALTHY_SHARE * len(ready):
        return PERIOD
    return SLOW_PERIOD if len(ready) > LARGE else None
