"""Rows of the apps and batch groups (pkg/printers/internalversion/printers.go)."""

from __future__ import annotations

from app.apimachinery.clock import Instant, parse
from app.apimachinery.meta import Object
from app.cluster.apiserver.printers.base import (
    AGE,
    CONTAINERS,
    IMAGES,
    NAME,
    NONE,
    SELECTOR,
    Cells,
    Column,
    Printer,
    age,
    containers_and_images,
    format_label_selector,
    format_labels,
    human_duration,
    integer,
    name_of,
    selector_text,
    since,
    text,
)


def _template(obj: Object) -> tuple[str, str]:
    template = obj.get("spec", {}).get("template", {})
    return containers_and_images(template.get("spec", {}).get("containers"))


def _deployment(obj: Object, now: Instant) -> Cells:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    return [
        name_of(obj),
        f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}",
        status.get("updatedReplicas", 0),
        status.get("availableReplicas", 0),
        age(obj, now),
        *_template(obj),
        selector_text(spec.get("selector")),
    ]


def _replica_set(obj: Object, now: Instant) -> Cells:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    return [
        name_of(obj),
        spec.get("replicas", 0),
        status.get("replicas", 0),
        status.get("readyReplicas", 0),
        age(obj, now),
        *_template(obj),
        format_label_selector(spec.get("selector")),
    ]


def _daemon_set(obj: Object, now: Instant) -> Cells:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    return [
        name_of(obj),
        status.get("desiredNumberScheduled", 0),
        status.get("currentNumberScheduled", 0),
        status.get("numberReady", 0),
        status.get("updatedNumberScheduled", 0),
        status.get("numberAvailable", 0),
        format_labels(spec.get("template", {}).get("spec", {}).get("nodeSelector")),
        age(obj, now),
        *_template(obj),
        format_label_selector(spec.get("selector")),
    ]


def _stateful_set(obj: Object, now: Instant) -> Cells:
    ready = f"{obj.get('status', {}).get('readyReplicas', 0)}/{obj.get('spec', {}).get('replicas', 0)}"
    return [name_of(obj), ready, age(obj, now), *_template(obj)]


def _job_status(obj: Object) -> str:
    status = obj.get("status", {})
    true = {c.get("type") for c in status.get("conditions") or [] if c.get("status") == "True"}
    if "Complete" in true:
        return "Complete"
    if "Failed" in true:
        return "Failed"
    if obj.get("metadata", {}).get("deletionTimestamp"):
        return "Terminating"
    for condition in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if condition in true:
            return condition
    return "Running"


def _job(obj: Object, now: Instant) -> Cells:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    succeeded, parallelism = status.get("succeeded", 0), spec.get("parallelism") or 0
    if spec.get("completions") is not None:
        completions = f"{succeeded}/{spec['completions']}"
    else:
        completions = f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"
    duration = ""
    if status.get("startTime"):
        end = parse(status["completionTime"]) if status.get("completionTime") else now
        duration = human_duration(end - parse(status["startTime"]))
    return [
        name_of(obj),
        _job_status(obj),
        completions,
        duration,
        age(obj, now),
        *_template(obj),
        format_label_selector(spec.get("selector")),
    ]


def _cron_job(obj: Object, now: Instant) -> Cells:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    job = spec.get("jobTemplate", {}).get("spec", {})
    last = status.get("lastScheduleTime")
    return [
        name_of(obj),
        spec.get("schedule", ""),
        spec.get("timeZone", NONE),
        "True" if spec.get("suspend") else "False",
        len(status.get("active") or []),
        since(last, now) if last else NONE,
        age(obj, now),
        *containers_and_images(job.get("template", {}).get("spec", {}).get("containers")),
        format_label_selector(job.get("selector")),
    ]


def _controller_revision(obj: Object, now: Instant) -> Cells:
    owner = next((o for o in obj.get("metadata", {}).get("ownerReferences") or [] if o.get("controller")), None)
    controller = NONE
    if owner:
        group = str(owner.get("apiVersion", "")).partition("/")[0]
        controller = f"{str(owner.get('kind', '')).lower()}.{group}/{owner.get('name', '')}"
    return [
        name_of(obj),
        controller,
        obj.get("revision", 0),
        since(obj.get("metadata", {}).get("creationTimestamp"), now),
    ]


_POD_TEMPLATE = (CONTAINERS, IMAGES, SELECTOR)

PRINTERS = {
    "deployments.apps": Printer(
        (NAME, text("Ready"), text("Up-to-date"), text("Available"), AGE, *_POD_TEMPLATE), _deployment
    ),
    "replicasets.apps": Printer(
        (NAME, integer("Desired"), integer("Current"), integer("Ready"), AGE, *_POD_TEMPLATE), _replica_set
    ),
    "daemonsets.apps": Printer(
        columns=(
            NAME,
            integer("Desired"),
            integer("Current"),
            integer("Ready"),
            integer("Up-to-date"),
            integer("Available"),
            text("Node Selector"),
            AGE,
            *_POD_TEMPLATE,
        ),
        cells=_daemon_set,
    ),
    "statefulsets.apps": Printer((NAME, text("Ready"), AGE, CONTAINERS, IMAGES), _stateful_set),
    "controllerrevisions.apps": Printer((NAME, text("Controller"), text("Revision"), AGE), _controller_revision),
    "cronjobs.batch": Printer(
        columns=(
            NAME,
            text("Schedule"),
            text("Timezone"),
            Column("Suspend", type="boolean"),
            integer("Active"),
            text("Last Schedule"),
            AGE,
            *_POD_TEMPLATE,
        ),
        cells=_cron_job,
    ),
    "jobs.batch": Printer((NAME, text("Status"), text("Completions"), text("Duration"), AGE, *_POD_TEMPLATE), _job),
}
