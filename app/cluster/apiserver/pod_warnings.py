"""What the API server warns of in pods and pod templates (pkg/api/pod/warnings.go, pkg/api/node/util.go)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.apimachinery import quantity
from app.apimachinery.meta import Object, annotations_of
from app.apimachinery.validation import quoted
from app.cluster.apiserver import ip_warnings, path_warnings

OLD_LABELS = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}
"""Labels of nodes that have another name now (deprecatedNodeLabels)."""
OLD_VOLUMES = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
_FIELD_NAMES = {"storageos": "storageOS"}
_OLD_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": (
        'non-functional in v1.16+; use the "priorityClassName" field instead'
    ),
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}
_SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
_APPARMOR = "container.apparmor.security.beta.kubernetes.io/"
_NO_SECCOMP = 'non-functional in v1.27+; use the "seccompProfile" field instead'
_OLD_APPARMOR = 'deprecated since v1.30; use the "appArmorProfile" field instead'
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_NO_SELECTOR = "a null labelSelector results in matching no pod"
_WHOLE = ("memory", "ephemeral-storage")
_NEGATIVE_GRACE = "must be >= 0; negative values are invalid and will be treated as 1"

Placed = tuple[Mapping[str, Any], str]
"""A part of an object and its path."""


def of(pod: Object, prefix: str = "") -> list[str]:
    """The warnings for a pod, or for the template at `prefix` (warningsForPodSpecAndMeta)."""
    spec, field = pod.get("spec") or {}, f"{prefix}spec"
    containers = list(_containers(spec, field))
    found = [*_node_labels(spec, field), *_spread(spec, field), *_annotations(pod, prefix, containers)]
    found += _volumes(spec.get("volumes") or [], f"{field}.volumes")
    found += path_warnings.overlapping(spec.get("volumes") or [])
    found += _repeated(spec.get("hostAliases") or [], "ip", f"{field}.hostAliases")
    found += _pull_secrets(spec.get("imagePullSecrets") or [], f"{field}.imagePullSecrets")
    found += fractions(spec.get("overhead") or {}, _WHOLE, f"{field}.overhead")
    for container, here in containers:
        resources = container.get("resources") or {}
        for side in ("limits", "requests"):
            found += fractions(resources.get(side) or {}, _WHOLE, f"{here}.resources.{side}")
        found += _hidden_variables(container.get("env") or [], f"{here}.env")
    found += _ports(containers)
    grace = spec.get("terminationGracePeriodSeconds")
    if grace is not None and grace < 0:
        found.append(f"{field}.terminationGracePeriodSeconds: {_NEGATIVE_GRACE}")
    return [*found, *_pod_affinity(spec, field), *_addresses(spec, field)]


def _containers(spec: Mapping[str, Any], field: str) -> Iterator[Placed]:
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(kind) or []):
            yield container, f"{field}.{kind}[{index}]"


def _node_labels(spec: Mapping[str, Any], field: str) -> Iterator[str]:
    for key in sorted(spec.get("nodeSelector") or {}):
        if key in OLD_LABELS:
            yield f"{field}.nodeSelector[{key}]: {OLD_LABELS[key]}"
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    here = f"{field}.affinity.nodeAffinity"
    for index, term in enumerate((affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or []):
        yield from node_selector_term(term, f"{here}.{_REQUIRED}.nodeSelectorTerms[{index}]")
    for index, preferred in enumerate(affinity.get(_PREFERRED) or []):
        yield from node_selector_term(preferred.get("preference") or {}, f"{here}.{_PREFERRED}[{index}].preference")


def node_selector_term(term: Mapping[str, Any], field: str) -> Iterator[str]:
    """Old labels in a node selector's term (GetWarningsForNodeSelectorTerm)."""
    for index, requirement in enumerate(term.get("matchExpressions") or []):
        key = requirement.get("key") or ""
        if key in OLD_LABELS:
            yield f"{field}.matchExpressions[{index}].key: {key} is {OLD_LABELS[key]}"


def _spread(spec: Mapping[str, Any], field: str) -> Iterator[str]:
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or []):
        here, key = f"{field}.topologySpreadConstraints[{index}]", constraint.get("topologyKey") or ""
        if key in OLD_LABELS:
            yield f"{here}.topologyKey: {key} is {OLD_LABELS[key]}"
        if constraint.get("labelSelector") is None:
            yield f"{here}.labelSelector: {_NO_SELECTOR}"


def _annotations(pod: Object, prefix: str, containers: Sequence[Placed]) -> Iterator[str]:
    """Annotations in whose place there are fields."""
    given, field = annotations_of(pod), f"{prefix}metadata.annotations"
    context = (pod.get("spec") or {}).get("securityContext") or {}
    for key, told in _OLD_ANNOTATIONS.items():
        if key in given:
            yield f"{field}[{key}]: {told}"
    if _SECCOMP_POD in given and context.get("seccompProfile") is None:
        yield f"{field}[{_SECCOMP_POD}]: {_NO_SECCOMP}"
    for container, _ in containers:
        own, name = container.get("securityContext") or {}, container.get("name") or ""
        if _SECCOMP_CONTAINER + name in given and own.get("seccompProfile") is None:
            yield f"{field}[{_SECCOMP_CONTAINER}{name}]: {_NO_SECCOMP}"
        profiles = (context.get("appArmorProfile"), own.get("appArmorProfile"))
        if _APPARMOR + name in given and profiles == (None, None):
            yield f"{field}[{_APPARMOR}{name}]: {_OLD_APPARMOR}"


