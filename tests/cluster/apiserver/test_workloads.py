"""What the API server refuses of workloads, in upstream's words."""

from typing import Any

import pytest

from app.apimachinery.errors import Invalid
from app.apimachinery.meta import Object
from tests.cluster.apiserver.making import named, refused_change, server, workload

ROLLING = {"type": "RollingUpdate"}


def refused(obj: Object) -> str:
    client, _ = server()
    with pytest.raises(Invalid) as caught:
        client.create(obj)
    return caught.value.message.partition(" is invalid: ")[2]


def with_pod(kind: str, **spec: Any) -> Object:
    obj = workload(kind)
    obj["spec"]["template"]["spec"] = {**obj["spec"]["template"]["spec"], **spec}
    return obj


ALL = ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet")


@pytest.mark.parametrize("kind", ALL)
def test_pods_must_be_kept_alive(kind: str) -> None:
    field = "spec.template.spec.restartPolicy"
    assert refused(with_pod(kind, restartPolicy="Never")) == (
        f'{field}: Unsupported value: "Never": supported values: "Always"'
    )


@pytest.mark.parametrize("kind", ALL)
def test_pods_may_have_no_deadline(kind: str) -> None:
    named_kind = "ReplicaSet" if kind == "Deployment" else kind
    assert refused(with_pod(kind, activeDeadlineSeconds=5)) == (
        f"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in {named_kind} is not Supported"
    )


@pytest.mark.parametrize(
    ("kind", "called"),
    [
        ("Deployment", "deployment"),
        ("ReplicaSet", "deployment"),
        ("DaemonSet", "daemonset"),
        ("StatefulSet", "statefulset"),
    ],
)
def test_a_selector_must_select_something(kind: str, called: str) -> None:
    text = refused(workload(kind, selector={}))
    assert f"spec.selector: Invalid value: {{}}: empty selector is invalid for {called}" in text


@pytest.mark.parametrize("kind", ALL)
def test_a_selector_must_match_the_template(kind: str) -> None:
    text = refused(workload(kind, labels={"app": "other"}))
    field = "spec.template.metadata.labels"
    assert text == f'{field}: Invalid value: {{"app":"other"}}: `selector` does not match template `labels`'


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "DaemonSet"])
def test_a_selector_is_fixed(kind: str) -> None:
    obj = workload(kind)
    obj["spec"]["template"]["metadata"]["labels"]["b"] = "c"
    text = refused_change(obj, {"spec": {"selector": {"matchLabels": {"b": "c"}}}})
    assert text.endswith('spec.selector: Invalid value: {"matchLabels":{"app":"web","b":"c"}}: field is immutable')


@pytest.mark.parametrize("kind", ALL)
def test_labels_of_a_template_are_named_without_metadata(kind: str) -> None:
    text = refused(workload(kind, labels={"app": "web", "a b": "c"}))
    assert text.startswith('spec.template.labels: Invalid value: "a b": name part must consist of')


