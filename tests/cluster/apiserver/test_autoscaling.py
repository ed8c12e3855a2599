"""HorizontalPodAutoscalers at the API server: defaults, and what is refused in the server's words."""

import pytest

from app.apimachinery.errors import Invalid
from app.apimachinery.meta import Object
from tests.cluster.apiserver.making import named, server


def autoscaler(**spec) -> Object:
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    given = {"scaleTargetRef": reference, "maxReplicas": 3, **spec}
    return named("autoscaling/v2", "HorizontalPodAutoscaler", "web", spec=given)


def target(**fields) -> Object:
    return {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", **fields}}


def metric(kind: str, field: str, **source) -> Object:
    return {"metrics": [{"type": kind, field: source}]}


def behavior(side: str = "scaleUp", **rules) -> Object:
    return {"behavior": {side: rules}}


def policy(**fields) -> Object:
    return behavior(policies=[{"type": "Pods", "value": 1, "periodSeconds": 60, **fields}])


def test_the_cpu_at_80_percent_is_the_default():
    client, _ = server()
    spec = client.create(autoscaler())["spec"]
    cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}
    assert spec["metrics"] == [{"type": "Resource", "resource": cpu}]
    assert spec["minReplicas"] == 1
    assert "behavior" not in spec


def test_rules_that_are_given_in_part_are_completed():
    client, _ = server()
    given = client.create(autoscaler(**behavior("scaleDown", stabilizationWindowSeconds=60)))["spec"]["behavior"]
    assert given["scaleDown"] == {
        "stabilizationWindowSeconds": 60,
        "selectPolicy": "Max",
        "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
    }
    assert given["scaleUp"]["stabilizationWindowSeconds"] == 0
    assert [one["type"] for one in given["scaleUp"]["policies"]] == ["Pods", "Percent"]


def test_a_new_one_knows_nothing_yet():
    client, _ = server()
    given = {**autoscaler(), "status": {"currentReplicas": 9}}
    assert client.create(given)["status"] == {"currentMetrics": None, "desiredReplicas": 0}


REFUSED = [
    ({"maxReplicas": 0}, "spec.maxReplicas: Invalid value: 0: must be greater than 0"),
    ({"minReplicas": 0}, "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1"),
    (
        {"minReplicas": 0},
        "spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas",
    ),
    ({"minReplicas": 5}, "spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`"),
    (target(kind=""), "spec.scaleTargetRef.kind: Required value"),
    (target(name=""), "spec.scaleTargetRef.name: Required value"),
    (target(name="a/b"), "spec.scaleTargetRef.name: Invalid value: \"a/b\": may not contain '/'"),
    (
        target(apiVersion=""),
        'spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group',
    ),
    (
        target(apiVersion="a/b/c"),
        'spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
    ),
    (
        {"metrics": [{"type": "Resources"}]},
        (
            'spec.metrics[0].type: Unsupported value: "Resources": supported values: "ContainerResource", "External", '
            '"Object", "Pods", "Resource"'
        ),
    ),
    ({"metrics": [{"type": ""}]}, "spec.metrics[0].type: Required value: must specify a metric source type"),
    (
        {"metrics": [{"type": "Resource"}]},
        "spec.metrics[0].resource: Required value: must populate information for the given metric source",
    ),
    (
        {"metrics": [{"type": "Resource", "pods": {"metric": {"name": "a"}, "target": {"type": "Value"}}}]},
        "spec.metrics[0].resource: Required value: must populate information for the given metric source",
    ),
    (
        metric("Resource", "resource", name="cpu", target={"type": "Utilization"}),
        (
            "spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a "
            "target utilization"
        ),
    ),
    (
        metric("Resource", "resource", name="cpu", target={"type": "Utilization", "averageUtilization": 0}),
        "spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0",
    ),
    (
        metric(
            "Resource", "resource", name="cpu", target={"type": "Value", "averageUtilization": 1, "averageValue": "1"}
        ),
        (
            "spec.metrics[0].resource.target.averageValue: Forbidden: may not set both a target raw value and a target "
            "utilization"
        ),
    ),
    (
        metric("Resource", "resource", name="cpu", target={"type": "Percent", "averageUtilization": 1}),
        (
            'spec.metrics[0].resource.target.type: Invalid value: "Percent": must be either Utilization, Value, or '
            "AverageValue"
        ),
    ),
    (
        metric("Resource", "resource", target={"type": "Utilization", "averageUtilization": 1}),
        "spec.metrics[0].resource.name: Required value: must specify a resource name",
    ),
    (
        metric("Resource", "resource", name="cpu", target={"type": "AverageValue", "averageValue": "-1"}),
        'spec.metrics[0].resource.target.averageValue: Invalid value: "-1": must be positive',
    ),
    (
        metric("ContainerResource", "containerResource", name="cpu", target={"type": "Value", "averageValue": "1"}),
        "spec.metrics[0].containerResource.container: Required value: must specify a container",
    ),
    (
        metric("Pods", "pods", metric={"name": "a"}, target={"type": "Value", "value": "1"}),
        "spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue",
    ),
    (
        metric("External", "external", metric={"name": ""}, target={"type": "Value", "value": "1"}),
        "spec.metrics[0].external.metric.name: Required value: must specify a metric name",
    ),
    (
        metric("External", "external", metric={"name": "a"}, target={"type": "Value"}),
        (
            "spec.metrics[0].external.target.averageValue: Required value: must set either a target value for metric or a "
            "per-pod target"
        ),
    ),
    (
        metric("Object", "object", describedObject={"kind": "S"}, metric={"name": "a"}, target={"type": "Value"}),
        "spec.metrics[0].object.describedObject.name: Required value",
    ),
    (
        behavior(stabilizationWindowSeconds=-1),
        "spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero",
    ),
    (
        behavior(stabilizationWindowSeconds=3601),
        "spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600",
    ),
    (
        behavior("scaleDown", selectPolicy="Most"),
        'spec.behavior.scaleDown.selectPolicy: Unsupported value: "Most": supported values: "Disabled", "Max", "Min"',
    ),
    (
        policy(type="Nodes"),
        'spec.behavior.scaleUp.policies[0].type: Unsupported value: "Nodes": supported values: "Percent", "Pods"',
    ),
    (policy(value=0), "spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero"),
    (
        policy(periodSeconds=1801),
        "spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800",
    ),
    (
        behavior(tolerance="-1"),
        'spec.behavior.scaleUp.tolerance: Invalid value: "-1": must be greater than or equal to 0',
    ),
]


@pytest.mark.parametrize(("spec", "text"), REFUSED, ids=range(len(REFUSED)))
def test_it_refuses_in_the_servers_words(spec, text):
    client, store = server()
    before = store.revision
    with pytest.raises(Invalid) as caught:
        client.create(autoscaler(**spec))
    assert caught.value.message.startswith('HorizontalPodAutoscaler.autoscaling "web" is invalid: ')
    assert text in caught.value.message
    assert store.revision == before


def test_a_replication_controller_needs_no_group():
    client, _ = server()
    made = client.create(autoscaler(**target(apiVersion="v1", kind="ReplicationController")))
    assert made["spec"]["scaleTargetRef"]["apiVersion"] == "v1"


def test_a_change_is_judged_too():
    client, _ = server()
    client.create(autoscaler())
    with pytest.raises(Invalid, match=r"spec\.maxReplicas: Invalid value: 0: must be greater than 0"):
        client.patch("hpa", "web", "default", {"spec": {"maxReplicas": 0}}, "merge")
