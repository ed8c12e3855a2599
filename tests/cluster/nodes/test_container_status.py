"""What a pod's status says of its containers while they run, and when their pod was stopped."""

from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from tests.cluster.builders import MINUTE, SECOND, command, fresh, pod

STRESS = {"command": ["stress", "--vm", "1", "--vm-bytes", "250M", "--vm-hang", "1"]}


def status(cluster: Cluster, name: str = "bee") -> Object:
    return dict(cluster.client.get("pods", name)["status"]["containerStatuses"][0])


def held(obj: Object) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "finalizers": ["example.com/hold"]}}


def stopped(obj: Object, after: int = 10 * SECOND) -> Object:
    """The pod as it is when its kubelet is done with it."""
    cluster = fresh()
    cluster.client.create(held(obj))
    cluster.advance_to(cluster.now + after)
    cluster.client.delete("pods", "bee", "default")
    cluster.settle()
    return cluster.client.get("pods", "bee")


def test_a_running_container_shows_what_it_was_given() -> None:
    resources = {"requests": {"cpu": "100m"}, "limits": {"cpu": "200m"}}
    cluster = fresh()
    cluster.client.create(pod(nodeName="node01", container={"resources": resources}))
    cluster.client.create(pod("plain", nodeName="node01"))
    cluster.settle()
    assert status(cluster)["allocatedResources"] == {"cpu": "100m"}
    assert status(cluster)["resources"] == resources
    assert status(cluster, "plain")["resources"] == {}
    assert "allocatedResources" not in status(cluster, "plain")


def test_a_pod_whose_process_heeds_the_signal_has_succeeded() -> None:
    found = stopped(pod(nodeName="node01"))["status"]
    ended = found["containerStatuses"][0]["state"]["terminated"]
    assert (found["phase"], ended["exitCode"], ended["reason"]) == ("Succeeded", 0, "Completed")


def test_a_pod_whose_process_had_to_be_killed_has_failed() -> None:
    found = stopped(command("sleep", "1d", nodeName="node01", terminationGracePeriodSeconds=5))["status"]
    ended = found["containerStatuses"][0]["state"]["terminated"]
    assert (found["phase"], ended["exitCode"], ended["reason"]) == ("Failed", 137, "Error")
    ready = next(c for c in found["conditions"] if c["type"] == "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "PodFailed")


def test_a_container_that_never_ran_cannot_be_located() -> None:
    found = stopped(pod(nodeName="node01", image="nginx:nonsense"))["status"]
    ended = found["containerStatuses"][0]["state"]["terminated"]
    assert (found["phase"], ended["exitCode"], ended["reason"]) == ("Failed", 137, "ContainerStatusUnknown")
    assert ended["message"] == "The container could not be located when the pod was terminated"
    assert ended["startedAt"] is None


def test_a_container_over_its_memory_limit_is_killed_again_and_again() -> None:
    cluster = fresh()
    limit = {"resources": {"limits": {"memory": "100Mi"}}}
    cluster.client.create(pod(nodeName="node01", image="polinux/stress", container={**STRESS, **limit}))
    cluster.advance_to(cluster.now + MINUTE)
    found = status(cluster)
    ended = found["lastState"].get("terminated") or found["state"]["terminated"]
    assert (ended["reason"], ended["exitCode"]) == ("OOMKilled", 137)
    assert found["restartCount"] >= 2
    assert found["state"]["waiting"]["reason"] == "CrashLoopBackOff"


def test_pauses_between_restarts_double_up_to_five_minutes() -> None:
    cluster = fresh()
    cluster.client.create(command("false", nodeName="node01"))
    pauses: list[str] = []
    for _ in range(130):
        cluster.advance_to(cluster.now + 10 * SECOND)
        waiting = status(cluster)["state"].get("waiting") or {}
        if waiting.get("reason") == "CrashLoopBackOff":
            pause = waiting["message"].split(" ")[1]
            if pause not in pauses:
                pauses.append(pause)
    assert pauses == ["10s", "20s", "40s", "1m20s", "2m40s", "5m0s"]
