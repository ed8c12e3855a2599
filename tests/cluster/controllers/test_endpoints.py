"""What Endpoints and EndpointSlices say of the pods behind a service."""

from typing import Any

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from tests.cluster.builders import MINUTE, fresh, pod, workload

MANAGED = "endpointslice.kubernetes.io/managed-by"


def service(name: str = "web", **spec: Any) -> Object:
    ports = [{"port": 80, "targetPort": 8080}]
    wanted = {"selector": {"app": "web"}, "ports": ports, "clusterIP": "10.96.0.77", **spec}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {key: value for key, value in wanted.items() if value is not None},
    }


def given(*objects: Object) -> Cluster:
    cluster = fresh()
    for obj in objects:
        cluster.client.create(obj)
    cluster.settle()
    return cluster


def subsets(cluster: Cluster, name: str = "web") -> list[Object]:
    return list(cluster.client.get("endpoints", name).get("subsets") or [])


def slices(cluster: Cluster, name: str = "web") -> list[Object]:
    return cluster.client.list("endpointslices", "default", f"kubernetes.io/service-name={name}")


def states(cluster: Cluster) -> list[tuple[bool, bool, bool]]:
    return [
        (e["conditions"]["ready"], e["conditions"]["serving"], e["conditions"]["terminating"])
        for one in slices(cluster)
        for e in one["endpoints"]
    ]


def test_ready_pods_are_addresses() -> None:
    cluster = given(service(), workload("Deployment", replicas=2))
    (subset,) = subsets(cluster)
    pods = {p["status"]["podIP"]: p for p in cluster.client.list("pods", "default")}
    assert [a["ip"] for a in subset["addresses"]] == sorted(pods)
    first = subset["addresses"][0]
    owner = pods[first["ip"]]
    assert first["nodeName"] == owner["spec"]["nodeName"]
    assert first["targetRef"] == {
        "kind": "Pod",
        "namespace": "default",
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
    }
    assert subset["ports"] == [{"port": 8080, "protocol": "TCP"}]
    made = cluster.client.get("endpoints", "web")["metadata"]
    assert made["labels"] == {"app": "web", "endpoints.kubernetes.io/managed-by": "endpoint-controller"}
    assert "endpoints.kubernetes.io/last-change-trigger-time" in made["annotations"]


def test_a_slice_belongs_to_its_service() -> None:
    cluster = given(service(), workload("Deployment", replicas=2))
    (one,) = slices(cluster)
    assert one["metadata"]["name"].startswith("web-")
    assert one["metadata"]["labels"] == {
        "app": "web",
        "kubernetes.io/service-name": "web",
        MANAGED: "endpointslice-controller.k8s.io",
    }
    owner = cluster.client.get("services", "web")["metadata"]
    (reference,) = one["metadata"]["ownerReferences"]
    assert (reference["kind"], reference["uid"], reference["controller"]) == ("Service", owner["uid"], True)
    assert one["addressType"] == "IPv4"
    assert one["ports"] == [{"name": "", "port": 8080, "protocol": "TCP"}]
    assert states(cluster) == [(True, True, False)] * 2


def test_pods_that_are_not_ready_stand_apart() -> None:
    probe = {"httpGet": {"path": "/", "port": 9}, "failureThreshold": 1}
    bee = pod(container={"readinessProbe": probe})
    bee["metadata"]["labels"] = {"app": "web"}
    cluster = given(service(), bee)
    (subset,) = subsets(cluster)
    assert "addresses" not in subset
    assert len(subset["notReadyAddresses"]) == 1
    assert states(cluster) == [(False, False, False)]


def test_a_service_may_publish_addresses_that_are_not_ready() -> None:
    probe = {"httpGet": {"path": "/", "port": 9}, "failureThreshold": 1}
    bee = pod(container={"readinessProbe": probe})
    bee["metadata"]["labels"] = {"app": "web"}
    cluster = given(service(publishNotReadyAddresses=True), bee)
    assert "notReadyAddresses" not in subsets(cluster)[0]
    assert states(cluster) == [(True, False, False)]


def test_a_pod_that_is_ending_is_terminating_in_slices_and_gone_from_endpoints() -> None:
    cluster = given(service(), workload("ReplicaSet", replicas=1, spec={"terminationGracePeriodSeconds": 30}))
    name = cluster.client.list("pods", "default")[0]["metadata"]["name"]
    cluster.client.delete("pods", name, "default")
    cluster.advance_to(cluster.now)
    assert subsets(cluster) == []
    assert states(cluster) == [(False, True, True)]
    cluster.settle()
    assert len(subsets(cluster)[0]["addresses"]) == 1


