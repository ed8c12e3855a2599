"""Makes a Job whenever a CronJob's schedule says so (pkg/controller/cronjob: cronjob_controllerv2.go, utils.go).

The times of a schedule are idle timers: a cluster does not wait for them to be settled.
"""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Any

from app.apimachinery import clock, meta
from app.apimachinery.clock import SECOND, Instant, Micros
from app.apimachinery.errors import AlreadyExists, NotFound, StatusError
from app.apimachinery.meta import Object
from app.apimachinery.validation import quoted
from app.cluster import controller_utils as utils
from app.cluster import cron, events, job_pods, time_zones, work_queue
from app.cluster.loops import Context
from app.cluster.store import WatchEvent

NAME = "cronjob-controller"
WATCHES = frozenset({"cronjobs", "jobs"})
SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp"
DELTA: Micros = SECOND // 10
"""How long after its time a schedule is looked at (nextScheduleDelta)."""
MANY = 100
"""Missed times from which on the controller warns."""
_TOO_MANY = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
_ACTIVE = "Not starting job because prior execution is running and concurrency policy is Forbid"


def sync(context: Context) -> None:
    """Look at every CronJob whose time has come, or that something happened to."""
    moved = {str(c.object["metadata"]["uid"]) for c in context.changes if _is_moved(c)}
    stirred = {str((meta.controller_of(c.object) or {}).get("uid")) for c in context.changes if c.resource == "jobs"}
    fired = {key.partition(":")[2] for key in context.fired}
    for cron_job in work_queue.touched(context, "cronjobs"):
        uid = cron_job["metadata"]["uid"]
        one = _Sync(context, cron_job)
        if uid in moved and uid not in stirred and uid not in fired:
            one.wait_for_the_next()
        else:
            one.run()


def _is_moved(change: WatchEvent) -> bool:
    """Whether the schedule was changed: nothing is started then before its next time (updateCronJob)."""
    if change.resource != "cronjobs" or change.type != "MODIFIED" or change.previous is None:
        return False
    now, before = change.object["spec"], change.previous["spec"]
    return any(now.get(name) != before.get(name) for name in ("schedule", "timeZone"))


class _GiveUpError(Exception):
    """This look at the CronJob is over; the status is still written."""


