"""Rules for Pods (pkg/apis/core/validation/validation.go: ValidatePodCreate, ValidatePodSpec)."""

from __future__ import annotations

from collections.abc import Mapping

from app.apimachinery import quantity, validation
from app.apimachinery.meta import Object, annotations_of
from app.apimachinery.validation import FieldError, duplicate, forbidden, invalid, required
from app.cluster.apiserver.validation import (
    containers,
    mounts,
    pod_affinity,
    pod_network,
    resources,
    security,
    taints,
    topology_spread,
    volumes,
)

_MIRROR = "kubernetes.io/config.mirror"
_INT32_MAX = 2**31 - 1
_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")


def validate(obj: Object) -> list[FieldError]:
    """What is wrong with a new pod, beyond its metadata."""
    spec = obj.get("spec") or {}
    errors = validate_existing(obj)
    if spec.get("ephemeralContainers"):
        errors.append(forbidden("spec.ephemeralContainers", "cannot be set on create"))
    if spec.get("schedulingGates") and spec.get("nodeName"):
        errors.append(forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"))
    return errors


def validate_existing(obj: Object) -> list[FieldError]:
    """What is wrong with a pod, new or not (validatePodMetadataAndSpec)."""
    spec = obj.get("spec") or {}
    errors = validate_spec(spec, "spec")
    mirror = annotations_of(obj).get(_MIRROR)
    if mirror is not None and not spec.get("nodeName"):
        detail = "must set spec.nodeName if mirror pod annotation is set"
        errors.append(invalid(f"metadata.annotations[{_MIRROR}]", mirror, detail))
    return errors


def validate_spec(spec: Object, field: str) -> list[FieldError]:
    """What is wrong with a pod's spec, or a template's."""
    errors = volumes.validate(spec.get("volumes") or [], f"{field}.volumes")
    errors += containers.validate(spec, field, mounts.usable(spec, errors, f"{field}.volumes"))
    errors += _policies(spec, field)
    errors += validation.labels(spec.get("nodeSelector") or {}, f"{field}.nodeSelector")
    constraints = spec.get("topologySpreadConstraints") or []
    errors += topology_spread.validate(constraints, f"{field}.topologySpreadConstraints")
    errors += pod_affinity.validate(spec.get("affinity") or {}, f"{field}.affinity")
    errors += _gates(spec.get("schedulingGates") or [], f"{field}.schedulingGates")
    errors += _names(spec, field)
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= _INT32_MAX:
        errors.append(invalid(f"{field}.activeDeadlineSeconds", deadline, in_range(1, _INT32_MAX)))
    errors += security.of_pod(spec, f"{field}.securityContext") + security.shared_processes(spec, field)
    errors += pod_network.dns(spec, f"{field}.dnsConfig")
    errors += pod_network.readiness_gates(spec.get("readinessGates") or [], f"{field}.readinessGates")
    errors += taints.tolerations(spec.get("tolerations") or [], f"{field}.tolerations")
    errors += pod_network.host_aliases(spec.get("hostAliases") or [], f"{field}.hostAliases")
    if spec.get("overhead") is not None:
        errors += resources.requirements({"limits": spec["overhead"]}, f"{field}.overhead")
    return errors


def in_range(low: int, high: int) -> str:
    """A range's text (util/validation: InclusiveRangeError)."""
    return f"must be between {low} and {high}, inclusive"


def _policies(spec: Object, field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for name, supported in (("restartPolicy", _RESTART_POLICIES), ("dnsPolicy", _DNS_POLICIES)):
        value = spec.get(name) or ""
        if not value:
            errors.append(required(f"{field}.{name}"))
        elif value not in supported:
            errors.append(taints.unsupported(f"{field}.{name}", value, supported))
    policy = spec.get("preemptionPolicy")
    if policy and policy not in _PREEMPTION_POLICIES:
        errors.append(taints.unsupported(f"{field}.preemptionPolicy", policy, _PREEMPTION_POLICIES))
    return errors


def _names(spec: Object, field: str) -> list[FieldError]:
    """The fields that name other objects or the host."""
    errors: list[FieldError] = []
    for name, rule in (
        ("serviceAccountName", validation.dns1123_subdomain),
        ("nodeName", validation.dns1123_subdomain),
        ("hostname", validation.dns1123_label),
        ("subdomain", validation.dns1123_label),
        ("priorityClassName", validation.dns1123_subdomain),
        ("runtimeClassName", validation.dns1123_subdomain),
    ):
        value = spec.get(name) or ""
        if value:
            errors += [invalid(f"{field}.{name}", value, text) for text in rule(value)]
    return errors


def _gates(gates: list[Object], field: str) -> list[FieldError]:
    """ValidateSchedulingGates."""
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, gate in enumerate(gates):
        name = gate.get("name") or ""
        errors += [invalid(f"{field}[{index}]", name, text) for text in validation.qualified_name(name)]
        if name in seen:
            errors.append(duplicate(f"{field}[{index}].name", name))
        seen.add(name)
    return errors


_QOS_RESOURCES = ("cpu", "memory")


def qos_class(spec: Mapping[str, object]) -> str:
    """Guaranteed, Burstable or BestEffort (pkg/apis/core/v1/helper/qos/qos.go: ComputePodQOS)."""
    containers = [*_containers(spec, "containers"), *_containers(spec, "initContainers")]
    requests = [_positive(container, "requests") for container in containers]
    limits = [_positive(container, "limits") for container in containers]
    if not any(requests) and not any(limits):
        return "BestEffort"
    guaranteed = all(
        set(limit) == set(_QOS_RESOURCES) and all(request.get(name) == limit[name] for name in limit)
        for request, limit in zip(requests, limits, strict=True)
    )
    return "Guaranteed" if guaranteed else "Burstable"


def _containers(spec: Mapping[str, object], field: str) -> list[Object]:
    found = spec.get(field)
    return found if isinstance(found, list) else []


def _positive(container: Object, side: str) -> dict[str, int]:
    listed = (container.get("resources") or {}).get(side) or {}
    amounts = {name: quantity.parse(str(listed[name])).milli_value() for name in _QOS_RESOURCES if name in listed}
    return {name: amount for name, amount in amounts.items() if amount > 0}
