"""What changed since the start, as the page lists it."""

from app.exercises import answers, changes
from app.exercises.changes import Change, FieldChange
from tests.exercises import making


def since(start, *manifests, mode="apply"):
    now = start.fork()
    for text in manifests:
        assert answers.carry_out(now, text, mode) == ""
    now.settle()
    return changes.since(start, now)


def test_nothing_changes_by_waiting():
    start = making.cluster(making.deployment("web"))
    now = start.fork()
    now.advance_to(now.now + 3_600_000_000)
    assert changes.since(start, now) == []


def test_a_created_pod_is_listed_once_and_without_its_events():
    assert since(making.cluster(), making.pod("bee")) == [Change("Pod", "default", "bee", "created")]


def test_a_taint_is_told_with_the_field():
    taint = making.node("node01", taints=[{"key": "spray", "value": "mortein", "effect": "NoSchedule"}])
    expected = FieldChange("spec.taints[0]", "", '{"effect": "NoSchedule", "key": "spray", "value": "mortein"}')
    assert since(making.cluster(), taint) == [Change("Node", "", "node01", "changed", (expected,))]


def test_labels_and_scalars_are_told_one_by_one():
    found = since(making.cluster(), making.node("node01", {"a.b/c": "x", "disk": "ssd"}, unschedulable=True))
    assert [(field.path, field.before, field.after) for field in found[0].fields if "taints" not in field.path] == [
        ("metadata.labels[a.b/c]", "", "x"),
        ("metadata.labels.disk", "", "ssd"),
        ("spec.unschedulable", "", "true"),
    ]


def test_a_changed_image_and_the_pods_that_follow():
    start = making.cluster(making.deployment("web", 1))
    found = since(start, making.deployment("web", 1).replace("nginx", "httpd"))
    kinds = [(change.kind, change.verb) for change in found]
    assert sorted(kinds[:2]) == [("Pod", "created"), ("Pod", "deleted")]
    assert kinds[2] == ("Deployment", "changed")
    assert found[2].fields == (FieldChange("spec.template.spec.containers[0].image", "nginx", "httpd"),)
    assert sorted(kinds[3:]) == [("ReplicaSet", "changed"), ("ReplicaSet", "created")]
    assert [change.fields for change in found[3:] if change.verb == "changed"] == [
        (FieldChange("spec.replicas", "1", "0"),)
    ]


def test_a_deleted_object_is_told():
    assert since(making.cluster(making.pod("bee")), making.pod("bee"), mode="delete") == [
        Change("Pod", "default", "bee", "deleted")
    ]


def test_a_pod_made_anew_shows_what_differs():
    start = making.cluster(making.pod("bee", nodeName="node01"))
    (change,) = since(start, making.pod("bee", nodeName="node02"), mode="replace")
    assert (change.verb, change.name) == ("changed", "bee")
    assert FieldChange("spec.nodeName", "node01", "node02") in change.fields


def test_long_values_are_cut():
    manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: '%s'}\n"
    (change,) = since(making.cluster(manifest % "x"), manifest % ("y" * 5000))
    assert len(change.fields[0].after) == 200
