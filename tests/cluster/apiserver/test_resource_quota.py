"""ResourceQuota: what admission charges and refuses, and what is refused of a quota itself."""

from __future__ import annotations

from typing import Any

import pytest

from app.apimachinery import meta
from app.apimachinery.errors import AlreadyExists, Forbidden, Invalid
from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from tests.cluster import builders
from tests.cluster.apiserver.making import named
from tests.cluster.builders import command, fresh, workload


def quota(name: str = "rq", scopes: list[str] | None = None, selector: Object | None = None, **hard: str) -> Object:
    spec: Object = {"hard": {key.replace("__", "/").replace("_", "."): amount for key, amount in hard.items()}}
    if scopes:
        spec["scopes"] = scopes
    if selector:
        spec["scopeSelector"] = {"matchExpressions": [selector]}
    return named("v1", "ResourceQuota", name, spec=spec)


def pod(name: str = "bee", *, limits: Object | None = None, requests: Object | None = None, **spec: Any) -> Object:
    resources = {"resources": {"requests": requests or {}, "limits": limits or {}}}
    return builders.pod(name, container=resources, **spec)


def under(*quotas: Object) -> Cluster:
    cluster = fresh()
    for one in quotas:
        cluster.client.create(one)
    cluster.settle()
    return cluster


def used(cluster: Cluster, name: str = "rq") -> Object:
    return dict(cluster.client.get("quota", name)["status"]["used"])


def refusal(cluster: Cluster, obj: Object) -> str:
    with pytest.raises(Forbidden) as caught:
        cluster.client.create(obj)
    return caught.value.message


def test_a_pod_beyond_the_quota_is_refused_with_the_figures() -> None:
    cluster = under(quota(cpu="2", pods="5"))
    cluster.client.create(pod("first", requests={"cpu": "1500m"}))
    assert refusal(cluster, pod(requests={"cpu": "1"})) == (
        'pods "bee" is forbidden: exceeded quota: rq, requested: cpu=1, used: cpu=1500m, limited: cpu=2'
    )


def test_all_exceeded_resources_are_listed_by_name() -> None:
    cluster = under(quota(requests_memory="1Gi", limits_cpu="1", pods="1"))
    cluster.client.create(pod("first", requests={"memory": "1Gi"}, limits={"cpu": "1"}))
    assert refusal(cluster, pod(requests={"memory": "512Mi"}, limits={"cpu": "500m"})) == (
        'pods "bee" is forbidden: exceeded quota: rq, requested: limits.cpu=500m,pods=1,requests.memory=512Mi, '
        "used: limits.cpu=1,pods=1,requests.memory=1Gi, limited: limits.cpu=1,pods=1,requests.memory=1Gi"
    )


def test_containers_must_state_what_a_quota_limits() -> None:
    cluster = under(quota(limits_cpu="2", requests_memory="1Gi"))
    two = pod(requests={"memory": "1Mi"})
    two["spec"]["containers"].append({"name": "d", "image": "nginx"})
    assert refusal(cluster, two) == (
        'pods "bee" is forbidden: failed quota: rq: must specify limits.cpu for: c,d; requests.memory for: d'
    )


def test_what_a_write_uses_is_in_the_status_with_the_write() -> None:
    cluster = under(quota(requests_cpu="2", pods="5"))
    cluster.client.create(pod(requests={"cpu": "250m"}))
    assert used(cluster) == {"requests.cpu": "250m", "pods": "1"}


def test_a_dry_run_is_judged_and_not_charged() -> None:
    cluster = under(quota(pods="1"))
    cluster.client.create(pod("a"), dry_run=True)
    assert used(cluster) == {"pods": "0"}
    cluster.client.create(pod("b"))
    with pytest.raises(Forbidden, match="exceeded quota: rq"):
        cluster.client.create(pod("c"), dry_run=True)


