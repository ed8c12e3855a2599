"""Static pods beyond the course: which files count, what they may not be, and what survives what."""

import pytest

from app.apimachinery import meta
from app.cluster.cluster import Cluster
from app.cluster.nodes import static_pods
from app.cluster.nodes.filesystem import FileSystem
from tests.cluster.builders import MINUTE, SECOND, fresh, phase

MANIFESTS = "/etc/kubernetes/manifests"
POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n  - name: c\n    image: nginx\n"


@pytest.fixture
def cluster():
    return fresh()


def write(cluster, text=POD, name="web.yaml", host="node01"):
    cluster.machine(host).files.write(f"{MANIFESTS}/{name}", text)
    cluster.advance_to(cluster.now + 10 * SECOND)


def said(cluster, host="node01"):
    return [entry[4] for entry in cluster.machine(host).state.get("journal", [])]


def mirrors(cluster, namespace="default"):
    return [pod["metadata"]["name"] for pod in cluster.client.list("pods", namespace)]


def test_every_file_counts_but_hidden_ones_and_folders(cluster):
    files = cluster.machine("node01").files
    files.make_directory(f"{MANIFESTS}/folder")
    files.write(f"{MANIFESTS}/folder/x.yaml", POD.replace("web", "deep"))
    write(cluster, POD.replace("web", "hidden"), ".hidden.yaml")
    write(cluster, POD.replace("web", "old"), "web.yaml.bak")
    write(
        cluster,
        '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"json"},"spec":{"containers":[{"name":"c","image":"nginx"}]}}',
        "x",
    )
    assert mirrors(cluster) == ["json-node01", "old-node01"]


def test_of_two_files_with_one_name_the_first_counts(cluster):
    write(cluster, POD, "a.yaml")
    write(cluster, POD.replace("nginx", "httpd"), "b.yaml")
    (pod,) = cluster.client.list("pods", "default")
    assert pod["spec"]["containers"][0]["image"] == "nginx"
    assert any("Pod with same full name already exists, ignoring" in line for line in said(cluster))
    cluster.machine("node01").files.remove(f"{MANIFESTS}/a.yaml")
    cluster.advance_to(cluster.now + MINUTE)
    (pod,) = cluster.client.list("pods", "default")
    assert pod["spec"]["containers"][0]["image"] == "httpd"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kind: [", "couldn't parse as pod("),
        (POD.replace("kind: Pod", "kind: Deployment"), "couldn't parse as pod(invalid pod: Deployment in v1)"),
        (POD.replace("name: web", "name: Web"), "invalid pod: metadata.name: Invalid value: "),
        (POD + "  volumes:\n  - name: v\n    secret: {secretName: s}\n", "static pods may not reference secrets"),
        (POD + "  serviceAccountName: bob\n", "static pods may not reference serviceaccounts"),
        ("", "couldn't parse as pod("),
    ],
)
def test_what_becomes_no_pod_is_logged_with_its_reason(cluster, text, says):
    write(cluster, text)
    assert mirrors(cluster) == []
    assert any(says in line for line in said(cluster)), said(cluster)


def test_a_static_pod_lives_through_its_nodes_no_execute_taint(cluster):
    write(cluster)
    node = cluster.client.get("nodes", "node01")
    taint = {"key": "reserved", "value": "yes", "effect": "NoExecute"}
    cluster.client.update({**node, "spec": {**node["spec"], "taints": [taint]}})
    cluster.advance_to(cluster.now + 10 * MINUTE)
    assert phase(cluster, "web-node01") == "Running"
    write(cluster, POD.replace("web", "late"), "late.yaml")
    assert phase(cluster, "late-node01") == "Running"


def test_a_mirror_that_admission_refuses_leaves_the_containers_running(cluster):
    write(cluster, POD.replace("name: web", "name: web\n  namespace: nowhere"))
    assert mirrors(cluster, "nowhere") == []
    record = next(r for r in cluster._memory["kubelet"]["pods"].values() if r["key"] == "nowhere/web-node01")
    assert record["containers"]["c"]["state"] == "running"
    cluster.client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "nowhere"}})
    cluster.advance_to(cluster.now + MINUTE)
    cluster.machine("node01").files.touch(f"{MANIFESTS}/web.yaml")
    cluster.advance_to(cluster.now + SECOND)
    assert mirrors(cluster, "nowhere") == ["web-node01"]


def test_static_pods_go_on_where_the_node_object_is_deleted(cluster):
    write(cluster)
    cluster.client.delete("nodes", "node01")
    cluster.advance_to(cluster.now + 5 * MINUTE)
    assert mirrors(cluster) == []
    record = next(r for r in cluster._memory["kubelet"]["pods"].values() if r["key"] == "default/web-node01")
    assert record["containers"]["c"]["state"] == "running"


def test_logs_of_a_mirror_are_those_of_its_static_pod(cluster):
    write(cluster, POD.replace("image: nginx", 'image: busybox\n    command: [sh, -c, "echo hello; sleep 1000"]'))
    assert cluster.logs("default", "web-node01") == ["hello"]
    cluster.client.delete("pods", "web-node01", "default")
    cluster.advance_to(cluster.now + SECOND)
    assert cluster.logs("default", "web-node01") == ["hello"]


def test_a_crashing_static_pod_backs_off_like_any_other(cluster):
    write(cluster, POD.replace("image: nginx", "image: busybox\n    command: [sh, -c, exit 3]"))
    cluster.advance_to(cluster.now + 2 * MINUTE)
    (status,) = cluster.client.get("pods", "web-node01")["status"]["containerStatuses"]
    assert status["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert status["restartCount"] >= 3
    events = [e for e in cluster.client.list("events", "default") if e["involvedObject"]["name"] == "web-node01"]
    hashed = meta.annotations_of(cluster.client.get("pods", "web-node01"))["kubernetes.io/config.hash"]
    assert {e["involvedObject"]["uid"] for e in events} == {hashed}


def test_a_cluster_with_machines_is_the_same_after_a_dump(cluster):
    write(cluster)
    cluster.machine("node01").files.remove(f"{MANIFESTS}/web.yaml")
    cluster.advance_to(cluster.now + 100_000)
    again = Cluster.load(cluster.dump())
    assert again.dump() == cluster.dump()
    for one in (again, cluster):
        one.advance_to(one.now + MINUTE)
    assert again.dump() == cluster.dump()
    assert mirrors(cluster) == []


def test_an_untouched_machine_costs_a_few_bytes(cluster):
    assert all(len(str(machine)) < 120 for machine in cluster._memory["kubelet"]["machines"].values())
    assert all("pod" not in entry for entry in cluster._memory["kubelet"]["static"]["controlplane"].values())


@pytest.mark.parametrize("text", ["a: &a [*a]", "x" * 100_000, "- " * 5000, "kind: Pod\napiVersion: v1\nspec: 5"])
def test_hostile_files_are_no_pods(text):
    with pytest.raises(static_pods.NotAPod):
        static_pods.entry_of("node01", FileSystem({}, {}, 0), "/m/x.yaml", text, 0)
