"""HorizontalPodAutoscalers through autoscaling/v1: the same objects in the older form."""

import json

import pytest

from tests.kubeapi.asking import TABLE, Server, loaded

OLD = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"
NEW = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
PREFIX = "autoscaling.alpha.kubernetes.io/"
REFERENCE = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
MEMORY = {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}}


def old(annotations=None, **spec):
    return {
        "apiVersion": "autoscaling/v1",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "annotations": annotations or {}},
        "spec": {"scaleTargetRef": REFERENCE, "maxReplicas": 3, **spec},
    }


def new(**spec):
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web"},
        "spec": {"scaleTargetRef": REFERENCE, "maxReplicas": 3, **spec},
    }


@pytest.fixture
def server():
    return Server()


def test_the_share_of_the_cpu_is_a_metric(server):
    made = loaded(server.ask("POST", OLD, old(targetCPUUtilizationPercentage=50)), 201)
    assert made["apiVersion"] == "autoscaling/v1"
    assert made["spec"] == {
        "scaleTargetRef": REFERENCE,
        "minReplicas": 1,
        "maxReplicas": 3,
        "targetCPUUtilizationPercentage": 50,
    }
    assert made["status"] == {"currentReplicas": 0, "desiredReplicas": 0}
    stored = loaded(server.ask("GET", f"{NEW}/web"))
    assert (stored["apiVersion"], stored["spec"]["metrics"]) == ("autoscaling/v2", [CPU])


def test_without_a_share_it_is_80_percent(server):
    assert loaded(server.ask("POST", OLD, old()), 201)["spec"]["targetCPUUtilizationPercentage"] == 80


def test_what_the_older_form_has_no_fields_for_is_in_annotations(server):
    behavior = {"scaleDown": {"stabilizationWindowSeconds": 60}}
    loaded(server.ask("POST", NEW, new(metrics=[CPU, MEMORY], behavior=behavior)), 201)
    current = [
        {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 7, "averageValue": "7m"}}}
    ]
    condition = {"type": "AbleToScale", "status": "True", "reason": "ReadyForNewScale"}
    status = {"currentReplicas": 2, "desiredReplicas": 2, "currentMetrics": current, "conditions": [condition]}
    stored = loaded(server.ask("GET", f"{NEW}/web"))
    loaded(server.ask("PUT", f"{NEW}/web/status", {**stored, "status": status}))
    shown = loaded(server.ask("GET", f"{OLD}/web"))
    annotations = {key.removeprefix(PREFIX): json.loads(text) for key, text in shown["metadata"]["annotations"].items()}
    assert annotations["metrics"] == [{"type": "Resource", "resource": {"name": "memory", "targetAverageValue": "1Gi"}}]
    used = {"name": "cpu", "currentAverageUtilization": 7, "currentAverageValue": "7m"}
    assert annotations["current-metrics"] == [{"type": "Resource", "resource": used}]
    assert annotations["behavior"]["ScaleDown"]["StabilizationWindowSeconds"] == 60
    assert annotations["behavior"]["ScaleDown"]["Policies"][0] == {"Type": "Percent", "Value": 100, "PeriodSeconds": 15}
    assert annotations["conditions"] == [condition]
    assert shown["status"] == {"currentReplicas": 2, "desiredReplicas": 2, "currentCPUUtilizationPercentage": 7}


def test_written_back_it_is_what_it_was(server):
    behavior = {"scaleDown": {"stabilizationWindowSeconds": 60, "tolerance": "50m"}}
    before = loaded(server.ask("POST", NEW, new(metrics=[MEMORY, CPU], behavior=behavior)), 201)
    shown = loaded(server.ask("GET", f"{OLD}/web"))
    shown["metadata"].pop("managedFields", None)
    loaded(server.ask("PUT", f"{OLD}/web", shown))
    assert loaded(server.ask("GET", f"{NEW}/web"))["spec"] == before["spec"]


def test_a_patch_of_the_older_form_changes_the_one_object(server):
    server.ask("POST", NEW, new(metrics=[CPU]))
    patch = {"spec": {"targetCPUUtilizationPercentage": 70, "maxReplicas": 9}}
    loaded(server.ask("PATCH", f"{OLD}/web", patch, content_type="application/merge-patch+json"))
    spec = loaded(server.ask("GET", f"{NEW}/web"))["spec"]
    assert spec["maxReplicas"] == 9
    assert [one["resource"]["target"]["averageUtilization"] for one in spec["metrics"]] == [70]


def test_lists_watches_and_tables_show_the_older_form_of_the_same_objects(server):
    server.ask("POST", NEW, new(metrics=[CPU]))
    listed = loaded(server.ask("GET", OLD))
    assert (listed["apiVersion"], listed["kind"]) == ("autoscaling/v1", "HorizontalPodAutoscalerList")
    assert [item["spec"]["targetCPUUtilizationPercentage"] for item in listed["items"]] == [50]
    first = json.loads(server.ask("GET", f"{OLD}?watch=true").body.splitlines()[0])
    assert first["object"]["apiVersion"] == "autoscaling/v1"
    (row,) = loaded(server.ask("GET", OLD, accept=TABLE))["rows"]
    assert row["cells"][:6] == ["web", "Deployment/web", "cpu: <unknown>/50%", "1", 3, 0]
    loaded(server.ask("DELETE", f"{OLD}/web"))
    assert loaded(server.ask("GET", NEW))["items"] == []


def test_discovery_announces_both_and_prefers_the_newer(server):
    group = loaded(server.ask("GET", "/apis/autoscaling"))
    assert [one["version"] for one in group["versions"]] == ["v2", "v1"]
    names = [one["name"] for one in loaded(server.ask("GET", "/apis/autoscaling/v1"))["resources"]]
    assert names == ["horizontalpodautoscalers", "horizontalpodautoscalers/status"]


def test_it_is_refused_by_the_same_rules(server):
    status = loaded(server.ask("POST", OLD, old(maxReplicas=0)), 422)
    assert status["message"] == (
        'HorizontalPodAutoscaler.autoscaling "web" is invalid: [spec.maxReplicas: Invalid value: 0: must be greater than '
        "0, spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`]"
    )
    wrong = loaded(server.ask("POST", f"{OLD}?fieldValidation=Strict", old(metrics=[CPU])), 400)
    assert 'unknown field "spec.metrics"' in wrong["message"]


@pytest.mark.parametrize(
    "text",
    ["{", "[1]", '[{"type": 5}]', '[{"type":"Resource","resource":{"targetAverageUtilization":"x"}}]', "[" * 60_000],
)
@pytest.mark.parametrize("name", ["metrics", "behavior", "current-metrics", "conditions"])
def test_annotations_that_make_no_sense_are_dropped(server, name, text):
    made = loaded(
        server.ask("POST", OLD, old({f"{PREFIX}{name}": text, "mine": "x"}, targetCPUUtilizationPercentage=50)), 201
    )
    assert made["metadata"]["annotations"] == {"mine": "x"}
    assert loaded(server.ask("GET", f"{NEW}/web"))["spec"]["metrics"] == [CPU]
