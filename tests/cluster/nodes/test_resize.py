"""How a node puts a resize into force, puts it off, or never can."""

from __future__ import annotations

import pytest

from app.cluster.cluster import Cluster
from tests.cluster.builders import SECOND, events, fresh, pod

SIZES = {"requests": {"cpu": "500m", "memory": "64Mi"}}


@pytest.fixture(scope="module")
def base():
    cluster = fresh()
    cluster.client.create(pod(nodeName="node01", container={"resources": SIZES}))
    cluster.settle()
    return cluster


@pytest.fixture
def cluster(base):
    return base.fork()


def resize(cluster, cpu="", name="bee", **resources):
    wanted = {"requests": {"cpu": cpu}} if cpu else resources
    change = {"spec": {"containers": [{"name": "c", "resources": wanted}]}}
    return cluster.client.patch("pods", name, "default", change, "strategic", "resize")


def status(cluster, name="bee"):
    return cluster.client.get("pods", name)["status"]


def container(cluster, name="bee"):
    return status(cluster, name)["containerStatuses"][0]


def condition(cluster, kind, name="bee"):
    return next((item for item in status(cluster, name)["conditions"] if item["type"] == kind), None)


def step(cluster, seconds=0):
    cluster.advance_to(cluster.now + int(seconds * SECOND))


def test_a_resize_is_allocated_at_once_and_in_force_a_moment_later(cluster):
    resize(cluster, "700m")
    step(cluster)
    assert container(cluster)["allocatedResources"]["cpu"] == "700m"
    assert container(cluster)["resources"]["requests"]["cpu"] == "500m"
    assert condition(cluster, "PodResizeInProgress")["observedGeneration"] == 2
    step(cluster, 2)
    assert container(cluster)["resources"]["requests"] == {"cpu": "700m", "memory": "64Mi"}
    assert condition(cluster, "PodResizeInProgress") is None
    assert container(cluster)["restartCount"] == 0
    assert status(cluster)["observedGeneration"] == 2
    told = [text for text in events(cluster, "bee") if text[0].startswith("Resize")]
    summary = '{"containers":[{"name":"c","resources":{"requests":{"cpu":"700m","memory":"64Mi"}}}],"generation":2}'
    assert told == [
        ("ResizeStarted", f"Pod resize started: {summary}"),
        ("ResizeCompleted", f"Pod resize completed: {summary}"),
    ]


def test_a_container_whose_policy_asks_for_it_is_started_anew(cluster):
    policy = [{"resourceName": "memory", "restartPolicy": "RestartContainer"}]
    cluster.client.create(pod("wasp", nodeName="node01", container={"resources": SIZES, "resizePolicy": policy}))
    cluster.settle()
    resize(cluster, "600m", "wasp")
    step(cluster, 5)
    assert container(cluster, "wasp")["restartCount"] == 0
    resize(cluster, name="wasp", requests={"memory": "80Mi"})
    step(cluster, 30)
    assert container(cluster, "wasp")["restartCount"] == 1
    assert container(cluster, "wasp")["resources"]["requests"]["memory"] == "80Mi"
    assert condition(cluster, "PodResizeInProgress", "wasp") is None
    assert ("Killing", "Container c resize requires restart") in events(cluster, "wasp")
    assert [reason for reason, _ in events(cluster, "wasp")].count("ResizeCompleted") == 2


def test_more_than_the_node_has_is_infeasible(cluster):
    resize(cluster, "3")
    step(cluster, 60)
    pending = condition(cluster, "PodResizePending")
    assert (pending["reason"], pending["message"]) == (
        "Infeasible",
        "Node didn't have enough capacity: cpu, requested: 3000, capacity: 2000",
    )
    assert container(cluster)["resources"]["requests"]["cpu"] == "500m"
    told = dict(events(cluster, "bee"))["ResizeInfeasible"]
    assert told.startswith("Pod resize Infeasible: {")
    assert told.endswith('"error":"Node didn\'t have enough capacity: cpu, requested: 3000, capacity: 2000"}')
    resize(cluster, "500m")
    step(cluster, 1)
    assert condition(cluster, "PodResizePending") is None


def test_a_resize_without_room_waits_until_others_leave(cluster):
    cluster.client.create(pod("big", nodeName="node01", container={"resources": {"requests": {"cpu": "1200m"}}}))
    cluster.settle()
    resize(cluster, "900m")
    step(cluster, 60)
    pending = condition(cluster, "PodResizePending")
    assert (pending["reason"], pending["message"]) == (
        "Deferred",
        "Node didn't have enough resource: cpu, requested: 900, used: 1200, capacity: 2000",
    )
    assert container(cluster)["allocatedResources"]["cpu"] == "500m"
    assert [reason for reason, _ in events(cluster, "bee")].count("ResizeDeferred") == 1
    cluster.client.delete("pods", "big", "default", 0)
    step(cluster, 5)
    assert condition(cluster, "PodResizePending") is None
    assert container(cluster)["resources"]["requests"]["cpu"] == "900m"


def test_a_pending_resize_survives_a_snapshot_and_costs_nothing_at_rest(cluster):
    cluster.client.create(pod("big", nodeName="node01", container={"resources": {"requests": {"cpu": "1200m"}}}))
    cluster.settle()
    resize(cluster, "900m")
    step(cluster, 60)
    loaded = Cluster.load(cluster.dump())
    before = loaded.client.revision
    step(loaded, 1800)
    assert loaded.client.revision == before
    loaded.client.delete("pods", "big", "default", 0)
    step(loaded, 5)
    assert container(loaded)["resources"]["requests"]["cpu"] == "900m"


def test_looking_more_often_changes_nothing(cluster):
    resize(cluster, "700m")
    other = cluster.fork()
    for _ in range(30):
        step(cluster, 0.1)
    step(other, 3)
    assert cluster.dump() == other.dump()


def test_the_scheduler_counts_what_is_wanted_unless_it_is_infeasible(cluster):
    def pending(name):
        cluster.client.create(
            pod(
                name,
                nodeSelector={"kubernetes.io/hostname": "node01"},
                container={"resources": {"requests": {"cpu": "1"}}},
            )
        )
        step(cluster, 3)
        return "nodeName" not in cluster.client.get("pods", name)["spec"]

    resize(cluster, "1500m")
    step(cluster)
    assert pending("one")
    resize(cluster, "5")
    step(cluster, 1)
    resize(cluster, "500m")
    step(cluster, 20)
    assert cluster.client.get("pods", "one")["spec"]["nodeName"] == "node01"


def test_a_second_resize_overtakes_the_first(cluster):
    resize(cluster, "700m")
    step(cluster)
    resize(cluster, "600m")
    step(cluster)
    assert container(cluster)["allocatedResources"]["cpu"] == "600m"
    assert container(cluster)["resources"]["requests"]["cpu"] == "500m"
    step(cluster, 3)
    assert container(cluster)["resources"]["requests"]["cpu"] == "600m"
    assert condition(cluster, "PodResizeInProgress") is None


def test_a_stopped_kubelet_resizes_when_it_is_back(cluster):
    cluster.stop_kubelet("node01")
    resize(cluster, "700m")
    step(cluster, 10)
    assert container(cluster)["allocatedResources"]["cpu"] == "500m"
    cluster.start_kubelet("node01")
    step(cluster, 5)
    assert container(cluster)["resources"]["requests"]["cpu"] == "700m"


def test_a_pod_can_be_deleted_in_the_middle_of_a_resize(cluster):
    resize(cluster, "700m")
    step(cluster)
    cluster.client.delete("pods", "bee")
    step(cluster, 60)
    assert cluster.client.find("pods", "bee") is None
