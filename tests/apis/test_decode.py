"""Strict decoding in the API server's words, and what to write instead."""

from __future__ import annotations

from typing import Any

import pytest

from app.apis import advice, decode, schema, scheme


def pod(**spec: Any) -> dict:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": spec}


def container(**more: Any) -> dict:
    return pod(containers=[{"name": "a", "image": "b", **more}])


QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


@pytest.mark.parametrize(
    ("obj", "text", "path", "what_to_write"),
    [
        (pod(continers=[]), 'unknown field "spec.continers"', "spec.continers", "“containers” instead of “continers”"),
        (
            {**pod(), "tolerations": []},
            'unknown field "tolerations"',
            "tolerations",
            "“tolerations” belongs inside “spec”",
        ),
        (
            container(tolerations=[]),
            'unknown field "spec.containers[0].tolerations"',
            "spec.containers[0].tolerations",
            "directly inside “spec”",
        ),
        (
            {**pod(), "metadata": {"tolerations": []}},
            'unknown field "metadata.tolerations"',
            "metadata.tolerations",
            "belongs inside “spec”",
        ),
        (
            pod(image="nginx"),
            'unknown field "spec.image"',
            "spec.image",
            "belongs inside “containers”",
        ),
        (
            container(zzz=1),
            'unknown field "spec.containers[0].zzz"',
            "spec.containers[0].zzz",
            "The fields here are: args, command,",
        ),
        (
            pod(tolerations=[{"key": "a", "value": True}]),
            "json: cannot unmarshal bool into Go struct field Toleration.spec.tolerations.value of type string",
            "spec.tolerations[0].value",
            'Write "true", in quotes',
        ),
        (
            pod(tolerations=[{"effect": 1}]),
            "json: cannot unmarshal number into Go struct field Toleration.spec.tolerations.effect of type v1.TaintEffect",
            "spec.tolerations[0].effect",
            'Write "1", in quotes',
        ),
        (
            {**pod(), "metadata": {"labels": {"a": 1}}},
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
            "metadata.labels.a",
            'Write "1", in quotes',
        ),
        (
            container(env=[{"name": "A", "value": 3}]),
            "json: cannot unmarshal number into Go struct field EnvVar.spec.containers.env.value of type string",
            "spec.containers[0].env[0].value",
            'Write "3", in quotes',
        ),
        (
            container(command="sleep 1"),
            "json: cannot unmarshal string into Go struct field Container.spec.containers.command of type []string",
            "spec.containers[0].command",
            "“command” is a list",
        ),
        (
            pod(containers={"name": "a"}),
            "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container",
            "spec.containers",
            "“containers” is a list",
        ),
        (
            {**pod(), "spec": "x"},
            "json: cannot unmarshal string into Go struct field Pod.spec of type v1.PodSpec",
            "spec",
            "takes fields of its own",
        ),
        (
            pod(tolerations=['effect:"NoSchedule"']),
            "json: cannot unmarshal string into Go struct field PodSpec.spec.tolerations of type v1.Toleration",
            "spec.tolerations[0]",
            "“effect: ” with a space",
        ),
        (
            pod(nodeSelector="a=b"),
            "json: cannot unmarshal string into Go struct field PodSpec.spec.nodeSelector of type map[string]string",
            "spec.nodeSelector",
            "takes fields of its own",
        ),
        (
            container(resources={"limits": ["cpu"]}),
            (
                "json: cannot unmarshal array into Go struct field ResourceRequirements.spec.containers.resources.limits"
                " of type v1.ResourceList"
            ),
            "spec.containers[0].resources.limits",
            "takes fields of its own",
        ),
        (
            container(ports=[{"containerPort": "80"}]),
            (
                "json: cannot unmarshal string into Go struct field ContainerPort.spec.containers.ports.containerPort"
                " of type int32"
            ),
            "spec.containers[0].ports[0].containerPort",
            "a whole number without quotes",
        ),
        (
            pod(priority=1.5),
            "json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.priority of type int32",
            "spec.priority",
            "a whole number",
        ),
        (
            pod(priority=3_000_000_000),
            "json: cannot unmarshal number 3000000000 into Go struct field PodSpec.spec.priority of type int32",
            "spec.priority",
            "a whole number",
        ),
        (
            pod(hostNetwork="yes"),
            "json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool",
            "spec.hostNetwork",
            "true or false",
        ),
        (
            pod(nodeName=["a"]),
            "json: cannot unmarshal array into Go struct field PodSpec.spec.nodeName of type string",
            "spec.nodeName",
            "one piece of text",
        ),
        (
            container(livenessProbe={"httpGet": {"port": True}}),
            "json: cannot unmarshal bool into Go value of type int32",
            "spec.containers[0].livenessProbe.httpGet.port",
            "“port” takes",
        ),
        (
            {"apiVersion": "v1", "kind": "Node", "spec": {"taints": [{"timeAdded": "soon"}]}},
            'parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006"',
            "spec.taints[0].timeAdded",
            "2026-01-31T12:00:00Z",
        ),
        (
            container(resources={"requests": {"cpu": "1vCPU"}}),
            QUANTITY,
            "spec.containers[0].resources.requests.cpu",
            "Write “1” instead of “1vCPU”",
        ),
        (
            container(resources={"limits": {"memory": "1gb"}}),
            QUANTITY,
            "spec.containers[0].resources.limits.memory",
            "Write “1Gi” instead of “1gb”",
        ),
        (
            container(resources={"limits": {"memory": "512 MB"}}),
            QUANTITY,
            "spec.containers[0].resources.limits.memory",
            "Write “512Mi” instead of “512 MB”",
        ),
        (
            container(resources={"limits": {"memory": "lots"}}),
            QUANTITY,
            "spec.containers[0].resources.limits.memory",
            "128Mi or 1Gi for memory; “lots” is none",
        ),
    ],
)
def test_it_says_what_the_api_server_says_and_what_to_write(obj, text, path, what_to_write):
    problems = decode.problems(obj)
    assert schema.check(obj) == [text]
    assert [problem.path for problem in problems] == [path]
    assert what_to_write in str(advice.for_problem(problems[0]))


