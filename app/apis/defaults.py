"""What the API server fills in (pkg/apis/*/v1/defaults.go): one function a kind, in one table.

A field that admission fills (service account, priority) is not filled here.
"""

from __future__ import annotations

import base64
from collections.abc import Callable

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.apis import pod_defaults

_INT32_MAX = 2**31 - 1
_RBAC_GROUP = "rbac.authorization.k8s.io"


def apply(obj: Object) -> Object:
    """A copy of the object with its kind's defaults."""
    copy: Object = meta.copied(obj)
    fill(copy)
    return copy


def fill(obj: Object) -> None:
    """Fill the defaults into the object itself."""
    fills = _FILLS.get(f"{obj.get('apiVersion')}/{obj.get('kind')}")
    if fills is not None:
        fills(obj)


def _deployment(obj: Object) -> None:
    """SetDefaults_Deployment."""
    spec = obj.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    strategy = spec.setdefault("strategy", {})
    strategy["type"] = strategy.get("type") or "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", "25%")
        rolling.setdefault("maxSurge", "25%")
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)
    _template(spec)


def _replica_set(obj: Object) -> None:
    """SetDefaults_ReplicaSet."""
    spec = obj.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    _template(spec)


def _replication_controller(obj: Object) -> None:
    """SetDefaults_ReplicationController: labels and selector come from the template."""
    spec = obj.setdefault("spec", {})
    spec.setdefault("replicas", 1)
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if labels:
        spec.setdefault("selector", dict(labels))
        obj.setdefault("metadata", {}).setdefault("labels", dict(labels))
    _template(spec)


def _daemon_set(obj: Object) -> None:
    """SetDefaults_DaemonSet."""
    spec = obj.setdefault("spec", {})
    strategy = spec.setdefault("updateStrategy", {})
    strategy["type"] = strategy.get("type") or "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    spec.setdefault("revisionHistoryLimit", 10)
    _template(spec)


def _stateful_set(obj: Object) -> None:
    """SetDefaults_StatefulSet."""
    spec = obj.setdefault("spec", {})
    spec["podManagementPolicy"] = spec.get("podManagementPolicy") or "OrderedReady"
    strategy = spec.setdefault("updateStrategy", {})
    strategy["type"] = strategy.get("type") or "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        strategy.setdefault("rollingUpdate", {}).setdefault("partition", 0)
    spec.setdefault("persistentVolumeClaimRetentionPolicy", {"whenDeleted": "Retain", "whenScaled": "Retain"})
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", 10)
    _template(spec)


def _template(spec: Object) -> None:
    if spec.get("template") is None:
        spec["template"] = {}
    pod_defaults.template(spec["template"])


def _job(obj: Object) -> None:
    """SetDefaults_Job: the labels come from the template."""
    spec = obj.setdefault("spec", {})
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    limits_failures = spec.get("podFailurePolicy") is not None
    for field, value in (
        ("parallelism", 1),
        ("backoffLimit", _INT32_MAX if spec.get("backoffLimitPerIndex") is not None else 6),
        ("completionMode", "NonIndexed"),
        ("suspend", False),
        ("manualSelector", False),
        ("podReplacementPolicy", "Failed" if limits_failures else "TerminatingOrFailed"),
    ):
        if spec.get(field) is None:
            spec[field] = value
    _failure_policy(spec)
    _template(spec)
    labels = (spec["template"].get("metadata") or {}).get("labels")
    metadata = obj.setdefault("metadata", {})
    if labels and not metadata.get("labels"):
        metadata["labels"] = dict(labels)


def _failure_policy(spec: Object) -> None:
    """SetDefaults_PodFailurePolicyOnPodConditionsPattern."""
    for rule in (spec.get("podFailurePolicy") or {}).get("rules") or []:
        for pattern in rule.get("onPodConditions") or []:
            pattern["status"] = pattern.get("status") or "True"


def _cron_job(obj: Object) -> None:
    """SetDefaults_CronJob: the job's own defaults come when it is made."""
    spec = obj.setdefault("spec", {})
    spec["concurrencyPolicy"] = spec.get("concurrencyPolicy") or "Allow"
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    inner = (spec.get("jobTemplate") or {}).get("spec")
    if inner is not None:
        _failure_policy(inner)
        _template(inner)


def _node(obj: Object) -> None:
    """SetDefaults_NodeStatus: what is not said to be reserved can be allocated."""
    status = obj.get("status") or {}
    if status.get("capacity") and not status.get("allocatable"):
        status["allocatable"] = dict(status["capacity"])


def _secret(obj: Object) -> None:
    """SetDefaults_Secret, and what is written as text joins the data (Convert_v1_Secret_To_core_Secret)."""
    texts = obj.pop("stringData", None)
    if texts:
        encoded = {key: base64.b64encode(str(text).encode()).decode() for key, text in texts.items()}
        obj["data"] = {**(obj.get("data") or {}), **encoded}
    obj["type"] = obj.get("type") or "Opaque"


def _service(obj: Object) -> None:
    """SetDefaults_Service."""
    spec = obj.setdefault("spec", {})
    spec["sessionAffinity"] = spec.get("sessionAffinity") or "None"
    spec["type"] = spec.get("type") or "ClusterIP"
    for port in spec.get("ports") or []:
        port["protocol"] = port.get("protocol") or "TCP"
        if port.get("targetPort") in {None, "", 0}:
            port["targetPort"] = port.get("port")
    if spec["type"] in {"ClusterIP", "NodePort", "LoadBalancer"}:
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if spec["type"] in {"NodePort", "LoadBalancer"}:
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if spec["type"] == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
    if spec["sessionAffinity"] == "ClientIP":
        client = spec.setdefault("sessionAffinityConfig", {}).setdefault("clientIP", {})
        client.setdefault("timeoutSeconds", 10_800)


