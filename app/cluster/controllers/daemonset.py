"""One pod on every eligible node for each DaemonSet (pkg/controller/daemon: daemon_controller.go, update.go).

Pods are aimed at their node by node affinity on `metadata.name`; the default scheduler places them.
"""

from __future__ import annotations

from typing import Any

from app.apimachinery import meta
from app.apimachinery.clock import SECOND, Instant, Micros
from app.apimachinery.errors import NotFound, StatusError
from app.apimachinery.meta import Object
from app.cluster import controller_history as history
from app.cluster import controller_utils as utils
from app.cluster import daemon_pods, daemon_rollout, events, work_queue
from app.cluster.loops import Context
from app.cluster.store import WatchEvent

NAME = "daemonset-controller"
WATCHES = frozenset({"daemonsets", "pods", "nodes", "controllerrevisions"})
BURST = 250
"""Pods that one step makes or deletes at most (BurstReplicas)."""
FIRST_PAUSE: Micros = SECOND
MAX_PAUSE: Micros = 900 * SECOND
"""How long a failed pod stays before it is deleted, if pods failed there before (failedPodsBackoff)."""


def sync(context: Context) -> None:
    """Bring every DaemonSet that something happened to closer to one pod a node."""
    for key in [key for key in context.state if "/" in key]:
        del context.state[key]  # an earlier version's memory, by owner and node
    moved = any(_moves_pods(change) for change in context.changes)
    touched = work_queue.touched(context, "daemonsets")
    for daemonset in context.client.list("daemonsets") if moved else touched:
        _Sync(context, daemonset).run()


def _moves_pods(change: WatchEvent) -> bool:
    """Whether a change of a node can matter to DaemonSets (addNode, updateNode, deleteNode)."""
    if change.resource != "nodes":
        return False
    now, before = change.object, change.previous
    if change.type != "MODIFIED" or before is None:
        return True
    return meta.labels_of(now) != meta.labels_of(before) or now.get("spec") != before.get("spec")


