"""The binding subresource."""

from __future__ import annotations

import pytest

from app.apimachinery.errors import BadRequest, Conflict, Invalid, NotFound
from tests.cluster.apiserver.making import named, pod, server


def binding(node: str = "node02", name: str = "bee", **target) -> dict:
    return named("v1", "Binding", name, target={"apiVersion": "v1", "kind": "Node", "name": node, **target})


def test_a_binding_assigns_the_pod():
    client, _ = server()
    client.create(pod())
    bound = client.bind("default", "bee", binding())
    assert bound["spec"]["nodeName"] == "node02"
    assert bound["status"]["conditions"] == [
        {
            "type": "PodScheduled",
            "status": "True",
            "lastProbeTime": None,
            "lastTransitionTime": "2026-03-01T09:00:00Z",
        }
    ]
    assert bound["metadata"]["generation"] == 2


def test_a_binding_manifest_names_its_pod():
    client, _ = server()
    client.create(pod())
    assert client.create(binding())["spec"]["nodeName"] == "node02"


def test_binding_a_bound_pod_is_a_conflict():
    client, _ = server()
    client.create(pod())
    first = client.bind("default", "bee", "node01")
    with pytest.raises(Conflict) as caught:
        client.bind("default", "bee", binding())
    assert caught.value.message == (
        'Operation cannot be fulfilled on pods/binding "bee": pod bee is already assigned to node "node01"'
    )
    assert caught.value.details == {"name": "bee", "kind": "pods/binding"}
    assert client.get("pods", "bee") is first


def test_a_gated_or_dying_pod_is_a_conflict():
    client, _ = server()
    client.create(pod("gated", schedulingGates=[{"name": "example.com/g"}]))
    with pytest.raises(Conflict, match=r"pod gated has non-empty .spec.schedulingGates"):
        client.bind("default", "gated", "node01")
    client.create({**pod(), "metadata": {"name": "bee", "finalizers": ["example.com/f"]}})
    client.delete("pods", "bee")
    with pytest.raises(Conflict, match="pod bee is being deleted, cannot be assigned to a host"):
        client.bind("default", "bee", "node01")


def test_it_replaces_the_condition_that_said_why_the_pod_waits():
    client, _ = server()
    stored = client.create(pod())
    waiting = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}
    client.update_status(
        {**stored, "status": {"phase": "Pending", "conditions": [waiting], "nominatedNodeName": "node01"}}
    )
    status = client.bind("default", "bee", "node01")["status"]
    assert [condition["status"] for condition in status["conditions"]] == ["True"]
    assert "nominatedNodeName" not in status


@pytest.mark.parametrize(
    ("sent", "kind", "text"),
    [
        (binding(name="wasp"), BadRequest, "name in URL does not match name in Binding object"),
        (binding(""), Invalid, "target.name: Required value"),
        (
            binding(kind="Pod"),
            Invalid,
            'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
        ),
        ({**binding(), "taget": {}}, BadRequest, 'unknown field "taget"'),
        ({**binding(), "metadata": {"name": "bee", "uid": "other"}}, Conflict, "Precondition failed"),
    ],
)
def test_a_wrong_binding_is_refused(sent, kind, text):
    client, store = server()
    client.create(pod())
    before = store.revision
    with pytest.raises(kind) as caught:
        client.bind("default", "bee", sent)
    assert text in caught.value.message
    assert store.revision == before


def test_a_missing_pod_cannot_be_bound():
    client, _ = server()
    with pytest.raises(NotFound, match='pods "bee" not found'):
        client.create(binding())
