"""Situations whose point lies outside a scheduling cycle, played in a whole cluster."""

import pytest

from app.apimachinery import meta
from app.apimachinery.errors import Invalid
from app.scheduler.replay.vectors import read
from tests.cases import reader
from tests.cluster.builders import MINUTE, SECOND, events, fresh, phase, taint
from tests.cluster.schedulers import SYSTEM, account, bindings, config, scheduler_pod

CORDONED = {"key": "node.example.com/other", "effect": "NoSchedule"}


def cluster_of(case):
    """A cluster with the case's objects, in which nothing lands on the machines that the case does not have."""
    objects = reader.objects(case["cluster"])
    nodes = [obj for obj in objects if obj["kind"] == "Node"]
    cluster = fresh(objects=nodes)
    for name in ("node01", "node02"):
        taint(cluster, name, CORDONED)
    for obj in objects:
        if obj["kind"] != "Node":
            cluster.client.create(obj)
    cluster.settle()
    return cluster


def submitted(case):
    cluster = cluster_of(case)
    (wanted,) = reader.objects(case["input"])
    cluster.client.create(wanted)
    return cluster, meta.name_of(wanted)


def live(cluster):
    return [pod for pod in cluster.client.list("pods", "default") if "deletionTimestamp" not in pod["metadata"]]


def _evicted_and_replaced(case):
    cluster, _ = submitted(case)
    begin = cluster.now
    cluster.advance_to(begin + 9 * SECOND)
    first = {pod["metadata"]["uid"] for pod in live(cluster)}
    assert len(first) == 2
    for elapsed in (10, 25, 40):
        cluster.advance_to(begin + elapsed * SECOND)
        assert {pod["spec"].get("nodeName") for pod in live(cluster)} == {"n1"}
    assert not first & {pod["metadata"]["uid"] for pod in live(cluster)}
    assert not [message for reason, message in events(cluster) if reason == "FailedScheduling"]


def _refused(case):
    expected = case["expected"]
    with pytest.raises(Invalid) as caught:
        submitted(case)
    assert expected["error_contains"] in caught.value.message
    assert [cause["field"] for cause in caught.value.details["causes"]] == [expected["field"]]


def _failed_at_the_node(case):
    cluster, name = submitted(case)
    cluster.settle()
    assert phase(cluster, name) == case["expected"]["outcome"]
    assert cluster.client.get("pods", name)["status"]["reason"] == case["expected"]["reason"]


def _churns(case):
    cluster, _ = submitted(case)
    begin = cluster.now
    for elapsed in range(0, 120, 5):
        cluster.advance_to(begin + elapsed * SECOND)
        pods = cluster.client.list("pods", "default")
        assert {pod["spec"].get("nodeName") for pod in pods} <= {"w1"}
        assert sum("nodeName" not in pod["spec"] for pod in pods) == case["expected"]["pods_pending"]
    reasons = [reason for reason, _ in events(cluster, namespace="default")]
    assert reasons.count("SuccessfulCreate") >= 5
    said = set(reasons)
    assert not said & {"Scheduled", "FailedScheduling"}
    assert "TaintManagerEviction" in said


def _stays_where_it_is(case):
    cluster = cluster_of(case)
    running = cluster.client.get("pods", "pg")
    verb, name, key = case["input"].removeprefix("kubectl ").replace("node ", "").split()
    assert (verb, key[-1]) == ("label", "-")
    node = cluster.client.get("nodes", name)
    labels = {label: value for label, value in meta.labels_of(node).items() if label != key[:-1]}
    cluster.client.update({**node, "metadata": {**node["metadata"], "labels": labels}})
    cluster.settle()
    after = cluster.client.get("pods", "pg")
    assert (after["status"]["phase"], after["spec"]["nodeName"]) == ("Running", case["expected"]["node"])
    assert after["metadata"]["uid"] == running["metadata"]["uid"]
    cluster.client.delete("pods", "pg", grace_seconds=0)
    again = {key: value for key, value in running["spec"].items() if key != "nodeName"}
    cluster.client.create(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pg", "namespace": "default"}, "spec": again}
    )
    cluster.settle()
    assert phase(cluster, "pg") == "Pending"
    assert "didn't match Pod's node affinity/selector" in events(cluster, "pg")[-1][1]


def _static_pod_stays(case):
    """The node has the taint from the start, and its machine a folder for manifests."""
    cluster = cluster_of(case)
    path, expected = "/etc/kubernetes/manifests/proxy.yaml", case["expected"]
    cluster.machine("w1").files.write(path, case["input"])
    cluster.advance_to(cluster.now + MINUTE)
    assert phase(cluster, expected["mirror_pod"], SYSTEM) == expected["outcome"]
    spec = cluster.client.get("pods", expected["mirror_pod"], SYSTEM)["spec"]
    assert all(toleration in spec["tolerations"] for toleration in expected["tolerations_added"])
    reasons = [reason for reason, _ in events(cluster, expected["mirror_pod"])]
    assert ("Scheduled" in reasons) == expected["scheduler_involved"]


def _mirror_comes_back(case):
    """The case's node is the lab's control plane."""
    cluster = fresh()
    name = case["input"].split()[-1].replace("-cp", "-controlplane")
    before = cluster.client.get("pods", name, SYSTEM)
    cluster.client.delete("pods", name, SYSTEM)
    cluster.settle()
    after = cluster.client.get("pods", name, SYSTEM)
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    restarted = after["status"]["containerStatuses"] != before["status"]["containerStatuses"]
    assert restarted == case["expected"]["container_restarted"]
    cluster.remove_static_pod(name)
    cluster.settle()
    assert cluster.client.find("pods", name, SYSTEM) is None


