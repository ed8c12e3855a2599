"""Rules for a Job's status (pkg/apis/batch/validation/validation.go: validateJobStatus, ValidateJobStatusUpdate).

Most rules look at what a change touches only (pkg/registry/batch/job/strategy.go: getStatusValidationOptions).
"""

from __future__ import annotations

from app.apimachinery import clock
from app.apimachinery.meta import Object
from app.apimachinery.validation import OMITTED, FieldError, duplicate, invalid, required
from app.cluster import completion_indexes as indexes
from app.cluster.apiserver.validation.templates import counts

_CONDITIONS = "status.conditions"


class _Change:
    """A status and the one before it."""

    def __init__(self, new: Object, old: Object) -> None:
        self.spec = new.get("spec") or {}
        self.now, self.before = new.get("status") or {}, old.get("status") or {}

    def has(self, kind: str) -> bool:
        return _is_true(self.now, kind)

    def had(self, kind: str) -> bool:
        return _is_true(self.before, kind)

    def turned(self, *kinds: str) -> bool:
        return any(self.has(kind) != self.had(kind) for kind in kinds)

    def set(self, *names: str) -> bool:
        return any(self.now.get(name) != self.before.get(name) for name in names)

    @property
    def is_finished(self) -> bool:
        return self.has("Complete") or self.has("Failed")

    @property
    def ends(self) -> bool:
        return self.is_finished != (self.had("Complete") or self.had("Failed"))


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """What is wrong with a change of the status."""
    change = _Change(new, old)
    errors = counts(change.now, "status", "active", "succeeded", "failed", "ready", "terminating")
    errors += _uncounted(change.now.get("uncountedTerminatedPods") or {})
    errors += _conditions(change) + _times(change) + _finished(change) + _indexes(change)
    return errors + _backwards(change)


def _is_true(status: Object, kind: str) -> bool:
    return any(c.get("type") == kind and c.get("status") == "True" for c in status.get("conditions") or [])


