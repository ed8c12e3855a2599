"""Heartbeats are seen and never written."""

import orjson

from app.apimachinery import clock
from app.cluster.apiserver import dispatch
from app.cluster.apiserver.exchange import ApiRequest
from app.cluster.cluster import Cluster
from tests.cluster.builders import MINUTE, NOW, SECOND, fresh


def renewed(cluster: Cluster, name: str, namespace: str = "kube-node-lease") -> int:
    return clock.parse(cluster.client.get("leases", name, namespace)["spec"]["renewTime"])


def beat(cluster: Cluster, kind: str = "Ready") -> int:
    node = cluster.client.get("nodes", "node01")
    return next(clock.parse(c["lastHeartbeatTime"]) for c in node["status"]["conditions"] if c["type"] == kind)


def test_a_node_lease_is_renewed_every_ten_seconds() -> None:
    cluster = fresh()
    seen = set()
    for second in range(40):
        cluster.advance_to(NOW + second * SECOND)
        assert cluster.now - 10 * SECOND < renewed(cluster, "node01") <= cluster.now
        seen.add(renewed(cluster, "node01"))
    assert len(seen) in {4, 5}


def test_a_nodes_conditions_are_reported_every_five_minutes() -> None:
    cluster = fresh()
    for minute in range(1, 30, 3):
        cluster.advance_to(NOW + minute * MINUTE)
        assert cluster.now - 5 * MINUTE < beat(cluster) <= cluster.now


def test_leaders_renew_their_leases_every_two_seconds() -> None:
    cluster = fresh()
    cluster.advance_to(NOW + 61 * SECOND)
    for name in ("kube-scheduler", "kube-controller-manager"):
        assert cluster.now - 2 * SECOND < renewed(cluster, name, "kube-system") <= cluster.now


def test_a_leader_that_is_gone_renews_nothing() -> None:
    cluster = fresh()
    cluster.remove_static_pod("kube-scheduler-controlplane")
    cluster.settle()
    gone = renewed(cluster, "kube-scheduler", "kube-system")
    assert NOW - 2 * SECOND < gone <= cluster.now
    cluster.advance_to(cluster.now + 10 * MINUTE)
    assert renewed(cluster, "kube-scheduler", "kube-system") == gone


def test_lists_show_what_single_reads_show() -> None:
    cluster = fresh()
    cluster.advance_to(NOW + 12 * MINUTE)
    for kind, namespace in (("nodes", None), ("leases", "kube-node-lease")):
        listed = {obj["metadata"]["name"]: obj for obj in cluster.client.list(kind, namespace)}
        assert listed["node01"] == cluster.client.get(kind, "node01", namespace or "")
        assert listed["node01"] == cluster.client.find(kind, "node01", namespace or "")


def test_heartbeats_write_nothing() -> None:
    cluster = fresh()
    before = cluster.client.revision
    cluster.advance_to(NOW + 100 * MINUTE)
    assert cluster.client.revision == before
    assert cluster.next_event() is None


def test_a_stopped_kubelets_last_heartbeat_stands() -> None:
    cluster = fresh()
    cluster.advance_to(NOW + 7 * MINUTE)
    cluster.stop_kubelet("node01")
    last = renewed(cluster, "node01"), beat(cluster)
    cluster.advance_to(NOW + 20 * MINUTE)
    assert (renewed(cluster, "node01"), beat(cluster)) == last
    assert renewed(cluster, "node02") > NOW + 19 * MINUTE
    cluster.start_kubelet("node01")
    cluster.advance_to(NOW + 21 * MINUTE)
    assert renewed(cluster, "node01") == NOW + 21 * MINUTE


def test_a_deleted_node_lease_is_made_again() -> None:
    cluster = fresh()
    cluster.client.delete("leases", "node01", "kube-node-lease")
    cluster.advance_to(NOW)
    assert renewed(cluster, "node01") == NOW


def test_the_api_shows_heartbeats_too() -> None:
    cluster = fresh()
    cluster.advance_to(NOW + 12 * MINUTE)
    path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
    listed = orjson.loads(dispatch.handle(cluster, ApiRequest("GET", path)).body)["items"]
    single = orjson.loads(dispatch.handle(cluster, ApiRequest("GET", f"{path}/node01")).body)
    for lease in (*listed, single):
        assert clock.parse(lease["spec"]["renewTime"]) > cluster.now - 10 * SECOND
