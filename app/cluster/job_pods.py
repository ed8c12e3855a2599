"""What the pods of a Job mean to it (pkg/controller/job: indexed_job_utils.go, backoff_utils.go; pkg/controller/util).

Questions only: nothing here writes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.apimachinery import clock, meta
from app.apimachinery.clock import MINUTE, SECOND, Instant, Micros
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster import job_policies, replica_ranks

TRACKING = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"
IGNORED_FAILURES = "batch.kubernetes.io/job-index-ignored-failure-count"
BACKOFF: Micros = 10 * SECOND
MAX_BACKOFF: Micros = 10 * MINUTE
"""Pauses after a pod failed (DefaultJobPodFailureBackOff, MaxJobPodFailureBackOff)."""
_MAX_DOUBLINGS = 10
_LONGEST_PREFIX = 58
_ENDED = frozenset({"Succeeded", "Failed"})
_LARGEST = 2**31 - 1


def is_finished(job: Object) -> bool:
    """Complete or Failed (job/util/utils.go: IsJobFinished)."""
    return finished_condition(job) is not None


def finished_condition(job: Object) -> dict[str, Any] | None:
    """The condition that ended the job (job/util/utils.go: FinishedCondition)."""
    for found in (job.get("status") or {}).get("conditions") or []:
        if found.get("type") in {"Complete", "Failed"} and found.get("status") == "True":
            return dict(found)
    return None


def is_indexed(job: Object) -> bool:
    """Whether each completion has its index."""
    return bool(job["spec"].get("completionMode") == "Indexed")


def counts_by_index(job: Object) -> bool:
    """Whether failures are counted index by index (hasBackoffLimitPerIndex)."""
    return job["spec"].get("backoffLimitPerIndex") is not None


def only_failed_replaced(job: Object) -> bool:
    """Whether a pod is replaced only once it has ended (onlyReplaceFailedPods)."""
    spec = job["spec"]
    return bool(spec.get("podReplacementPolicy") == "Failed" or spec.get("podFailurePolicy") is not None)


def phase(pod: Object) -> str:
    """The pod's phase."""
    return str((pod.get("status") or {}).get("phase") or "")


def is_tracked(pod: Object) -> bool:
    """Whether the pod is still held for counting (hasJobTrackingFinalizer)."""
    return TRACKING in (pod["metadata"].get("finalizers") or [])


def is_leaving(pod: Object) -> bool:
    """Asked to end, and has not ended (IsPodTerminating)."""
    return utils.is_terminating(pod) and phase(pod) not in _ENDED


def has_failed(job: Object, pod: Object) -> bool:
    """Whether the pod counts as failed: also one that is being deleted, unless its end is waited for (isPodFailed)."""
    if phase(pod) == "Failed":
        return True
    return not only_failed_replaced(job) and is_leaving(pod)


def index_of(job: Object, pod: Object) -> int:
    """The pod's completion index, or -1 where it has none that the job knows (getCompletionIndex)."""
    index = _whole(meta.annotations_of(pod).get(INDEX), -1)
    return index if index < int(job["spec"].get("completions") or 0) else -1


def failures_before(pod: Object) -> int:
    """How many pods of the index failed before this one, as far as they count (getIndexFailureCount)."""
    return _whole(meta.annotations_of(pod).get(FAILURES))


def _ignored_before(pod: Object) -> int:
    return _whole(meta.annotations_of(pod).get(IGNORED_FAILURES))


def _whole(text: str | None, missing: int = 0) -> int:
    if text is None or not (text.isascii() and text.isdecimal()) or len(text) > 10 or int(text) > _LARGEST:
        return missing
    return int(text)


def finished_at(pod: Object) -> Instant:
    """When the pod ended, as near as its status tells (getFinishedTime)."""
    status, metadata = pod.get("status") or {}, pod["metadata"]
    ends = [((found.get("state") or {}).get("terminated") or {}) for found in status.get("containerStatuses") or []]
    if ends and all(end.get("finishedAt") for end in ends):
        return max(clock.parse(end["finishedAt"]) for end in ends)
    ready = utils.condition(pod, "Ready")
    if ready is not None and ready.get("status") == "False" and ready.get("lastTransitionTime"):
        return clock.parse(ready["lastTransitionTime"])
    if metadata.get("deletionTimestamp"):
        grace = int(metadata.get("deletionGracePeriodSeconds") or 0)
        return clock.parse(metadata["deletionTimestamp"]) - grace * SECOND
    return utils.created(pod)


