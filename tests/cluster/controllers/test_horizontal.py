"""What a HorizontalPodAutoscaler does with its target, and what it says."""

import json
from itertools import pairwise

import pytest

from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from tests.cluster.builders import MINUTE, NOW, SECOND, events, fresh, workload

BUSY = {"image": "busybox", "command": ["sh", "-c", "while true; do :; done"]}
IDLE = {"image": "busybox", "command": ["sleep", "3600"]}
ABOVE = "cpu resource utilization (percentage of request) above target"


def deployment(container: Object, *, replicas: int = 1, cpu: str = "200m", kind: str = "Deployment") -> Object:
    made = workload(kind, "web", replicas=replicas)
    resources = {"requests": {"cpu": cpu, "memory": "10Mi"}, "limits": {"cpu": cpu}} if cpu else {}
    made["spec"]["template"]["spec"]["containers"] = [{"name": "c", "resources": resources, **container}]
    if kind == "StatefulSet":
        made["spec"]["serviceName"] = "web"
    return made


def autoscaler(name: str = "web", *, kind: str = "Deployment", target: str = "web", **spec) -> Object:
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": target}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name},
        "spec": {"scaleTargetRef": reference, "minReplicas": 1, "maxReplicas": 10, "metrics": [cpu(50)], **spec},
    }


def cpu(share: int) -> Object:
    target = {"type": "Utilization", "averageUtilization": share}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def average(resource: str, amount: str) -> Object:
    return {
        "type": "Resource",
        "resource": {"name": resource, "target": {"type": "AverageValue", "averageValue": amount}},
    }


def given(*objects: Object, minutes: float = 0) -> Cluster:
    cluster = fresh()
    for obj in objects:
        cluster.client.create(obj)
    wait(cluster, minutes)
    return cluster


def wait(cluster: Cluster, minutes: float) -> None:
    cluster.advance_to(cluster.now + int(minutes * MINUTE))


def status(cluster: Cluster, name: str = "web") -> Object:
    return dict(cluster.client.get("hpa", name)["status"])


def conditions(cluster: Cluster, name: str = "web") -> dict[str, tuple[str, str, str]]:
    return {
        found["type"]: (found["status"], found["reason"], found["message"])
        for found in status(cluster, name).get("conditions") or ()
    }


def replicas(cluster: Cluster, kind: str = "deployments") -> int:
    return int(cluster.client.get(kind, "web")["spec"]["replicas"])


def change(cluster: Cluster, kind: str, patch: Object) -> None:
    cluster.client.patch(kind, "web", "default", patch, "merge")


def test_busy_pods_are_joined_by_more_until_the_highest_number():
    cluster = given(deployment(BUSY), autoscaler(maxReplicas=3), minutes=6)
    assert replicas(cluster) == 3
    told = [message for reason, message in events(cluster, "web") if reason == "SuccessfulRescale"]
    assert told[-1] == f"New size: 3; reason: {ABOVE}"
    limited = ("True", "TooManyReplicas", "the desired replica count is more than the maximum replica count")
    assert conditions(cluster)["ScalingLimited"] == limited


def test_the_status_says_what_was_measured():
    cluster = given(deployment(BUSY, replicas=2), autoscaler(maxReplicas=2, minReplicas=2), minutes=6)
    found = status(cluster)
    current = {"averageUtilization": 100, "averageValue": "200m"}
    assert found["currentMetrics"] == [{"type": "Resource", "resource": {"name": "cpu", "current": current}}]
    assert (found["currentReplicas"], found["desiredReplicas"]) == (2, 2)
    told = "the HPA was able to successfully calculate a replica count from cpu resource utilization (percentage of request)"
    assert conditions(cluster)["ScalingActive"] == ("True", "ValidMetricFound", told)


def test_size_at_most_doubles_at_once_and_a_small_one_may_become_four():
    cluster = given(deployment(BUSY, cpu="1"), autoscaler(metrics=[cpu(10)]), minutes=6)
    sizes = [message for reason, message in events(cluster, "web") if reason == "SuccessfulRescale"]
    assert sizes[:2] == [f"New size: 4; reason: {ABOVE}", f"New size: 8; reason: {ABOVE}"]


def test_idle_pods_go_after_five_minutes_of_low_recommendations():
    cluster = given(deployment(IDLE, replicas=3), autoscaler())
    wait(cluster, 4.9)
    assert replicas(cluster) == 3
    stabilized = "recent recommendations were higher than current one, applying the highest recent recommendation"
    assert conditions(cluster)["AbleToScale"] == ("True", "ScaleDownStabilized", stabilized)
    wait(cluster, 1)
    assert replicas(cluster) == 1
    assert ("SuccessfulRescale", "New size: 1; reason: All metrics below target") in events(cluster, "web")
    wait(cluster, 1)
    limited = ("True", "TooFewReplicas", "the desired replica count is less than the minimum replica count")
    assert conditions(cluster)["ScalingLimited"] == limited


