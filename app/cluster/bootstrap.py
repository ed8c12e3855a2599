"""Clusters as kubeadm leaves them: the templates that labs start from.

`kubeadm-3` has `controlplane` (tainted) and the workers `node01` and `node02`; `kubeadm-2` has `controlplane` and
`node01`. Every node has 2 CPUs, 4 GiB and room for 110 pods. Objects are put into the store in their settled form, so
that a fresh cluster has nothing to do; ages are an hour and a bit, and no events are left.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from app.apimachinery import clock as clocks
from app.apimachinery import meta
from app.apimachinery.clock import MINUTE, Instant, Micros
from app.apimachinery.meta import Object
from app.apis import defaults, scheme
from app.cluster import (
    bootstrap_addons,
    bootstrap_nodes,
    bootstrap_policy,
    bootstrap_rbac,
    controller_history,
    kubeadm,
    service_endpoints,
)
from app.cluster import controller_utils as utils
from app.cluster.admission import service_account
from app.cluster.client import Client
from app.cluster.controllers import endpoint, endpointslice, root_ca
from app.cluster.heartbeats import NODE_LEASES
from app.cluster.nodes import base_files, machine, pod_status, service, static_pods
from app.cluster.nodes.filesystem import FileSystem
from app.cluster.store import Store

DEFAULT = "kubeadm-3"
TEMPLATES: dict[str, tuple[str, ...]] = {
    "kubeadm-3": ("controlplane", "node01", "node02"),
    "kubeadm-2": ("controlplane", "node01"),
}
AGE: Micros = 70 * MINUTE
"""How long before the lab's start the cluster was made."""
_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


def build(store: Store, template: str) -> dict[str, Any]:
    """Fill the store; returns the kubelets' memory of the pods that run. KeyError for an unknown template."""
    names = TEMPLATES[template]
    memory: dict[str, Any] = {"pods": {}, "addresses": {}, "static": {}}
    for obj in bootstrap_rbac.objects():
        store.create(bootstrap_rbac.PLURALS[obj["kind"]], obj)
    store.compact()
    for name in _NAMESPACES:
        _put(store, bootstrap_policy.namespace(name))
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}}
        _put(store, account)
        _put(store, root_ca.made(name))
    for obj in bootstrap_policy.objects():
        _put(store, obj)
    nodes = [_put(store, node) for node in bootstrap_nodes.nodes(names, store.clock.now())]
    for node in nodes:
        _put(store, service.lease(node, clocks.rfc3339_micro(store.clock.now())))
    for lease in bootstrap_addons.leases(nodes[0], clocks.rfc3339_micro(store.clock.now())):
        _put(store, lease)
    memory["machines"] = {meta.name_of(node): machine.facts(node, control_plane=node is nodes[0]) for node in nodes}
    _static_pods(store, memory, nodes[0])
    for obj in bootstrap_addons.plain_objects():
        _put(store, obj)
    _kube_proxy(store, memory, nodes)
    _coredns(store, memory, nodes)
    _endpoints(store, nodes[0])
    return memory


def add_node(client: Client, store: Store, node: Object) -> Object:
    """A further node with a kubelet: the given one with what a kubelet reports where it says nothing itself."""
    created = client.create({key: value for key, value in node.items() if key != "status"})
    count = len(store.list("nodes"))
    current = {
        **created,
        "status": {
            **bootstrap_nodes.status(meta.name_of(created), count, store.clock.now()),
            **(node.get("status") or {}),
        },
    }
    taints = [t for t in (created.get("spec") or {}).get("taints") or [] if not _is_new_node_taint(t)]
    spec = {key: value for key, value in (created.get("spec") or {}).items() if key != "taints"}
    spec.setdefault("podCIDR", f"10.244.{count - 1}.0/24")
    spec.setdefault("podCIDRs", [spec["podCIDR"]])
    if taints:
        spec["taints"] = taints
    labels = {**bootstrap_nodes.labels(meta.name_of(created)), **meta.labels_of(created)}
    added = store.update("nodes", {**current, "metadata": {**created["metadata"], "labels": labels}, "spec": spec})
    if store.get("leases", f"{NODE_LEASES}/{meta.name_of(added)}") is None:
        _put(store, service.lease(added, clocks.rfc3339_micro(store.clock.now())))
    return added


def _is_new_node_taint(taint: Object) -> bool:
    """The taint that admission puts on nodes that have not reported yet."""
    return bool(taint.get("key") == "node.kubernetes.io/not-ready")


def _put(store: Store, obj: Object) -> Object:
    info = scheme.of(obj)
    complete = defaults.apply(meta.copied(obj))
    return store.create(info.plural, {**complete, "metadata": {**complete["metadata"]}})


