"""Rules for pod templates and for the selectors that go with them (pkg/apis/core, apps and batch: validation.go)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.apimachinery import labels, meta, validation
from app.apimachinery.messages import N_, Message
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, invalid, required
from app.apis import internal_types
from app.cluster.apiserver.validation import objectmeta, pod, selectors

NEGATIVE = "must be greater than or equal to 0"
IMMUTABLE = "field is immutable"
_METADATA = ("name", "generateName", "namespace", "uid", "labels", "annotations", "ownerReferences", "finalizers")


def counts(obj: Mapping[str, Any], field: str, *names: str) -> list[FieldError]:
    """Numbers that may not be negative (ValidateNonnegativeField)."""
    return [
        invalid(f"{field}.{name}", obj[name], NEGATIVE) for name in names if obj.get(name) is not None and obj[name] < 0
    ]


def pod_template(template: Object, field: str) -> list[FieldError]:
    """ValidatePodTemplateSpec."""
    spec = template.get("spec") or {}
    errors = metadata(template, field) + pod.validate_spec(spec, f"{field}.spec")
    if spec.get("ephemeralContainers"):
        detail = "ephemeral containers not allowed in pod template"
        errors.append(validation.forbidden(f"{field}.spec.ephemeralContainers", detail))
    return errors


def metadata(template: Object, field: str) -> list[FieldError]:
    """Labels and annotations of a template; their paths leave out `metadata`, as upstream's do."""
    own = template.get("metadata") or {}
    errors = validation.labels(own.get("labels") or {}, f"{field}.labels")
    return errors + objectmeta.annotation_errors(own.get("annotations") or {}, f"{field}.annotations")


def always(template: Object, field: str, kind: str) -> list[FieldError]:
    """What a controller can keep alive: pods that are started again, without a deadline."""
    spec = template.get("spec") or {}
    policy = spec.get("restartPolicy") or ""
    errors = []
    if policy != "Always":
        errors.append(validation.not_supported(f"{field}.spec.restartPolicy", policy, ("Always",)))
    if spec.get("activeDeadlineSeconds") is not None:
        detail = f"activeDeadlineSeconds in {kind} is not Supported"
        errors.append(validation.forbidden(f"{field}.spec.activeDeadlineSeconds", detail))
    return errors


def selector(found: Object | None, field: str, kind: str) -> list[FieldError]:
    """A selector that is there, is well written and selects something."""
    if found is None:
        advice = Message(N_("Add “selector:” with “matchLabels:”: the labels of the pod template."))
        return [required(field, advice=advice)]
    errors = selectors.label_selector(found, field)
    if not found.get("matchLabels") and not found.get("matchExpressions"):
        errors.append(invalid(field, found, f"empty selector is invalid for {kind}"))
    return errors


def parsed(found: Object | None) -> labels.Selector | None:
    """The selector, or None where it cannot be read (LabelSelectorAsSelector)."""
    try:
        return labels.from_label_selector(found)
    except labels.SelectorError:
        return None


def selected(found: labels.Selector, template: Object, field: str) -> list[FieldError]:
    """The template must have the labels that are selected. No selector selects nothing, an empty one everything."""
    own = meta.labels_of(template)
    if found.matches(own):
        return []
    advice = Message(N_("Give the template the labels that the selector names (spec.selector.matchLabels)."))
    detail = "`selector` does not match template `labels`"
    shown = dict(sorted(own.items())) or None
    return [invalid(f"{field}.metadata.labels", shown, detail, advice)]


def unchanged(new: Mapping[str, Any], old: Mapping[str, Any], field: str, *names: str) -> list[FieldError]:
    """Fields that never change (ValidateImmutableField)."""
    return [invalid(f"{field}.{name}", new.get(name), IMMUTABLE) for name in names if new.get(name) != old.get(name)]


def shown(template: Object) -> Object:
    """A template as the server prints it: its metadata by their JSON names, its spec by Go's."""
    own = template.get("metadata") or {}
    found: Object = {name: own[name] for name in _METADATA if own.get(name)}
    found.update({name: dict(sorted(found[name].items())) for name in ("labels", "annotations") if name in found})
    return {**found, "Spec": internal_types.shown("PodSpec", template.get("spec") or {})}