def test_within_a_tenth_of_the_target_nothing_changes():
    cluster = given(deployment(BUSY, replicas=2), autoscaler(metrics=[cpu(92)]), minutes=8)
    assert replicas(cluster) == 2
    ready = ("True", "ReadyForNewScale", "recommended size matches current size")
    assert conditions(cluster)["AbleToScale"] == ready
    within = ("False", "DesiredWithinRange", "the desired count is within the acceptable range")
    assert conditions(cluster)["ScalingLimited"] == within


def test_a_size_outside_the_bounds_is_corrected_without_a_measurement():
    cluster = given(deployment(IDLE, replicas=5), autoscaler(maxReplicas=4), minutes=0.3)
    assert replicas(cluster) == 4
    told = "New size: 4; reason: Current number of replicas above Spec.MaxReplicas"
    assert ("SuccessfulRescale", told) in events(cluster, "web")
    done = ("True", "SucceededRescale", "the HPA controller was able to update the target scale to 4")
    assert conditions(cluster)["AbleToScale"] == done
    assert "lastScaleTime" in status(cluster)
    other = given(deployment(IDLE), autoscaler(minReplicas=2), minutes=0.3)
    told = "New size: 2; reason: Current number of replicas below Spec.MinReplicas"
    assert ("SuccessfulRescale", told) in events(other, "web")


def test_a_target_of_size_zero_disables_scaling():
    cluster = given(deployment(BUSY, replicas=0), autoscaler(), minutes=1)
    disabled = "scaling is disabled since the replica count of the target is zero"
    assert conditions(cluster)["ScalingActive"] == ("False", "ScalingDisabled", disabled)
    assert replicas(cluster) == 0


def test_a_container_without_a_request_cannot_be_judged_by_utilization():
    cluster = given(deployment(BUSY, cpu=""), autoscaler(), minutes=2)
    pod = cluster.client.list("pods", "default")[0]["metadata"]["name"]
    told = f"failed to get cpu utilization: missing request for cpu in container c of Pod {pod}"
    found = events(cluster, "web")
    assert ("FailedGetResourceMetric", told) in found
    whole = f"invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: {told}"
    assert ("FailedComputeMetricsReplicas", whole) in found
    unable = f"the HPA was unable to compute the replica count: {told}"
    assert conditions(cluster)["ScalingActive"] == ("False", "FailedGetResourceMetric", unable)
    assert status(cluster)["currentMetrics"] == [{"type": ""}]
    assert replicas(cluster) == 1


def test_before_the_first_measurement_there_is_none():
    cluster = given(deployment(BUSY), autoscaler(), minutes=0.3)
    told = (
        "failed to get cpu utilization: unable to get metrics for resource cpu: no metrics returned from resource "
        "metrics API"
    )
    assert ("FailedGetResourceMetric", told) in events(cluster, "web")


def test_fresh_pods_do_not_count_as_busy():
    cluster = given(deployment(BUSY, replicas=2), autoscaler(), minutes=0.6)
    assert replicas(cluster) == 2


def test_memory_is_compared_with_an_amount_for_each_pod():
    cluster = given(
        deployment({"image": "nginx"}), autoscaler(metrics=[average("memory", "4Mi")], maxReplicas=2), minutes=3
    )
    assert replicas(cluster) == 2
    current = {"averageValue": "8388608"}
    assert status(cluster)["currentMetrics"] == [
        {"type": "Resource", "resource": {"name": "memory", "current": current}}
    ]
    assert ("SuccessfulRescale", "New size: 2; reason: memory resource above target") in events(cluster, "web")


def test_one_container_can_be_looked_at_alone():
    target = {"type": "Utilization", "averageUtilization": 50}
    source = {"name": "cpu", "container": "c", "target": target}
    metric = {"type": "ContainerResource", "containerResource": source}
    made = deployment(BUSY)
    made["spec"]["template"]["spec"]["containers"].append({"name": "other", "image": "nginx"})
    cluster = given(made, autoscaler(metrics=[metric], maxReplicas=2), minutes=6)
    assert replicas(cluster) == 2
    (found,) = status(cluster)["currentMetrics"]
    assert found["containerResource"]["container"] == "c"