def pause_after(failures: int) -> Micros:
    """10 s, 20 s, 40 s … up to 10 min after so many failures in a row (getRemainingTimeForFailuresCount)."""
    return min(BACKOFF << min(failures - 1, _MAX_DOUBLINGS), MAX_BACKOFF) if failures > 0 else 0


def free_again(replaced: Object | None) -> Instant:
    """From when on the index of a failed pod may have a new one (getRemainingTimePerIndex)."""
    if replaced is None:
        return 0
    return finished_at(replaced) + pause_after(failures_before(replaced) + _ignored_before(replaced) + 1)


def outlives(pod: Object, other: Object) -> bool:
    """Whether `pod` is the later failure of the two of one index (getPodsWithDelayedDeletionPerIndex)."""
    mine, its = (failures_before(found) + _ignored_before(found) for found in (pod, other))
    return mine >= its and finished_at(pod) >= finished_at(other)


def restarted_too_often(job: Object, pods: Iterable[Object]) -> bool:
    """Whether containers were restarted more often than the limit allows (pastBackoffLimitOnFailure)."""
    if job["spec"]["template"]["spec"].get("restartPolicy") != "OnFailure":
        return False
    statuses = [pod.get("status") or {} for pod in pods if phase(pod) in {"Running", "Pending"}]
    kinds = ("initContainerStatuses", "containerStatuses")
    total = sum(
        found.get("restartCount", 0) for status in statuses for kind in kinds for found in status.get(kind) or []
    )
    limit = int(job["spec"].get("backoffLimit", 6))
    return bool(total > 0 if limit == 0 else total >= limit)


def for_removal(job: Object, active: list[Object], least: int, now: Instant) -> list[Object]:
    """The pods to delete: indexes that stand twice or are wrong, and the least ready ones (activePodsForRemoval)."""
    removed: list[Object] = []
    left = active
    if is_indexed(job):
        left, best = [], {}
        for pod in reversed(replica_ranks.ranked(active, (), now)):
            index = index_of(job, pod)
            if index < 0 or index in best:
                removed.append(pod)
            else:
                best[index] = pod
                left.append(pod)
    if len(removed) < least:
        removed += replica_ranks.ranked(left, (), now)[: least - len(removed)]
    return removed


def new_pod(job: Object, index: int, replaced: Object | None) -> Object:
    """A pod of the job, with its index where it has one (manageJob: podTemplate; addCompletionIndex…)."""
    pod = utils.pod_from_template(job, job["spec"]["template"])
    metadata: dict[str, Any] = {**pod["metadata"]}
    finalizers = metadata.get("finalizers") or []
    metadata["finalizers"] = finalizers if TRACKING in finalizers else [*finalizers, TRACKING]
    if index < 0:
        return {**pod, "metadata": metadata}
    annotations = {**(metadata.get("annotations") or {}), INDEX: str(index)}
    if counts_by_index(job):
        annotations.update(_failure_counts(job, replaced))
    suffix = f"-{index}-"
    metadata["generateName"] = meta.name_of(job)[: _LONGEST_PREFIX - len(suffix)] + suffix
    metadata["annotations"] = annotations
    metadata["labels"] = {**(metadata.get("labels") or {}), INDEX: str(index)}
    spec = {**pod["spec"], "hostname": f"{meta.name_of(job)}-{index}"}
    for kind in ("initContainers", "containers"):
        if spec.get(kind):
            spec[kind] = [_with_index(container) for container in spec[kind]]
    return {**pod, "metadata": metadata, "spec": spec}


def _failure_counts(job: Object, replaced: Object | None) -> dict[str, str]:
    """Mirrors getNewIndexFailureCounts."""
    if replaced is None:
        return {FAILURES: "0"}
    counts = job_policies.judge(job, replaced).counts
    found = {FAILURES: str(failures_before(replaced) + counts)}
    if ignored := _ignored_before(replaced) + (not counts):
        found[IGNORED_FAILURES] = str(ignored)
    return found


def _with_index(container: Object) -> Object:
    env = container.get("env") or []
    if any(variable.get("name") == "JOB_COMPLETION_INDEX" for variable in env):
        return container
    source = {"fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.labels['{INDEX}']"}}
    return {**container, "env": [*env, {"name": "JOB_COMPLETION_INDEX", "valueFrom": source}]}