class _Sync:
    """One pass over one DaemonSet (syncDaemonSet)."""

    def __init__(self, context: Context, daemonset: Object) -> None:
        self.context = context
        self.daemonset = daemonset
        self.uid = str(daemonset["metadata"]["uid"])
        self.nodes = context.client.list("nodes")
        self.wanted = {meta.name_of(node): daemon_pods.should_run(daemonset, node) for node in self.nodes}
        self.code = ""
        self.soonest: Instant | None = None

    def run(self) -> None:
        """Keep the history, place pods, follow the template, count."""
        if utils.is_terminating(self.daemonset):
            return
        revisions = history.revisions_of(self.context, self.daemonset)
        current, collisions = history.current(self.context, self.daemonset, revisions, history.HASH_LABEL)
        self.code = meta.labels_of(current).get(history.HASH_LABEL, "")
        by_node = self._by_node()
        before = self.context.client.revision
        self._place(by_node)
        if self.context.client.revision == before:
            self._roll(by_node)
        self._truncate([found for found in revisions if meta.name_of(found) != meta.name_of(current)])
        self._update_status(self._by_node(), collisions)
        self._wait_for_availability()

    def _by_node(self) -> dict[str, list[Object]]:
        """The DaemonSet's pods by their node, without those that are over and going (getNodesToDaemonPods)."""
        pods = self.context.client.list("pods", meta.namespace_of(self.daemonset))
        found: dict[str, list[Object]] = {}
        for pod in utils.claim(self.context, self.daemonset, "pods", pods):
            over = _phase(pod) in {"Succeeded", "Failed"}
            if not (over and utils.is_terminating(pod)):
                found.setdefault(daemon_pods.target(pod), []).append(pod)
        return found

    # ---- one pod a node

    def _place(self, by_node: dict[str, list[Object]]) -> None:
        """Mirrors manage, podsShouldBeOnNode."""
        plan = daemon_rollout.Plan()
        for node, (run, stay) in self.wanted.items():
            pods = by_node.get(node, [])
            living = [pod for pod in pods if not utils.is_terminating(pod)]
            if run and not pods:
                plan.create.append(node)
            elif stay:
                running = self._without_ended(node, living, plan)
                if daemon_pods.allows_surge(self.daemonset):
                    plan.delete += self._too_many_of_a_surge(running)
                    plan.create += [node] if run and not running else []
                else:
                    plan.delete += daemon_pods.in_order(running)[1:]
            else:
                plan.delete += living
        for node, pods in by_node.items():
            if node not in self.wanted:
                waiting = [pod for pod in pods if not pod["spec"].get("nodeName")]
                plan.delete += [pod for pod in waiting if not utils.is_terminating(pod)]
        self._carry_out(plan)

    def _without_ended(self, node: str, pods: list[Object], plan: daemon_rollout.Plan) -> list[Object]:
        """The pods that run; those that ended are deleted, failed ones after a growing pause."""
        running: list[Object] = []
        for pod in pods:
            where = f"daemon pod {meta.key_of(pod)} on node {node}"
            if _phase(pod) == "Failed":
                if self._may_end_failed(node):
                    self._record(events.WARNING, "FailedDaemonPod", f"Found failed {where}, will try to kill it")
                    plan.delete.append(pod)
            elif _phase(pod) == "Succeeded":
                self._record(events.NORMAL, "SucceededDaemonPod", f"Found succeeded {where}, will try to delete it")
                plan.delete.append(pod)
            else:
                running.append(pod)
        return running

    def _may_end_failed(self, node: str) -> bool:
        """Whether the node's pause is over; the next one is twice as long (IsInBackOffSinceUpdate, Next)."""
        known = dict(self.context.state.get(self.uid) or {})
        pauses = dict(known.get("pauses") or {})
        pause, since = pauses.get(node) or (0, 0)
        now = self.context.now
        if now - since <= 2 * MAX_PAUSE and now < since + pause:
            self.context.wake(f"due:{self.uid}", since + pause, idle=True)
            return False
        stale = now - since > 2 * MAX_PAUSE
        pauses[node] = [FIRST_PAUSE if stale else min(pause * 2, MAX_PAUSE) or FIRST_PAUSE, now]
        self.context.state[self.uid] = {**known, "pauses": pauses}
        return True

    def _too_many_of_a_surge(self, running: list[Object]) -> list[Object]:
        """At most one old and one new pod: the old one while it serves and the new one does not."""
        if len(running) <= 1:
            return []
        ordered = daemon_pods.in_order(running)
        new = [pod for pod in ordered if meta.labels_of(pod).get(history.HASH_LABEL) == self.code]
        old = [pod for pod in ordered if pod not in new]
        surplus = new[1:] + old[1:]
        if new and old and (not utils.is_ready(old[0]) or self._is_available(new[0])):
            surplus.append(old[0])
        return surplus

    def _carry_out(self, plan: daemon_rollout.Plan) -> None:
        """Delete and make pods, in batches of 1, 2, 4 … until one is refused (syncNodes)."""
        batch, left = 1, plan.create[:BURST]
        while left:
            made = [self._create(node) for node in left[:batch]]
            if any(isinstance(found, StatusError) and not utils.namespace_ends(found) for found in made):
                work_queue.failed(self.context, self.uid)
                break
            left = left[batch:]
            batch *= 2
        else:
            work_queue.succeeded(self.context, self.uid)
        for pod in plan.delete[:BURST]:
            utils.delete_pod(self.context, self.daemonset, pod, NAME)

    def _create(self, node: str) -> Object | StatusError:
        pod = daemon_pods.new_pod(self.daemonset, node, self.code)
        return utils.create_pod(self.context, self.daemonset, pod, NAME)

    # ---- updates

    def _roll(self, by_node: dict[str, list[Object]]) -> None:
        """One step of a rolling update, where nothing had to be placed."""
        if (self.daemonset["spec"].get("updateStrategy") or {}).get("type") != "RollingUpdate":
            return
        wanted = frozenset(node for node, (run, _) in self.wanted.items() if run)
        everywhere = {**{node: [] for node in wanted}, **by_node}
        rollout = daemon_rollout.Rollout(self.daemonset, self.code, wanted, everywhere, self._is_available)
        plan = rollout.plan()
        if plan.delete or plan.create:
            self._carry_out(plan)

    def _is_available(self, pod: Object) -> bool:
        wait = int(self.daemonset["spec"].get("minReadySeconds") or 0)
        since = utils.ready_since(pod)
        if since is not None and since + wait * SECOND > self.context.now:
            self.soonest = min(self.soonest or since + wait * SECOND, since + wait * SECOND)
        return utils.is_available(pod, wait, self.context.now)

    def _wait_for_availability(self) -> None:
        if self.soonest is not None:
            self.context.wake(f"available:{self.uid}", self.soonest)

    def _truncate(self, old: list[Object]) -> None:
        """Delete the oldest revisions beyond the limit, but for those of living pods (cleanupHistory)."""
        surplus = len(old) - int(self.daemonset["spec"].get("revisionHistoryLimit", 10))
        if surplus <= 0:
            return
        pods = self.context.client.list("pods", meta.namespace_of(self.daemonset))
        mine = [pod for pod in pods if (meta.controller_of(pod) or {}).get("uid") == self.uid]
        living = {meta.labels_of(pod).get(history.HASH_LABEL) for pod in mine}
        unused = [found for found in old if meta.labels_of(found).get(history.HASH_LABEL) not in living]
        for revision in unused[:surplus]:
            try:
                self.context.client.delete("controllerrevisions", meta.name_of(revision), meta.namespace_of(revision))
            except NotFound:
                continue

    # ---- status

    def _update_status(self, by_node: dict[str, list[Object]], collisions: int) -> None:
        """Mirrors updateDaemonSetStatus: the counts that `kubectl get ds` prints."""
        counts = dict.fromkeys(("desired", "current", "misscheduled", "ready", "updated", "available"), 0)
        for node, (run, _) in self.wanted.items():
            pods = by_node.get(node)
            if not run:
                counts["misscheduled"] += bool(pods)
                continue
            counts["desired"] += 1
            if not pods:
                continue
            first = daemon_pods.in_order(pods)[0]
            ready = utils.is_ready(first)
            counts["current"] += 1
            counts["ready"] += ready
            counts["available"] += ready and self._is_available(first)
            counts["updated"] += daemon_pods.is_updated(self.daemonset, first, self.code)
        status: dict[str, Any] = {
            "currentNumberScheduled": counts["current"],
            "numberMisscheduled": counts["misscheduled"],
            "desiredNumberScheduled": counts["desired"],
            "numberReady": counts["ready"],
            "observedGeneration": self.daemonset["metadata"].get("generation", 1),
        }
        optional = {
            "updatedNumberScheduled": counts["updated"],
            "numberAvailable": counts["available"],
            "numberUnavailable": counts["desired"] - counts["available"],
            "collisionCount": collisions,
        }
        status.update({name: count for name, count in optional.items() if count})
        utils.write_status(self.context, self.daemonset, status)

    def _record(self, kind: str, reason: str, message: str) -> None:
        self.context.recorder.record(self.daemonset, kind, reason, message, component=NAME)


def _phase(pod: Object) -> str:
    return str((pod.get("status") or {}).get("phase") or "")
