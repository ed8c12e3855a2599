"""What the API server warns of beside doing what it is asked: the strategies' WarningsOnCreate and WarningsOnUpdate.

Pods and templates are in `pod_warnings`. What a change warns of is mostly asked only where the spec changed, and never
for a pod.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from app.apimachinery import validation
from app.apimachinery.meta import Object, annotations_of, labels_of, name_of
from app.apimachinery.validation import quoted
from app.apis.scheme import KindInfo
from app.cluster.apiserver import ip_warnings, pod_warnings

_OLD_RESOURCES = {("", "Endpoints"): "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"}
_TEMPLATES = {
    "Deployment": ("spec", "template"),
    "ReplicaSet": ("spec", "template"),
    "DaemonSet": ("spec", "template"),
    "StatefulSet": ("spec", "template"),
    "ReplicationController": ("spec", "template"),
    "Job": ("spec", "template"),
    "PodTemplate": ("template",),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
}
_NAMES_PODS = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "Job", "CronJob"})
_SURPRISING = "which can result in surprising behavior; a DNS label is recommended"
_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
_BETA_MOUNTS = "volume.beta.kubernetes.io/mount-options"
_OLD_CLASS = 'deprecated since v1.8; use "storageClassName" attribute instead'
_OLD_MOUNTS = 'deprecated since v1.31; use "mountOptions" attribute instead'
_RECYCLE = "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning."
_INGRESS_CLASS = "kubernetes.io/ingress.class"
_TOPOLOGY_HINTS, _TOPOLOGY_MODE = (f"service.kubernetes.io/topology-{part}" for part in ("aware-hints", "mode"))
_MOUNTABLE = "kubernetes.io/enforce-mountable-secrets"
_OLD_MOUNTABLE = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"


def of_resource(info: KindInfo) -> list[str]:
    """The warning that comes with every request for a resource that goes out of use (APILifecycleDeprecated)."""
    told = _OLD_RESOURCES.get((info.group, info.kind))
    return [told] if told else []


def on_create(obj: Object) -> list[str]:
    """The warnings for a new object, as it was stored."""
    kind = str(obj.get("kind"))
    found = [*_name(obj, kind)]
    if kind == "Pod":
        found += pod_warnings.of(obj)
    if kind == "Ingress" and _INGRESS_CLASS in annotations_of(obj) and not obj["spec"].get("ingressClassName"):
        told = "is deprecated, please use 'spec.ingressClassName' instead"
        found.append(f"annotation {quoted(_INGRESS_CLASS)} {told}")
    return [*found, *_template(obj, kind), *_always(obj, kind)]


def on_update(new: Object, old: Object) -> list[str]:
    """The warnings for a changed object."""
    kind = str(new.get("kind"))
    changed = new.get("spec") != old.get("spec") or kind == "PodTemplate"
    found = list(_template(new, kind)) if changed else []
    if kind == "NetworkPolicy" and not changed:
        return found
    return [*found, *_always(new, kind)]


def _name(obj: Object, kind: str) -> Iterator[str]:
    wrong = validation.dns1123_label(name_of(obj))
    if wrong and kind in _NAMES_PODS:
        yield f"metadata.name: this is used in Pod names and hostnames, {_SURPRISING}: [{' '.join(wrong)}]"
    elif wrong and kind == "Pod":
        yield f"metadata.name: this is used in the Pod's hostname, {_SURPRISING}: [{' '.join(wrong)}]"


def _template(obj: Object, kind: str) -> Iterator[str]:
    path = _TEMPLATES.get(kind)
    if path is None:
        return
    inner = obj
    for name in path:
        inner = inner.get(name) or {}
    yield from pod_warnings.of(inner, ".".join(path) + ".")


def _always(obj: Object, kind: str) -> Iterator[str]:
    warn = _KINDS.get(kind)
    if warn is not None:
        yield from warn(obj)


def _service(obj: Object) -> Iterator[str]:
    """GetWarningsForService of pkg/api/service/warnings.go."""
    spec = obj.get("spec") or {}
    kind, headless = spec.get("type"), spec.get("type") == "ClusterIP" and spec.get("clusterIP") == "None"
    if _TOPOLOGY_HINTS in annotations_of(obj):
        yield f"annotation {_TOPOLOGY_HINTS} is deprecated, please use {_TOPOLOGY_MODE} instead"
    for index, address in enumerate(spec.get("clusterIPs") or []):
        yield from ip_warnings.address(address, f"spec.clusterIPs[{index}]")
    if headless:
        if spec.get("loadBalancerIP"):
            yield "spec.loadBalancerIP is ignored for headless services"
        if spec.get("externalIPs"):
            yield "spec.externalIPs is ignored for headless services"
        if spec.get("sessionAffinity") != "None":
            yield "spec.SessionAffinity is ignored for headless services"
    for index, address in enumerate(spec.get("externalIPs") or []):
        yield from ip_warnings.address(address, f"spec.externalIPs[{index}]")
    yield from ip_warnings.address(spec.get("loadBalancerIP") or "", "spec.loadBalancerIP")
    for index, block in enumerate(spec.get("loadBalancerSourceRanges") or []):
        yield from ip_warnings.network(block, f"spec.loadBalancerSourceRanges[{index}]")
    if kind == "ExternalName" and spec.get("externalIPs"):
        yield 'spec.externalIPs is ignored when spec.type is "ExternalName"'
    if kind != "ExternalName" and spec.get("externalName"):
        yield 'spec.externalName is ignored when spec.type is not "ExternalName"'
    if spec.get("trafficDistribution") == "PreferClose":
        yield 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'


def _volume(obj: Object) -> Iterator[str]:
    """GetWarningsForPersistentVolume of pkg/api/persistentvolume/util.go."""
    spec = obj.get("spec") or {}
    for key, told in ((_BETA_CLASS, _OLD_CLASS), (_BETA_MOUNTS, _OLD_MOUNTS)):
        if key in annotations_of(obj):
            yield f"metadata.annotations[{key}]: {told}"
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        yield f"spec.persistentVolumeReclaimPolicy: {_RECYCLE}"
    terms = ((spec.get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or []
    for index, term in enumerate(terms):
        yield from pod_warnings.node_selector_term(term, f"spec.nodeAffinity.required.nodeSelectorTerms[{index}]")
    for name, told in pod_warnings.OLD_VOLUMES.items():
        if spec.get(name) is not None:
            yield f"spec.{name}: {told}"


def _claim(obj: Object) -> Iterator[str]:
    """GetWarningsForPersistentVolumeClaim of pkg/api/persistentvolumeclaim/util.go."""
    if _BETA_CLASS in annotations_of(obj):
        yield f"metadata.annotations[{_BETA_CLASS}]: {_OLD_CLASS}"
    yield from pod_warnings.claim_spec(obj.get("spec") or {}, "spec")


def _storage_class(obj: Object) -> Iterator[str]:
    """GetWarningsForStorageClass of pkg/api/storage/util.go."""
    for index, topology in enumerate(obj.get("allowedTopologies") or []):
        for place, term in enumerate(topology.get("matchLabelExpressions") or []):
            told = pod_warnings.OLD_LABELS.get(term.get("key") or "")
            if told:
                yield f"allowedTopologies[{index}].matchLabelExpressions[{place}]: {told}"


def _storage_capacity(obj: Object) -> Iterator[str]:
    """GetWarningsForCSIStorageCapacity: GetWarningsForNodeSelector of pkg/api/node/util.go."""
    topology = obj.get("nodeTopology") or {}
    yield from pod_warnings.node_selector_term(topology, "nodeTopology")
    for key in sorted(topology.get("matchLabels") or {}):
        if key in pod_warnings.OLD_LABELS:
            yield f"nodeTopology.matchLabels.{key}: {pod_warnings.OLD_LABELS[key]}"


def _runtime_class(obj: Object) -> Iterator[str]:
    """GetWarningsForRuntimeClass of pkg/api/node/util.go."""
    for key in sorted((obj.get("scheduling") or {}).get("nodeSelector") or {}):
        if key in pod_warnings.OLD_LABELS:
            yield f"scheduling.nodeSelector: {pod_warnings.OLD_LABELS[key]}"


def _stateful_set(obj: Object) -> Iterator[str]:
    """The statefulSetStrategy of pkg/registry/apps/statefulset."""
    spec = obj.get("spec") or {}
    for index, claim in enumerate(spec.get("volumeClaimTemplates") or []):
        yield from pod_warnings.claim_spec(claim.get("spec") or {}, f"spec.volumeClaimTemplates[{index}]")
    if (spec.get("revisionHistoryLimit") or 0) < 0:
        told = "a negative value retains all historical revisions; a value >= 0 is recommended"
        yield f"spec.revisionHistoryLimit: {told}"


def _network_policy(obj: Object) -> Iterator[str]:
    """NetworkPolicyWarnings of pkg/registry/networking/networkpolicy."""
    spec = obj.get("spec") or {}
    for direction, side in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction) or []):
            for place, peer in enumerate(rule.get(side) or []):
                block, here = peer.get("ipBlock") or {}, f"spec.{direction}[{index}].{side}[{place}].ipBlock"
                yield from ip_warnings.network(block.get("cidr") or "", f"{here}.cidr")
                for number, text in enumerate(block.get("except") or []):
                    yield from ip_warnings.network(text, f"{here}.except[{number}]")


def _endpoints(obj: Object) -> Iterator[str]:
    """EndpointsWarnings of pkg/registry/core/endpoint; the controller's own are not looked at."""
    if labels_of(obj).get("endpoints.kubernetes.io/managed-by"):
        return
    for index, subset in enumerate(obj.get("subsets") or []):
        for name in ("addresses", "notReadyAddresses"):
            for place, one in enumerate(subset.get(name) or []):
                yield from ip_warnings.address(one.get("ip") or "", f"subsets[{index}].{name}[{place}].ip")