def test_a_taken_name_is_not_charged() -> None:
    cluster = under(quota(pods="5"))
    cluster.client.create(pod())
    with pytest.raises(AlreadyExists):
        cluster.client.create(pod())
    assert used(cluster) == {"pods": "1"}


def test_a_deleted_pod_is_given_back() -> None:
    cluster = under(quota(requests_cpu="1", pods="1"))
    cluster.client.create(pod(requests={"cpu": "1"}))
    cluster.settle()
    cluster.client.delete("pods", "bee")
    cluster.settle()
    assert used(cluster) == {"requests.cpu": "0", "pods": "0"}


def test_an_ended_pod_gives_back_its_resources_and_stays_an_object() -> None:
    cluster = under(quota(pods="1", count__pods="5"))
    cluster.client.create(command("true", restartPolicy="Never"))
    cluster.settle()
    assert used(cluster) == {"pods": "0", "count/pods": "1"}


def test_a_raised_limit_counts_at_once() -> None:
    cluster = under(quota(pods="1"))
    cluster.client.create(pod("a"))
    cluster.client.patch("quota", "rq", "default", {"spec": {"hard": {"pods": "2"}}})
    cluster.settle()
    assert cluster.client.get("quota", "rq")["status"] == {"hard": {"pods": "2"}, "used": {"pods": "1"}}


def test_a_new_quota_counts_what_is_there() -> None:
    cluster = fresh()
    cluster.client.create(pod("old", requests={"cpu": "300m"}))
    cluster.client.create(quota(requests_cpu="1"))
    assert "used: requests.cpu=300m" in refusal(cluster, pod(requests={"cpu": "800m"}))
    cluster.settle()
    assert used(cluster) == {"requests.cpu": "300m"}


def test_objects_are_counted_by_group_and_by_their_old_names() -> None:
    cluster = under(quota(count__deployments_apps="1", configmaps="3", secrets="0", services="1"))
    cluster.client.create(workload("Deployment", replicas=0))
    assert refusal(cluster, workload("Deployment", "b", replicas=0)) == (
        'deployments.apps "b" is forbidden: exceeded quota: rq, requested: count/deployments.apps=1, '
        "used: count/deployments.apps=1, limited: count/deployments.apps=1"
    )
    assert "requested: secrets=1, used: secrets=0, limited: secrets=0" in refusal(cluster, named("v1", "Secret", "s"))


def service(kind: str, ports: int = 1) -> Object:
    listed = [{"name": f"p{number}", "port": 80 + number} for number in range(ports)]
    return named("v1", "Service", "web", spec={"type": kind, "selector": {"a": "b"}, "ports": listed})


def test_a_service_counts_node_ports_and_load_balancers_also_when_it_changes() -> None:
    cluster = under(quota(services="5", services_nodeports="2", services_loadbalancers="0"))
    cluster.client.create(service("ClusterIP", 2))
    cluster.client.patch("services", "web", "default", {"spec": {"type": "NodePort"}})
    # the cluster's own service `kubernetes` is in this namespace, too
    assert used(cluster) == {"services": "2", "services.nodeports": "2", "services.loadbalancers": "0"}
    with pytest.raises(Forbidden, match=r"requested: services.loadbalancers=1, used: services.loadbalancers=0"):
        cluster.client.patch("services", "web", "default", {"spec": {"type": "LoadBalancer"}})


def test_claims_count_their_storage_by_class_too() -> None:
    gold = "gold.storageclass.storage.k8s.io/requests.storage"
    hard = {"requests.storage": "10Gi", gold: "2Gi", "persistentvolumeclaims": "2"}
    cluster = under(named("v1", "ResourceQuota", "rq", spec={"hard": hard}))
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "3Gi"}}}
    cluster.client.create(named("v1", "PersistentVolumeClaim", "slow", spec={**wanted, "storageClassName": "x"}))
    said = refusal(cluster, named("v1", "PersistentVolumeClaim", "fast", spec={**wanted, "storageClassName": "gold"}))
    assert said.endswith(f"exceeded quota: rq, requested: {gold}=3Gi, used: {gold}=0, limited: {gold}=2Gi")
    assert used(cluster) == {"requests.storage": "3Gi", gold: "0", "persistentvolumeclaims": "1"}


