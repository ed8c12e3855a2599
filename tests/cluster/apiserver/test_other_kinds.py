"""Nodes, namespaces, ConfigMaps, workloads, roles and priority classes: what is refused, in the server's words."""

from __future__ import annotations

import pytest

from app.apimachinery.errors import Forbidden, Invalid
from tests.cluster.apiserver.making import RBAC, named, node, pod, refused_change, server, workload


def refusal(*objects: dict) -> str:
    client, _ = server()
    *before, last = objects
    for obj in before:
        client.create(obj)
    with pytest.raises(Invalid) as caught:
        client.create(last)
    return caught.value.message


def role(**rule) -> dict:
    return named(f"{RBAC}/v1", "ClusterRole", "system:r", rules=[rule])


def cluster_binding(role_ref: dict, *subjects: dict) -> dict:
    return named(f"{RBAC}/v1", "ClusterRoleBinding", "b", roleRef=role_ref, subjects=list(subjects))


def priority_class(name: str = "high", **fields) -> dict:
    return named("scheduling.k8s.io/v1", "PriorityClass", name, **{"value": 1000, **fields})


CLUSTER_ROLE = {"kind": "ClusterRole", "name": "r"}
ACCOUNT = {"kind": "ServiceAccount", "name": "s", "namespace": "n"}


@pytest.mark.parametrize(
    ("obj", "text"),
    [
        (node(taints=[{"key": "a"}]), 'Node "node01" is invalid: spec.taints[0].effect: Required value'),
        (
            node(taints=[{"key": "a", "effect": "NoSched"}]),
            (
                'spec.taints[0].effect: Unsupported value: "NoSched": supported values: "NoSchedule", "PreferNoSchedule", '
                '"NoExecute"'
            ),
        ),
        (node(taints=[{"key": "a b", "effect": "NoSchedule"}]), 'spec.taints[0].key: Invalid value: "a b": name part'),
        (
            node(taints=[{"key": "a", "effect": "NoSchedule"}, {"key": "a", "value": "v", "effect": "NoSchedule"}]),
            (
                'spec.taints[1]: Duplicate value: {"Key":"a","Value":"v","Effect":"NoSchedule","TimeAdded":null}: taints must '
                "be unique by key and effect pair"
            ),
        ),
        (named("v1", "Node", "n", status={"capacity": {"cpu": "-1"}}), "status.capacity.cpu: Invalid value"),
        (
            named("v1", "Namespace", "a.b"),
            'Namespace "a.b" is invalid: metadata.name: Invalid value: "a.b": must not contain dots',
        ),
        (
            named("v1", "ConfigMap", "c", data={"a b": "c"}),
            'ConfigMap "c" is invalid: data[a b]: Invalid value: "a b": a valid config key must consist of',
        ),
        (
            named("v1", "ConfigMap", "c", data={"a": "c"}, binaryData={"a": "Yw=="}),
            'data[a]: Invalid value: "a": duplicate of key present in binaryData',
        ),
        (named("v1", "ConfigMap", "c", data={"a": "x" * 1_048_577}), "Too long: may not be more than 1048576 bytes"),
        (named("v1", "Service", "1a", spec={}), "a DNS-1035 label must consist of lower case"),
        (
            workload("ReplicaSet", labels={"app": "other"}),
            (
                'ReplicaSet.apps "web" is invalid: spec.template.metadata.labels: Invalid value: {"app":"other"}: `selector` '
                "does not match template `labels`"
            ),
        ),
        (
            workload("Deployment", labels={"app": "x"}),
            'Deployment.apps "web" is invalid: spec.template.metadata.labels',
        ),
        (workload("DaemonSet", labels={"app": "x"}), 'DaemonSet.apps "web" is invalid: spec.template.metadata.labels'),
        (
            workload("Deployment", selector=None),
            (
                'Deployment.apps "web" is invalid: [spec.selector: Required value, spec.template.metadata.labels: Invalid '
                'value: {"app":"web"}: `selector` does not match template `labels`]'
            ),
        ),
        (
            workload("DaemonSet", selector={}),
            "spec.selector: Invalid value: {}: empty selector is invalid for daemonset",
        ),
        (
            workload("Deployment", selector={}),
            "spec.selector: Invalid value: {}: empty selector is invalid for deployment",
        ),
        (
            workload("Deployment", template=None),
            (
                "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`, "
                "spec.template.spec.containers: Required value"
            ),
        ),
        (
            workload("Deployment", replicas=-1),
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            workload("Deployment", strategy={"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}),
            "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
        ),
        (
            workload("Deployment", strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "0%"}}),
            'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0',
        ),
        (
            workload("Deployment", strategy={"rollingUpdate": {"maxSurge": "half"}}),
            'maxSurge: Invalid value: "half": a valid percent string must be a numeric string followed by an ending',
        ),
        (
            workload("Deployment", minReadySeconds=700),
            "spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds",
        ),
        (
            workload(
                "Deployment",
                template={"metadata": {"labels": {"app": "web"}}, "spec": pod(restartPolicy="Never")["spec"]},
            ),
            'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
        ),
        (
            workload("Deployment", template={"metadata": {"labels": {"app": "web"}}, "spec": {}}),
            "spec.template.spec.containers: Required value",
        ),
        (
            workload("DaemonSet", updateStrategy={"type": "Sometimes"}),
            'spec.updateStrategy: Unsupported value: {"Type":"Sometimes","RollingUpdate":null}',
        ),
        (
            role(resources=["pods"], apiGroups=[""]),
            "rules[0].verbs: Required value: verbs must contain at least one value",
        ),
        (
            role(verbs=["get"], resources=["pods"]),
            "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
        ),
        (
            role(verbs=["get"], apiGroups=[""]),
            "rules[0].resources: Required value: resource rules must supply at least",
        ),
        (
            role(verbs=["get"], nonResourceURLs=["/x"], resources=["pods"]),
            "rules cannot apply to both regular resources and non-resource URLs",
        ),
        (
            cluster_binding({"kind": "Role", "name": "r"}),
            'roleRef.kind: Unsupported value: "Role": supported values: "Clus',
        ),
        (cluster_binding({"kind": "ClusterRole"}), "roleRef.name: Required value"),
        (
            cluster_binding(CLUSTER_ROLE, {"kind": "ServiceAccount", "name": "s"}),
            "subjects[0].namespace: Required value",
        ),
        (
            cluster_binding(CLUSTER_ROLE, {"kind": "Robot", "name": "s"}),
            'subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"',
        ),
        (cluster_binding(CLUSTER_ROLE, {**ACCOUNT, "apiGroup": RBAC}), "subjects[0].apiGroup: Unsupported value"),
        (
            priority_class(value=1_000_000_001),
            (
                'PriorityClass.scheduling.k8s.io "high" is invalid: value: Forbidden: maximum allowed value of a user defined '
                "priority is 1000000000"
            ),
        ),
        (
            priority_class("system-mine"),
            (
                "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. "
                "error: system-mine is not a known system priority class"
            ),
        ),
        (
            priority_class(preemptionPolicy="Always"),
            'preemptionPolicy: Unsupported value: "Always": supported values: "PreemptLowerPriority", "Never"',
        ),
    ],
)
def test_it_refuses_in_the_servers_words(obj, text):
    assert text in refusal(obj)


