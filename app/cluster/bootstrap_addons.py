"""The control plane's static pods, CoreDNS and kube-proxy, as kubeadm makes them."""

from __future__ import annotations

import base64
import hashlib
import uuid
from typing import Any

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster import daemon_pods
from app.cluster.apiserver.strategies.apps import TEMPLATE_GENERATION
from app.cluster.bootstrap_nodes import VERSION, address_of
from app.cluster.controllers import deployment as deployments

_SYSTEM = "kube-system"
_CLUSTER_CRITICAL = ("system-cluster-critical", 2_000_000_000)
_NODE_CRITICAL = ("system-node-critical", 2_000_001_000)
_NOT_READY_SECONDS = 300
_PATIENT = tuple(
    {
        "key": f"node.kubernetes.io/{key}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": _NOT_READY_SECONDS,
    }
    for key in ("not-ready", "unreachable")
)


def leases(node: Object, stamp: str) -> list[Object]:
    """The leases of the control plane's programs on this node, without kube-scheduler's, which writes its own.

    Mirrors pkg/controlplane/controller/leaderelection and k8s.io/apiserver/pkg/server: the API server's identity.
    """
    host = meta.name_of(node)
    digest = hashlib.sha256(host.encode()).digest()
    identity = "apiserver-" + base64.b32encode(digest[:16]).decode().rstrip("=").lower()
    labels = {"apiserver.kubernetes.io/identity": "kube-apiserver", "kubernetes.io/hostname": host}
    number = uuid.uuid5(uuid.NAMESPACE_DNS, host)
    leader = {"acquireTime": stamp, "leaseDurationSeconds": 15, "leaseTransitions": 0, "renewTime": stamp}
    server = {"holderIdentity": f"{identity}_{number}", "leaseDurationSeconds": 3600, "renewTime": stamp}
    return [
        _lease({"name": "kube-controller-manager"}, {"holderIdentity": f"{host}_{number}", **leader}),
        _lease({"name": identity, "labels": labels}, server),
    ]


def api_endpoints(node: Object) -> list[Object]:
    """What stands behind the service `kubernetes` (pkg/controlplane/reconcilers/endpointsadapter.go)."""
    name, port = {"name": "kubernetes", "namespace": "default"}, {"name": "https", "port": 6443, "protocol": "TCP"}
    host = address_of(node)
    skipped = {**name, "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}}
    subsets = [{"addresses": [{"ip": host}], "ports": [port]}]
    return [
        {"apiVersion": "v1", "kind": "Endpoints", "metadata": skipped, "subsets": subsets},
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {**name, "labels": {"kubernetes.io/service-name": "kubernetes"}},
            "addressType": "IPv4",
            "endpoints": [{"addresses": [host], "conditions": {"ready": True}}],
            "ports": [port],
        },
    ]


def _lease(metadata: dict[str, Any], spec: dict[str, Any]) -> Object:
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {**metadata, "namespace": _SYSTEM},
        "spec": spec,
    }


def plain_objects() -> list[Object]:
    """ConfigMaps and Services that the add-ons use."""
    plugins = (
        "errors",
        "health",
        "ready",
        "kubernetes cluster.local in-addr.arpa ip6.arpa",
        "forward . /etc/resolv.conf",
    )
    corefile = ".:53 {\n" + "".join(f"    {plugin}\n" for plugin in (*plugins, "cache 30")) + "}\n"
    proxy = "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nclusterCIDR: 10.244.0.0/16\n"
    return [
        _config_map("coredns", {"Corefile": corefile}),
        _config_map("kube-proxy", {"config.conf": proxy}),
        _config_map("extension-apiserver-authentication", {"requestheader-allowed-names": '["front-proxy-client"]'}),
        _service("default", "kubernetes", "10.96.0.1", None, [{"name": "https", "port": 443, "targetPort": 6443}]),
        _service(_SYSTEM, "kube-dns", "10.96.0.10", {"k8s-app": "kube-dns"}, [
            {"name": "dns", "port": 53, "protocol": "UDP", "targetPort": 53},
            {"name": "dns-tcp", "port": 53, "protocol": "TCP", "targetPort": 53},
            {"name": "metrics", "port": 9153, "protocol": "TCP", "targetPort": 9153},
        ]),
    ]  # fmt: skip


def _config_map(name: str, data: dict[str, str]) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": _SYSTEM}, "data": data}


def _service(
    namespace: str, name: str, address: str, selector: dict[str, str] | None, ports: list[dict[str, Any]]
) -> Object:
    spec: dict[str, Any] = {
        "clusterIP": address,
        "clusterIPs": [address],
        "internalTrafficPolicy": "Cluster",
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "ports": [{"protocol": "TCP", **port} for port in ports],
        "sessionAffinity": "None",
        "type": "ClusterIP",
    }
    if selector:
        spec["selector"] = selector
    labels = (
        {"k8s-app": "kube-dns", "kubernetes.io/name": "CoreDNS"}
        if selector
        else {"component": "apiserver", "provider": "kubernetes"}
    )
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec, "status": {"loadBalancer": {}}}


