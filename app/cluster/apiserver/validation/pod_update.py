"""What may change in a pod (pkg/apis/core/validation/validation.go: ValidatePodUpdate)."""

from __future__ import annotations

from typing import Any

from app.apimachinery.messages import N_, Message
from app.apimachinery.meta import Object, annotations_of, copied
from app.apimachinery.validation import ErrorKind, FieldError, forbidden, invalid, required
from app.apis import internal_types
from app.cluster.apiserver.validation import pod, taints
from app.cluster.apiserver.validation.meaning import meant

_UPDATABLE = (
    "`spec.containers[*].image`",
    "`spec.initContainers[*].image`",
    "`spec.activeDeadlineSeconds`",
    "`spec.tolerations` (only additions to existing tolerations)",
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
)
_KEPT = "existing toleration can not be modified except its tolerationSeconds"
_MIRROR = "kubernetes.io/config.mirror"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_FREE = ("activeDeadlineSeconds", "tolerations", "schedulingGates")


def validate(new: Object, old: Object) -> list[FieldError]:
    """Images, deadline, more tolerations, fewer gates: everything else of the spec is fixed."""
    now, before = new.get("spec") or {}, old.get("spec") or {}
    errors = _values(new) + mirror_mark(new, old)
    for kind in ("containers", "initContainers"):
        found, stop = _containers(now.get(kind) or [], before.get(kind) or [], f"spec.{kind}")
        errors += found
        if stop:
            return errors
    deadline, stop = _deadline(now, before)
    errors += deadline
    if stop:
        return errors
    errors += _tolerations(now.get("tolerations") or [], before.get("tolerations") or [])
    errors += _gates(now.get("schedulingGates") or [], before.get("schedulingGates") or [])
    compared = _compared(now, before)
    if before.get("schedulingGates"):
        errors += _narrowed(compared, before)
    if meant(compared) != meant(before):
        errors.append(_fixed(compared, before))
    return errors


def _values(new: Object) -> list[FieldError]:
    """The values that may change must also be right."""
    spec = new.get("spec") or {}
    errors = taints.tolerations(spec.get("tolerations") or [], "spec.tolerations")
    return errors + [error for error in pod.validate(new) if error.field.endswith(".image")]


def mirror_mark(new: Object, old: Object) -> list[FieldError]:
    """The kubelet's mark of a mirror pod stays (ValidatePodSpecificAnnotationUpdates)."""
    field = f"metadata.annotations[{_MIRROR}]"
    now, before = annotations_of(new).get(_MIRROR), annotations_of(old).get(_MIRROR)
    if now == before:
        return []
    verb = "add" if before is None else "remove or update"
    return [forbidden(field, f"may not {verb} mirror pod annotation")]


def _containers(now: list[Object], before: list[Object], field: str) -> tuple[list[FieldError], bool]:
    """ValidateContainerUpdates: (errors, whether to look no further)."""
    if len(now) != len(before):
        return [forbidden(field, "pod updates may not add or remove containers")], True
    return [required(f"{field}[{index}].image") for index, item in enumerate(now) if not item.get("image")], False


def _deadline(now: Object, before: Object) -> tuple[list[FieldError], bool]:
    """The deadline may be set, and then only come nearer: (errors, whether to look no further)."""
    field = "spec.activeDeadlineSeconds"
    wanted, former = now.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")
    if wanted is None:
        detail = "must not update from a positive integer to nil value"
        return [] if former is None else [invalid(field, None, detail)], False
    if not 0 <= wanted <= 2**31 - 1:
        return [invalid(field, wanted, pod.in_range(0, 2**31 - 1))], True
    if former is not None and former < wanted:
        return [invalid(field, wanted, "must be less than or equal to previous value")], True
    return [], False


def _tolerations(now: list[Object], before: list[Object]) -> list[FieldError]:
    """validateOnlyAddedTolerations: the seconds of an old one may change, nothing else of it."""
    kept = {_identity(item) for item in now}
    if all(_identity(item) in kept for item in before):
        return []
    advice = Message(N_("Keep the tolerations that the pod has, or delete the pod and create it again."))
    return [FieldError("spec.tolerations", ErrorKind.FORBIDDEN, None, _KEPT, advice)]


def _identity(toleration: Object) -> tuple[str, ...]:
    return tuple(str(toleration.get(name) or "") for name in ("key", "operator", "value", "effect"))


