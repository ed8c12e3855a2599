"""Heartbeats without writes: leases and node conditions as they read while their holders live.

A kubelet renews its lease every ten seconds and reports its status every five minutes where nothing changes
(pkg/kubelet/kubelet.go: nodeStatusReportFrequency); a leader renews its lease every two seconds
(client-go/tools/leaderelection: RetryPeriod). What is stored is the last time that mattered; a reader is shown what
the holder would have written since. Holders that stop write their last heartbeat down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from app.apimachinery import clock, meta
from app.apimachinery.clock import MINUTE, SECOND, Instant, Micros, SimulatedClock
from app.apimachinery.meta import Object
from app.cluster import ownership
from app.cluster.store import Store

RENEWAL: Micros = 10 * SECOND
STATUS_REPORT: Micros = 5 * MINUTE
LEADER_RENEWAL: Micros = 2 * SECOND
IDENTITY_RENEWAL: Micros = 10 * SECOND
NODE_LEASES = "kube-node-lease"
BEATING = frozenset({"nodes", "leases"})
"""The resources that have heartbeats."""
REPORTED = frozenset({"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"})
"""The conditions that a kubelet reports."""
_CONTROL_PLANE = {"kube-controller-manager": LEADER_RENEWAL, "kube-apiserver": IDENTITY_RENEWAL}
_IDENTITY = "apiserver.kubernetes.io/identity"

Memory = Mapping[str, Mapping[str, Any]]


class Heartbeats:
    """What readers are shown of nodes and leases at the present instant."""

    def __init__(self, store: Store, moment: SimulatedClock, memory: Callable[[], Memory]) -> None:
        self._store = store
        self._clock = moment
        self._memory = memory

    def shown(self, resource: str, obj: Object) -> Object:
        """The object with its holder's latest heartbeat; any other object as it is."""
        if resource == "leases":
            return self._lease(obj)
        return self._node(obj) if resource == "nodes" else obj

    def _lease(self, lease: Object) -> Object:
        period = self._period(lease)
        renewed = (lease.get("spec") or {}).get("renewTime")
        if period is None or not renewed:
            return lease
        renewal = clock.rfc3339_micro(latest(clock.parse(renewed), period, self._clock.now()))
        return (
            lease
            if renewal == renewed
            else ownership.like({**lease, "spec": {**lease["spec"], "renewTime": renewal}}, lease)
        )

    def _period(self, lease: Object) -> Micros | None:
        """How often its holder renews the lease; None where nobody does."""
        namespace, name = meta.namespace_of(lease), meta.name_of(lease)
        if namespace == NODE_LEASES:
            return RENEWAL if self._reports(name) else None
        held = (self._memory().get("kube-scheduler") or {}).get("leases") or {}
        if held.get(meta.key_of(lease), {}).get("holder"):
            return LEADER_RENEWAL
        labels = meta.labels_of(lease)
        holder = str((lease.get("spec") or {}).get("holderIdentity") or "").partition("_")[0]
        host = labels.get("kubernetes.io/hostname", holder)
        program = labels.get(_IDENTITY, name)
        if namespace != "kube-system" or program not in _CONTROL_PLANE:
            return None
        pod = self._store.get("pods", f"kube-system/{program}-{host}")
        return _CONTROL_PLANE[program] if pod is not None else None

    def _reports(self, node: str) -> bool:
        return node not in ((self._memory().get("kubelet") or {}).get("stopped") or {})

    def _node(self, node: Object) -> Object:
        name, status = meta.name_of(node), node.get("status") or {}
        if not self._reports(name) or self._store.get("leases", f"{NODE_LEASES}/{name}") is None:
            return node
        conditions = [self._condition(found) for found in status.get("conditions") or []]
        return ownership.like({**node, "status": {**status, "conditions": conditions}}, node) if conditions else node

    def _condition(self, condition: dict[str, Any]) -> dict[str, Any]:
        beat = condition.get("lastHeartbeatTime")
        if condition.get("type") not in REPORTED or not beat or condition.get("status") == "Unknown":
            return condition
        return {
            **condition,
            "lastHeartbeatTime": clock.rfc3339(latest(clock.parse(beat), STATUS_REPORT, self._clock.now())),
        }


def latest(first: Instant, period: Micros, now: Instant) -> Instant:
    """The last of the beats that began at `first`."""
    return first if now < first else now - (now - first) % period