def _second_scheduler(configuration="", **container):
    cluster = fresh()
    for obj in (account(), *bindings(), config(configuration) if configuration else config()):
        cluster.client.create(obj)
    cluster.client.create(scheduler_pod(**container))
    cluster.settle()
    return cluster


def _waits_for_the_lease(case):
    cluster = _second_scheduler(case["input"])
    spec = {"schedulerName": "my-scheduler", "containers": [{"name": "c", "image": "nginx"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bee"}, "spec": spec}
    cluster.client.create(pod)
    cluster.settle()
    assert phase(cluster, "my-scheduler", SYSTEM) == "Running"
    assert phase(cluster) == "Pending"
    assert events(cluster, "bee") == []
    assert any(case["expected"]["log"] in line for line in cluster.logs(SYSTEM, "my-scheduler"))
    cluster = _second_scheduler(case["input"].replace("leaderElect: true", "leaderElect: false"))
    cluster.client.create(pod)
    cluster.settle()
    assert phase(cluster) == "Running"


def _restarts_for_its_probe(case):
    wrong = {"httpGet": {"path": "/healthz", "port": 10251, "scheme": "HTTP"}}
    assert "{path: /healthz, port: 10251, scheme: HTTP}" in case["input"]
    cluster = _second_scheduler(livenessProbe=wrong)
    seen = set()
    begin = cluster.now
    for elapsed in range(0, 15 * 60, 5):
        cluster.advance_to(begin + elapsed * SECOND)
        state = cluster.client.get("pods", "my-scheduler", SYSTEM)["status"]["containerStatuses"][0]["state"]
        seen.add((state.get("waiting") or {}).get("reason"))
    assert case["expected"]["outcome"] in seen
    right = {"httpGet": {"path": "/healthz", "port": 10259, "scheme": "HTTPS"}}
    cluster = _second_scheduler(livenessProbe=right)
    cluster.advance_to(cluster.now + 15 * MINUTE)
    assert cluster.client.get("pods", "my-scheduler", SYSTEM)["status"]["containerStatuses"][0]["restartCount"] == 0


def _claim_never_binds(case):
    cluster, name = submitted(case)
    cluster.advance_to(cluster.now + MINUTE)
    (status,) = cluster.client.get("pods", name)["status"]["containerStatuses"]
    assert status["state"]["waiting"]["reason"] == case["expected"]["outcome"]
    assert cluster.client.get("persistentvolumeclaims", "data")["status"]["phase"] == case["expected"]["pvc"]
    assert not [reason for reason, _ in events(cluster, name) if reason in {"Scheduled", "FailedScheduling"}]
    assert events(cluster, name)[-1][1].endswith("error processing PVC default/data: PVC is not bound")
    fixed = case["input"].replace("nodeName: n1", "nodeSelector:\n    kubernetes.io/hostname: n1")
    cluster, name = submitted({**case, "input": fixed})
    cluster.settle()
    assert phase(cluster, name) == "Running"
    assert cluster.client.get("persistentvolumeclaims", "data")["status"]["phase"] == "Bound"


def _no_pod_is_made(case):
    cluster, name = submitted(case)
    cluster.settle()
    assert len(cluster.client.list("pods", "default")) == case["expected"]["pods_pending"]
    deployment = cluster.client.get("deployments", name)
    failed = [found for found in deployment["status"]["conditions"] if found["status"] == "True"]
    (condition,) = [found for found in failed if found["type"] == case["expected"]["deployment_condition"]]
    (replicaset,) = cluster.client.list("replicasets", "default")
    said = [message for reason, message in events(cluster, meta.name_of(replicaset)) if reason == "FailedCreate"]
    words = "forbidden: failed quota: rq: must specify requests.cpu for: c; requests.memory for: c"
    assert said[0].startswith('Error creating: pods "dep-')
    assert said[0].endswith(words)
    assert condition["message"].endswith(words)
    assert condition["reason"] == "FailedCreate"


SHOWN = {
    "PC04": _evicted_and_replaced,
    "PC05": _refused,
    "PC10": _failed_at_the_node,
    "PC11": _churns,
    "PC16": _stays_where_it_is,
    "PC40": _no_pod_is_made,
    "PC49": _static_pod_stays,
    "PC50": _mirror_comes_back,
    "PC52": _waits_for_the_lease,
    "PC53": _restarts_for_its_probe,
    "PC55": _claim_never_binds,
}
REACHED = 11
"""How many cases the cluster shows. It only grows."""


@pytest.mark.parametrize("name", SHOWN)
def test_the_cluster_shows_it(name):
    SHOWN[name](reader.ALL[name])


def test_the_shown_set_never_shrinks_and_begins_where_the_engine_ends():
    assert len(SHOWN) >= REACHED
    assert not SHOWN.keys() & reader.DECIDED.keys()


def test_cases_that_are_not_shown_are_listed_with_a_reason():
    page = (reader.SOURCE.parents[2] / "docs" / "fidelity.md").read_text(encoding="utf-8")
    left = [name for name in reader.ALL if name not in reader.DECIDED and name not in SHOWN]
    listed = [line.split("|")[1].strip() for line in page.splitlines() if line.startswith("| PC")]
    assert listed == left


def test_the_cases_are_read_as_they_were_written():
    assert [case["id"] for case in read(reader.SOURCE)] == list(reader.ALL)
