"""What a PodDisruptionBudget's status says."""

from typing import Any

import pytest

from app.apimachinery import clock
from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from tests.cluster.builders import MINUTE, NOW, SECOND, events, fresh, pod, workload

COUNTS = ("currentHealthy", "desiredHealthy", "expectedPods", "disruptionsAllowed")


def budget(**spec: Any) -> Object:
    selector = {"matchLabels": {"app": "web"}}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "pdb"},
        "spec": {"selector": selector, **spec},
    }


def status(cluster: Cluster) -> Object:
    return dict(cluster.client.get("poddisruptionbudgets", "pdb")["status"])


def counts(cluster: Cluster) -> tuple[int, ...]:
    return tuple(status(cluster)[name] for name in COUNTS)


def condition(cluster: Cluster) -> tuple[str, str, str]:
    (only,) = status(cluster)["conditions"]
    return only["status"], only["reason"], only["message"]


def given(*objects: Object) -> Cluster:
    cluster = fresh()
    for obj in objects:
        cluster.client.create(obj)
    cluster.settle()
    return cluster


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"minAvailable": 2}, (3, 2, 3, 1)),
        ({"minAvailable": "50%"}, (3, 2, 3, 1)),
        ({"maxUnavailable": 1}, (3, 2, 3, 1)),
        ({"maxUnavailable": "50%"}, (3, 1, 3, 2)),
        ({"maxUnavailable": 0}, (3, 3, 3, 0)),
        ({"minAvailable": 5}, (3, 5, 3, 0)),
        ({"maxUnavailable": 9}, (3, 0, 3, 3)),
    ],
)
def test_a_budget_counts_the_pods_of_a_deployment(spec: Object, expected: tuple[int, ...]) -> None:
    cluster = given(workload("Deployment", replicas=3), budget(**spec))
    assert counts(cluster) == expected
    allowed = expected[-1] > 0
    reason = "SufficientPods" if allowed else "InsufficientPods"
    assert condition(cluster) == ("True" if allowed else "False", reason, "")


def test_the_scale_counts_and_not_the_pods_that_are_there() -> None:
    cluster = given(
        workload("Deployment", replicas=3, spec={"nodeSelector": {"no": "where"}}), budget(maxUnavailable=1)
    )
    assert counts(cluster) == (0, 2, 3, 0)


def test_a_budget_without_pods_allows_nothing_and_says_so() -> None:
    cluster = given(budget(minAvailable=0))
    assert counts(cluster) == (0, 0, 0, 0)
    assert ("NoPods", "No matching pods found") in events(cluster, "pdb")


def test_pods_without_a_controller_have_no_scale() -> None:
    bare = pod()
    bare["metadata"]["labels"] = {"app": "web"}
    cluster = given(bare, budget(maxUnavailable=1))
    assert counts(cluster) == (1, 0, 0, 0)
    (text,) = {message for reason, message in events(cluster, "pdb") if reason == "UnmanagedPods"}
    assert text.startswith(
        "Pods selected by this PodDisruptionBudget (selector: &LabelSelector{MatchLabels:map[string]string{app: web,},"
        "MatchExpressions:[]LabelSelectorRequirement{},}) were found to be unmanaged."
    )


def test_pods_of_a_daemonset_cannot_be_counted_by_percentage() -> None:
    cluster = given(workload("DaemonSet"), budget(maxUnavailable="10%"))
    assert condition(cluster) == ("False", "SyncFailed", "daemonsets.apps does not implement the scale subresource")
    message = "daemonsets.apps does not implement the scale subresource"
    expected = f"Failed to calculate the number of expected pods: {message}"
    assert ("CalculateExpectedPodCountFailed", expected) in events(cluster, "pdb")


def test_a_pod_that_goes_lowers_what_is_allowed() -> None:
    cluster = given(workload("Deployment", replicas=3), budget(minAvailable=2))
    first = cluster.client.list("pods", "default")[0]
    cluster.client.delete("pods", first["metadata"]["name"], "default")
    cluster.advance_to(cluster.now)
    assert counts(cluster) == (2, 2, 4, 0), "the one that goes and its successor are both there"
    cluster.settle()
    assert counts(cluster) == (3, 2, 3, 1)


def test_an_eviction_that_never_became_a_deletion_is_forgotten_after_two_minutes() -> None:
    cluster = given(workload("Deployment", replicas=2), budget(minAvailable=1))
    name = cluster.client.list("pods", "default")[0]["metadata"]["name"]
    current = cluster.client.get("poddisruptionbudgets", "pdb")
    noted = {**current["status"], "disruptedPods": {name: clock.rfc3339(cluster.now)}}
    start = cluster.now
    cluster.client.update_status({**current, "status": noted})
    cluster.advance_to(start)
    assert counts(cluster) == (1, 1, 2, 0)
    cluster.advance_to(start + 2 * MINUTE + 2 * SECOND)
    assert counts(cluster) == (2, 1, 2, 1)
    assert "disruptedPods" not in status(cluster)
    assert ("NotDeleted", "Pod was expected by PDB default/default to be deleted but it wasn't") in events(
        cluster, name
    )


def test_a_mark_of_disruption_is_taken_back_when_nothing_comes_of_it() -> None:
    cluster = given(pod(nodeName="node01"))
    current = cluster.client.get("pods", "bee")
    mark = {"type": "DisruptionTarget", "status": "True", "lastTransitionTime": clock.rfc3339(cluster.now)}
    conditions = [*current["status"]["conditions"], mark]
    cluster.client.update_status({**current, "status": {**current["status"], "conditions": conditions}})
    cluster.advance_to(cluster.now + 3 * MINUTE)
    (found,) = [c for c in cluster.client.get("pods", "bee")["status"]["conditions"] if c["type"] == "DisruptionTarget"]
    assert found["status"] == "False"


def test_a_settled_budget_is_not_written_again() -> None:
    cluster = given(workload("Deployment", replicas=2), budget(minAvailable=1))
    version = cluster.client.get("poddisruptionbudgets", "pdb")["metadata"]["resourceVersion"]
    cluster.advance_to(NOW + 30 * MINUTE)
    assert cluster.client.get("poddisruptionbudgets", "pdb")["metadata"]["resourceVersion"] == version
