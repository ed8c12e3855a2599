"""Chapter 6: DaemonSets."""

from app.apimachinery import meta
from tests.cluster.builders import nodes_of, pods_of, workload
from tests.syllabus.steps import WORKERS, change, lab, put, reasons

AGENT = "agent"


def new_node(cluster, name):
    like = cluster.client.get("nodes", "node01")
    labels = {**meta.labels_of(like), "kubernetes.io/hostname": name}
    fresh_metadata = {"name": name, "labels": labels}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": fresh_metadata,
        "spec": {},
        "status": like["status"],
    }


def test_each_eligible_node_has_one_pod_and_a_new_node_gets_one():
    cluster = lab(workload("DaemonSet", AGENT))
    assert nodes_of(cluster, AGENT) == list(WORKERS)
    put(cluster, new_node(cluster, "node03"))
    assert nodes_of(cluster, AGENT) == [*WORKERS, "node03"]


def test_the_controller_adds_its_tolerations():
    cluster = lab(workload("DaemonSet", AGENT))
    found = {(t["key"], t["operator"], t["effect"]) for t in pods_of(cluster, AGENT)[0]["spec"]["tolerations"]}
    prefix = "node.kubernetes.io"
    assert found >= {
        (f"{prefix}/not-ready", "Exists", "NoExecute"),
        (f"{prefix}/unreachable", "Exists", "NoExecute"),
        (f"{prefix}/disk-pressure", "Exists", "NoSchedule"),
        (f"{prefix}/memory-pressure", "Exists", "NoSchedule"),
        (f"{prefix}/pid-pressure", "Exists", "NoSchedule"),
        (f"{prefix}/unschedulable", "Exists", "NoSchedule"),
    }


def test_pods_are_placed_by_the_default_scheduler_through_affinity_on_the_nodes_name():
    cluster = lab(workload("DaemonSet", AGENT))
    for found in pods_of(cluster, AGENT):
        required = found["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        (term,) = required["nodeSelectorTerms"]
        node = found["spec"]["nodeName"]
        assert term["matchFields"] == [{"key": "metadata.name", "operator": "In", "values": [node]}]
        assert "Scheduled" in reasons(cluster, meta.name_of(found))


def test_kube_proxy_is_the_known_example():
    cluster = lab()
    status = cluster.client.get("daemonsets", "kube-proxy", "kube-system")["status"]
    assert (status["desiredNumberScheduled"], status["numberReady"]) == (3, 3)


def test_a_rollout_replaces_one_pod_at_a_time_and_is_recorded():
    cluster = lab(workload("DaemonSet", AGENT, image="nginx:1.27"))
    old = {p["metadata"]["uid"] for p in pods_of(cluster, AGENT)}
    template = cluster.client.get("daemonsets", AGENT)["spec"]["template"]
    container = {**template["spec"]["containers"][0], "image": "nginx:1.28"}
    spec = {**template["spec"], "containers": [container]}
    change(cluster, "daemonsets", AGENT, {"template": {**template, "spec": spec}})
    cluster.advance_to(cluster.now)
    assert (
        len(old & {p["metadata"]["uid"] for p in pods_of(cluster, AGENT) if "deletionTimestamp" not in p["metadata"]})
        == 1
    )
    cluster.settle()
    assert {p["spec"]["containers"][0]["image"] for p in pods_of(cluster, AGENT)} == {"nginx:1.28"}
    assert cluster.client.get("daemonsets", AGENT)["status"]["updatedNumberScheduled"] == 2


def test_a_cordoned_and_emptied_node_keeps_its_daemon_pod():
    cluster = lab(workload("DaemonSet", AGENT), workload("Deployment", "web", replicas=4))
    change(cluster, "nodes", "node01", {"unschedulable": True}, "")
    for found in pods_of(cluster, "web"):
        if found["spec"]["nodeName"] == "node01":
            cluster.client.evict("default", meta.name_of(found))
    cluster.settle()
    assert nodes_of(cluster, AGENT) == list(WORKERS)
    assert nodes_of(cluster, "web") == ["node02"] * 4
