"""Questions about pods, nodes, taints and tolerations."""

import pytest

from app.apimachinery import quantity
from app.apis import defaults, helpers

SPRAY = {"key": "spray", "value": "mortein", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("toleration", "covered"),
    [
        ({"key": "spray", "operator": "Equal", "value": "mortein", "effect": "NoSchedule"}, True),
        ({"key": "spray", "value": "mortein", "effect": "NoSchedule"}, True),
        ({"key": "spray", "operator": "Equal", "value": "mortein"}, True),
        ({"key": "spray", "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),
        ({"key": "spray", "operator": "Equal", "value": "other"}, False),
        ({"key": "spray", "operator": "Equal", "value": "mortein", "effect": "NoExecute"}, False),
        ({"key": "bug", "operator": "Exists"}, False),
        ({"key": "spray", "operator": "Gt", "value": "5"}, False),
    ],
)
def test_a_toleration_covers_a_taint(toleration, covered):
    assert helpers.tolerates(toleration, SPRAY) is covered


@pytest.mark.parametrize(
    ("operator", "value", "covered"),
    [("Gt", "5", True), ("Gt", "7", False), ("Lt", "8", True), ("Lt", "07", False)],
)
def test_numeric_operators_need_their_feature_gate(operator, value, covered):
    taint = {"key": "level", "value": "7", "effect": "NoSchedule"}
    toleration = {"key": "level", "operator": operator, "value": value}
    assert helpers.tolerates(toleration, taint, compare=True) is covered
    assert helpers.tolerates(toleration, taint) is False


def test_the_first_untolerated_taint_of_the_effects_is_found():
    soft = {"key": "soft", "effect": "PreferNoSchedule"}
    assert helpers.find_untolerated_taint([soft, SPRAY], [], ("NoSchedule", "NoExecute")) is SPRAY
    assert helpers.find_untolerated_taint([soft, SPRAY], [{"operator": "Exists"}], ("NoSchedule",)) is None
    assert helpers.find_untolerated_taint(None, None, ("NoSchedule",)) is None


NODE = {"metadata": {"name": "node01", "labels": {"color": "blue", "gen": "7"}}}


def _affinity(*terms):
    required = {"nodeSelectorTerms": list(terms)}
    return {"spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}}


@pytest.mark.parametrize(
    ("pod", "matches"),
    [
        ({"spec": {}}, True),
        ({"spec": {"nodeSelector": {"color": "blue"}}}, True),
        ({"spec": {"nodeSelector": {"color": "red"}}}, False),
        (
            _affinity({"matchExpressions": [{"key": "color", "operator": "In", "values": ["red", "blue"]}]}),
            True,
        ),
        (_affinity({"matchExpressions": [{"key": "gen", "operator": "Gt", "values": ["6"]}]}), True),
        (_affinity({"matchExpressions": [{"key": "gen", "operator": "Lt", "values": ["7"]}]}), False),
        (
            _affinity({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node02"]}]}),
            False,
        ),
        (_affinity({}), False),
        (_affinity(), False),
        (
            _affinity(
                {"matchExpressions": [{"key": "x", "operator": "Exists"}]},
                {"matchExpressions": [{"key": "color", "operator": "Exists"}]},
            ),
            True,
        ),
    ],
)
def test_node_affinity_terms_are_ored_and_their_expressions_anded(pod, matches):
    assert helpers.node_affinity_matches(pod, NODE) is matches


def _container(cpu, **more):
    return {"name": "c", "resources": {"requests": {"cpu": cpu}}, **more}


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        ({"containers": [_container("200m"), _container("300m")]}, 500),
        ({"containers": [_container("200m")], "initContainers": [_container("600m")]}, 600),
        (
            {
                "containers": [_container("200m")],
                "initContainers": [_container("100m", restartPolicy="Always")],
            },
            300,
        ),
        (
            {
                "containers": [_container("200m")],
                "initContainers": [_container("100m", restartPolicy="Always"), _container("500m")],
            },
            600,
        ),
        ({"containers": [_container("200m")], "overhead": {"cpu": "50m"}}, 250),
        (
            {
                "containers": [_container("200m")],
                "resources": {"requests": {"cpu": "1"}},
                "overhead": {"cpu": "50m"},
            },
            1050,
        ),
    ],
)
def test_requests_of_a_pod(spec, cpu):
    assert helpers.pod_requests({"spec": spec})["cpu"].milli_value() == cpu


def test_a_resize_in_progress_counts_the_larger_request():
    pod = {
        "spec": {"containers": [_container("200m")]},
        "status": {"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "400m"}}]},
    }
    assert helpers.pod_requests(pod)["cpu"].milli_value() == 400


def test_containers_without_requests_count_with_what_is_given_for_them():
    pod = {
        "spec": {
            "containers": [{"name": "a", "resources": {"requests": {"cpu": "1"}}}, {"name": "b"}],
            "initContainers": [{"name": "side", "restartPolicy": "Always"}],
        }
    }
    missing = {"cpu": quantity.parse("100m"), "memory": quantity.parse("200Mi")}
    found = helpers.pod_requests(pod, missing=missing)
    assert {name: str(amount) for name, amount in found.items()} == {"cpu": "1200m", "memory": "600Mi"}


@pytest.mark.parametrize(
    ("requests", "found"),
    [({"cpu": "1"}, True), ({"hugepages-2Mi": "2Mi"}, True), ({"ephemeral-storage": "1Gi"}, False), ({}, False)],
)
def test_a_pod_can_request_something_itself(requests, found):
    assert helpers.has_pod_level_requests({"spec": {"resources": {"requests": requests}}}) is found
    assert helpers.has_pod_level_requests({"spec": {}}) is False


@pytest.mark.parametrize(
    ("resources", "containers", "requests"),
    [
        ({"limits": {"cpu": "2"}}, {}, {"cpu": "2"}),
        ({"limits": {"cpu": "2"}}, {"requests": {"cpu": "500m", "memory": "1Gi"}}, {"cpu": "500m", "memory": "1Gi"}),
        ({"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}, {}, {"cpu": "1"}),
    ],
)
def test_limits_of_the_pod_become_its_requests(resources, containers, requests):
    spec = {"resources": resources, "containers": [{"name": "c", "image": "x", "resources": containers}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    assert defaults.apply(pod)["spec"]["resources"]["requests"] == requests