class _Sync:
    """One look at one CronJob (syncCronJob, cleanupFinishedJobs)."""

    def __init__(self, context: Context, cron_job: Object) -> None:
        self.context = context
        self.cron_job = cron_job
        self.spec = cron_job["spec"]
        self.uid = str(cron_job["metadata"]["uid"])
        self.namespace = meta.namespace_of(cron_job)
        self.name = meta.name_of(cron_job)
        self.status: dict[str, Any] = dict(cron_job.get("status") or {})
        self.active: list[dict[str, Any]] = list(self.status.get("active") or [])
        self.zone: tzinfo = time_zones.load("UTC")

    def run(self) -> None:
        """Follow the jobs, start one that is due, tidy up, write the status."""
        jobs = [job for job in self.context.client.list("jobs", self.namespace) if self._is_ours(job)]
        self._follow(jobs)
        try:
            schedule = self._schedule()
            if schedule is not None:
                self._start_what_is_due(schedule)
                self._wake(schedule)
            work_queue.succeeded(self.context, self.uid)
        except _GiveUpError:
            work_queue.failed(self.context, self.uid)
        self._tidy_up(jobs)
        self._write_status()

    def wait_for_the_next(self) -> None:
        """Only see that the next time is not missed."""
        schedule = self._schedule()
        if schedule is not None:
            self._wake(schedule)

    def _is_ours(self, job: Object) -> bool:
        """By the controller's name alone, as upstream (getJobsToBeReconciled)."""
        return (meta.controller_of(job) or {}).get("name") == self.name

    # ---- the jobs there are

    def _follow(self, jobs: list[Object]) -> None:
        """Note which jobs ended, appeared or went missing."""
        for job in jobs:
            known = any(found.get("uid") == job["metadata"]["uid"] for found in self.active)
            end = job_pods.finished_condition(job)
            if end is None:
                if not known:
                    message = f"Saw a job that the controller did not create or forgot: {meta.name_of(job)}"
                    self._warn("UnexpectedJob", message)
                continue
            if known:
                self._forget(str(job["metadata"]["uid"]))
                self._tell("SawCompletedJob", f"Saw completed job: {meta.name_of(job)}, condition: {end['type']}")
            if end["type"] == "Complete":
                self._succeeded_at(job)
        there = {job["metadata"]["uid"] for job in jobs}
        for reference in [found for found in self.active if found.get("uid") not in there]:
            if self.context.client.find("jobs", str(reference.get("name")), self.namespace) is None:
                self._tell("MissingJob", f"Active job went missing: {reference.get('name')}")
                self._forget(str(reference.get("uid")))

    def _succeeded_at(self, job: Object) -> None:
        ended, known = (job.get("status") or {}).get("completionTime"), self.status.get("lastSuccessfulTime")
        if ended is not None and (known is None or clock.parse(ended) > clock.parse(known)):
            self.status["lastSuccessfulTime"] = ended

    def _forget(self, uid: str) -> None:
        self.active = [found for found in self.active if found.get("uid") != uid]

    # ---- the schedule

    def _schedule(self) -> cron.Schedule | None:
        """The schedule to go by, or None where nothing is to be started."""
        if utils.is_terminating(self.cron_job):
            return None
        name = str(self.spec.get("timeZone") or "")
        try:
            self.zone = time_zones.load(name)
        except time_zones.UnknownTimeZoneError as error:
            self._warn("UnknownTimeZone", f"invalid timeZone: {quoted(name)}: {error}")
            return None
        if self.spec.get("suspend"):
            return None
        try:
            return cron.parse(self.spec["schedule"])
        except cron.ScheduleError as error:
            self._warn("UnparseableSchedule", f"unparseable schedule: {quoted(self.spec['schedule'])} : {error}")
            return None

    def _start_what_is_due(self, schedule: cron.Schedule) -> None:
        try:
            moment, missed = self._most_recent(schedule, within_deadline=True)
        except cron.ScheduleError as error:
            self._warn("InvalidSchedule", f"invalid schedule: {self.spec['schedule']} : {error}")
            return
        if moment is None:
            return
        if missed > MANY:
            self._warn("TooManyMissedTimes", _TOO_MANY)
        deadline = self.spec.get("startingDeadlineSeconds")
        if deadline is not None and moment + int(deadline) * SECOND < self.context.now:
            self._warn("MissSchedule", f"Missed scheduled time to start a job: {_rfc1123z(moment)}")
        elif not self._is_processed(moment):
            self._start(moment)

    def _is_processed(self, moment: Instant) -> bool:
        last, name = self.status.get("lastScheduleTime"), self._job_name(moment)
        if last is not None and clock.parse(last) == moment:
            return True
        return any(found.get("name") == name for found in self.active)

    def _most_recent(self, schedule: cron.Schedule, *, within_deadline: bool) -> tuple[Instant | None, int]:
        """The last time that has come since the last run, and how many came (mostRecentScheduleTime)."""
        now, earliest = self.context.now, self._earliest(within_deadline=within_deadline)
        first = schedule.next(earliest, self.zone)
        second = None if first is None else schedule.next(first, self.zone)
        if first is not None and now < first:
            return None, 0
        if first is not None and second is not None and now < second:
            return first, 0
        if first is None or second is None:
            raise cron.ScheduleError("time difference between two schedules is less than 1 second")
        pause = (second - first) // SECOND
        missed = (now - first) // SECOND // pause + 1
        start = first + (missed - 2) * pause * SECOND
        return schedule.latest(start, now, self.zone), missed

    def _earliest(self, *, within_deadline: bool) -> Instant:
        last, deadline = self.status.get("lastScheduleTime"), self.spec.get("startingDeadlineSeconds")
        earliest = utils.created(self.cron_job) if last is None else clock.parse(last)
        if within_deadline and deadline is not None:
            return max(earliest, self.context.now - int(deadline) * SECOND)
        return earliest

    def _wake(self, schedule: cron.Schedule) -> None:
        """Be woken just after the next time (nextScheduleTimeDuration)."""
        try:
            recent, missed = self._most_recent(schedule, within_deadline=False)
        except cron.ScheduleError:
            recent, missed = None, 1
        if recent is None:
            recent = self.context.now if missed else self._earliest(within_deadline=False)
        moment = schedule.next(recent, self.zone)
        if moment is None:
            self.context.cancel(f"due:{self.uid}")
            return
        self.context.wake(f"due:{self.uid}", max(moment + DELTA, self.context.now + 1), idle=True)

    # ---- a new job

    def _start(self, moment: Instant) -> None:
        policy = self.spec.get("concurrencyPolicy")
        if policy == "Forbid" and self.active:
            self._tell("JobAlreadyActive", _ACTIVE)
            return
        if policy == "Replace":
            for reference in list(self.active):
                self._replace(reference)
        job = self._create(moment)
        if job is None:
            return
        self.active = [*self.active, events.reference(job)]
        self.status["lastScheduleTime"] = clock.rfc3339(moment)

    def _replace(self, reference: dict[str, Any]) -> None:
        job = self.context.client.find("jobs", str(reference.get("name")), self.namespace)
        if job is None:
            self._warn("FailedGet", f'Get job: jobs.batch "{reference.get("name")}" not found')
            raise _GiveUpError
        if not self._delete(job):
            raise _GiveUpError

    def _create(self, moment: Instant) -> Object | None:
        """The new job; or the one of that name, where the CronJob forgot that it made it (getJobFromTemplate2)."""
        name = self._job_name(moment)
        template = self.spec["jobTemplate"]
        given = template.get("metadata") or {}
        local = datetime.fromtimestamp(moment // SECOND, self.zone).isoformat().replace("+00:00", "Z")
        metadata = {
            "name": name,
            "namespace": self.namespace,
            "annotations": {**(given.get("annotations") or {}), SCHEDULED_AT: local},
            "ownerReferences": [utils.owner_reference(self.cron_job)],
        }
        if given.get("labels"):
            metadata["labels"] = given["labels"]
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": template.get("spec") or {}}
        try:
            made = self.context.client.create(job, self.namespace)
        except AlreadyExists:
            found = self.context.client.get("jobs", name, self.namespace)
            owner = meta.controller_of(found)
            known = any(reference.get("uid") == found["metadata"]["uid"] for reference in self.active)
            return found if owner is not None and owner.get("uid") == self.uid and not known else None
        except StatusError as error:
            if not utils.namespace_ends(error):
                self._warn("FailedCreate", f"Error creating job: {error.message}")
            raise _GiveUpError from error
        self._tell("SuccessfulCreate", f"Created job {name}")
        return made

    def _job_name(self, moment: Instant) -> str:
        """The CronJob's name and the scheduled minute (getJobName)."""
        return f"{self.name}-{moment // clock.MINUTE}"

    # ---- tidying up

    def _tidy_up(self, jobs: list[Object]) -> None:
        """Delete the oldest ended jobs beyond the limits (cleanupFinishedJobs)."""
        for kind, limit in (("Complete", "successfulJobsHistoryLimit"), ("Failed", "failedJobsHistoryLimit")):
            most = self.spec.get(limit)
            if most is None:
                continue
            ended = [job for job in jobs if (job_pods.finished_condition(job) or {}).get("type") == kind]
            for job in sorted(ended, key=_by_start)[: max(len(ended) - int(most), 0)]:
                self._delete(job)

    def _delete(self, job: Object) -> bool:
        """Delete a job and its pods (deleteJob)."""
        if not utils.is_terminating(job):
            try:
                self.context.client.delete("jobs", meta.name_of(job), self.namespace, propagation="Background")
            except NotFound as error:
                self._warn("FailedDelete", f"Deleted job: {error.message}")
                return False
            self._tell("SuccessfulDelete", f"Deleted job {meta.name_of(job)}")
        self._forget(str(job["metadata"]["uid"]))
        return True

    def _write_status(self) -> None:
        status = {key: value for key, value in self.status.items() if key != "active"}
        if self.active:
            status["active"] = self.active
        utils.write_status(self.context, self.cron_job, status)

    def _tell(self, reason: str, message: str) -> None:
        self.context.recorder.record(self.cron_job, events.NORMAL, reason, message, component=NAME)

    def _warn(self, reason: str, message: str) -> None:
        self.context.recorder.record(self.cron_job, events.WARNING, reason, message, component=NAME)


def _by_start(job: Object) -> tuple[bool, str, str]:
    """The order of byJobStartTime: jobs that never started come last."""
    start = (job.get("status") or {}).get("startTime")
    return start is None, start or "", meta.name_of(job)


def _rfc1123z(moment: Instant) -> str:
    """Go's time.RFC1123Z, in UTC: `Sun, 01 Mar 2026 09:05:00 +0000`."""
    return datetime.fromtimestamp(moment // SECOND, time_zones.load("UTC")).strftime("%a, %d %b %Y %H:%M:%S %z")