def test_a_container_that_is_not_there_is_named():
    source = {"name": "cpu", "container": "x", "target": {"type": "Utilization", "averageUtilization": 50}}
    metric = {"type": "ContainerResource", "containerResource": source}
    cluster = given(deployment(BUSY), autoscaler(metrics=[metric]), minutes=2)
    pod = cluster.client.list("pods", "default")[0]["metadata"]["name"]
    told = (
        "failed to get cpu utilization: unable to get metrics for resource cpu: failed to get container metrics: "
        f"container x not present in metrics for pod default/{pod}"
    )
    assert ("FailedGetContainerResourceMetric", told) in events(cluster, "web")


def test_the_largest_proposal_of_several_metrics_wins():
    cluster = given(deployment(BUSY), autoscaler(metrics=[cpu(500), average("cpu", "50m")], maxReplicas=4), minutes=6)
    assert replicas(cluster) == 4
    assert any(message.endswith("reason: cpu resource above target") for _, message in events(cluster, "web"))


@pytest.mark.parametrize(
    ("metric", "reason", "told"),
    [
        (
            {
                "type": "Pods",
                "pods": {"metric": {"name": "hits"}, "target": {"type": "AverageValue", "averageValue": "1"}},
            },
            "FailedGetPodsMetric",
            (
                "unable to get metric hits: unable to fetch metrics from custom metrics API: no custom metrics API "
                "(custom.metrics.k8s.io) registered"
            ),
        ),
        (
            {
                "type": "Object",
                "object": {
                    "metric": {"name": "hits"},
                    "describedObject": {"kind": "Service", "name": "s", "apiVersion": "v1"},
                    "target": {"type": "Value", "value": "1"},
                },
            },
            "FailedGetObjectMetric",
            (
                "unable to get metric hits: Service on default s/unable to fetch metrics from custom metrics API: no custom "
                "metrics API (custom.metrics.k8s.io) registered"
            ),
        ),
        (
            {
                "type": "External",
                "external": {
                    "metric": {"name": "q", "selector": {"matchLabels": {"a": "b"}}},
                    "target": {"type": "Value", "value": "1"},
                },
            },
            "FailedGetExternalMetric",
            (
                "unable to get external metric default/q/&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:"
                "[]LabelSelectorRequirement{},}: unable to fetch metrics from external metrics API: the server could not find "
                "the requested resource (get q.external.metrics.k8s.io)"
            ),
        ),
    ],
)
def test_there_are_no_custom_and_external_metrics(metric, reason, told):
    cluster = given(deployment(BUSY), autoscaler(metrics=[metric]), minutes=1)
    assert (reason, told) in events(cluster, "web")
    assert conditions(cluster)["ScalingActive"][:2] == ("False", reason)


def test_a_metric_that_fails_does_not_hinder_growth_and_hinders_shrinking():
    broken = {
        "type": "Pods",
        "pods": {"metric": {"name": "x"}, "target": {"type": "AverageValue", "averageValue": "1"}},
    }
    cluster = given(deployment(BUSY), autoscaler(metrics=[broken, cpu(50)], maxReplicas=2), minutes=6)
    assert replicas(cluster) == 2
    idle = given(deployment(IDLE, replicas=2), autoscaler(metrics=[broken, cpu(50)]), minutes=9)
    assert replicas(idle) == 2
    assert conditions(idle)["ScalingActive"][:2] == ("False", "FailedGetPodsMetric")


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ({"kind": "Deployment", "name": "gone", "apiVersion": "apps/v1"}, 'deployments/scale.apps "gone" not found'),
        ({"kind": "StatefulSet", "name": "gone", "apiVersion": "apps/v1"}, 'statefulsets.apps "gone" not found'),
        ({"kind": "Deploy", "name": "web", "apiVersion": "apps/v1"}, 'no matches for kind "Deploy" in group "apps"'),
        (
            {"kind": "DaemonSet", "name": "web", "apiVersion": "apps/v1"},
            "the server could not find the requested resource",
        ),
    ],
)
def test_a_target_without_a_scale_is_told(reference, told):
    cluster = given(deployment(BUSY), autoscaler(scaleTargetRef=reference), minutes=1)
    assert ("FailedGetScale", told) in events(cluster, "web")
    unable = f"the HPA controller was unable to get the target's current scale: {told}"
    assert conditions(cluster)["AbleToScale"] == ("False", "FailedGetScale", unable)


@pytest.mark.parametrize(("kind", "plural"), [("StatefulSet", "statefulsets"), ("ReplicaSet", "replicasets")])
def test_other_workloads_with_a_scale_are_scaled_too(kind, plural):
    cluster = given(deployment(BUSY, kind=kind), autoscaler(kind=kind, maxReplicas=2), minutes=7)
    assert replicas(cluster, plural) == 2


def test_two_autoscalers_of_one_target_stop_each_other():
    cluster = given(deployment(BUSY), autoscaler(), autoscaler("second"), minutes=2)
    told = "pods by selector app=web are controlled by multiple HPAs: [default/second default/web]"
    assert conditions(cluster)["ScalingActive"] == ("False", "AmbiguousSelector", told)
    assert ("AmbiguousSelector", told) in events(cluster, "web")


