"""What may change in a pod (pkg/apis/core/validation/validation.go: ValidatePodUpdate)."""

from __future__ import annotations

from app.apimachinery.meta import Object, copied
from app.apimachinery.validation import FieldError, forbidden
from app.cluster.apiserver.validation import pod

_FIXED = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def validate(new: Object, old: Object) -> list[FieldError]:
    """Images, deadline, more tolerations, fewer gates: everything else of the spec is fixed."""
    errors = pod.validate(new)
    now, before = copied(new.get("spec") or {}), copied(old.get("spec") or {})
    for kind in ("containers", "initContainers"):
        if len(now.get(kind) or []) == len(before.get(kind) or []):
            for container, former in zip(now.get(kind) or [], before.get(kind) or [], strict=True):
                container["image"] = former.get("image")
    for field in ("activeDeadlineSeconds", "tolerations", "schedulingGates"):
        now.pop(field, None)
        before.pop(field, None)
    if now != before:
        errors.append(forbidden("spec", _FIXED))
    return errors