@pytest.mark.parametrize(
    "obj",
    [
        priority_class("system-cluster-critical", value=2_000_000_000),
        priority_class(value=-10),
        role(verbs=["get"], nonResourceURLs=["/healthz"]),
        cluster_binding(CLUSTER_ROLE, ACCOUNT, {"kind": "User", "name": "jane"}),
        workload("Deployment", strategy={"type": "Recreate"}),
        named("v1", "ConfigMap", "c", data={"my-scheduler-config.yaml": "x"}),
    ],
    ids=range(6),
)
def test_it_takes_what_kubernetes_takes(obj):
    client, _ = server()
    assert client.create(obj)["metadata"]["uid"]


@pytest.mark.parametrize(
    ("obj", "changes", "text"),
    [
        (workload("Deployment"), {"spec": {"selector": {"matchLabels": {"a": "b"}}}}, "spec.selector: Invalid value"),
        (priority_class(), {"value": 2}, "value: Forbidden: may not be changed in an update."),
        (cluster_binding(CLUSTER_ROLE), {"roleRef": {"name": "other"}}, "cannot change roleRef"),
        (
            named("v1", "ConfigMap", "c", data={"a": "1"}, immutable=True),
            {"data": {"a": "2"}},
            "data: Forbidden: field is immutable when `immutable` is set",
        ),
    ],
    ids=range(4),
)
def test_some_fields_never_change(obj, changes, text):
    assert text in refused_change(obj, changes)


def test_workloads_start_with_an_empty_status():
    client, _ = server()
    assert client.create(workload("ReplicaSet"))["status"] == {"replicas": 0}
    assert client.create(workload("DaemonSet"))["status"]["desiredNumberScheduled"] == 0
    assert client.create({**workload("Deployment"), "status": {"replicas": 7}})["status"] == {}


def test_a_node_brings_its_status_and_keeps_it_on_update():
    client, _ = server()
    created = client.create(node())
    assert created["status"]["allocatable"] == {"cpu": "2", "pods": "110"}
    tainted = client.update({**created, "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}, "status": {}})
    assert tainted["status"] == created["status"]


def test_a_namespace_goes_when_its_finalizer_does():
    client, _ = server()
    created = client.create(named("v1", "Namespace", "blue"))
    assert created["spec"] == {"finalizers": ["kubernetes"]}
    assert created["metadata"]["labels"] == {"kubernetes.io/metadata.name": "blue"}
    assert created["status"] == {"phase": "Active"}
    marked = client.delete("ns", "blue")
    assert marked["status"] == {"phase": "Terminating"}
    assert client.update({**marked, "spec": {}})["spec"] == {"finalizers": ["kubernetes"]}
    client.update({**marked, "spec": {"finalizers": []}}, subresource="finalize")
    assert client.find("ns", "blue") is None


@pytest.mark.parametrize("name", ["default", "kube-system"])
def test_the_clusters_own_namespaces_stay(name):
    client, _ = server()
    with pytest.raises(Forbidden, match=f'namespaces "{name}" is forbidden: this namespace may not be deleted'):
        client.delete("ns", name)
