"""What admission adds and refuses."""

from __future__ import annotations

import pytest

from app.apimachinery.errors import Forbidden, NotFound
from tests.cluster.apiserver.making import named, node, pod, server


def priority_class(name: str, value: int, **fields) -> dict:
    return named("scheduling.k8s.io/v1", "PriorityClass", name, value=value, **fields)


def test_a_missing_namespace_is_not_found():
    client, _ = server()
    with pytest.raises(NotFound, match=r'^namespaces "blue" not found$'):
        client.create(pod(), "blue")


def test_a_terminating_namespace_takes_nothing_new():
    client, _ = server("blue")
    client.delete("ns", "blue")
    with pytest.raises(Forbidden) as caught:
        client.create(pod(), "blue")
    assert caught.value.message == (
        'pods "bee" is forbidden: unable to create new content in namespace blue because it is being terminated'
    )
    assert caught.value.details["causes"][0]["reason"] == "NamespaceTerminating"


def test_a_pod_runs_as_the_default_account_unless_it_names_one():
    client, _ = server()
    client.create(named("v1", "ServiceAccount", "bob"))
    assert client.create(pod("a"))["spec"]["serviceAccountName"] == "default"
    assert client.create(pod("b", serviceAccountName="bob"))["spec"]["serviceAccount"] == "bob"
    with pytest.raises(Forbidden) as caught:
        client.create(pod("c", serviceAccountName="eve"))
    assert caught.value.message == (
        'pods "c" is forbidden: error looking up service account default/eve: serviceaccount "eve" not found'
    )


def test_a_mirror_pod_runs_as_nobody():
    client, _ = server()
    mirror = pod("etcd-controlplane", nodeName="controlplane")
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "h"}
    assert "serviceAccountName" not in client.create(mirror)["spec"]
    named_one = {**mirror, "metadata": {**mirror["metadata"], "name": "x"}}
    with pytest.raises(Forbidden, match="a mirror pod may not reference service accounts"):
        client.create({**named_one, "spec": {**mirror["spec"], "serviceAccountName": "default"}})


def test_a_class_becomes_a_number():
    client, _ = server()
    client.create(priority_class("high", 1000, preemptionPolicy="Never"))
    spec = client.create(pod(priorityClassName="high"))["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (1000, "Never")
    plain = client.create(pod("plain"))["spec"]
    assert (plain["priority"], plain["preemptionPolicy"]) == (0, "PreemptLowerPriority")


def test_a_missing_class_is_refused():
    client, _ = server()
    with pytest.raises(Forbidden) as caught:
        client.create(pod(priorityClassName="high"))
    assert caught.value.message == 'pods "bee" is forbidden: no PriorityClass with name high was found'


def test_a_number_of_ones_own_is_refused():
    client, _ = server()
    client.create(priority_class("high", 1000))
    with pytest.raises(
        Forbidden, match=r"the integer value of priority \(5\) must not be provided in pod spec; priority ad"
    ):
        client.create(pod(priority=5))
    with pytest.raises(Forbidden, match=r"the string value of PreemptionPolicy \(Never\) must not be provided"):
        client.create(pod(priorityClassName="high", preemptionPolicy="Never"))
    assert client.create(pod(priorityClassName="high", priority=1000))["spec"]["priority"] == 1000


def test_the_default_class_counts_and_there_is_only_one():
    client, _ = server()
    client.create(priority_class("usual", 10, globalDefault=True))
    spec = client.create(pod())["spec"]
    assert (spec["priorityClassName"], spec["priority"]) == ("usual", 10)
    with pytest.raises(
        Forbidden, match=r"PriorityClass usual is already marked as default. Only one default can exist"
    ):
        client.create(priority_class("other", 20, globalDefault=True))


UNTIL = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
NOT_READY = {"key": "node.kubernetes.io/not-ready", **UNTIL}
UNREACHABLE = {"key": "node.kubernetes.io/unreachable", **UNTIL}
OWN = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}


@pytest.mark.parametrize(
    ("given", "result"),
    [
        ([], [NOT_READY, UNREACHABLE]),
        ([OWN], [OWN, UNREACHABLE]),
        ([{"operator": "Exists"}], [{"operator": "Exists"}]),
        (
            [{"operator": "Exists", "effect": "NoSchedule"}],
            [{"operator": "Exists", "effect": "NoSchedule"}, NOT_READY, UNREACHABLE],
        ),
    ],
    ids=range(4),
)
def test_pods_bear_a_lost_node_for_five_minutes(given, result):
    client, _ = server()
    assert client.create(pod(tolerations=given))["spec"]["tolerations"] == result


def test_a_node_that_is_not_ready_starts_tainted():
    client, _ = server()
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    assert client.create(named("v1", "Node", "new", spec={}))["spec"]["taints"] == [taint]
    assert "taints" not in client.create(node())["spec"]
