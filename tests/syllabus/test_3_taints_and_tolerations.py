"""Chapter 3: taints and tolerations."""

import pytest

from tests.cluster.builders import phase, pod
from tests.syllabus.steps import WORKERS, change, lab, label, node_of, put, reasons, said, taint_node, tolerating, wait


def test_a_node_is_tainted_and_the_taint_removed():
    cluster = lab()
    for name in WORKERS:
        taint_node(cluster, name, "spray=mortein:NoSchedule")
    put(cluster, pod())
    assert phase(cluster) == "Pending"
    assert said(cluster, "bee", "FailedScheduling").startswith(
        "0/3 nodes are available: 3 node(s) had untolerated taint(s)."
    )
    taint_node(cluster, "node01")
    cluster.settle()
    assert (phase(cluster), node_of(cluster)) == ("Running", "node01")


def test_no_schedule_keeps_away_and_leaves_what_runs():
    cluster = lab(pod("old", nodeName="node01"))
    taint_node(cluster, "node01", "spray=mortein:NoSchedule")
    put(cluster, pod())
    wait(cluster, 600)
    assert (phase(cluster, "old"), node_of(cluster)) == ("Running", "node02")


def test_prefer_no_schedule_lowers_the_score_and_forbids_nothing():
    cluster = lab()
    taint_node(cluster, "node01", "spray=mortein:PreferNoSchedule")
    put(cluster, pod())
    assert node_of(cluster) == "node02"
    change(cluster, "nodes", "node02", {"unschedulable": True}, "")
    put(cluster, pod("second"))
    assert node_of(cluster, "second") == "node01"


def test_no_execute_evicts_what_runs_after_its_toleration_seconds():
    patient = tolerating("spray", "mortein", "NoExecute", "patient", tolerationSeconds=60)
    lasting = tolerating("spray", "mortein", "NoExecute", "lasting")
    cluster = lab(pod("plain"), patient, lasting)
    for name in WORKERS:
        taint_node(cluster, name, "spray=mortein:NoExecute")
    wait(cluster, 40)
    assert cluster.client.find("pods", "plain") is None
    assert "TaintManagerEviction" in reasons(cluster, "plain")
    assert phase(cluster, "patient") == "Running"
    wait(cluster, 60)
    assert cluster.client.find("pods", "patient") is None
    assert phase(cluster, "lasting") == "Running"


@pytest.mark.parametrize(
    ("toleration", "placed"),
    [
        ({"key": "spray", "value": "mortein", "effect": "NoSchedule"}, True),
        ({"key": "spray", "value": "other", "effect": "NoSchedule"}, False),
        ({"key": "spray", "effect": "NoSchedule"}, True),
        ({"key": "spray"}, True),
        ({}, True),
        ({"key": "spray", "effect": "NoExecute"}, False),
    ],
)
def test_equal_exists_an_empty_key_and_an_empty_effect(toleration, placed):
    cluster = lab()
    for name in WORKERS:
        taint_node(cluster, name, "spray=mortein:NoSchedule")
    put(cluster, tolerating(**toleration))
    assert phase(cluster) == ("Running" if placed else "Pending")


def test_the_control_planes_taint_and_what_removing_it_does():
    cluster = lab()
    key = "node-role.kubernetes.io/control-plane"
    assert cluster.client.get("nodes", "controlplane")["spec"]["taints"] == [{"key": key, "effect": "NoSchedule"}]
    put(cluster, pod(nodeSelector={"kubernetes.io/hostname": "controlplane"}))
    assert phase(cluster) == "Pending"
    taint_node(cluster, "controlplane")
    cluster.settle()
    assert (phase(cluster), node_of(cluster)) == ("Running", "controlplane")


def test_a_toleration_does_not_attract():
    cluster = lab()
    taint_node(cluster, "node01", "dedicated=gpu:NoSchedule")
    put(cluster, *(tolerating("dedicated", "gpu", "NoSchedule", f"bee-{number}") for number in range(6)))
    assert {node_of(cluster, f"bee-{number}") for number in range(6)} == set(WORKERS)


def test_a_taint_and_an_affinity_together_dedicate_a_node():
    cluster = lab()
    taint_node(cluster, "node01", "dedicated=gpu:NoSchedule")
    label(cluster, "nodes", "node01", "", dedicated="gpu")
    dedicated = [tolerating("dedicated", "gpu", "NoSchedule", f"gpu-{number}") for number in range(3)]
    for obj in dedicated:
        obj["spec"]["nodeSelector"] = {"dedicated": "gpu"}
    put(cluster, *dedicated, *(pod(f"other-{number}") for number in range(3)))
    assert {node_of(cluster, f"gpu-{number}") for number in range(3)} == {"node01"}
    assert {node_of(cluster, f"other-{number}") for number in range(3)} == {"node02"}
