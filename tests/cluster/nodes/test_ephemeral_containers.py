"""Ephemeral containers on their node: started beside what runs, never again, and never in the pod's way."""

from __future__ import annotations

import pytest

from app.cluster.cluster import Cluster
from tests.cluster.builders import SECOND, events, fresh, phase, pod


@pytest.fixture(scope="module")
def base():
    cluster = fresh()
    cluster.client.create(pod())
    cluster.settle()
    return cluster


@pytest.fixture
def cluster(base):
    return base.fork()


def debug(cluster, *command, name="bee", image="busybox", container="debugger"):
    added = {
        "name": container,
        "image": image,
        "targetContainerName": "c",
        **({"command": list(command)} if command else {}),
    }
    change = {"spec": {"ephemeralContainers": [added]}}
    return cluster.client.patch("pods", name, "default", change, "strategic", "ephemeralcontainers")


def step(cluster, seconds=0):
    cluster.advance_to(cluster.now + seconds * SECOND)


def status(cluster, name="bee"):
    return cluster.client.get("pods", name)["status"]["ephemeralContainerStatuses"][0]


def test_it_runs_beside_the_containers_and_is_never_ready(cluster):
    debug(cluster, "sleep", "1000")
    step(cluster, 10)
    found = status(cluster)
    assert "running" in found["state"]
    assert (found["name"], found["ready"], found["restartCount"]) == ("debugger", False, 0)
    assert found["image"] == "docker.io/library/busybox:latest"
    assert "started" not in found
    whole = cluster.client.get("pods", "bee")["status"]
    assert whole["phase"] == "Running"
    assert whole["containerStatuses"][0]["ready"]
    assert [item["status"] for item in whole["conditions"] if item["type"] == "Ready"] == ["True"]


def test_its_events_name_it(cluster):
    debug(cluster, "sleep", "1000")
    step(cluster, 10)
    about = [
        event["reason"]
        for event in cluster.client.list("events", "default")
        if event["involvedObject"].get("fieldPath") == "spec.ephemeralContainers{debugger}"
    ]
    assert about == ["Pulling", "Pulled", "Created", "Started"] or set(about) == {
        "Pulling",
        "Pulled",
        "Created",
        "Started",
    }


def test_it_ends_and_is_not_started_again(cluster):
    debug(cluster, "sh", "-c", "echo hello; exit 3")
    step(cluster, 300)
    found = status(cluster)
    assert (found["state"]["terminated"]["exitCode"], found["restartCount"]) == (3, 0)
    assert cluster.logs("default", "bee", "debugger") == ["hello"]
    assert phase(cluster) == "Running"


def test_an_unknown_image_waits_as_any_other(cluster):
    debug(cluster, image="nosuchimage")
    step(cluster, 20)
    assert status(cluster)["state"]["waiting"]["reason"] in {"ErrImagePull", "ImagePullBackOff"}
    assert phase(cluster) == "Running"


def test_it_helps_with_a_pod_whose_own_container_does_not_start(cluster):
    cluster.client.create(pod("wasp", image="nosuchimage"))
    step(cluster, 20)
    debug(cluster, "sleep", "1000", name="wasp")
    step(cluster, 30)
    assert "running" in status(cluster, "wasp")["state"]
    assert phase(cluster, "wasp") == "Pending"


def test_it_may_be_added_before_the_pod_has_a_node(cluster):
    cluster.client.create(pod("wasp", nodeSelector={"no": "where"}))
    step(cluster, 5)
    debug(cluster, "sleep", "1000", name="wasp")
    step(cluster, 5)
    assert "ephemeralContainerStatuses" not in cluster.client.get("pods", "wasp")["status"]
    node = cluster.client.get("nodes", "node01")
    cluster.client.update(
        {**node, "metadata": {**node["metadata"], "labels": {**node["metadata"]["labels"], "no": "where"}}}
    )
    step(cluster, 30)
    assert "running" in status(cluster, "wasp")["state"]
    assert phase(cluster, "wasp") == "Running"


def test_it_ends_with_its_pod(cluster):
    debug(cluster, "sleep", "1000")
    step(cluster, 10)
    cluster.client.delete("pods", "bee")
    step(cluster)
    assert ("Killing", "Stopping container debugger") in events(cluster, "bee")
    step(cluster, 60)
    assert cluster.client.find("pods", "bee") is None


def test_a_snapshot_in_the_middle_of_its_start_goes_on(cluster):
    debug(cluster, "sleep", "1000")
    step(cluster)
    other = Cluster.load(cluster.dump())
    for one in (cluster, other):
        step(one, 10)
    assert cluster.dump() == other.dump()
    assert "running" in status(other)["state"]
