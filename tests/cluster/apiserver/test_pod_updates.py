"""What may change in a pod, and the difference that a refusal shows."""

from __future__ import annotations

import pytest

from app.apimachinery.errors import Invalid
from tests.cluster.apiserver.making import named, server

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
A = {"key": "a", "operator": "In", "values": ["x"]}
B = {"key": "b", "operator": "Exists"}
GATED = {"schedulingGates": [{"name": "g"}]}
TERMS = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"


def pod(**spec) -> dict:
    return named("v1", "Pod", "p", spec={"containers": [{"name": "c", "image": "busybox"}], **spec})


def affinity(*terms: list) -> dict:
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": term} for term in terms]}}}


def refusal(old: dict, **changes) -> str:
    client, _ = server()
    stored = client.create(old)
    with pytest.raises(Invalid) as caught:
        client.update({**stored, "spec": {**stored["spec"], **changes}})
    return caught.value.message


def test_a_refused_change_shows_the_difference_of_the_servers_own_structures():
    assert refusal(pod(nodeSelector={"a": "b"}), nodeSelector={"a": "b", "c": "d"}).partition("\n")[2] == (
        '@@ -138,7 +138,8 @@\n  "ActiveDeadlineSeconds": null,\n  "DNSPolicy": "ClusterFirst",\n  "NodeSelector": {\n'
        '-  "a": "b"\n+  "a": "b",\n+  "c": "d"\n  },\n  "ServiceAccountName": "default",\n'
        '  "AutomountServiceAccountToken": null,\n'
    )


def test_a_changed_request_shows_beside_its_neighbours():
    old = pod(containers=[{"name": "c", "image": "busybox", "resources": {"requests": {"cpu": "1"}}}])
    changed = [
        {
            "name": "c",
            "image": "busybox",
            "imagePullPolicy": "Always",
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
            "resources": {"requests": {"cpu": "2"}},
        }
    ]
    assert '   "Requests": {\n-     "cpu": "1"\n+     "cpu": "2"\n     },\n' in refusal(old, containers=changed)


@pytest.mark.parametrize(
    ("old", "changes", "text"),
    [
        (
            pod(**GATED, nodeSelector={"a": "b"}),
            {"nodeSelector": {"a": "z", "c": "d"}},
            (
                'spec.nodeSelector: Invalid value: {"a":"z","c":"d"}: only additions to spec.nodeSelector are allowed '
                "(no mutations or deletions)"
            ),
        ),
        (
            pod(**GATED, affinity=affinity([A])),
            {"affinity": affinity([B])},
            (
                f'{TERMS}[0]: Invalid value: {{"MatchExpressions":[{{"Key":"b","Operator":"Exists","Values":null}}],'
                '"MatchFields":null}: only additions are allowed (no mutations or deletions)'
            ),
        ),
        (
            pod(**GATED, affinity=affinity([A])),
            {"affinity": affinity([A], [B])},
            (
                f'{TERMS}: Invalid value: [{{"MatchExpressions":[{{"Key":"a","Operator":"In","Values":["x"]}}],'
                '"MatchFields":null},{"MatchExpressions":[{"Key":"b","Operator":"Exists","Values":null}],'
                '"MatchFields":null}]: no additions/deletions to non-empty NodeSelectorTerms list are allowed'
            ),
        ),
        (
            pod(**GATED),
            {"schedulingGates": [{"name": "g"}, {"name": "h"}]},
            "spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'h'",
        ),
        (
            pod(activeDeadlineSeconds=10),
            {"activeDeadlineSeconds": 20},
            "spec.activeDeadlineSeconds: Invalid value: 20: must be less than or equal to previous value",
        ),
        (
            pod(activeDeadlineSeconds=10),
            {"activeDeadlineSeconds": None},
            "spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value",
        ),
    ],
    ids=range(6),
)
def test_it_refuses_in_the_servers_words(old, changes, text):
    assert f'Pod "p" is invalid: {text}' == refusal(old, **changes)


@pytest.mark.parametrize(
    ("old", "changes"),
    [
        (pod(**GATED, nodeSelector={"a": "b"}), {"nodeSelector": {"a": "b", "c": "d"}}),
        (pod(**GATED, affinity=affinity([A])), {"affinity": affinity([A, B])}),
        (pod(**GATED), {"affinity": affinity([A], [B])}),
        (pod(**GATED), {"schedulingGates": []}),
        (pod(terminationGracePeriodSeconds=-1), {"terminationGracePeriodSeconds": 1}),
        (pod(), {"nodeSelector": {}, "hostAliases": []}),
        (pod(), {"activeDeadlineSeconds": 5}),
    ],
    ids=range(7),
)
def test_it_takes_what_kubernetes_takes(old, changes):
    client, _ = server()
    stored = client.create(old)
    assert client.update({**stored, "spec": {**stored["spec"], **changes}})["metadata"]["uid"]