def _gates(now: list[Object], before: list[Object]) -> list[FieldError]:
    """validateOnlyDeletedSchedulingGates: gates only go."""
    known = {gate.get("name") for gate in before}
    return [
        forbidden(
            f"spec.schedulingGates[{index}].name",
            f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'",
        )
        for index, gate in enumerate(now)
        if gate.get("name") not in known
    ]


def _compared(now: Object, before: Object) -> Object:
    """The new spec with the fields put back that may differ."""
    spec: Object = copied(now)
    for kind in ("containers", "initContainers"):
        for container, former in zip(spec.get(kind) or [], before.get(kind) or [], strict=True):
            container["image"] = former.get("image")
    for name in _FREE:
        _put_back(spec, before, name)
    if (before.get("terminationGracePeriodSeconds") or 0) < 0 and now.get("terminationGracePeriodSeconds") == 1:
        _put_back(spec, before, "terminationGracePeriodSeconds")
    return spec


def _put_back(spec: Object, before: Object, name: str) -> None:
    spec.pop(name, None)
    if name in before:
        spec[name] = before[name]


def _narrowed(compared: Object, before: Object) -> list[FieldError]:
    """A pod that waits at a gate may still be narrowed down to fewer nodes; those fields are put back."""
    errors: list[FieldError] = []
    selector, former = compared.get("nodeSelector") or {}, before.get("nodeSelector") or {}
    if any(selector.get(key) != value for key, value in former.items()):
        detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        errors.append(invalid("spec.nodeSelector", dict(sorted(selector.items())) or None, detail))
    _put_back(compared, before, "nodeSelector")
    affinity, earlier = compared.get("affinity") or {}, before.get("affinity") or {}
    errors += _narrowed_affinity(affinity.get("nodeAffinity"), earlier.get("nodeAffinity"))
    mended = {name: value for name, value in affinity.items() if name != "nodeAffinity"}
    if earlier.get("nodeAffinity") is not None:
        mended["nodeAffinity"] = earlier["nodeAffinity"]
    compared["affinity"] = mended
    if not mended and not before.get("affinity"):
        _put_back(compared, before, "affinity")
    return errors


def _narrowed_affinity(now: Object | None, before: Object | None) -> list[FieldError]:
    """validateNodeAffinityMutation: terms stay, each may only gain expressions."""
    terms = ((now or {}).get(_REQUIRED) or {}).get("nodeSelectorTerms") or []
    former = ((before or {}).get(_REQUIRED) or {}).get("nodeSelectorTerms") or []
    field = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"
    if former and len(terms) != len(former):
        detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        return [invalid(field, internal_types.shown("[]NodeSelectorTerm", terms or None), detail)]
    return [
        invalid(
            f"{field}[{index}]",
            internal_types.shown("NodeSelectorTerm", term),
            "only additions are allowed (no mutations or deletions)",
        )
        for index, (term, earlier) in enumerate(zip(terms, former, strict=False))
        if not _only_gained(term, earlier)
    ]


def _only_gained(term: Object, former: Object) -> bool:
    lists = [(term.get(name) or [], former.get(name) or []) for name in ("matchExpressions", "matchFields")]
    if not any(before for _, before in lists):
        return not any(now for now, _ in lists)
    return all(now[: len(before)] == before for now, before in lists)


def _fixed(compared: Object, before: Object) -> FieldError:
    """The refusal, with the difference of the server's own structures."""
    difference = internal_types.diff("PodSpec", before, compared)
    detail = f"pod updates may not change fields other than {','.join(_UPDATABLE)}\n{difference}"
    facts = {"field": _first_difference(compared, before, "spec")}
    advice = Message(N_("“{field}” of a pod is fixed: delete the pod and create it again (replace --force)."), facts)
    return FieldError("spec", ErrorKind.FORBIDDEN, None, detail, advice)


def _first_difference(now: Any, before: Any, path: str) -> str:
    """The path of the innermost field that differs first."""
    if isinstance(now, dict) and isinstance(before, dict):
        for key in sorted(now.keys() | before.keys()):
            if meant(now.get(key)) != meant(before.get(key)):
                return _first_difference(now.get(key), before.get(key), f"{path}.{key}")
    if isinstance(now, list) and isinstance(before, list) and len(now) == len(before):
        for index, (item, former) in enumerate(zip(now, before, strict=True)):
            if meant(item) != meant(former):
                return _first_difference(item, former, f"{path}[{index}]")
    return path