def test_policies_bound_how_fast_the_size_grows():
    slow = {"scaleUp": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 60}]}}
    cluster = given(deployment(BUSY), autoscaler(behavior=slow))
    seen = []
    for _ in range(30):
        wait(cluster, 0.25)
        seen.append(replicas(cluster))
    times = [index for index, size in enumerate(seen) if index and size != seen[index - 1]]
    assert all(later - earlier >= 4 for earlier, later in pairwise(times))
    assert seen[-1] >= 3
    limit = "the desired replica count is increasing faster than the maximum scale rate"
    assert conditions(cluster)["ScalingLimited"] == ("True", "ScaleUpLimit", limit)


def test_a_direction_can_be_disabled():
    never = {"scaleDown": {"selectPolicy": "Disabled"}}
    cluster = given(deployment(IDLE, replicas=3), autoscaler(behavior=never), minutes=9)
    assert replicas(cluster) == 3
    assert conditions(cluster)["ScalingLimited"][1] == "ScaleDownLimit"


def test_a_shorter_window_lets_the_size_shrink_sooner():
    quick = {"scaleDown": {"stabilizationWindowSeconds": 0}}
    cluster = given(deployment(IDLE, replicas=3), autoscaler(behavior=quick), minutes=2)
    assert replicas(cluster) == 1


def test_growth_can_be_stabilized():
    wary = {"scaleUp": {"stabilizationWindowSeconds": 600}}
    cluster = given(deployment(BUSY), autoscaler(behavior=wary), minutes=7)
    assert replicas(cluster) == 1
    assert conditions(cluster)["AbleToScale"][1] == "ScaleUpStabilized"


def test_a_tolerance_of_its_own_makes_a_small_difference_count():
    exact = {"scaleUp": {"tolerance": "0"}}
    cluster = given(
        deployment(BUSY, replicas=2), autoscaler(metrics=[cpu(95)], behavior=exact, maxReplicas=3), minutes=6
    )
    assert replicas(cluster) == 3


def test_load_that_ends_lets_the_size_fall_again():
    cluster = given(deployment(BUSY), autoscaler(maxReplicas=3), minutes=6)
    assert replicas(cluster) == 3
    calm = deployment(IDLE)["spec"]["template"]
    change(cluster, "deployments", {"spec": {"template": calm}})
    wait(cluster, 10)
    assert replicas(cluster) == 1


def test_nothing_is_written_where_nothing_changes():
    cluster = given(deployment(BUSY, replicas=2), autoscaler(maxReplicas=2, minReplicas=2), minutes=10)
    before = cluster.client.revision
    wait(cluster, 30)
    assert [change.resource for change in cluster.client.events_since(before) if change.resource != "events"] == []


def test_without_an_autoscaler_no_timer_runs_and_a_deleted_one_takes_its_own_along():
    cluster = given(deployment(IDLE), autoscaler(), minutes=1)
    cluster.client.delete("hpa", "web")
    wait(cluster, 1)
    assert b"horizontal-pod-autoscaler-controller" not in cluster.dump().split(b'"timers"')[1].split(b"}}")[0]
    change(cluster, "deployments", {"spec": {"replicas": 5}})
    wait(cluster, 1)
    assert replicas(cluster) == 5


def test_an_autoscaler_does_not_keep_the_cluster_from_being_settled():
    cluster = given(deployment(IDLE), autoscaler(), minutes=2)
    now = cluster.now
    cluster.settle()
    assert cluster.now - now < MINUTE


@pytest.mark.parametrize("step", [7, 15, 61])
def test_time_in_pieces_and_through_a_snapshot_is_the_same(step):
    whole = given(deployment(BUSY), autoscaler(), minutes=8)
    pieces = given(deployment(BUSY), autoscaler())
    while pieces.now < whole.now:
        pieces = Cluster.load(pieces.dump())
        pieces.advance_to(min(pieces.now + step * SECOND, whole.now))
    assert pieces.dump() == whole.dump()


def test_a_snapshot_from_before_the_controller_is_taken_up():
    cluster = given(deployment(IDLE, replicas=5), autoscaler(maxReplicas=4))
    document = json.loads(cluster.dump())
    document["loops"].remove("horizontal-pod-autoscaler-controller")
    document["memory"].pop("horizontal-pod-autoscaler-controller", None)
    for timers in document["timers"].values():
        timers.pop("horizontal-pod-autoscaler-controller", None)
    old = Cluster.restore(document)
    old.advance_to(NOW + MINUTE)
    assert replicas(old) == 4
