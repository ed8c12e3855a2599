"""Pods that nobody tries: no event will ever tell their owner so."""

from __future__ import annotations

from collections.abc import Collection

from app.apimachinery.messages import N_, Message
from app.apimachinery.meta import Object
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.why.model import Fact


def reasons(pod: Object, served: Collection[str], running: Collection[str] | None = None) -> list[Fact]:
    """Why no scheduler tries the pod; empty where one does, or where it has a node or has ended.

    `served` are the schedulerNames of all profiles that are known, `running` those of schedulers that run now (None:
    all of them). The facts have no node.
    """
    info = PodInfo.of(pod)
    if info.node_name or info.ended:
        return []
    found = []
    name = info.scheduler_name
    if name not in served:
        message = Message(
            N_("No scheduler is called {name} (spec.schedulerName), so nobody tries this pod. Known are: {served}."),
            {"name": name, "served": ", ".join(sorted(served)) or "-"},
        )
        data = {"kind": "unknownScheduler", "schedulerName": name, "served": sorted(served)}
        found.append(Fact("", "", message, data))
    elif running is not None and name not in running:
        message = Message(N_("The scheduler {name} is not running, so nobody tries this pod."), {"name": name})
        found.append(Fact("", "", message, {"kind": "schedulerNotRunning", "schedulerName": name}))
    gates = [str(gate.get("name")) for gate in info.spec.get("schedulingGates") or ()]
    if gates:
        message = Message(
            N_("The pod is held back by its scheduling gates: {gates}. It is tried once they are gone."),
            {"gates": ", ".join(gates)},
        )
        found.append(Fact("SchedulingGates", "", message, {"kind": "gates", "gates": gates}))
    claims = [str(claim.get("name")) for claim in info.spec.get("resourceClaims") or ()]
    if claims:
        message = Message(
            N_("The pod waits for resource claims that do not exist: {claims}."), {"claims": ", ".join(claims)}
        )
        found.append(Fact("DynamicResources", "", message, {"kind": "resourceClaims", "claims": claims}))
    if info.terminating:
        message = Message(N_("The pod is being deleted, so it is not placed any more."))
        found.append(Fact("", "", message, {"kind": "terminating"}))
    return found
