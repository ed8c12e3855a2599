"""Deletes finished Jobs when their time is up (pkg/controller/ttlafterfinished/ttlafterfinished_controller.go)."""

from __future__ import annotations

from app.apimachinery import clock, meta
from app.apimachinery.clock import SECOND
from app.apimachinery.errors import Conflict, NotFound
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster import job_pods, work_queue
from app.cluster.loops import Context

NAME = "ttl-after-finished-controller"
WATCHES = frozenset({"jobs"})


def sync(context: Context) -> None:
    """Delete each job `ttlSecondsAfterFinished` after its end, and its pods before it."""
    for job in work_queue.touched(context, "jobs"):
        seconds = job["spec"].get("ttlSecondsAfterFinished")
        end = _finished_at(job)
        if seconds is None or end is None or utils.is_terminating(job):
            continue
        due = end + int(seconds) * SECOND
        if due > context.now:
            context.wake(f"due:{job['metadata']['uid']}", due, idle=True)
        else:
            _delete(context, job)


def _delete(context: Context, job: Object) -> None:
    try:
        context.client.delete(
            "jobs", meta.name_of(job), meta.namespace_of(job), propagation="Foreground", uid=job["metadata"]["uid"]
        )
    except (NotFound, Conflict):
        return


def _finished_at(job: Object) -> clock.Instant | None:
    """When the job became Complete or Failed (jobFinishTime)."""
    found = job_pods.finished_condition(job)
    return None if found is None else clock.parse(found["lastTransitionTime"])
