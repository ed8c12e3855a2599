"""Rules for CronJobs (pkg/apis/batch/validation/validation.go: ValidateCronJobCreate, ValidateCronJobUpdate)."""

from __future__ import annotations

import re

from app.apimachinery import meta
from app.apimachinery.messages import N_, Message
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, invalid, not_supported, required
from app.cluster import cron, time_zones
from app.cluster.apiserver.validation import jobs
from app.cluster.apiserver.validation.templates import counts

_LONGEST_NAME = 52
_POLICIES = ("Allow", "Forbid", "Replace")
_FIVE = N_("A schedule has five fields, minute, hour, day, month, weekday: “*/5 * * * *” is every five minutes.")
_ZONE_PART = r"[A-Za-z.\-_0-9+]{1,14}"


def validate(obj: Object) -> list[FieldError]:
    """A new CronJob; its name leaves room for what its jobs append."""
    errors = _spec(obj.get("spec") or {}, None)
    if len(meta.name_of(obj)) > _LONGEST_NAME:
        detail = f"must be no more than {_LONGEST_NAME} characters"
        errors.append(invalid("metadata.name", meta.name_of(obj), detail))
    return errors


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A change: a time zone that was there already is not looked at again."""
    return _spec(new.get("spec") or {}, old.get("spec") or {})


def _spec(spec: Object, before: Object | None) -> list[FieldError]:
    """ValidateCronJobSpec."""
    schedule, zone = spec.get("schedule") or "", spec.get("timeZone")
    if schedule:
        errors = _schedule(schedule, zone, named_before="TZ" in ((before or {}).get("schedule") or ""))
    else:
        errors = [required("spec.schedule")]
    errors += counts(spec, "spec", "startingDeadlineSeconds")
    if before is None or before.get("timeZone") != zone:
        errors += _time_zone(zone)
    policy = spec.get("concurrencyPolicy") or ""
    if not policy:
        errors.append(required("spec.concurrencyPolicy"))
    elif policy not in _POLICIES:
        errors.append(not_supported("spec.concurrencyPolicy", policy, _POLICIES))
    errors += _job_template((spec.get("jobTemplate") or {}).get("spec") or {})
    return errors + counts(spec, "spec", "successfulJobsHistoryLimit", "failedJobsHistoryLimit")


def _job_template(spec: Object) -> list[FieldError]:
    """ValidateJobTemplateSpec: selectors are made for each job."""
    field = "spec.jobTemplate.spec"
    errors = jobs.spec_problems(spec, field)
    if spec.get("selector") is not None:
        errors.append(invalid(f"{field}.selector", spec["selector"], "`selector` will be auto-generated"))
    if spec.get("manualSelector"):
        errors.append(not_supported(f"{field}.manualSelector", True, ("nil", "false")))
    return errors


def _schedule(schedule: str, zone: str | None, *, named_before: bool) -> list[FieldError]:
    """ValidateScheduleFormat."""
    errors: list[FieldError] = []
    try:
        cron.parse(schedule)
    except cron.ScheduleError as error:
        errors.append(invalid("spec.schedule", schedule, str(error), Message(_FIVE)))
    if "TZ" not in schedule:
        return errors
    if not named_before:
        detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        errors.append(invalid("spec.schedule", schedule, detail))
    elif zone is not None:
        detail = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
        errors.append(invalid("spec.schedule", schedule, detail))
    return errors


def _time_zone(zone: str | None) -> list[FieldError]:
    """ValidateTimeZone."""
    if zone is None:
        return []
    field = "spec.timeZone"
    if not zone:
        return [invalid(field, zone, "timeZone must be nil or non-empty string")]
    for part in zone.split("/"):
        if part in {".", ".."} or part.startswith("-") or not re.fullmatch(_ZONE_PART, part, re.ASCII):
            return [invalid(field, zone, f"unknown time zone {zone}")]
    errors: list[FieldError] = []
    if zone.lower() == "local":
        detail = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        errors.append(invalid(field, zone, detail))
    if zone == "Local":
        return errors
    try:
        time_zones.load(zone)
    except time_zones.UnknownTimeZoneError as error:
        errors.append(invalid(field, zone, str(error)))
    return errors
