"""`scheduledBy`: which scheduler bound a pod, by the event that it wrote; or that none did."""

from __future__ import annotations

from collections.abc import Iterator

from app.apimachinery.messages import N_, Message
from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from app.exercises import landing
from app.exercises.base import ObjectName, PodReference, Strict
from app.exercises.checking import Context, Fault, Finding


class Spec(Strict):
    """The pod, and the scheduler that must have placed it: exactly one of `scheduler` and `nobody`."""

    pod: PodReference
    scheduler: ObjectName | None = None
    nobody: bool = False


def run(spec: Spec, context: Context) -> Finding:
    """Look for the Scheduled event of this very pod."""
    pod = landing.find(context.cluster, spec.pod)
    where = landing.place(spec.pod.namespace, spec.pod.name)
    facts = {"pod": spec.pod.name, "scheduler": spec.scheduler}
    if spec.nobody:
        looked_for = Message(N_("{pod} on a node without any scheduler"), facts)
    else:
        looked_for = Message(N_("{pod} placed by {scheduler}"), facts)
    if pod is None:
        return Finding(passed=False, looked_for=looked_for, found=landing.no_such_pod(spec.pod), where=where)
    if not landing.node_of(pod):
        return Finding(passed=False, looked_for=looked_for, found=landing.whereabouts(pod), where=where)
    by = scheduler_of(context.cluster, pod)
    passed = not by if spec.nobody else by == spec.scheduler
    found = Message(N_("{scheduler} placed it"), {"scheduler": by}) if by else Message(N_("no scheduler placed it"), {})
    return Finding(passed, looked_for, found, where)


def scheduler_of(cluster: Cluster, pod: Object) -> str:
    """The scheduler that reported this pod's Scheduled event; empty where nobody did."""
    uid = pod["metadata"].get("uid")
    for event in cluster.client.list("events", pod["metadata"].get("namespace")):
        if event.get("reason") == "Scheduled" and (event.get("involvedObject") or {}).get("uid") == uid:
            return str(event.get("reportingComponent") or (event.get("source") or {}).get("component") or "")
    return ""


def literals(spec: Spec) -> Iterator[str]:
    """The names of pod and scheduler."""
    yield spec.pod.name
    if spec.pod.namespace != "default":
        yield spec.pod.namespace
    if spec.scheduler and spec.scheduler != "default-scheduler":
        yield spec.scheduler


def faults(spec: Spec) -> Iterator[Fault]:
    """Both or neither of the two answers."""
    if (spec.scheduler is None) != spec.nobody:
        advice = Message(N_("Write either “scheduler” with a name, or “nobody: true”."), {})
        yield Fault("", Message(N_("It is not clear who must have placed the pod."), {}), advice)