def test_extended_resources_and_huge_pages_count_by_their_requests() -> None:
    hard = {"requests.example.com/gpu": "1", "hugepages-2Mi": "4Mi"}
    cluster = under(named("v1", "ResourceQuota", "rq", spec={"hard": hard}))
    wants = {"example.com/gpu": "1", "hugepages-2Mi": "4Mi", "cpu": "1"}
    cluster.client.create(pod("a", requests=wants, limits=wants))
    assert used(cluster) == {"requests.example.com/gpu": "1", "hugepages-2Mi": "4Mi"}


def test_scopes_choose_the_pods_that_count() -> None:
    cluster = under(
        quota("effortless", ["BestEffort"], pods="1"),
        quota("other", ["NotBestEffort"], pods="9"),
        quota("short", ["Terminating"], pods="9"),
        quota("long", ["NotTerminating"], pods="9"),
    )
    cluster.client.create(pod("a"))
    cluster.client.create(pod("b", requests={"cpu": "1m"}, activeDeadlineSeconds=9))
    counts = {name: used(cluster, name)["pods"] for name in ("effortless", "other", "short", "long")}
    assert counts == {"effortless": "1", "other": "1", "short": "1", "long": "1"}
    assert "exceeded quota: effortless" in refusal(cluster, pod("c"))


def test_a_scope_selector_chooses_by_priority_class() -> None:
    chosen = {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}
    cluster = under(quota(selector=chosen, pods="1"))
    cluster.client.create(named("scheduling.k8s.io/v1", "PriorityClass", "high", value=9))
    for name in ("a", "b"):
        cluster.client.create(pod(name))
    cluster.client.create(pod("c", priorityClassName="high"))
    assert used(cluster) == {"pods": "1"}
    assert "requested: pods=1, used: pods=1, limited: pods=1" in refusal(cluster, pod("d", priorityClassName="high"))


def test_cross_namespace_affinity_is_a_scope() -> None:
    cluster = under(quota(scopes=["CrossNamespacePodAffinity"], pods="0"))
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {}, "namespaces": ["kube-system"]}
    near = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    cluster.client.create(pod("a"))
    assert "exceeded quota: rq" in refusal(cluster, pod("b", affinity=near))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            quota(gpus="1"),
            [
                'spec.hard[gpus]: Invalid value: "gpus": must be a standard resource type or fully qualified',
                'spec.hard[gpus]: Invalid value: "gpus": must be a standard resource for quota',
            ],
        ),
        (quota(pods="-1"), ['spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0']),
        (quota(pods="500m"), ['spec.hard[pods]: Invalid value: "500m": must be an integer']),
        (
            quota(scopes=["BestEffort"], cpu="1"),
            ['spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'],
        ),
        (
            quota(scopes=["Terminating", "NotTerminating"], pods="1"),
            ['spec.scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes'],
        ),
        (
            quota(selector={"scopeName": "PriorityClass", "operator": "In"}, pods="1"),
            [
                (
                    "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when "
                    "`operator` is 'In' or 'NotIn' for scope selector"
                )
            ],
        ),
    ],
)
def test_a_quota_that_makes_no_sense_is_refused(given: Object, said: list[str]) -> None:
    with pytest.raises(Invalid) as caught:
        fresh().client.create(given)
    for text in said:
        assert text in caught.value.message


def test_scopes_never_change() -> None:
    cluster = under(quota(scopes=["BestEffort"], pods="1"))
    changed = meta.copied(cluster.client.get("quota", "rq"))
    changed["spec"]["scopes"] = ["NotBestEffort"]
    with pytest.raises(Invalid, match=r'spec.scopes: Invalid value: \["NotBestEffort"\]: field is immutable'):
        cluster.client.update(changed)
