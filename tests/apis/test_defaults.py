"""What the API server fills in."""

from __future__ import annotations

from copy import deepcopy

import pytest

from app.apis import defaults, pod_defaults


def pod(*containers: dict, **spec: object) -> dict:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "x"},
        "spec": {"containers": list(containers), **spec},
    }


def filled(obj: dict) -> dict:
    return defaults.apply(obj)["spec"]


def test_a_pod_gets_its_defaults_and_the_given_object_stays():
    given = pod({"name": "a", "image": "nginx"})
    before = deepcopy(given)
    assert filled(given) == {
        "containers": [
            {
                "name": "a",
                "image": "nginx",
                "resources": {},
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
                "imagePullPolicy": "Always",
            }
        ],
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    }
    assert given == before


def test_what_is_set_is_left_alone():
    spec = filled(
        pod(
            {"name": "a", "image": "nginx", "imagePullPolicy": "Never"},
            schedulerName="mine",
            restartPolicy="Never",
            terminationGracePeriodSeconds=0,
            enableServiceLinks=False,
        )
    )
    assert spec["containers"][0]["imagePullPolicy"] == "Never"
    assert (spec["schedulerName"], spec["restartPolicy"], spec["terminationGracePeriodSeconds"]) == ("mine", "Never", 0)
    assert spec["enableServiceLinks"] is False


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("nginx:1.27", "IfNotPresent"),
        ("localhost:5000/nginx", "Always"),
        ("localhost:5000/nginx:1", "IfNotPresent"),
        ("nginx@sha256:abc", "IfNotPresent"),
        ("", "Always"),
    ],
)
def test_the_pull_policy_follows_the_tag(image, policy):
    assert pod_defaults.pull_policy(image) == policy


def test_requests_come_from_limits_in_a_pod_and_not_in_a_template():
    container = {
        "name": "a",
        "image": "b",
        "resources": {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}},
    }
    assert filled(pod(container))["containers"][0]["resources"]["requests"] == {"cpu": "1", "memory": "1Gi"}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "spec": {"template": {"spec": {"containers": [container]}}},
    }
    template = filled(deployment)["template"]["spec"]
    assert template["containers"][0]["resources"]["requests"] == {"cpu": "1"}
    assert template["schedulerName"] == "default-scheduler"
    assert "enableServiceLinks" not in template


def test_host_network_takes_the_ports_of_the_host():
    ports = filled(pod({"name": "a", "image": "b", "ports": [{"containerPort": 80}]}, hostNetwork=True))["containers"][
        0
    ]["ports"]
    assert ports == [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]
    ports = filled(pod({"name": "a", "image": "b", "ports": [{"containerPort": 80}]}))["containers"][0]["ports"]
    assert ports == [{"containerPort": 80, "protocol": "TCP"}]


def test_probes_get_their_counts():
    container = {"name": "a", "image": "b", "livenessProbe": {"httpGet": {"port": 80}, "periodSeconds": 3}}
    assert filled(pod(container))["containers"][0]["livenessProbe"] == {
        "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
        "periodSeconds": 3,
        "timeoutSeconds": 1,
        "successThreshold": 1,
        "failureThreshold": 3,
    }


@pytest.mark.parametrize(
    ("volume", "result"),
    [
        ({}, {"emptyDir": {}}),
        ({"configMap": {"name": "c"}}, {"configMap": {"name": "c", "defaultMode": 420}}),
        ({"hostPath": {"path": "/"}}, {"hostPath": {"path": "/", "type": ""}}),
    ],
)
def test_volumes_get_their_defaults(volume, result):
    assert filled(pod(volumes=[{"name": "v", **volume}]))["volumes"] == [{"name": "v", **result}]


def test_the_two_names_of_the_account_agree():
    spec = filled(pod(serviceAccount="bob"))
    assert (spec["serviceAccountName"], spec["serviceAccount"]) == ("bob", "bob")


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (
            {"apiVersion": "apps/v1", "kind": "Deployment"},
            {
                "replicas": 1,
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
                "revisionHistoryLimit": 10,
                "progressDeadlineSeconds": 600,
            },
        ),
        (
            {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 0, "strategy": {"type": "Recreate"}}},
            {
                "replicas": 0,
                "strategy": {"type": "Recreate"},
                "revisionHistoryLimit": 10,
                "progressDeadlineSeconds": 600,
            },
        ),
        ({"apiVersion": "apps/v1", "kind": "ReplicaSet"}, {"replicas": 1}),
        (
            {"apiVersion": "apps/v1", "kind": "DaemonSet"},
            {
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}},
                "revisionHistoryLimit": 10,
            },
        ),
        (
            {
                "apiVersion": "v1",
                "kind": "LimitRange",
                "spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}, "min": {"memory": "1Mi"}}]},
            },
            {
                "limits": [
                    {
                        "type": "Container",
                        "max": {"cpu": "1"},
                        "min": {"memory": "1Mi"},
                        "default": {"cpu": "1"},
                        "defaultRequest": {"memory": "1Mi", "cpu": "1"},
                    }
                ]
            },
        ),
    ],
)
def test_other_specs_get_their_defaults(obj, expected):
    spec = filled(obj)
    spec.pop("template", None)
    assert spec == expected


def test_bindings_of_roles_get_their_groups():
    rbac = "rbac.authorization.k8s.io"
    binding = defaults.apply(
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRoleBinding",
            "roleRef": {"kind": "ClusterRole", "name": "r"},
            "subjects": [{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "name": "s", "namespace": "n"}],
        }
    )
    assert binding["roleRef"]["apiGroup"] == rbac
    assert [subject.get("apiGroup") for subject in binding["subjects"]] == [rbac, None]


def test_a_priority_class_preempts_unless_told_otherwise():
    obj = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1}
    assert defaults.apply(obj)["preemptionPolicy"] == "PreemptLowerPriority"


def test_a_node_can_allocate_its_capacity():
    obj = {"apiVersion": "v1", "kind": "Node", "status": {"capacity": {"cpu": "2"}}}
    assert defaults.apply(obj)["status"]["allocatable"] == {"cpu": "2"}
