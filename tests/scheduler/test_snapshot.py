"""What a snapshot counts."""

from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.snapshot import ImageState, Snapshot
from tests.scheduler.builders import info, node, pod


def test_it_sums_up_the_pods_of_each_node():
    objects = [
        node("a"),
        node("b"),
        pod("one", cpu="500m", memory="1Gi", on="a"),
        pod("two", cpu="1", on="a", ports=[80]),
    ]
    found = Snapshot.of(objects).nodes["a"]
    assert found.requested == {"cpu": 1500, "memory": 2**30}
    assert found.non_zero == (1500, 2**30 + 200 * 2**20)
    assert found.used_ports.conflicts(("10.0.0.1", "TCP", 80))
    assert Snapshot.of(objects).nodes["b"].pods == []


def test_ended_pods_and_pods_on_unknown_nodes_do_not_count():
    objects = [node("a"), pod("done", cpu="1", on="a", status={"phase": "Succeeded"}), pod("lost", cpu="1", on="gone")]
    assert list(Snapshot.of(objects).nodes) == ["a"]
    assert Snapshot.of(objects).nodes["a"].pods == []


def test_unbound_pods_with_a_nomination_are_kept_by_node():
    objects = [node("a"), pod("vip", status={"nominatedNodeName": "a"}), pod("other")]
    snapshot = Snapshot.of(objects)
    assert [found.name for found in snapshot.nominated["a"]] == ["vip"]
    assert snapshot.assume(objects[1], "a").nominated == {"a": ()}


def test_assuming_a_pod_leaves_the_snapshot_as_it_was():
    snapshot = Snapshot.of([node("a"), node("b")])
    after = snapshot.assume(pod("one", cpu="1"), "a")
    assert after.nodes["a"].requested == {"cpu": 1000}
    assert snapshot.nodes["a"].requested == {}
    assert after.nodes["b"] is snapshot.nodes["b"]


def test_a_node_that_did_not_change_is_shared_by_the_next_snapshot():
    objects = [node("a"), node("b"), pod("one", on="a")]
    first = Snapshot.of(objects)
    second = Snapshot.of([*objects, pod("two", on="b")])
    assert second.nodes["a"] is first.nodes["a"]
    assert second.nodes["b"] is not first.nodes["b"]


def test_a_removed_pod_gives_everything_back():
    found = NodeInfo(node("a"))
    term = {"topologyKey": "zone", "labelSelector": {}}
    anti = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
    placed = info(pod("one", cpu="1", ports=[80], affinity=anti, volumes=volumes, on="a"))
    found.add_pod(placed)
    assert (found.claims, found.pods_with_required_anti_affinity) == ({"default/c": 1}, [placed])
    found.remove_pod(placed)
    assert (found.requested, found.claims) == ({"cpu": 0}, {"default/c": 0})
    assert not found.used_ports.conflicts(("0.0.0.0", "TCP", 80))
    assert (found.pods, found.pods_with_affinity, found.pods_with_required_anti_affinity) == ([], [], [])


def test_an_image_has_the_size_that_its_first_node_tells():
    objects = [node("a", images={"web:1": 100}), node("b", images={"web:1": 300, "db:2": 50}), node("c")]
    images = Snapshot.of(objects).images
    assert images["a"]["web:1"] == images["b"]["web:1"] == ImageState(size=100, nodes=2)
    assert images["b"]["db:2"] == ImageState(size=50, nodes=1)


def test_a_namespace_always_has_its_name_as_a_label():
    listed = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team", "labels": {"team": "a"}}}
    snapshot = Snapshot.of([listed])
    assert snapshot.namespace_labels("team") == {"kubernetes.io/metadata.name": "team", "team": "a"}
    assert snapshot.namespace_labels("other") == {"kubernetes.io/metadata.name": "other"}