@pytest.mark.parametrize(
    ("kind", "spec", "problem"),
    [
        ("Deployment", {"replicas": -1}, "spec.replicas: Invalid value: -1: must be greater than or equal to 0"),
        (
            "Deployment",
            {"strategy": {"type": "Slow"}},
            (
                'spec.strategy: Unsupported value: {"Type":"Slow","RollingUpdate":null}: supported values: "Recreate", '
                '"RollingUpdate"'
            ),
        ),
        (
            "Deployment",
            {"strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}},
            "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
        ),
        (
            "Deployment",
            {"strategy": {**ROLLING, "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}},
            "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0",
        ),
        (
            "Deployment",
            {"strategy": {**ROLLING, "rollingUpdate": {"maxUnavailable": "101%"}}},
            'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
        ),
        (
            "Deployment",
            {"minReadySeconds": 600},
            "spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds",
        ),
        (
            "DaemonSet",
            {"updateStrategy": {**ROLLING, "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}},
            (
                "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is "
                "non-zero"
            ),
        ),
        (
            "DaemonSet",
            {"updateStrategy": {**ROLLING, "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}},
            "spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0",
        ),
        (
            "DaemonSet",
            {"updateStrategy": {**ROLLING, "rollingUpdate": {"maxSurge": "200%", "maxUnavailable": 0}}},
            'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "200%": must not be greater than 100%',
        ),
        (
            "DaemonSet",
            {"revisionHistoryLimit": -1},
            "spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            "StatefulSet",
            {"podManagementPolicy": "Wild"},
            "spec.podManagementPolicy: Invalid value: \"Wild\": must be 'OrderedReady' or 'Parallel'",
        ),
        (
            "StatefulSet",
            {"updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 1}}},
            (
                'spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":1}: only allowed for updateStrategy '
                "'RollingUpdate'"
            ),
        ),
        (
            "StatefulSet",
            {"updateStrategy": {**ROLLING, "rollingUpdate": {"partition": -1}}},
            "spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            "StatefulSet",
            {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Keep", "whenScaled": "Retain"}},
            (
                'spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Keep": supported values: '
                '"Retain", "Delete"'
            ),
        ),
        (
            "StatefulSet",
            {"ordinals": {"start": -1}},
            "spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0",
        ),
    ],
)
def test_a_wrong_spec_is_refused(kind: str, spec: Object, problem: str) -> None:
    assert refused(workload(kind, **spec)) == problem


FIXED = (
    "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
    "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are "
    "forbidden"
)


@pytest.mark.parametrize("changes", [{"serviceName": "x"}, {"podManagementPolicy": "Parallel"}])
def test_most_of_a_stateful_set_is_fixed(changes: Object) -> None:
    assert refused_change(workload("StatefulSet"), {"spec": changes}).endswith(FIXED)


@pytest.mark.parametrize(
    "changes",
    [
        {"replicas": 3},
        {"ordinals": {"start": 1}},
        {"minReadySeconds": 3},
        {"revisionHistoryLimit": 1},
        {"updateStrategy": {"rollingUpdate": {"partition": 2}}},
        {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Delete"}},
        {"template": {"metadata": {"annotations": {"a": "b"}}}},
    ],
)
def test_the_rest_of_a_stateful_set_may_change(changes: Object) -> None:
    client, _ = server()
    client.create(workload("StatefulSet"))
    changed = client.patch("statefulsets", "web", "default", {"spec": changes})
    assert changed["metadata"]["generation"] == 2


def test_max_unavailable_of_a_stateful_set_is_dropped_unless_an_older_one_has_it() -> None:
    client, store = server()
    made = client.create(workload("StatefulSet", updateStrategy={**ROLLING, "rollingUpdate": {"maxUnavailable": 2}}))
    assert made["spec"]["updateStrategy"]["rollingUpdate"] == {"partition": 0}
    older = {**made["spec"], "updateStrategy": {**ROLLING, "rollingUpdate": {"partition": 0, "maxUnavailable": 2}}}
    store.update("statefulsets", {**made, "spec": older})
    zero = {"spec": {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 0}}}}
    with pytest.raises(Invalid, match=r"rollingUpdate\.maxUnavailable: Invalid value: 0: cannot be 0"):
        client.patch("statefulsets", "web", "default", zero)


def test_the_name_of_a_stateful_set_is_a_part_of_host_names() -> None:
    assert refused(workload("StatefulSet", "a.b")) == 'metadata.name: Invalid value: "a.b": must not contain dots'


@pytest.mark.parametrize(
    ("kind", "status", "problem"),
    [
        (
            "Deployment",
            {"replicas": 1, "readyReplicas": 2},
            "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas",
        ),
        (
            "ReplicaSet",
            {"replicas": 2, "availableReplicas": 1},
            "status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas",
        ),
        (
            "StatefulSet",
            {"replicas": 2, "availableReplicas": 1},
            "status.availableReplicas: Invalid value: 1: cannot be greater than status.readyReplicas",
        ),
        (
            "DaemonSet",
            {"numberReady": -1},
            "status.numberReady: Invalid value: -1: must be greater than or equal to 0",
        ),
    ],
)
def test_a_status_must_fit_together(kind: str, status: Object, problem: str) -> None:
    client, _ = server()
    client.create(workload(kind))
    with pytest.raises(Invalid) as caught:
        client.patch(kind, "web", "default", {"status": status}, "merge", subresource="status")
    assert caught.value.message.endswith(f"is invalid: {problem}")


@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet", "StatefulSet"])
def test_collisions_never_become_fewer(kind: str) -> None:
    client, _ = server()
    client.create(workload(kind))
    client.patch(kind, "web", "default", {"status": {"collisionCount": 2}}, "merge", subresource="status")
    with pytest.raises(Invalid, match=r"status\.collisionCount: Invalid value: 1: cannot be decremented"):
        client.patch(kind, "web", "default", {"status": {"collisionCount": 1}}, "merge", subresource="status")


@pytest.mark.parametrize("kind", ALL)
def test_the_generation_counts_changes_of_the_spec_and_nothing_else(kind: str) -> None:
    client, _ = server()
    assert client.create(workload(kind))["metadata"]["generation"] == 1
    changes = ({"metadata": {"labels": {"a": "b"}}}, {"spec": {"minReadySeconds": 3}})
    found = [client.patch(kind, "web", "default", change)["metadata"]["generation"] for change in changes]
    found.append(
        client.patch(kind, "web", "default", {"status": {"observedGeneration": 9}}, "merge", subresource="status")[
            "metadata"
        ]["generation"]
    )
    assert found == [1, 2, 2]


def test_the_data_of_a_revision_is_there_and_fixed() -> None:
    assert refused(named("apps/v1", "ControllerRevision", "r", revision=1)) == "data: Required value: data is mandatory"
    revision = named("apps/v1", "ControllerRevision", "r", revision=1, data={"a": 1})
    assert refused_change(revision, {"data": {"a": 2}}).endswith('data: Invalid value: {"a":2}: field is immutable')
    client, _ = server()
    client.create(revision)
    assert client.patch("controllerrevisions", "r", "default", {"revision": 5})["revision"] == 5
    assert refused_change(revision, {"revision": -1}).endswith(
        "revision: Invalid value: -1: must be greater than or equal to 0"
    )
