"""Stepping back to an earlier state of a cluster begins a new epoch of its revisions."""

from __future__ import annotations

import pytest

from app.apimachinery.errors import Conflict, Expired
from app.cluster.cluster import Cluster
from tests.cluster.builders import MINUTE, NOW, config_map, fresh, phase, pod, workload


def stepped_back() -> tuple[Cluster, Cluster]:
    """A cluster that went back, and what it left behind."""
    cluster = fresh()
    cluster.client.create(config_map("same", key="1"))
    cluster.client.create(config_map("changed", key="1"))
    cluster.client.create(config_map("deleted", key="1"))
    cluster.advance_to(NOW + MINUTE)
    earlier = Cluster.load(cluster.dump())
    later = cluster.client.get("configmaps", "changed", "default")
    cluster.client.update({**later, "data": {"key": "2"}})
    cluster.client.delete("configmaps", "deleted", "default")
    cluster.client.create(pod("abandoned"))
    cluster.advance_to(NOW + 2 * MINUTE)
    earlier.begin_epoch(cluster)
    return earlier, cluster


def test_revisions_keep_rising() -> None:
    now, abandoned = stepped_back()
    assert now.client.revision > abandoned.client.revision
    assert now.now == NOW + MINUTE


def test_open_watches_are_too_old() -> None:
    now, abandoned = stepped_back()
    with pytest.raises(Expired, match="too old resource version"):
        now.client.events_since(abandoned.client.revision)


def test_a_watch_from_the_new_list_goes_on() -> None:
    now, _ = stepped_back()
    listed = now.client.revision
    now.client.create(config_map("fresh"))
    assert [event.object["metadata"]["name"] for event in now.client.events_since(listed)] == ["fresh"]


def test_what_was_seen_otherwise_gets_a_new_resource_version() -> None:
    now, abandoned = stepped_back()
    seen = abandoned.client.get("configmaps", "changed", "default")
    restored = now.client.get("configmaps", "changed", "default")
    assert restored["data"] == {"key": "1"}
    assert int(restored["metadata"]["resourceVersion"]) > abandoned.client.revision
    assert int(now.client.get("configmaps", "deleted", "default")["metadata"]["resourceVersion"]) > int(
        seen["metadata"]["resourceVersion"]
    )
    with pytest.raises(Conflict):
        now.client.update(seen)


def test_what_nobody_changed_keeps_its_resource_version() -> None:
    now, abandoned = stepped_back()
    assert now.client.get("configmaps", "same", "default") == abandoned.client.get("configmaps", "same", "default")


def test_no_uid_is_given_twice() -> None:
    now, abandoned = stepped_back()
    now.client.create(pod("another"))
    uid = now.client.get("pods", "another", "default")["metadata"]["uid"]
    assert uid != abandoned.client.get("pods", "abandoned", "default")["metadata"]["uid"]


def test_the_cluster_lives_on_and_is_kept() -> None:
    now, _ = stepped_back()
    now.client.create(workload("Deployment", replicas=2))
    now.client.create(pod("another"))
    loaded = Cluster.load(now.dump())
    for cluster in (now, loaded):
        cluster.advance_to(NOW + 5 * MINUTE)
        assert phase(cluster, "another") == "Running"
        assert cluster.client.get("deployments", "web", "default")["status"]["readyReplicas"] == 2
    assert now.dump() == loaded.dump()


def test_what_was_not_yet_looked_at_is_not_lost() -> None:
    earlier = fresh()
    earlier.client.create(pod("waiting"))
    later = earlier.fork()
    later.advance_to(NOW + MINUTE)
    earlier.begin_epoch(later)
    earlier.advance_to(NOW + MINUTE)
    assert phase(earlier, "waiting") == "Running"
