"""Rules for Jobs (pkg/apis/batch/validation/validation.go: ValidateJob, ValidateJobUpdate)."""

from __future__ import annotations

import re

from app.apimachinery import meta, validation
from app.apimachinery.messages import N_, Message
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, invalid, not_supported, required
from app.cluster.apiserver.validation import job_policies, selectors, templates
from app.cluster.apiserver.validation.templates import counts

UID_LABEL = "batch.kubernetes.io/controller-uid"
NAME_LABEL = "batch.kubernetes.io/job-name"
LEGACY_UID_LABEL = "controller-uid"
LEGACY_NAME_LABEL = "job-name"

_MODES = ("NonIndexed", "Indexed")
_MOST = 100_000
_MOST_OF_MANY = 10_000
_MANY = f"when completions are above {_MOST} and used with backoff limit per index"
_LONGEST_MANAGER = 63
_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_THEY_END = N_("Write “restartPolicy: Never” or “restartPolicy: OnFailure” in the template: pods of a job end.")
_SCHEDULING = ("nodeSelector", "tolerations", "schedulingGates")
_FIXED_LAST = ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy")


def validate(obj: Object, *, prefixed: bool = True) -> list[FieldError]:
    """ValidateJob, beyond the metadata; `prefixed`: the labels with a prefix must be there too."""
    spec = obj.get("spec") or {}
    errors = _generated(obj, spec, prefixed=prefixed) + _with_selector(spec)
    completions = spec.get("completions") or 0
    if spec.get("completionMode") == "Indexed" and completions > 0:
        host = f"{meta.name_of(obj)}-{completions - 1}"
        if validation.dns1123_label(host):
            detail = f"will not able to create pod with invalid DNS label: {host}"
            errors.append(invalid("metadata.name", meta.name_of(obj), detail))
    return errors


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """ValidateJobUpdate, after ValidateJob, as the strategy has it."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    known = meta.labels_of(before.get("template") or {})
    errors = validate(new, prefixed=UID_LABEL in known and NAME_LABEL in known)
    errors += _with_selector(spec)
    errors += _completions(spec, before) + templates.unchanged(spec, before, "spec", "selector")
    started = (old.get("status") or {}).get("startTime") is not None
    errors += _template_change(spec, before, schedulable=bool(before.get("suspend")) and not started)
    for name in _FIXED_LAST:
        if spec.get(name) != before.get(name):
            shown = job_policies.shown(spec.get(name))
            errors.append(invalid(f"spec.{name}", shown, templates.IMMUTABLE))
    return errors


def spec_problems(spec: Object, field: str) -> list[FieldError]:
    """What is wrong with a job's spec, or that of a CronJob's template (validateJobSpec)."""
    errors = counts(
        spec,
        field,
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    )
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        errors.append(required(f"{field}.backoffLimitPerIndex", "when maxFailedIndexes is specified"))
    errors += _manager(spec.get("managedBy"), f"{field}.managedBy") + _mode(spec, field)
    errors += job_policies.failure(spec, f"{field}.podFailurePolicy")
    errors += job_policies.success(spec, f"{field}.successPolicy")
    errors += job_policies.replacement(spec, f"{field}.podReplacementPolicy")
    template = spec.get("template") or {}
    errors += templates.pod_template(template, f"{field}.template")
    return errors + _restart_policy(spec, template, f"{field}.template.spec.restartPolicy")


def _generated(obj: Object, spec: Object, *, prefixed: bool) -> list[FieldError]:
    """The labels that the server gives must be the ones it would give (validateGeneratedSelector)."""
    if spec.get("manualSelector") or spec.get("selector") is None:
        return []
    uid, name = str(obj["metadata"].get("uid") or ""), meta.name_of(obj)
    errors = [] if uid else [required("metadata.uid")]
    wanted = {LEGACY_UID_LABEL: uid, LEGACY_NAME_LABEL: name}
    if prefixed:
        wanted.update({UID_LABEL: uid, NAME_LABEL: name})
    own = meta.labels_of(spec.get("template") or {})
    for key, value in wanted.items():
        field = "spec.template.metadata.labels"
        if key not in own:
            errors.append(required(f"{field}[{key}]", f"must be '{value}'"))
        elif own[key] != value:
            errors.append(invalid(f"{field}[{key}]", dict(sorted(own.items())), f"must be '{value}'"))
    selected = templates.parsed(spec["selector"])
    if selected is not None and not selected.matches(wanted):
        errors.append(invalid("spec.selector", spec["selector"], "`selector` not auto-generated"))
    return errors


def _with_selector(spec: Object) -> list[FieldError]:
    """ValidateJobSpec."""
    errors = spec_problems(spec, "spec")
    given = spec.get("selector")
    if given is None:
        errors.append(required("spec.selector"))
    else:
        errors += selectors.label_selector(given, "spec.selector")
    selected = templates.parsed(given)
    if selected is not None:
        errors += templates.selected(selected, spec.get("template") or {}, "spec.template")
    return errors


def _manager(name: str | None, field: str) -> list[FieldError]:
    """IsDomainPrefixedPath, and a length."""
    if name is None:
        return []
    errors: list[FieldError] = []
    prefix, slash, path = name.partition("/")
    if not name:
        errors.append(required(field))
    elif not slash or not path:
        detail = 'must be a domain-prefixed path (such as "acme.io/foo")'
        errors.append(invalid(field, name, detail))
    else:
        errors += [invalid(field, prefix, text) for text in validation.dns1123_subdomain(prefix)]
        if not re.fullmatch(_PATH, path, re.ASCII):
            errors.append(invalid(field, path, f"Invalid path (regex used for validation is '{_PATH}')"))
    if len(name) > _LONGEST_MANAGER:
        detail = f"may not be more than {_LONGEST_MANAGER} bytes"
        errors.append(FieldError(field, validation.ErrorKind.TOO_LONG, None, detail))
    return errors


def _mode(spec: Object, field: str) -> list[FieldError]:
    """What Indexed asks for, and what it alone may have."""
    mode = spec.get("completionMode")
    errors: list[FieldError] = []
    if mode is not None and mode not in _MODES:
        errors.append(not_supported(f"{field}.completionMode", mode, _MODES))
    if mode == "Indexed":
        return errors + _indexed(spec, field)
    if mode in {None, "NonIndexed"}:
        errors += [
            invalid(f"{field}.{name}", spec[name], "requires indexed completion mode")
            for name in ("backoffLimitPerIndex", "maxFailedIndexes")
            if spec.get(name) is not None
        ]
    return errors


def _indexed(spec: Object, field: str) -> list[FieldError]:
    completions, parallelism, lost = (spec.get(n) for n in ("completions", "parallelism", "maxFailedIndexes"))
    errors: list[FieldError] = []
    if completions is None:
        errors.append(required(f"{field}.completions", "when completion mode is Indexed"))
    if parallelism is not None and parallelism > _MOST:
        detail = f"must be less than or equal to {_MOST} when completion mode is Indexed"
        errors.append(invalid(f"{field}.parallelism", parallelism, detail))
    if completions is not None and lost is not None and lost > completions:
        errors.append(invalid(f"{field}.maxFailedIndexes", lost, "must be less than or equal to completions"))
    if lost is not None and lost > _MOST:
        errors.append(invalid(f"{field}.maxFailedIndexes", lost, f"must be less than or equal to {_MOST}"))
    if completions is None or completions <= _MOST or spec.get("backoffLimitPerIndex") is None:
        return errors
    if lost is None:
        detail = f"must be specified when completions is above {_MOST}"
        errors.append(required(f"{field}.maxFailedIndexes", detail))
    for name, value in (("parallelism", parallelism), ("maxFailedIndexes", lost)):
        if value is not None and value > _MOST_OF_MANY:
            errors.append(invalid(f"{field}.{name}", value, f"must be less than or equal to {_MOST_OF_MANY} {_MANY}"))
    return errors


def _restart_policy(spec: Object, template: Object, field: str) -> list[FieldError]:
    """Pods of a job end; the default of a template, Always, counts as no choice."""
    policy = (template.get("spec") or {}).get("restartPolicy") or ""
    if policy in {"", "Always"}:
        advice = Message(
            N_("Write “restartPolicy: Never” or “restartPolicy: OnFailure” in the template: pods of a job end.")
        )
        return [required(field, 'valid values: "OnFailure", "Never"', advice)]
    if policy not in {"OnFailure", "Never"}:
        return [not_supported(field, policy, ("OnFailure", "Never"))]
    if spec.get("podFailurePolicy") is not None and policy != "Never":
        return [invalid(field, policy, 'only "Never" is supported when podFailurePolicy is specified')]
    return []


def _completions(spec: Object, before: Object) -> list[FieldError]:
    """Fixed, but for Indexed jobs that grow or shrink as a whole (validateCompletions)."""
    wanted = spec.get("completions")
    if spec.get("completionMode") != "Indexed":
        return templates.unchanged(spec, before, "spec", "completions")
    if wanted is None or wanted == before.get("completions") or wanted == spec.get("parallelism"):
        return []
    return [invalid("spec.completions", wanted, "can only be modified in tandem with spec.parallelism")]


def _template_change(spec: Object, before: Object, *, schedulable: bool) -> list[FieldError]:
    """Fixed; where the pods go may change before a suspended job first starts (validatePodTemplateUpdate)."""
    now, former = spec.get("template") or {}, before.get("template") or {}
    if now == former or (schedulable and _without_scheduling(now) == _without_scheduling(former)):
        return []
    return [invalid("spec.template", templates.shown(now), templates.IMMUTABLE)]


def _without_scheduling(template: Object) -> Object:
    spec = {name: value for name, value in (template.get("spec") or {}).items() if name not in _SCHEDULING}
    affinity = {name: value for name, value in (spec.pop("affinity", None) or {}).items() if name != "nodeAffinity"}
    metadata = template.get("metadata") or {}
    rest = {name: value for name, value in metadata.items() if name not in {"labels", "annotations"}}
    return {"metadata": rest, "spec": spec, "affinity": affinity}
