"""Chapter 4: node selectors and node affinity."""

import pytest

from tests.cluster.builders import nodes_of, phase, pod, workload
from tests.syllabus.steps import WORKERS, lab, label, node_of, put, said, taint_node, wait

ROLE = "node-role.kubernetes.io/control-plane"


def required(*terms):
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


def expression(key, operator, *values):
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


@pytest.fixture
def cluster():
    cluster = lab()
    label(cluster, "nodes", "node01", "", color="blue", cores="8")
    label(cluster, "nodes", "node02", "", color="red", cores="2")
    return cluster


def test_a_node_selector_finds_the_labelled_node(cluster):
    put(cluster, pod(nodeSelector={"color": "blue"}), pod("lost", nodeSelector={"color": "green"}))
    assert node_of(cluster) == "node01"
    assert said(cluster, "lost", "FailedScheduling").startswith(
        "0/3 nodes are available: 1 node(s) had untolerated taint(s), "
        "2 node(s) didn't match Pod's node affinity/selector."
    )


@pytest.mark.parametrize(
    ("term", "node"),
    [
        (expression("color", "In", "blue", "green"), "node01"),
        (expression("color", "NotIn", "blue"), "node02"),
        (expression("cores", "Gt", "4"), "node01"),
        (expression("cores", "Lt", "4"), "node02"),
    ],
)
def test_a_required_term_is_followed_with_every_operator(cluster, term, node):
    put(cluster, pod(affinity=required({"matchExpressions": [term]})))
    assert (phase(cluster), node_of(cluster)) == ("Running", node)


def test_exists_and_does_not_exist_ask_for_the_key_alone(cluster):
    label(cluster, "nodes", "node02", "", color=None)
    put(
        cluster,
        pod("with", affinity=required({"matchExpressions": [expression("color", "Exists")]})),
        pod("without", affinity=required({"matchExpressions": [expression("color", "DoesNotExist")]})),
    )
    assert (node_of(cluster, "with"), node_of(cluster, "without")) == ("node01", "node02")


def test_terms_are_alternatives_and_expressions_hold_together(cluster):
    blue, small = expression("color", "In", "blue"), expression("cores", "Lt", "4")
    put(
        cluster,
        pod("both", affinity=required({"matchExpressions": [blue, small]})),
        *(
            pod(f"either-{number}", affinity=required({"matchExpressions": [blue]}, {"matchExpressions": [small]}))
            for number in range(4)
        ),
    )
    assert phase(cluster, "both") == "Pending"
    assert {node_of(cluster, f"either-{number}") for number in range(4)} == set(WORKERS)


def test_match_fields_name_a_node(cluster):
    term = {"matchFields": [expression("metadata.name", "In", "node02")]}
    put(cluster, pod(affinity=required(term)))
    assert node_of(cluster) == "node02"


def test_a_preferred_term_draws_and_does_not_bind(cluster):
    def wish(value):
        preference = {"matchExpressions": [expression("color", "In", value)]}
        term = {"weight": 100, "preference": preference}
        return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}

    put(cluster, pod(affinity=wish("red")), pod("unmet", affinity=wish("green")))
    assert node_of(cluster) == "node02"
    assert phase(cluster, "unmet") == "Running"


def test_a_deployment_is_placed_on_the_control_plane_alone_once_nothing_keeps_it_away():
    affinity = required({"matchExpressions": [expression(ROLE, "Exists")]})
    cluster = lab(workload("Deployment", "red", spec={"affinity": affinity}, replicas=2))
    assert nodes_of(cluster, "red") == ["", ""]
    name = cluster.client.list("pods", "default")[0]["metadata"]["name"]
    assert said(cluster, name, "FailedScheduling").startswith(
        "0/3 nodes are available: 1 node(s) had untolerated taint(s), "
        "2 node(s) didn't match Pod's node affinity/selector."
    )
    taint_node(cluster, "controlplane")
    cluster.settle()
    assert nodes_of(cluster, "red") == ["controlplane", "controlplane"]


def test_a_label_removed_later_evicts_nobody(cluster):
    put(cluster, pod(nodeSelector={"color": "blue"}))
    before = cluster.client.get("pods", "bee")["metadata"]["uid"]
    label(cluster, "nodes", "node01", "", color=None)
    wait(cluster, 600)
    assert (phase(cluster), node_of(cluster)) == ("Running", "node01")
    assert cluster.client.get("pods", "bee")["metadata"]["uid"] == before