def test_all_unknown_fields_are_named_in_name_order():
    obj = {**pod(containers=[{"name": "a", "z": 1, "b": 2}], continers=1), "y": 1}
    assert schema.check(obj) == [
        'unknown field "spec.containers[0].b"',
        'unknown field "spec.containers[0].z"',
        'unknown field "spec.continers"',
        'unknown field "y"',
    ]


def test_a_value_that_does_not_fit_hides_unknown_fields():
    assert len(schema.check(pod(continers=[], priority="high", hostNetwork=1))) == 1


def test_what_is_right_passes():
    assert (
        schema.check(container(resources={"limits": {"cpu": 1, "memory": "1Gi"}}, ports=[{"containerPort": 80}])) == []
    )
    assert schema.check(pod(priority=None, tolerations=None, containers=[])) == []


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("2026-01-31T12:00:00Z", True),
        ("2026-01-31T12:00:00.123456+09:00", True),
        ("2026-02-30T12:00:00Z", False),
        ("0001-01-01T00:00:00+23:59", True),
        ("2026-01-31", False),
        ("20260131T120000Z", False),
    ],
)
def test_times_are_rfc_3339(text, right):
    taint = {"key": "a", "effect": "NoExecute", "timeAdded": text}
    assert (schema.check({"apiVersion": "v1", "kind": "Node", "spec": {"taints": [taint]}}) == []) is right


def test_an_unknown_kind_cannot_be_checked():
    with pytest.raises(scheme.NoKindMatchError):
        schema.check({"apiVersion": "v1", "kind": "pod"})


def test_normalising_prints_as_go_would():
    read = decode.normalised(
        {
            **container(
                resources={"limits": {"cpu": 0.1, "memory": "1024Mi"}, "requests": {"cpu": "1000m"}},
                command=[],
                securityContext=None,
            ),
            "unknown": 1,
        }
    )
    assert read["spec"]["containers"] == [
        {
            "name": "a",
            "image": "b",
            "resources": {"limits": {"cpu": "100m", "memory": "1Gi"}, "requests": {"cpu": "1"}},
        }
    ]
    assert "unknown" not in read


def test_normalising_keeps_empty_structures_and_the_null_times_of_conditions():
    obj = {
        **pod(volumes=[{"name": "v", "emptyDir": {}}]),
        "status": {"conditions": [{"type": "Ready", "status": "True", "lastProbeTime": None}]},
    }
    assert decode.normalised(obj)["spec"]["volumes"] == [{"name": "v", "emptyDir": {}}]
    assert decode.normalised(obj)["status"]["conditions"][0]["lastProbeTime"] is None


def test_normalising_shares_nothing_with_the_original():
    obj = container(env=[{"name": "A"}])
    decode.normalised(obj)["spec"]["containers"][0]["env"].append({"name": "B"})
    assert len(obj["spec"]["containers"][0]["env"]) == 1


def test_free_form_values_are_bounded_in_depth():
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    revision = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "revision": 1, "data": deep}
    assert schema.check(revision) == ["exceeded max depth"]
