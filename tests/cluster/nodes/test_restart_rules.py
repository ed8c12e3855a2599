"""Containers with a restart policy of their own, and rules by exit code."""

from typing import Any

from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from tests.cluster.builders import MINUTE, fresh, pod


def running(cluster: Cluster, *argv: str, **spec: Any) -> Object:
    """A pod whose one container runs `argv`, after three minutes."""
    container = {"command": list(argv), **spec.pop("container", {})}
    cluster.client.create(pod("bee", image="busybox", container=container, **spec))
    cluster.advance_to(cluster.now + 3 * MINUTE)
    return dict(cluster.client.get("pods", "bee")["status"])


def rule(operator: str, *values: int) -> Object:
    return {"action": "Restart", "exitCodes": {"operator": operator, "values": list(values)}}


FAIL = ("sh", "-c", "exit 3")


def test_a_container_that_never_restarts_ends_a_pod_that_always_does() -> None:
    status = running(fresh(), *FAIL, container={"restartPolicy": "Never"})
    assert status["phase"] == "Failed"
    assert status["containerStatuses"][0]["restartCount"] == 0


def test_a_container_that_always_restarts_keeps_a_pod_going_that_never_does() -> None:
    status = running(fresh(), *FAIL, restartPolicy="Never", container={"restartPolicy": "Always"})
    assert status["phase"] == "Running"
    assert status["containerStatuses"][0]["restartCount"] >= 3


def test_a_container_that_restarts_on_failure_may_succeed() -> None:
    status = running(fresh(), "sh", "-c", "exit 0", container={"restartPolicy": "OnFailure"})
    assert status["phase"] == "Succeeded"
    assert status["containerStatuses"][0]["restartCount"] == 0


def test_a_rule_restarts_at_its_exit_codes() -> None:
    rules = {"restartPolicy": "Never", "restartPolicyRules": [rule("In", 1), rule("In", 3)]}
    status = running(fresh(), *FAIL, restartPolicy="Never", container=rules)
    assert (status["phase"], status["containerStatuses"][0]["restartCount"] >= 3) == ("Running", True)


def test_at_other_exit_codes_the_containers_own_policy_decides() -> None:
    rules = {"restartPolicy": "Never", "restartPolicyRules": [rule("In", 42), rule("NotIn", 3)]}
    assert running(fresh(), *FAIL, container=rules)["phase"] == "Failed"


def test_an_init_container_that_never_restarts_fails_the_pod() -> None:
    init = [{"name": "i", "image": "busybox", "command": list(FAIL), "restartPolicy": "Never"}]
    status = running(fresh(), "sleep", "1000", initContainers=init)
    assert status["phase"] == "Failed"
    assert status["initContainerStatuses"][0]["restartCount"] == 0


def test_an_init_container_that_ends_well_does_not_restart_whatever_its_rules() -> None:
    init = [
        {
            "name": "i",
            "image": "busybox",
            "command": ["true"],
            "restartPolicy": "Never",
            "restartPolicyRules": [rule("In", 0)],
        }
    ]
    status = running(fresh(), "sleep", "1000", initContainers=init)
    assert status["phase"] == "Running"
    assert status["initContainerStatuses"][0]["restartCount"] == 0