def _volumes(volumes: Sequence[Mapping[str, Any]], field: str) -> Iterator[str]:
    for index, volume in enumerate(volumes):
        for name, told in OLD_VOLUMES.items():
            if volume.get(name) is not None:
                yield f"{field}[{index}].{_FIELD_NAMES.get(name, name)}: {told}"
        template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
        if template is not None:
            yield from claim_spec(template.get("spec") or {}, f"{field}[{index}].ephemeral.volumeClaimTemplate.spec")


def claim_spec(spec: Mapping[str, Any], field: str) -> Iterator[str]:
    """Fractions of bytes in what a claim asks for (GetWarningsForPersistentVolumeClaimSpec)."""
    resources = spec.get("resources") or {}
    for side in ("requests", "limits"):
        yield from fractions(resources.get(side) or {}, ("storage",), f"{field}.resources.{side}")


def fractions(amounts: Mapping[str, Any], names: Sequence[str], field: str) -> Iterator[str]:
    """Amounts of bytes that are no whole number."""
    for name in names:
        if name in amounts:
            amount = quantity.of(amounts[name])
            if amount.milli_value() % 1000:
                told = f"fractional byte value {quoted(str(amount))} is invalid, must be an integer"
                yield f"{field}[{name}]: {told}"


def _repeated(items: Sequence[Mapping[str, Any]], name: str, field: str) -> Iterator[str]:
    seen: set[str] = set()
    for index, item in enumerate(items):
        value = item.get(name) or ""
        if value in seen:
            yield f"{field}[{index}].{name}: duplicate {name} {quoted(value)}"
        seen.add(value)


def _pull_secrets(items: Sequence[Mapping[str, Any]], field: str) -> Iterator[str]:
    yield from _repeated(items, "name", field)
    for index, item in enumerate(items):
        if not item.get("name"):
            yield f'{field}[{index}].name: invalid empty name ""'


def _hidden_variables(variables: Sequence[Mapping[str, Any]], field: str) -> Iterator[str]:
    """A variable that stands twice, and whose second value is not made of the first."""
    seen: set[str] = set()
    for index, variable in enumerate(variables):
        name, value = variable.get("name") or "", variable.get("value") or ""
        reference = f"$({name})"
        replaced = variable.get("valueFrom") is not None or value == reference or reference not in value
        if name in seen and replaced:
            told = f"hides previous definition of {quoted(name)}, which may be dropped when using apply"
            yield f"{field}[{index}]: {told}"
        seen.add(name)


def _ports(containers: Sequence[Placed]) -> Iterator[str]:
    """Ports that two containers name: they share one network."""
    known: dict[tuple[Any, str], list[Placed]] = {}
    for container, field in containers:
        for index, port in enumerate(container.get("ports") or []):
            here = f"{field}.ports[{index}]"
            if port.get("hostIP") and not port.get("hostPort"):
                yield f"{here}: hostIP set without hostPort: {_go_port(port)}"
            others = known.setdefault((port.get("containerPort"), port.get("protocol") or "TCP"), [])
            for other, place in others:
                told = _collision(port, other)
                if told:
                    yield f"{here}: {told} port definition with {place}"
            others.append((port, here))


def _collision(port: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    address, others_address = port.get("hostIP") or "", other.get("hostIP") or ""
    number, others_number = port.get("hostPort") or 0, other.get("hostPort") or 0
    if (address, number) == (others_address, others_number):
        return "duplicate"
    if not number or not others_number:
        return "overlapping"
    if number == others_number and bool(address) != bool(others_address):
        return "dangerously ambiguous"
    return ""


def _go_port(port: Mapping[str, Any]) -> str:
    """A container's port as Go's `%+v` prints it."""
    name, protocol, address = (port.get(part) or "" for part in ("name", "protocol", "hostIP"))
    numbers = f"HostPort:{port.get('hostPort') or 0} ContainerPort:{port.get('containerPort') or 0}"
    return f"{{Name:{name} {numbers} Protocol:{protocol} HostIP:{address}}}"


def _pod_affinity(spec: Mapping[str, Any], field: str) -> Iterator[str]:
    for kind in ("podAffinity", "podAntiAffinity"):
        affinity, here = (spec.get("affinity") or {}).get(kind) or {}, f"{field}.affinity.{kind}"
        for index, term in enumerate(affinity.get(_REQUIRED) or []):
            if term.get("labelSelector") is None:
                yield f"{here}.{_REQUIRED}[{index}].labelSelector: {_NO_SELECTOR}"
        for index, weighted in enumerate(affinity.get(_PREFERRED) or []):
            if (weighted.get("podAffinityTerm") or {}).get("labelSelector") is None:
                yield f"{here}.{_PREFERRED}[{index}].podAffinityTerm.labelSelector: {_NO_SELECTOR}"


def _addresses(spec: Mapping[str, Any], field: str) -> Iterator[str]:
    for index, address in enumerate((spec.get("dnsConfig") or {}).get("nameservers") or []):
        yield from ip_warnings.address(address, f"{field}.dnsConfig.nameservers[{index}]")
    for index, alias in enumerate(spec.get("hostAliases") or []):
        yield from ip_warnings.address(alias.get("ip") or "", f"{field}.hostAliases[{index}].ip")