def _static_pods(store: Store, memory: dict[str, Any], node: Object) -> None:
    """The control plane's pods, from the manifests on its machine."""
    name, address = meta.name_of(node), bootstrap_nodes.address_of(node)
    made = clocks.parse(node["metadata"]["creationTimestamp"])
    now = store.clock.now()
    files = FileSystem(base_files.of(name, address, address, made, control_plane=True), {}, now)
    memory["static"][name] = {}
    for component in kubeadm.COMPONENTS:
        path = f"{kubeadm.MANIFESTS}/{component}.yaml"
        entry = static_pods.entry_of(name, files, path, files.read(path), now)
        memory["static"][name][path] = entry
        _run(store, memory, static_pods.mirror_for(static_pods.pod_of(name, files, path, entry), node), node)


def _run(store: Store, memory: dict[str, Any], pod: Object, node: Object) -> Object:
    """Put a pod that has been running since the cluster was made, with the kubelet's record of it."""
    name = meta.name_of(node)
    stored = _put(store, {**pod, "spec": {**pod["spec"], "nodeName": name}})
    uid = utils.runtime_uid(stored)
    host_ip = bootstrap_nodes.address_of(node)
    address = host_ip
    if not stored["spec"].get("hostNetwork"):
        number = memory["addresses"].get(name, 1) + 1
        memory["addresses"][name] = number
        address = f"{node['spec']['podCIDR'].rpartition('.')[0]}.{number}"
    now = store.clock.now()
    record = running_record(stored, name, address, now)
    memory["pods"][uid] = record
    scheduled = {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": clocks.rfc3339(now),
    }
    bound = {**stored, "status": {"phase": "Pending", "conditions": [scheduled]}}
    return store.update("pods", {**stored, "status": pod_status.of(bound, record, host_ip, now)})


def running_record(pod: Object, node: str, address: str, since: Instant) -> dict[str, Any]:
    """What a kubelet remembers of a pod whose containers all run."""
    uid = utils.runtime_uid(pod)
    return {
        "key": meta.key_of(pod),
        "node": node,
        "ip": address,
        "since": since,
        "stage": "running",
        "announced": True,
        "sandbox": True,
        "containers": {
            container["name"]: {
                "state": "running",
                "begun": True,
                "since": since,
                "ready": True,
                "stops": clocks.SECOND,
                "image": container["image"],
                "id": hashlib.sha256(f"{uid}/{container['name']}/0".encode()).hexdigest(),
            }
            for container in pod["spec"]["containers"]
        },
    }


def _endpoints(store: Store, node: Object) -> None:
    """What stands behind the cluster's two services."""
    client = Client.over(store)
    for obj in bootstrap_addons.api_endpoints(node):
        _put(store, obj)
    service = client.get("services", "kube-dns", "kube-system")
    trigger = service_endpoints.trigger(store.clock.now())
    made = [endpoint.made_of(service, service_endpoints.pods_of(client, service))]
    for ports, endpoints in endpointslice.endpoints_of(client, service):
        made.append(_named(store, endpointslice.made_of(service, ports, endpoints)))
    for obj in made:
        _put(store, {**obj, "metadata": {**obj["metadata"], "annotations": trigger}})


def _kube_proxy(store: Store, memory: dict[str, Any], nodes: Sequence[Object]) -> None:
    count = len(nodes)
    wanted = bootstrap_addons.kube_proxy()
    wanted["status"] = {
        "currentNumberScheduled": count,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": count,
        "numberReady": count,
        "observedGeneration": 1,
        "updatedNumberScheduled": count,
        "numberAvailable": count,
    }
    daemonset = _put(store, wanted)
    _put(store, controller_history.new_revision(daemonset, 1, controller_history.HASH_LABEL))
    for node in nodes:
        pod = bootstrap_addons.daemon_pod(daemonset, meta.name_of(node))
        _run(store, memory, _named(store, _with_token(store, pod)), node)


def _coredns(store: Store, memory: dict[str, Any], nodes: Sequence[Object]) -> None:
    now = clocks.rfc3339(store.clock.now())
    replicas = 2
    wanted = defaults.apply(meta.copied(bootstrap_addons.coredns()))
    name = f"coredns-{utils.template_hash(wanted['spec']['template'])}"
    deployment = _put(store, {**wanted, "status": bootstrap_addons.deployment_status(replicas, now, name)})
    replicaset = _put(store, bootstrap_addons.replicaset_of(deployment, replicas))
    for _ in range(replicas):
        pod = utils.pod_from_template(replicaset, replicaset["spec"]["template"])
        _run(store, memory, _named(store, _with_token(store, bootstrap_addons.admitted(pod))), nodes[0])


def _with_token(store: Store, pod: Object) -> Object:
    """The pod with the volume of its account's token."""
    whole: Object = meta.copied(pod)
    service_account.mount_token(whole["spec"], store.suffix())
    return whole


def _named(store: Store, pod: Object) -> Object:
    name = pod["metadata"]["generateName"] + store.draw_suffix()
    return {**pod, "metadata": {**pod["metadata"], "name": name}}