def _uncounted(pods: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for kind in ("succeeded", "failed"):
        for number, uid in enumerate(pods.get(kind) or []):
            field = f"status.uncountedTerminatedPods.{kind}[{number}]"
            if not uid:
                errors.append(invalid(field, uid, "must not be empty"))
            elif uid in seen:
                errors.append(duplicate(field, uid))
            seen.add(uid)
    return errors


def _conditions(change: _Change) -> list[FieldError]:
    """Ends that exclude each other."""
    wrong = [
        (("Complete", "Failed"), "cannot set Complete=True and Failed=true conditions"),
        (("Complete", "FailureTarget"), "cannot set Complete=True and FailureTarget=true conditions"),
    ]
    texts = [text for kinds, text in wrong if all(map(change.has, kinds)) and change.turned(*kinds)]
    if change.has("SuccessCriteriaMet") and change.has("Failed"):
        texts.append("cannot set SuccessCriteriaMet=True and Failed=true conditions")
    if change.has("SuccessCriteriaMet") and change.has("FailureTarget"):
        texts.append("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
    if change.spec.get("successPolicy") is not None and change.has("Complete") and not change.has("SuccessCriteriaMet"):
        texts.append("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")
    return [invalid(_CONDITIONS, OMITTED, text) for text in texts]


def _times(change: _Change) -> list[FieldError]:
    start, end = change.now.get("startTime"), change.now.get("completionTime")
    errors: list[FieldError] = []
    if change.turned("Complete") or change.set("completionTime"):
        if end is not None and not change.has("Complete"):
            detail = "cannot set completionTime when there is no Complete=True condition"
            errors.append(invalid("status.completionTime", end, detail))
        if end is None and change.has("Complete"):
            errors.append(required("status.completionTime", "completionTime is required for Complete jobs"))
    if change.set("startTime", "completionTime") and start and end and clock.parse(end) < clock.parse(start):
        errors.append(invalid("status.completionTime", end, "completionTime cannot be set before startTime"))
    return errors


def _finished(change: _Change) -> list[FieldError]:
    """A job that is over runs nothing and has begun."""
    if not change.is_finished:
        return []
    errors: list[FieldError] = []
    active, uncounted = change.now.get("active") or 0, change.now.get("uncountedTerminatedPods") or {}
    if active > 0 and (change.ends or change.set("active")):
        errors.append(invalid("status.active", active, "active>0 is invalid for finished job"))
    if change.now.get("startTime") is None and (change.ends or change.set("startTime")):
        errors.append(required("status.startTime", "startTime is required for finished job"))
    if any(uncounted.values()) and (change.ends or change.set("uncountedTerminatedPods")):
        detail = "uncountedTerminatedPods needs to be empty for finished job"
        shown = {"Succeeded": uncounted.get("succeeded"), "Failed": uncounted.get("failed")}
        errors.append(invalid("status.uncountedTerminatedPods", shown, detail))
    return errors


def _indexes(change: _Change) -> list[FieldError]:
    done, lost = str(change.now.get("completedIndexes") or ""), change.now.get("failedIndexes")
    size, errors = change.spec.get("completions"), []
    if change.set("completedIndexes"):
        if size is not None:
            errors += _list_problems("completedIndexes", done, size)
        if done and change.spec.get("completionMode") != "Indexed":
            detail = "cannot set non-empty completedIndexes when non-indexed completion mode"
            errors.append(invalid("status.completedIndexes", done, detail))
    if change.set("failedIndexes") and lost is not None:
        if change.spec.get("backoffLimitPerIndex") is None:
            detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
            errors.append(invalid("status.failedIndexes", lost, detail))
        elif size is not None:
            errors += _list_problems("failedIndexes", lost, size)
    if change.set("completedIndexes", "failedIndexes") and size is not None and lost:
        both = sorted(_common(indexes.parsed(done, size), indexes.parsed(lost, size)))
        if both:
            detail = f"failedIndexes and completedIndexes overlap at index: {both[0]}"
            errors.append(invalid("status.failedIndexes", lost, detail))
    return errors


def _common(one: indexes.Ranges, other: indexes.Ranges) -> list[int]:
    """The first index of each overlap."""
    return [max(first, begin) for first, last in one for begin, end in other if begin <= last and first <= end]


def _list_problems(name: str, text: str, size: int) -> list[FieldError]:
    try:
        indexes.checked(text, size)
    except indexes.IndexesError as error:
        return [invalid(f"status.{name}", text, f"error parsing {name}: {error}")]
    return []


def _backwards(change: _Change) -> list[FieldError]:
    """What never goes back (ValidateJobStatusUpdate)."""
    errors = [
        invalid(_CONDITIONS, OMITTED, f"cannot disable the terminal {kind}=True condition")
        for kind in ("Failed", "Complete", "FailureTarget")
        if change.had(kind) and not change.has(kind)
    ]
    spec = change.spec
    elastic = spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get("parallelism")
    for name in ("failed", "succeeded"):
        count = change.now.get(name) or 0
        if count < (change.before.get(name) or 0) and not (name == "succeeded" and elastic):
            errors.append(invalid(f"status.{name}", count, f"cannot decrease the {name} counter"))
    end, former = change.now.get("completionTime"), change.before.get("completionTime")
    if end is not None and former is not None and end != former:
        errors.append(invalid("status.completionTime", end, "completionTime cannot be mutated"))
    resumes = change.had("Suspended") and not change.has("Suspended")
    if change.before.get("startTime") is not None and change.set("startTime") and not (spec.get("suspend") or resumes):
        errors.append(required("status.startTime", "startTime cannot be removed for unsuspended job"))
    if change.had("SuccessCriteriaMet") and not change.has("SuccessCriteriaMet"):
        errors.append(invalid(_CONDITIONS, OMITTED, "cannot disable the SuccessCriteriaMet=True condition"))
    if change.had("Complete") and not change.had("SuccessCriteriaMet") and change.has("SuccessCriteriaMet"):
        detail = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"
        errors.append(invalid(_CONDITIONS, OMITTED, detail))
    return errors
