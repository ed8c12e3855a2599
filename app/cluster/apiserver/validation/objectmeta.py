"""Rules for ObjectMeta (k8s.io/apimachinery/pkg/api/validation/objectmeta.go)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from app.apimachinery import validation
from app.apimachinery.messages import N_, Message
from app.apimachinery.validation import FieldError, forbidden, invalid, required

NameRule = Callable[[str], list[str]]

ANNOTATIONS_LIMIT = 256 * 1024
"""Bytes of all annotations together (TotalAnnotationSizeLimitB)."""

_IMMUTABLE = "field is immutable"
_STANDARD_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})
_UNQUALIFIED = "name is neither a standard finalizer name nor is it fully qualified"
_OWNER = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")


def validate(metadata: Mapping[str, Any], *, namespaced: bool, name_rule: NameRule) -> list[FieldError]:
    """What is wrong with the metadata of an object (ValidateObjectMetaAccessor)."""
    errors: list[FieldError] = []
    generate = metadata.get("generateName") or ""
    if generate:
        # A trailing dash is what generated names are made for, so the rule looks at the name as if it went on.
        errors += [invalid("metadata.generateName", generate, text) for text in name_rule(_without_dash(generate))]
    name = metadata.get("name") or ""
    if name:
        errors += [invalid("metadata.name", name, text, _name_advice(name, name_rule)) for text in name_rule(name)]
    else:
        errors.append(required("metadata.name", "name or generateName is required"))
    errors += _namespace(metadata.get("namespace") or "", namespaced=namespaced)
    errors += validation.labels(metadata.get("labels") or {}, "metadata.labels")
    errors += annotation_errors(metadata.get("annotations") or {}, "metadata.annotations")
    errors += _owner_references(metadata.get("ownerReferences") or [])
    return errors + _finalizers(metadata.get("finalizers") or [])


def _without_dash(prefix: str) -> str:
    return prefix[:-1] + "a" if prefix.endswith("-") and len(prefix) > 1 else prefix


def _name_advice(name: str, name_rule: NameRule) -> Message | None:
    """The nearest name that the rule takes, where there is one."""
    mended = "".join(letter if letter.isalnum() or letter in "-." else "-" for letter in name.lower()).strip("-.")
    if not mended or mended == name or name_rule(mended):
        return None
    return Message(N_("Write “name: {name}”: names have no capital letters and no underscores."), {"name": mended})


def _namespace(namespace: str, *, namespaced: bool) -> list[FieldError]:
    if not namespaced:
        return [forbidden("metadata.namespace", "not allowed on this type")] if namespace else []
    if not namespace:
        return [required("metadata.namespace")]
    return [invalid("metadata.namespace", namespace, text) for text in validation.dns1123_label(namespace)]


def annotation_errors(values: Mapping[str, Any], field: str) -> list[FieldError]:
    """Keys and total size of annotations (ValidateAnnotations)."""
    errors: list[FieldError] = []
    for key in sorted(values):
        errors += [invalid(field, key, text) for text in validation.qualified_name(key.lower())]
    size = sum(len(key.encode()) + len(str(value).encode()) for key, value in values.items())
    if size > ANNOTATIONS_LIMIT:
        detail = f"may not be more than {ANNOTATIONS_LIMIT} bytes"
        errors.append(FieldError(field, validation.ErrorKind.TOO_LONG, None, detail))
    return errors


def _finalizers(finalizers: list[str]) -> list[FieldError]:
    """Qualified names, but for those that Kubernetes knows (ValidateFinalizers, validateKubeFinalizerName)."""
    errors: list[FieldError] = []
    for finalizer in finalizers:
        errors += [invalid("metadata.finalizers", finalizer, text) for text in validation.qualified_name(finalizer)]
    if {"orphan", "foregroundDeletion"} <= set(finalizers):
        detail = "finalizer orphan and foregroundDeletion cannot be both set"
        errors.append(invalid("metadata.finalizers", finalizers, detail))
    return errors + [
        invalid(f"metadata.finalizers[{index}]", finalizer, _UNQUALIFIED)
        for index, finalizer in enumerate(finalizers)
        if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS
    ]


def _owner_references(references: list[Mapping[str, Any]]) -> list[FieldError]:
    """Each says whom, and one at most controls (ValidateOwnerReferences); the paths have no index upstream."""
    errors: list[FieldError] = []
    field, controller = "metadata.ownerReferences", ""
    for reference in references:
        version = reference.get("apiVersion") or ""
        if not version.rpartition("/")[2]:
            errors.append(invalid(f"{field}.apiVersion", version, "version must not be empty"))
        missing = [name for name in ("kind", "name", "uid") if not reference.get(name)]
        errors += [invalid(f"{field}.{name}", "", "must not be empty") for name in missing]
        if (version, reference.get("kind")) == ("v1", "Event"):
            shown = {name: reference.get(name) for name in _OWNER if reference.get(name) is not None}
            errors.append(invalid(field, shown, "/v1, Kind=Event is disallowed from being an owner"))
        if reference.get("controller"):
            named = f"{reference.get('kind') or ''}/{reference.get('name') or ''}"
            if controller:
                told = f'Found "true" in references for {controller} and {named}'
                detail = f"Only one reference can have Controller set to true. {told}"
                errors.append(invalid(field, _shown_owners(references), detail))
            controller = controller or named
    return errors


def _shown_owners(references: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{name: one[name] for name in _OWNER if one.get(name) is not None} for one in references]


def validate_update(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[FieldError]:
    """What may not change in an update (ValidateObjectMetaAccessorUpdate)."""
    errors: list[FieldError] = []
    added = set(new.get("finalizers") or []) - set(old.get("finalizers") or [])
    if old.get("deletionTimestamp") and added:
        listed = ", ".join(validation.quoted(name) for name in sorted(added))
        told = "no new finalizers can be added if the object is being deleted, found new finalizers"
        errors.append(forbidden("metadata.finalizers", f"{told} []string{{{listed}}}"))
    return errors + [
        invalid(f"metadata.{name}", new.get(name), _IMMUTABLE)
        for name in ("name", "namespace", "uid", "creationTimestamp")
        if (new.get(name) or "") != (old.get(name) or "")
    ]
