"""Runs pods until enough of them have succeeded (pkg/controller/job/job_controller.go).

One thing differs on purpose: upstream first notes the uids of ended pods in the status and counts them once they are
let go, so that a crash in between loses none. Here both happen at one instant, and `uncountedTerminatedPods` is empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.apimachinery import clock, meta
from app.apimachinery.clock import SECOND, Instant
from app.apimachinery.errors import StatusError
from app.apimachinery.meta import Object
from app.cluster import completion_indexes as indexes
from app.cluster import controller_utils as utils
from app.cluster import events, job_pods, job_policies, work_queue
from app.cluster.loops import Context

NAME = "job-controller"
WATCHES = frozenset({"jobs", "pods"})
BURST = 500
"""Pods that one sync makes or deletes at most (MaxPodCreateDeletePerSync)."""
OWN = "kubernetes.io/job-controller"
"""What `managedBy` may say so that this controller acts."""
_REACHED = ("CompletionsReached", "Reached expected number of succeeded pods")
_LAST = {"SuccessCriteriaMet": "Complete", "FailureTarget": "Failed"}


def sync(context: Context) -> None:
    """Bring every Job that something happened to closer to its end."""
    _release_orphans(context)
    for job in work_queue.touched(context, "jobs"):
        if not job_pods.is_finished(job) and job["spec"].get("managedBy") in {None, OWN}:
            _Sync(context, job).run()


def _release_orphans(context: Context) -> None:
    """Take the finalizer off pods that no job waits for any more (syncOrphanPod, cleanupPodFinalizers)."""
    suspects = context.client.list("pods") if context.full else []
    for change in context.changes:
        if change.resource == "pods" and change.type != "DELETED":
            suspects.append(change.object)
        elif change.resource == "jobs" and (change.type == "DELETED" or job_pods.is_finished(change.object)):
            suspects += context.client.list("pods", meta.namespace_of(change.object))
    for pod in suspects:
        if job_pods.is_tracked(pod) and not _is_awaited(context, pod):
            _release(context, pod)


def _is_awaited(context: Context, pod: Object) -> bool:
    owner = meta.controller_of(pod)
    if owner is None:
        return False
    if owner.get("kind") != "Job":
        return True
    job = context.client.find("jobs", str(owner.get("name")), meta.namespace_of(pod))
    return job is not None and job["metadata"]["uid"] == owner.get("uid") and not job_pods.is_finished(job)


def _release(context: Context, pod: Object) -> None:
    """Remove the tracking finalizer from the pod as it is now (removeTrackingFinalizerFromPods)."""
    found = context.client.find("pods", meta.name_of(pod), meta.namespace_of(pod))
    if found is None or found["metadata"]["uid"] != pod["metadata"]["uid"] or not job_pods.is_tracked(found):
        return
    left = [name for name in found["metadata"]["finalizers"] if name != job_pods.TRACKING]
    metadata = {key: value for key, value in found["metadata"].items() if key != "finalizers"}
    if left:
        metadata["finalizers"] = left
    utils.quietly_update(context, {**found, "metadata": metadata}, "pods")


@dataclass(frozen=True)
class _End:
    """Why a job ends: its interim condition, reason and message."""

    kind: str
    reason: str
    message: str

    @property
    def fails(self) -> bool:
        return self.kind == "FailureTarget"


class _Sync:
    """One pass over one job (syncJob). Pods are looked at as they were at its beginning."""

    def __init__(self, context: Context, job: Object) -> None:
        self.context = context
        self.job = job
        self.spec = job["spec"]
        self.uid = str(job["metadata"]["uid"])
        self.indexed = job_pods.is_indexed(job)
        self.completions = self.spec.get("completions")
        self.status = job.get("status") or {}
        self.suspended = bool(self.spec.get("suspend"))
        self.conditions = [dict(found) for found in self.status.get("conditions") or []]
        self.start = self.status.get("startTime")
        nearby = context.client.list("pods", meta.namespace_of(job))
        self.pods = utils.claim(context, job, "pods", nearby, finalizer=job_pods.TRACKING)
        self.active = [pod for pod in self.pods if utils.is_active(pod)]
        self.count = len(self.active)
        self.ready = sum(utils.is_ready(pod) for pod in self.active)
        self.leaving = sum(job_pods.is_leaving(pod) for pod in self.pods)
        self._look_at_the_ended()

    def _look_at_the_ended(self) -> None:
        """Mirrors getNewFinishedPods, calculateSucceededIndexes, calculateFailedIndexes."""
        fresh = [pod for pod in self.pods if job_pods.is_tracked(pod) and (not self.indexed or self._index(pod) >= 0)]
        self.well = [pod for pod in fresh if job_pods.phase(pod) == "Succeeded"]
        self.badly = [pod for pod in fresh if job_pods.has_failed(self.job, pod)]
        self.succeeded = int(self.status.get("succeeded") or 0) + len(self.well)
        self.failed = int(self.status.get("failed") or 0) + sum(self._judge(pod).counts for pod in self.badly)
        if not self.indexed:
            return
        size = int(self.completions or 0)
        before = indexes.parsed(str(self.status.get("completedIndexes") or ""), size)
        self.done = indexes.with_indexes(before, (self._index(pod) for pod in self.well))
        self.succeeded = indexes.total(self.done)
        lost = indexes.parsed(str(self.status.get("failedIndexes") or ""), size)
        self.lost = indexes.with_indexes(lost, (self._index(pod) for pod in self.badly if self._fails_index(pod)))
        self.waiting = self._held_for_their_successors()

    def _index(self, pod: Object) -> int:
        return job_pods.index_of(self.job, pod)

    def _judge(self, pod: Object) -> job_policies.Verdict:
        return job_policies.judge(self.job, pod)

    def _fails_index(self, pod: Object) -> bool:
        """Mirrors isIndexFailed."""
        limit = self.spec.get("backoffLimitPerIndex")
        if limit is None:
            return False
        verdict = self._judge(pod)
        return verdict.fails_index or (verdict.counts and job_pods.failures_before(pod) >= limit)

    def _held_for_their_successors(self) -> dict[int, Object]:
        """Failed pods that stay until their index has a new one, which takes over their count of failures."""
        held: dict[int, Object] = {}
        if not job_pods.counts_by_index(self.job):
            return held
        settled = indexes.with_indexes(indexes.merged(self.done, self.lost), self._indexes_of(self.active))
        for pod in self.badly:
            index = self._index(pod)
            if not indexes.has(settled, index) and (index not in held or job_pods.outlives(pod, held[index])):
                held[index] = pod
        return held

    def _indexes_of(self, pods: list[Object]) -> list[int]:
        return [index for index in map(self._index, pods) if index >= 0]

    def run(self) -> None:
        """Decide whether the job ends; make or delete pods; count what ended; write the status."""
        if self.start is None and not self.suspended:
            self.start = clock.rfc3339(self.context.now)
        self._remember_failures()
        end = self._end()
        if end is not None:
            self._delete(self.active)
        else:
            alive = not utils.is_terminating(self.job)
            if alive:
                self._manage()
            if self._is_complete():
                end = _End("SuccessCriteriaMet", *_REACHED)
            elif alive:
                self._suspend_or_resume()
        self._finish(end, self._let_go(end))

    def _remember_failures(self) -> None:
        """How many pods failed since the last success, and when the last did (newBackoffRecord)."""
        if job_pods.counts_by_index(self.job) or not (self.well or self.badly):
            return
        known = dict(self.context.state.get(self.uid) or {})
        ends = sorted(map(job_pods.finished_at, self.badly))
        if self.well:
            known.update(lost=0, since=0)
            success = max(map(job_pods.finished_at, self.well))
            ends = [end for end in ends if end > success]
        if ends:
            known.update(lost=int(known.get("lost", 0)) + len(ends), since=ends[-1])
        self.context.state[self.uid] = known

    # ---- whether it ends

    def _end(self) -> _End | None:
        for kind in _LAST:
            found = utils.condition(self.job, kind)
            if found is not None and found.get("status") == "True":
                return _End(kind, str(found.get("reason") or ""), str(found.get("message") or ""))
        for pod in self.pods:
            if job_pods.has_failed(self.job, pod) and (why := self._judge(pod).fails_job):
                return _End("FailureTarget", "PodFailurePolicy", why)
        limit = int(self.spec.get("backoffLimit", 6))
        if self.failed > limit or job_pods.restarted_too_often(self.job, self.pods):
            return _End("FailureTarget", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
        if self._is_past_deadline():
            return _End("FailureTarget", "DeadlineExceeded", "Job was active longer than specified deadline")
        return self._end_by_indexes() if self.indexed else None

    def _is_past_deadline(self) -> bool:
        """Mirrors pastActiveDeadline; sees that the job is looked at when its time is up."""
        seconds = self.spec.get("activeDeadlineSeconds")
        if seconds is None or self.start is None or self.suspended:
            self.context.cancel(f"due:{self.uid}")
            return False
        end = clock.parse(self.start) + int(seconds) * SECOND
        if end <= self.context.now:
            return True
        self.context.wake(f"due:{self.uid}", end)
        return False

    def _end_by_indexes(self) -> _End | None:
        lost, most = indexes.total(self.lost), self.spec.get("maxFailedIndexes")
        if most is not None and lost > most:
            message = "Job has exceeded the specified maximal number of failed indexes"
            return _End("FailureTarget", "MaxFailedIndexesExceeded", message)
        if lost and lost + self.succeeded >= int(self.completions or 0):
            return _End("FailureTarget", "FailedIndexes", "Job has failed indexes")
        met = job_policies.success(self.job, self.done)
        return _End("SuccessCriteriaMet", "SuccessPolicy", met) if met else None

    def _is_complete(self) -> bool:
        """Enough pods succeeded and none runs any more; without completions one success is enough."""
        if self.count:
            return False
        return self.succeeded > 0 if self.completions is None else self.succeeded >= int(self.completions)

    # ---- pods

    def _manage(self) -> None:
        """Make or delete pods, never both at once (manageJob)."""
        wanted = self._wanted()
        surplus = job_pods.for_removal(self.job, self.active, max(self.count - wanted, 0), self.context.now)[:BURST]
        if surplus:
            for pod in surplus:
                _release(self.context, pod)
            self._delete(surplus)
            return
        held = self.leaving if job_pods.only_failed_replaced(self.job) else 0
        missing = min(wanted - held - self.count, BURST)
        if missing > 0:
            self._create(missing)

    def _wanted(self) -> int:
        """How many pods should run."""
        parallelism = int(self.spec.get("parallelism", 1))
        if self.suspended:
            return 0
        if self.completions is None:
            return self.count if self.succeeded else parallelism
        return max(0, min(int(self.completions) - self.succeeded, parallelism))

    def _create(self, count: int) -> None:
        """Make pods in batches of 1, 2, 4 …, once the pause after failures is over."""
        numbers, until = self._next_indexes(count)
        if until > self.context.now:
            self.context.wake(f"young:{self.uid}", until, idle=True)
            return
        batch = 1
        while numbers:
            refusals = [refusal for index in numbers[:batch] if (refusal := self._create_one(index)) is not None]
            if refusals:
                work_queue.failed(self.context, self.uid)
                return
            numbers = numbers[batch:]
            batch *= 2
        work_queue.succeeded(self.context, self.uid)

    def _next_indexes(self, count: int) -> tuple[list[int], Instant]:
        """The indexes of the next pods (-1 where there are none), and from when on they may be made."""
        if not job_pods.counts_by_index(self.job):
            known = self.context.state.get(self.uid) or {}
            lost = int(known.get("lost", 0))
            until = int(known.get("since", 0)) + job_pods.pause_after(lost) if lost else 0
            return (self._free_indexes(count) if self.indexed else [-1] * count), until
        free = self._free_indexes(count)
        starts = {index: job_pods.free_again(self.waiting.get(index)) for index in free}
        now = [index for index in free if starts[index] <= self.context.now]
        return (now, 0) if now else (free, min(starts.values(), default=0))

    def _free_indexes(self, count: int) -> list[int]:
        """Mirrors firstPendingIndexes."""
        taken = indexes.with_indexes(indexes.merged(self.done, self.lost), self._indexes_of(self.active))
        if job_pods.only_failed_replaced(self.job):
            taken = indexes.with_indexes(taken, self._indexes_of([p for p in self.pods if job_pods.is_leaving(p)]))
        return indexes.gaps(taken, count, int(self.completions or 0))

    def _create_one(self, index: int) -> StatusError | None:
        replaced = self.waiting.get(index) if index >= 0 else None
        made = utils.create_pod(self.context, self.job, job_pods.new_pod(self.job, index, replaced), NAME)
        if isinstance(made, StatusError):
            return None if utils.namespace_ends(made) else made
        self.count += 1
        return None

    def _delete(self, pods: list[Object]) -> None:
        for pod in pods:
            utils.delete_pod(self.context, self.job, pod, NAME)
        self.count -= len(pods)
        self.leaving += len(pods)
        self.ready -= sum(utils.is_ready(pod) for pod in pods)

    def _suspend_or_resume(self) -> None:
        """Tell of a change of `suspend`; the deadline counts from the resumption."""
        reason, message = ("JobSuspended", "Job suspended") if self.suspended else ("JobResumed", "Job resumed")
        if not self._condition("Suspended", "True" if self.suspended else "False", reason, message):
            return
        self._record(events.NORMAL, "Suspended" if self.suspended else "Resumed", message)
        if not self.suspended:
            self.start = clock.rfc3339(self.context.now)
            self._is_past_deadline()

    # ---- counting

    def _let_go(self, end: _End | None) -> tuple[int, int]:
        """Release pods, and count which of them succeeded and failed (trackJobStatusAndRemoveFinalizers)."""
        well = badly = 0
        ending = end is not None or utils.is_terminating(self.job)
        for pod in self.pods:
            if not job_pods.is_tracked(pod):
                continue
            failed = job_pods.has_failed(self.job, pod)
            succeeded = job_pods.phase(pod) == "Succeeded"
            if not (ending or succeeded or (failed and not self._is_held(pod))):
                continue
            _release(self.context, pod)
            if succeeded:
                well += 1
            elif (failed or (end is not None and end.fails)) and (not self.indexed or self._index(pod) >= 0):
                badly += self._judge(pod).counts
        return well, badly

    def _is_held(self, pod: Object) -> bool:
        held = self.waiting.get(self._index(pod)) if self.indexed else None
        return held is not None and held["metadata"]["uid"] == pod["metadata"]["uid"]

    def _finish(self, end: _End | None, ended: tuple[int, int]) -> None:
        """Set the last conditions once no pod is left, write the status, tell of the end (enactJobFinished)."""
        over = False
        if end is not None:
            self._condition(end.kind, "True", end.reason, end.message)
            over = not self.leaving
        if over and end is not None:
            self._condition(_LAST[end.kind], "True", end.reason, end.message)
        status = self._new_status(ended)
        if over and end is not None and not end.fails:
            status["completionTime"] = clock.rfc3339(self.context.now)
        utils.write_status(self.context, self.job, status)
        if over and end is not None:
            self._tell_of(end, status)

    def _new_status(self, ended: tuple[int, int]) -> dict[str, Any]:
        succeeded = self.succeeded if self.indexed else int(self.status.get("succeeded") or 0) + ended[0]
        failed = int(self.status.get("failed") or 0) + ended[1]
        status: dict[str, Any] = {
            "ready": self.ready,
            "terminating": self.leaving,
            "uncountedTerminatedPods": {},
        }
        counts = {"active": self.count, "succeeded": succeeded, "failed": failed}
        status.update({name: count for name, count in counts.items() if count})
        if self.start is not None:
            status["startTime"] = self.start
        if self.conditions:
            status["conditions"] = self.conditions
        if self.indexed and self.done:
            status["completedIndexes"] = indexes.text_of(self.done)
        if self.indexed and job_pods.counts_by_index(self.job):
            status["failedIndexes"] = indexes.text_of(self.lost)
        return status

    def _tell_of(self, end: _End, status: Object) -> None:
        """Mirrors recordJobFinished; nothing is remembered of a job that is over."""
        if end.fails:
            self._record(events.WARNING, end.reason, end.message)
        else:
            if self.completions is not None and status.get("succeeded", 0) > int(self.completions):
                message = "Too many succeeded pods running after completion count reached"
                self._record(events.WARNING, "TooManySucceededPods", message)
            self._record(events.NORMAL, "Completed", "Job completed")
        self.context.state.pop(self.uid, None)
        for what in ("due", "young", "retry"):
            self.context.cancel(f"{what}:{self.uid}")

    def _condition(self, kind: str, value: str, reason: str, message: str) -> bool:
        """Set a condition; whether it changed. A new one is not set to False (ensureJobConditionStatus)."""
        stamp = clock.rfc3339(self.context.now)
        made = {"type": kind, "status": value, "lastProbeTime": stamp, "lastTransitionTime": stamp}
        made.update(reason=reason, message=message)
        for position, old in enumerate(self.conditions):
            if old.get("type") == kind:
                if (old.get("status"), old.get("reason"), old.get("message")) == (value, reason, message):
                    return False
                self.conditions[position] = made
                return True
        if value != "False":
            self.conditions.append(made)
        return value != "False"

    def _record(self, kind: str, reason: str, message: str) -> None:
        self.context.recorder.record(self.job, kind, reason, message, component=NAME)