def _endpoint_slice(obj: Object) -> Iterator[str]:
    """The endpointSliceStrategy of pkg/registry/discovery/endpointslice."""
    if obj.get("addressType") == "FQDN":
        yield "addressType: FQDN endpoints are deprecated"
    if labels_of(obj).get("endpointslice.kubernetes.io/managed-by"):
        return
    for index, endpoint in enumerate(obj.get("endpoints") or []):
        for place, address in enumerate(endpoint.get("addresses") or []):
            yield from ip_warnings.address(address, f"endpoints[{index}].addresses[{place}]")


def _node(obj: Object) -> Iterator[str]:
    """NodeWarnings of pkg/registry/core/node."""
    spec = obj.get("spec") or {}
    if spec.get("configSource") is not None:
        yield "spec.configSource: the feature is removed"
    if spec.get("externalID"):
        yield "spec.externalID: this field is deprecated, and is unused by Kubernetes"
    for index, block in enumerate(spec.get("podCIDRs") or []):
        yield from ip_warnings.network(block, f"spec.podCIDRs[{index}]")


def _service_account(obj: Object) -> Iterator[str]:
    """The strategy of pkg/registry/core/serviceaccount."""
    if _MOUNTABLE in annotations_of(obj):
        yield f"metadata.annotations[{_MOUNTABLE}]: {_OLD_MOUNTABLE}"


_KINDS: dict[str, Callable[[Object], Iterator[str]]] = {
    "CSIStorageCapacity": _storage_capacity,
    "EndpointSlice": _endpoint_slice,
    "Endpoints": _endpoints,
    "NetworkPolicy": _network_policy,
    "Node": _node,
    "PersistentVolume": _volume,
    "PersistentVolumeClaim": _claim,
    "RuntimeClass": _runtime_class,
    "Service": _service,
    "ServiceAccount": _service_account,
    "StatefulSet": _stateful_set,
    "StorageClass": _storage_class,
}