def test_a_named_port_is_each_pods_own() -> None:
    one, other = (
        pod(name, container={"ports": [{"name": "http", "containerPort": number}]})
        for name, number in (("one", 8001), ("other", 8002))
    )
    for made in (one, other):
        made["metadata"]["labels"] = {"app": "web"}
    cluster = given(service(ports=[{"name": "web", "port": 80, "targetPort": "http"}]), one, other)
    assert sorted(subset["ports"][0]["port"] for subset in subsets(cluster)) == [8001, 8002]
    assert sorted(one["ports"][0]["port"] for one in slices(cluster)) == [8001, 8002]


def test_ports_that_the_same_pods_serve_are_one_subset() -> None:
    ports = [{"name": "a", "port": 80}, {"name": "b", "port": 81}]
    cluster = given(service(ports=ports), workload("Deployment", replicas=2))
    (subset,) = subsets(cluster)
    assert sorted(port["name"] for port in subset["ports"]) == ["a", "b"]


def test_a_headless_service_needs_no_port() -> None:
    cluster = given(service(clusterIP="None", ports=None), workload("Deployment", replicas=1))
    (subset,) = subsets(cluster)
    assert "ports" not in subset
    assert len(subset["addresses"]) == 1
    assert cluster.client.get("endpoints", "web")["metadata"]["labels"]["service.kubernetes.io/headless"] == ""
    assert slices(cluster)[0]["metadata"]["labels"]["service.kubernetes.io/headless"] == ""


def test_a_service_without_pods_has_an_empty_slice() -> None:
    cluster = given(service())
    assert subsets(cluster) == []
    (one,) = slices(cluster)
    assert (one["endpoints"], one.get("ports") or []) == ([], [])


def test_the_empty_slice_is_used_when_pods_come() -> None:
    cluster = given(service())
    (empty,) = slices(cluster)
    cluster.client.create(workload("Deployment", replicas=1))
    cluster.settle()
    (one,) = slices(cluster)
    assert meta.name_of(one) == meta.name_of(empty)
    assert len(one["endpoints"]) == 1


def test_a_slice_holds_at_most_a_hundred_endpoints() -> None:
    cluster = given(service(), workload("ReplicaSet", replicas=130))
    assert sorted(len(one["endpoints"]) for one in slices(cluster)) == [30, 100]
    assert len(subsets(cluster)[0]["addresses"]) == 130


def test_services_without_a_selector_are_left_alone() -> None:
    cluster = given(service(selector=None), workload("Deployment", replicas=1))
    assert cluster.client.find("endpoints", "web") is None
    assert slices(cluster) == []


def test_what_somebody_deletes_comes_back() -> None:
    cluster = given(service(), workload("Deployment", replicas=1))
    cluster.client.delete("endpoints", "web", "default")
    cluster.client.delete("endpointslices", meta.name_of(slices(cluster)[0]), "default")
    cluster.advance_to(cluster.now)
    assert len(subsets(cluster)) == 1
    assert len(slices(cluster)) == 1


def test_a_deleted_service_takes_its_endpoints_along() -> None:
    cluster = given(service(), workload("Deployment", replicas=1))
    cluster.client.delete("services", "web", "default")
    cluster.settle()
    assert cluster.client.find("endpoints", "web") is None
    assert slices(cluster) == []


def test_a_changed_selector_moves_the_service_to_other_pods() -> None:
    cluster = given(service(), workload("Deployment", replicas=1), workload("Deployment", "db", replicas=2))
    cluster.client.patch("services", "web", "default", {"spec": {"selector": {"app": "db"}}})
    cluster.advance_to(cluster.now)
    assert len(subsets(cluster)[0]["addresses"]) == 2
    assert len(states(cluster)) == 2


def test_nothing_is_written_while_nothing_changes() -> None:
    cluster = given(service(), workload("Deployment", replicas=2))
    before = cluster.client.revision
    cluster.advance_to(cluster.now + 10 * MINUTE)
    assert cluster.client.revision == before


def test_the_services_of_a_fresh_cluster_have_their_endpoints() -> None:
    cluster = fresh()
    (subset,) = subsets(cluster, "kubernetes")
    assert subset == {
        "addresses": [{"ip": "172.30.1.2"}],
        "ports": [{"name": "https", "port": 6443, "protocol": "TCP"}],
    }
    dns = cluster.client.get("endpoints", "kube-dns", "kube-system")["subsets"]
    assert [len(subset["addresses"]) for subset in dns] == [2]
    assert {port["name"] for port in dns[0]["ports"]} == {"dns", "dns-tcp", "metrics"}
    found = cluster.client.list("endpointslices", "kube-system", "kubernetes.io/service-name=kube-dns")
    assert [len(one["endpoints"]) for one in found] == [2]
    before = cluster.client.revision
    cluster.client.create(pod())
    cluster.client.delete("pods", "bee", "default")
    cluster.settle()
    versions = [int(one["metadata"]["resourceVersion"]) for one in found]
    assert max(versions) < before
