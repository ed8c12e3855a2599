"""Whatever JSON is sent, the answer is an object or a refusal, never a fault of the server."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.apimachinery.errors import StatusError
from tests.cluster.apiserver.making import RBAC, named, node, pod, server, workload

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
EXPRESSION = {"key": "a", "operator": "In", "values": ["b"]}
TERM = {"topologyKey": "zone", "labelSelector": {"matchExpressions": [EXPRESSION], "matchLabels": {"a": "b"}}}
RICH_POD = pod(
    container={
        "env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}}],
        "ports": [{"containerPort": 80, "hostPort": 80, "name": "http"}],
        "volumeMounts": [{"name": "v", "mountPath": "/v"}],
        "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "500m"}},
        "livenessProbe": {"httpGet": {"port": "http"}},
        "lifecycle": {"preStop": {"exec": {"command": ["x"]}}},
    },
    initContainers=[{"name": "i", "image": "b"}],
    volumes=[{"name": "v", "configMap": {"name": "c"}}],
    tolerations=[{"key": "a", "operator": "Equal", "value": "b", "effect": "NoExecute", "tolerationSeconds": 3}],
    affinity={
        "nodeAffinity": {
            REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [EXPRESSION], "matchFields": []}]},
            PREFERRED: [{"weight": 1, "preference": {"matchExpressions": [EXPRESSION]}}],
        },
        "podAntiAffinity": {REQUIRED: [TERM], PREFERRED: [{"weight": 1, "podAffinityTerm": TERM}]},
    },
    topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}],
    nodeSelector={"a": "b"},
    priorityClassName="",
    hostNetwork=True,
)
ENDING = {"spec": {"containers": [{"name": "c", "image": "busybox"}], "restartPolicy": "Never"}}
INDEXED = {
    "completions": 4,
    "parallelism": 2,
    "completionMode": "Indexed",
    "backoffLimitPerIndex": 1,
    "maxFailedIndexes": 2,
    "managedBy": "acme.io/mine",
    "successPolicy": {"rules": [{"succeededIndexes": "0,2-3", "succeededCount": 1}]},
    "podFailurePolicy": {
        "rules": [
            {"action": "FailJob", "onExitCodes": {"containerName": "c", "operator": "In", "values": [1, 3]}},
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
        ]
    },
}
OBJECTS = [
    RICH_POD,
    node(taints=[{"key": "a", "value": "b", "effect": "NoSchedule"}]),
    workload(
        "Deployment", strategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}}
    ),
    workload("DaemonSet"),
    workload("ReplicaSet"),
    named("v1", "ConfigMap", "c", data={"a": "b"}, binaryData={"c": "ZA=="}, immutable=True),
    named(f"{RBAC}/v1", "Role", "r", rules=[{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]),
    named(
        f"{RBAC}/v1",
        "ClusterRoleBinding",
        "b",
        roleRef={"kind": "ClusterRole", "name": "r"},
        subjects=[{"kind": "ServiceAccount", "name": "s", "namespace": "n"}],
    ),
    named("scheduling.k8s.io/v1", "PriorityClass", "p", value=3, preemptionPolicy="Never", globalDefault=True),
    named("v1", "Service", "s", spec={"ports": [{"port": 80, "targetPort": "http"}], "selector": {"a": "b"}}),
    named("v1", "LimitRange", "l", spec={"limits": [{"type": "Container", "max": {"cpu": "1"}}]}),
    workload(
        "StatefulSet",
        serviceName="web",
        ordinals={"start": 2},
        updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 1, "maxUnavailable": "50%"}},
        persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete", "whenScaled": "Retain"},
        volumeClaimTemplates=[{"metadata": {"name": "d"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}],
    ),
    named("apps/v1", "ControllerRevision", "r", data={"spec": {}}, revision=1),
    named("batch/v1", "Job", "j", spec={"template": ENDING, **INDEXED}),
    named(
        "batch/v1",
        "CronJob",
        "j",
        spec={"schedule": "*/5 1-3 * * mon", "timeZone": "Etc/UTC", "jobTemplate": {"spec": {"template": ENDING}}},
    ),
    named("v1", "Binding", "bee", target={"kind": "Node", "name": "node01"}),
]


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(place for key, item in inner for place in places(item, (*way, key)))][0 if way else 1 :]


WRONG = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
    st.sampled_from([[], {}, [None], {"a": None}, [{}], {"": {}}, [[]], "\x00", "-", "a" * 300]),
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_value_in_any_place_is_taken_or_refused(data):
    obj = json.loads(json.dumps(data.draw(st.sampled_from(OBJECTS))))
    *way, last = data.draw(st.sampled_from(places(obj)))
    holder = obj
    for step in way:
        holder = holder[step]
    holder[last] = data.draw(WRONG)
    client, store = server()
    before = store.revision
    try:
        answer = client.create(obj)
    except StatusError as error:
        answer = error.status()
    assert json.loads(json.dumps(answer)) == answer
    assert store.revision == before + (answer["kind"] != "Status")


@pytest.mark.parametrize("obj", OBJECTS[:-1], ids=lambda obj: obj["kind"])
def test_the_objects_themselves_are_taken_and_can_be_written_again(obj):
    client, _ = server()
    stored = client.create(obj)
    assert client.update(json.loads(json.dumps(stored))) is stored


@pytest.mark.parametrize(
    "obj", [obj for obj in OBJECTS[1:-1] if obj["kind"] != "Job"], ids=lambda obj: str(obj["kind"])
)
def test_replacing_by_the_same_manifest_changes_nothing(obj):
    client, _ = server()
    stored = client.create(obj)
    assert client.update(json.loads(json.dumps(obj))) is stored


@pytest.mark.parametrize(
    "obj",
    [
        {},
        {"apiVersion": ["v1"], "kind": {"a": 1}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": []},
        {"apiVersion": "v1", "kind": "Pod", "metadata": None, "spec": None},
        {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [None]}},
    ],
    ids=range(5),
)
def test_what_is_hardly_an_object_is_refused(obj):
    client, _ = server()
    with pytest.raises(StatusError):
        client.create(obj)