def _persistent_volume(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    spec["persistentVolumeReclaimPolicy"] = spec.get("persistentVolumeReclaimPolicy") or "Retain"
    spec.setdefault("volumeMode", "Filesystem")
    if spec.get("hostPath") is not None:
        spec["hostPath"].setdefault("type", "")


def _persistent_volume_claim(obj: Object) -> None:
    obj.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")


def _limit_range(obj: Object) -> None:
    """SetDefaults_LimitRangeItem: missing defaults come from the maximum, missing default requests from those."""
    for item in (obj.get("spec") or {}).get("limits") or []:
        if item.get("type") != "Container":
            continue
        limits = {**(item.get("max") or {}), **(item.get("default") or {})}
        requests = {**(item.get("min") or {}), **limits, **(item.get("defaultRequest") or {})}
        for field, values in (("default", limits), ("defaultRequest", requests)):
            if values:
                item[field] = values


def _binding_of_roles(obj: Object) -> None:
    """SetDefaults_ClusterRoleBinding, SetDefaults_RoleBinding, SetDefaults_Subject."""
    reference = obj.setdefault("roleRef", {})
    reference["apiGroup"] = reference.get("apiGroup") or _RBAC_GROUP
    for subject in obj.get("subjects") or []:
        if not subject.get("apiGroup") and subject.get("kind") in {"User", "Group"}:
            subject["apiGroup"] = _RBAC_GROUP


def _priority_class(obj: Object) -> None:
    """SetDefaults_PriorityClass."""
    obj["preemptionPolicy"] = obj.get("preemptionPolicy") or "PreemptLowerPriority"


def _storage_class(obj: Object) -> None:
    """SetDefaults_StorageClass."""
    obj.setdefault("reclaimPolicy", "Delete")
    obj.setdefault("volumeBindingMode", "Immediate")


_SCALE_UP = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
}
_SCALE_DOWN = {"selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}


def _autoscaler(obj: Object) -> None:
    """SetDefaults_HorizontalPodAutoscaler: the CPU at 80%, and rules that are given in part are completed."""
    spec = obj.setdefault("spec", {})
    spec.setdefault("minReplicas", 1)
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    behavior = spec.get("behavior")
    if behavior is not None:
        for side, rules in (("scaleUp", _SCALE_UP), ("scaleDown", _SCALE_DOWN)):
            given = {name: value for name, value in (behavior.get(side) or {}).items() if value is not None}
            behavior[side] = {**meta.copied(rules), **given}


def _network_policy(obj: Object) -> None:
    """SetDefaults_NetworkPolicy, SetDefaults_NetworkPolicyPort."""
    spec = obj.setdefault("spec", {})
    for direction in ("ingress", "egress"):
        for rule in spec.get(direction) or []:
            for port in rule.get("ports") or []:
                port.setdefault("protocol", "TCP")
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


def _ingress_class(obj: Object) -> None:
    """SetDefaults_IngressClass."""
    parameters = (obj.get("spec") or {}).get("parameters")
    if parameters is not None:
        parameters.setdefault("scope", "Cluster")


def _endpoints(obj: Object) -> None:
    """SetDefaults_Endpoints."""
    for subset in obj.get("subsets") or []:
        for port in subset.get("ports") or []:
            port["protocol"] = port.get("protocol") or "TCP"


def _endpoint_slice(obj: Object) -> None:
    """SetDefaults_EndpointPort of pkg/apis/discovery/v1."""
    for port in obj.get("ports") or []:
        port.setdefault("name", "")
        port["protocol"] = port.get("protocol") or "TCP"


def _csi_driver(obj: Object) -> None:
    """SetDefaults_CSIDriver."""
    spec = obj.setdefault("spec", {})
    for field, value in (
        ("attachRequired", True),
        ("podInfoOnMount", False),
        ("storageCapacity", False),
        ("fsGroupPolicy", "ReadWriteOnceWithFSType"),
        ("requiresRepublish", False),
        ("seLinuxMount", False),
    ):
        spec.setdefault(field, value)
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]


_FILLS: dict[str, Callable[[Object], None]] = {
    "v1/Pod": pod_defaults.pod,
    "v1/Node": _node,
    "v1/Secret": _secret,
    "v1/Service": _service,
    "v1/PersistentVolume": _persistent_volume,
    "v1/PersistentVolumeClaim": _persistent_volume_claim,
    "v1/LimitRange": _limit_range,
    "v1/ReplicationController": _replication_controller,
    "apps/v1/Deployment": _deployment,
    "apps/v1/ReplicaSet": _replica_set,
    "apps/v1/DaemonSet": _daemon_set,
    "apps/v1/StatefulSet": _stateful_set,
    "autoscaling/v1/HorizontalPodAutoscaler": lambda obj: obj.setdefault("spec", {}).setdefault("minReplicas", 1),
    "autoscaling/v2/HorizontalPodAutoscaler": _autoscaler,
    "discovery.k8s.io/v1/EndpointSlice": _endpoint_slice,
    "networking.k8s.io/v1/IngressClass": _ingress_class,
    "networking.k8s.io/v1/NetworkPolicy": _network_policy,
    "storage.k8s.io/v1/CSIDriver": _csi_driver,
    "v1/Endpoints": _endpoints,
    "v1/PodTemplate": _template,
    "batch/v1/Job": _job,
    "batch/v1/CronJob": _cron_job,
    f"{_RBAC_GROUP}/v1/RoleBinding": _binding_of_roles,
    f"{_RBAC_GROUP}/v1/ClusterRoleBinding": _binding_of_roles,
    "scheduling.k8s.io/v1/PriorityClass": _priority_class,
    "storage.k8s.io/v1/StorageClass": _storage_class,
}