def kube_proxy() -> Object:
    """The kube-proxy DaemonSet."""
    container = {
        "name": "kube-proxy",
        "image": f"registry.k8s.io/kube-proxy:{VERSION}",
        "imagePullPolicy": "IfNotPresent",
        "command": [
            "/usr/local/bin/kube-proxy",
            "--config=/var/lib/kube-proxy/config.conf",
            "--hostname-override=$(NODE_NAME)",
        ],
        "env": [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
        "securityContext": {"privileged": True},
        "volumeMounts": [{"name": "kube-proxy", "mountPath": "/var/lib/kube-proxy"}],
    }
    spec = {
        "containers": [container],
        "hostNetwork": True,
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "priorityClassName": _NODE_CRITICAL[0],
        "serviceAccountName": "kube-proxy",
        "tolerations": [{"operator": "Exists"}],
        "volumes": [{"name": "kube-proxy", "configMap": {"name": "kube-proxy"}}],
    }
    labels = {"k8s-app": "kube-proxy"}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
            "name": "kube-proxy",
            "namespace": _SYSTEM,
            "labels": labels,
            "annotations": {TEMPLATE_GENERATION: "1"},
            "generation": 1,
        },
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
        },
    }


def daemon_pod(daemonset: Object, node: str) -> Object:
    """A pod of the DaemonSet as admission lets it through."""
    pod = daemon_pods.new_pod(daemonset, node, utils.template_hash(daemonset["spec"]["template"]))
    return admitted(pod, _NODE_CRITICAL[1])


def admitted(pod: Object, priority: int = _CLUSTER_CRITICAL[1]) -> Object:
    """A system pod with what admission adds: its priority, and patience with nodes that are not ready."""
    tolerations = list(pod["spec"].get("tolerations") or [])
    if not any(
        ("tolerationSeconds" not in t and not t.get("key")) or t.get("key") == _PATIENT[0]["key"] for t in tolerations
    ):
        tolerations += [dict(toleration) for toleration in _PATIENT]
    account = pod["spec"].get("serviceAccountName") or "default"
    spec = {
        **pod["spec"],
        "priority": priority,
        "preemptionPolicy": "PreemptLowerPriority",
        "serviceAccountName": account,
        "serviceAccount": account,
        "tolerations": tolerations,
    }
    return {**pod, "spec": spec}


def coredns() -> Object:
    """The CoreDNS Deployment of two replicas."""
    container = {
        "name": "coredns",
        "image": "registry.k8s.io/coredns/coredns:v1.13.1",
        "imagePullPolicy": "IfNotPresent",
        "args": ["-conf", "/etc/coredns/Corefile"],
        "ports": [
            {"name": "dns", "containerPort": 53, "protocol": "UDP"},
            {"name": "dns-tcp", "containerPort": 53, "protocol": "TCP"},
        ],
        "resources": {"limits": {"memory": "170Mi"}, "requests": {"cpu": "100m", "memory": "70Mi"}},
        "volumeMounts": [{"name": "config-volume", "mountPath": "/etc/coredns", "readOnly": True}],
    }
    spec = {
        "containers": [container],
        "dnsPolicy": "Default",
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "priorityClassName": _CLUSTER_CRITICAL[0],
        "serviceAccountName": "coredns",
        "tolerations": [
            {"key": "CriticalAddonsOnly", "operator": "Exists"},
            {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"},
        ],
        "volumes": [
            {
                "name": "config-volume",
                "configMap": {"name": "coredns", "items": [{"key": "Corefile", "path": "Corefile"}]},
            }
        ],
    }
    labels = {"k8s-app": "kube-dns"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "coredns",
            "namespace": _SYSTEM,
            "labels": labels,
            "annotations": {deployments.REVISION: "1"},
            "generation": 1,
        },
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": "25%"}},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def replicaset_of(deployment: Object, replicas: int) -> Object:
    """The Deployment's only ReplicaSet, settled."""
    made = deployments.new_replicaset(deployment, [], replicas)
    status = {
        "replicas": replicas,
        "fullyLabeledReplicas": replicas,
        "readyReplicas": replicas,
        "availableReplicas": replicas,
        "terminatingReplicas": 0,
        "observedGeneration": 1,
    }
    return {**made, "metadata": {**made["metadata"], "generation": 1}, "status": status}


def deployment_status(replicas: int, stamp: str, replicaset: str) -> dict[str, Any]:
    """The status of a Deployment whose rollout is complete."""
    times = {"lastTransitionTime": stamp, "lastUpdateTime": stamp}
    return {
        "replicas": replicas,
        "readyReplicas": replicas,
        "availableReplicas": replicas,
        "updatedReplicas": replicas,
        "terminatingReplicas": 0,
        "observedGeneration": 1,
        "conditions": [
            {
                "type": "Available",
                "status": "True",
                "reason": "MinimumReplicasAvailable",
                "message": "Deployment has minimum availability.",
                **times,
            },
            {
                "type": "Progressing",
                "status": "True",
                "reason": "NewReplicaSetAvailable",
                "message": f'ReplicaSet "{replicaset}" has successfully progressed.',
                **times,
            },
        ],
    }
