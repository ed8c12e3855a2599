"""Jobs and CronJobs (pkg/registry/batch)."""

from __future__ import annotations

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError
from app.cluster.apiserver.strategy import Strategy
from app.cluster.apiserver.validation import cron_jobs, job_status, jobs
from app.cluster.store import Store


class JobStrategy(Strategy):
    """Jobs (batch/job/strategy.go): their selector is made of their uid."""

    has_status = True
    has_generation = True

    def begin_create(self, obj: Object, store: Store) -> list[FieldError]:
        """Give the uid before the selector needs it (rest/meta.go: FillObjectMetaSystemFields)."""
        obj["metadata"].setdefault("uid", store.draw_uid())
        return []

    def prepare_for_create(self, obj: Object) -> None:
        """The status starts empty; labels and selector are made (generateSelectorIfNeeded)."""
        super().prepare_for_create(obj)
        obj["status"] = {}
        if not (obj.get("spec") or {}).get("manualSelector"):
            _generate_selector(obj)

    def validate(self, obj: Object) -> list[FieldError]:
        """Counts, mode, policies, template, selector."""
        return jobs.validate(obj)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """Most of a job is fixed."""
        return jobs.validate_update(new, old)

    def validate_status_update(self, new: Object, old: Object) -> list[FieldError]:
        """A job that has ended stays ended."""
        return job_status.validate_update(new, old)


def _generate_selector(obj: Object) -> None:
    """Labels that no other controller's pods have (generateSelector).

    A job without labels of its own has its template's: in upstream's memory the two are one map.
    """
    metadata, spec = obj["metadata"], obj["spec"]
    template = spec["template"]
    own = meta.labels_of(template)
    made = {jobs.LEGACY_NAME_LABEL: meta.name_of(obj), jobs.NAME_LABEL: meta.name_of(obj)}
    made.update({jobs.LEGACY_UID_LABEL: metadata["uid"], jobs.UID_LABEL: metadata["uid"]})
    if not metadata.get("labels") or metadata["labels"] == own:
        metadata["labels"] = {**made, **own}
    template["metadata"] = {**(template.get("metadata") or {}), "labels": {**made, **own}}
    selector = spec["selector"] = dict(spec.get("selector") or {})
    selector["matchLabels"] = {jobs.UID_LABEL: metadata["uid"], **(selector.get("matchLabels") or {})}


class CronJobStrategy(Strategy):
    """CronJobs (batch/cronjob/strategy.go)."""

    has_status = True
    has_generation = True

    def prepare_for_create(self, obj: Object) -> None:
        """The status starts empty."""
        super().prepare_for_create(obj)
        obj["status"] = {}

    def validate(self, obj: Object) -> list[FieldError]:
        """Schedule, zone, policy, template."""
        return cron_jobs.validate(obj)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The same, but for the name's length."""
        return cron_jobs.validate_update(new, old)


STRATEGIES: dict[str, Strategy] = {"jobs.batch": JobStrategy(), "cronjobs.batch": CronJobStrategy()}
