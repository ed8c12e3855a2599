"""Chapter 2: labels and selectors."""

import pytest

from app.apimachinery import meta
from tests.cluster.builders import pod, workload
from tests.syllabus.steps import call, lab, label, refused

LABELLED = {
    "web-1": {"env": "prod", "bu": "finance", "tier": "frontend"},
    "web-2": {"env": "prod", "bu": "finance", "tier": "backend"},
    "web-3": {"env": "dev", "bu": "hr"},
}


@pytest.fixture
def cluster():
    return lab(*({**pod(name), "metadata": {"name": name, "labels": found}} for name, found in LABELLED.items()))


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("env=prod", ["web-1", "web-2"]),
        ("env=prod,bu=finance,tier=frontend", ["web-1"]),
        ("env in (prod,dev),tier notin (backend)", ["web-1", "web-3"]),
        ("!tier", ["web-3"]),
        ("env!=prod", ["web-3"]),
    ],
)
def test_pods_are_selected_by_one_several_and_set_terms(cluster, selector, names):
    query = f"labelSelector={selector}"
    code, found = call(cluster, "GET", "/api/v1/namespaces/default/pods", query=query)
    assert code == 200
    assert [item["metadata"]["name"] for item in found["items"]] == names


def test_a_selector_finds_services_and_replica_sets_too(cluster):
    labels = {"env": "prod"}
    replica_set = workload("ReplicaSet", "rs", replicas=0)
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "svc"}, "spec": {"ports": [{"port": 80}]}}
    for obj in (replica_set, service):
        cluster.client.create({**obj, "metadata": {**obj["metadata"], "labels": labels}})
    assert [meta.name_of(obj) for obj in cluster.client.list("replicasets", "default", "env=prod")] == ["rs"]
    assert [meta.name_of(obj) for obj in cluster.client.list("services", "default", "env=prod")] == ["svc"]


def test_labels_and_annotations_are_added_changed_and_removed(cluster):
    label(cluster, "pods", "web-3", "default", env="prod", bu=None, color="blue")
    assert cluster.client.get("pods", "web-3")["metadata"]["labels"] == {"env": "prod", "color": "blue"}
    cluster.client.patch("pods", "web-3", "default", {"metadata": {"annotations": {"owner": "me"}}}, "merge")
    assert cluster.client.get("pods", "web-3")["metadata"]["annotations"] == {"owner": "me"}


def test_a_label_that_is_no_label_is_refused_in_the_servers_words(cluster):
    broken = {**pod("x"), "metadata": {"name": "x", "labels": {"env": "no spaces"}}}
    assert refused(cluster, broken).startswith(
        'Pod "x" is invalid: metadata.labels: Invalid value: "no spaces": a valid label must be an empty string or'
    )


def test_a_replica_set_whose_selector_and_labels_disagree_is_refused():
    wrong = workload("ReplicaSet", replicas=1)
    wrong["spec"]["selector"] = {"matchLabels": {"app": "other"}}
    assert refused(lab(), wrong) == (
        'ReplicaSet.apps "web" is invalid: spec.template.metadata.labels: Invalid value: {"app":"web"}: '
        "`selector` does not match template `labels`"
    )


def test_a_pod_with_the_label_is_adopted_and_one_that_loses_it_is_let_go():
    cluster = lab({**pod("stray"), "metadata": {"name": "stray", "labels": {"app": "web"}}})
    cluster.client.create(workload("ReplicaSet", replicas=2))
    cluster.settle()
    owner = meta.controller_of(cluster.client.get("pods", "stray"))
    assert owner is not None
    assert owner["name"] == "web"
    label(cluster, "pods", "stray", "default", app="mine")
    cluster.settle()
    assert meta.controller_of(cluster.client.get("pods", "stray")) is None
    assert len(cluster.client.list("pods", "default", "app=web")) == 2
