"""Each kind of check on real clusters: what passes, what fails and with which words, and what is the author's fault."""

import pytest

from app.exercises.checking import Context, NotGraded
from app.exercises.registry import UNITS
from tests.exercises import making

PINNED = {"nodeSelector": {"kubernetes.io/hostname": "node01"}}
TAINTED = making.node("node01", taints=[{"key": "spray", "value": "mortein", "effect": "NoSchedule"}])
CORDONED = making.node("node01", unschedulable=True)
HUGE = {"containers": [{"name": "main", "image": "nginx", "resources": {"requests": {"cpu": "3"}}}]}


def judge(kind, spec, *manifests):
    unit = UNITS[kind]
    read = unit.Spec.model_validate(spec)
    assert list(unit.faults(read)) == []
    return unit.run(read, Context(making.cluster(*manifests), making.cluster()))


def bee(**more):
    return {"kind": "Pod", "name": "bee", **more}


OBJECT = {
    "a condition that holds": (
        bee(expect='self.status.phase == "Running"'),
        [making.pod("bee")],
        (True, "that is so"),
    ),
    "one that does not": (
        bee(expect='self.status.phase == "Pending"'),
        [making.pod("bee")],
        (False, "that is not so; it has status.phase: Running"),
    ),
    "one about several fields": (
        bee(
            expect='self.spec.containers.size() == 2 && self.metadata.labels["app"] == "bee" && self.metadata.uid != ""'
        ),
        [making.pod("bee")],
        (False, None),
    ),
    "one about nothing of the object": (
        bee(expect="nodes.size() == 5"),
        [making.pod("bee")],
        (False, "that is not so"),
    ),
    "a field that is not there": (
        bee(expect="self.spec.affinity.nodeAffinity.x == 1"),
        [making.pod("bee")],
        (False, "“affinity” is not there"),
    ),
    "an author's own words for what is there": (
        bee(expect="false", shows='[self.status.phase, "image " + self.spec.containers[0].image]'),
        [making.pod("bee")],
        (False, "Running, image nginx"),
    ),
    "what cannot be shown spoils nothing": (
        bee(expect="true", shows="self.spec.nope"),
        [making.pod("bee")],
        (True, "nothing"),
    ),
    "an object that is not there": (bee(expect="true"), [], (False, "it is not there")),
    "an object that must be gone": (bee(absent=True), [], (True, "it is gone")),
    "an object that is still there": (bee(absent=True), [making.pod("bee")], (False, "it is there")),
    "a comparison with the start": (
        {"kind": "Node", "name": "node01", "expect": "!has(before.spec.taints) && self.spec.taints.size() == 1"},
        [TAINTED],
        (True, "that is so"),
    ),
    "all pods of the cluster": (
        bee(expect="pods.filter(p, p.metadata.namespace == self.metadata.namespace).size() == 2"),
        [making.pod("bee"), making.pod("bug")],
        (True, "that is so"),
    ),
}


@pytest.mark.parametrize("name", OBJECT)
def test_object(name):
    spec, manifests, (passed, found) = OBJECT[name]
    finding = judge("object", spec, *manifests)
    assert finding.passed is passed
    assert found is None or str(finding.found) == found


def test_a_failed_condition_shows_the_fields_that_it_looked_at_and_not_the_condition():
    spec, manifests, _ = OBJECT["one about several fields"]
    finding = judge("object", spec, *manifests)
    found = str(finding.found)
    assert found.startswith('that is not so; it has spec.containers: [{"image": "nginx"')
    assert found.endswith("…, metadata.labels.app: bee")
    assert "size()" not in f"{finding.looked_for} {found} {finding.where}"


def test_a_broken_expression_is_no_wrong_answer():
    with pytest.raises(NotGraded, match="divide by zero"):
        judge("object", bee(expect="1 / 0 == 1"), making.pod("bee"))


PLACEMENT = {
    "on the node": (
        {"pod": {"name": "bee"}, "onNodes": ["node01"]},
        [making.pod("bee", **PINNED)],
        (True, "bee is on node01"),
    ),
    "on another node": (
        {"pod": {"name": "bee"}, "onNodes": ["node02"]},
        [making.pod("bee", **PINNED)],
        (False, "bee is on node01"),
    ),
    "on one of two": (
        {"pod": {"name": "bee"}, "onNodes": ["node02", "node01"]},
        [making.pod("bee", **PINNED)],
        (True, "bee is on node01"),
    ),
    "not there": ({"pod": {"name": "bee"}, "onNodes": ["node01"]}, [], (False, "there is no pod bee")),
    "waiting": (
        {"pod": {"name": "bee"}, "onNodes": ["node01"]},
        [CORDONED, making.pod("bee", **PINNED)],
        (
            False,
            (
                "bee waits for a node. 0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, "
                "1 node(s) had untolerated taint(s), 1 node(s) were unschedulable. "
                "no new claims to deallocate, preemption: 0/3 nodes are available: "
                "3 Preemption is not helpful for scheduling."
            ),
        ),
    ),
    "refused by its kubelet": (
        {"pod": {"name": "bee"}, "onNodes": ["node01"]},
        [making.pod("bee", nodeName="node01", **HUGE)],
        (
            False,
            (
                "bee failed. OutOfcpu: Pod was rejected: Node didn't have enough resource: cpu, "
                "requested: 3000, used: 0, capacity: 2000"
            ),
        ),
    ),
    "not on the forbidden one": (
        {"pod": {"name": "bee"}, "notOnNodes": ["node02", "controlplane"]},
        [making.pod("bee", **PINNED)],
        (True, "bee is on node01"),
    ),
    "all of a selector": (
        {"selector": "app=web", "count": 2, "onNodes": ["node01"]},
        [making.deployment("web", **PINNED)],
        (True, None),
    ),
    "too few of a selector": (
        {"selector": "app=web", "count": 3, "onNodes": ["node01"]},
        [making.deployment("web", **PINNED)],
        (False, "2 such pods"),
    ),
    "none of a selector": (
        {"selector": "app=web", "onNodes": ["node01"]},
        [],
        (False, "no such pod"),
    ),
    "on a node with a label": (
        {"pod": {"name": "bee"}, "onNodesWith": "disk=ssd"},
        [making.node("node01", {"disk": "ssd"}), making.pod("bee", **PINNED)],
        (True, "bee is on node01"),
    ),
    "on a node without the label": (
        {"pod": {"name": "bee"}, "onNodesWith": "disk=ssd"},
        [making.node("node02", {"disk": "ssd"}), making.pod("bee", **PINNED)],
        (False, "bee is on node01"),
    ),
}


@pytest.mark.parametrize("name", PLACEMENT)
def test_placement(name):
    spec, manifests, (passed, found) = PLACEMENT[name]
    finding = judge("placement", spec, *manifests)
    assert finding.passed is passed
    assert found is None or str(finding.found) == found


def test_a_node_that_was_tied_for_best_is_accepted():
    fresh = {"disk": "ssd"}
    objects = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": fresh}}
        for name in ("node03", "node04")
    ]
    start = making.Cluster.new(seed=1, now=making.NOW, objects=objects)
    making.answers.carry_out(start, making.pod("bee", nodeSelector=fresh))
    start.settle()
    landed = start.client.get("pods", "bee")["spec"]["nodeName"]
    other = {"node03": "node04", "node04": "node03"}[landed]
    unit = UNITS["placement"]
    for wanted, passed in ((landed, True), (other, True), ("node01", False)):
        spec = unit.Spec.model_validate({"pod": {"name": "bee"}, "onNodes": [wanted]})
        assert unit.run(spec, Context(start, start)).passed is passed


SCHEDULED_BY = {
    "the default scheduler": (
        {"pod": {"name": "bee"}, "scheduler": "default-scheduler"},
        [making.pod("bee")],
        (True, "default-scheduler placed it"),
    ),
    "another one": (
        {"pod": {"name": "bee"}, "scheduler": "my-scheduler"},
        [making.pod("bee")],
        (False, "default-scheduler placed it"),
    ),
    "nobody": (
        {"pod": {"name": "bee"}, "nobody": True},
        [making.pod("bee", nodeName="node01")],
        (True, "no scheduler placed it"),
    ),
    "somebody": (
        {"pod": {"name": "bee"}, "nobody": True},
        [making.pod("bee")],
        (False, "default-scheduler placed it"),
    ),
    "a pod that waits": (
        {"pod": {"name": "bee"}, "nobody": True},
        [making.pod("bee", schedulerName="my-scheduler")],
        (False, "bee waits for a node. "),
    ),
    "no pod": ({"pod": {"name": "bee"}, "scheduler": "x"}, [], (False, "there is no pod bee")),
}


@pytest.mark.parametrize("name", SCHEDULED_BY)
def test_scheduled_by(name):
    spec, manifests, expected = SCHEDULED_BY[name]
    finding = judge("scheduledBy", spec, *manifests)
    assert (finding.passed, str(finding.found)) == expected


EVENT = {
    "an event": (
        {"reason": "Scheduled"},
        [making.pod("bee", **PINNED)],
        True,
        "Successfully assigned default/bee to node01",
    ),
    "a part of its message": (
        {"reason": "FailedScheduling", "contains": "Insufficient cpu"},
        [making.pod("bee", **HUGE)],
        True,
        "2 Insufficient cpu",
    ),
    "another message": ({"reason": "Scheduled", "contains": "node02"}, [making.pod("bee", **PINNED)], False, "only: "),
    "another reason": ({"reason": "Evicted"}, [making.pod("bee", **PINNED)], False, "only: "),
    "none at all": ({"reason": "Scheduled"}, [], False, "no event"),
}


@pytest.mark.parametrize("name", EVENT)
def test_event(name):
    spec, manifests, passed, found = EVENT[name]
    finding = judge("event", {**spec, "involved": {"kind": "Pod", "name": "bee"}}, *manifests)
    assert finding.passed is passed
    assert found in str(finding.found)


PLAIN = {"pod": {"template": "plain"}}
LIKE = {"pod": {"like": {"kind": "Deployment", "name": "web"}}}
PROBE = {
    "an ordinary pod lands": ({**PLAIN, "mustLandOn": ["node01", "node02"]}, [], True, "probe is on "),
    "an ordinary pod stays off the control plane": (
        {**PLAIN, "mustNotLandOn": ["controlplane"]},
        [],
        True,
        "probe is on ",
    ),
    "an ordinary pod does not wait": ({**PLAIN, "mustStayPending": True}, [], False, "probe is on "),
    "no node is left": (
        {**PLAIN, "given": CORDONED + "---\n" + making.node("node02", unschedulable=True), "mustStayPending": True},
        [],
        True,
        "probe waits for a node. 0/3 nodes are available",
    ),
    "a tainted node": (
        {"pod": {"manifest": making.pod("probe", **PINNED)}, "mustNotLandOn": ["node01"]},
        [TAINTED],
        True,
        "untolerated taint",
    ),
    "a node without its taint": (
        {"pod": {"manifest": making.pod("probe", **PINNED)}, "mustNotLandOn": ["node01"]},
        [],
        False,
        "probe is on node01",
    ),
    "a pod like a Deployment's": (
        {**LIKE, "mustLandOn": ["node01"]},
        [making.deployment("web", **PINNED)],
        True,
        "on node01",
    ),
    "a pod like those of nothing": ({**LIKE, "mustLandOn": ["node01"]}, [], False, "there is no Deployment web to try"),
    "a pod that the API server refuses": (
        {"pod": {"manifest": making.pod("probe", priorityClassName="high")}, "mustLandOn": ["node01"]},
        [],
        False,
        "the pod was refused: ",
    ),
}


@pytest.mark.parametrize("name", PROBE)
def test_probe(name):
    spec, manifests, passed, found = PROBE[name]
    finding = judge("probe", spec, *manifests)
    assert finding.passed is passed
    assert found in str(finding.found)


def test_a_pod_that_might_as_well_land_there_does_not_stay_away():
    objects = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"disk": "ssd"}}}
        for name in ("node03", "node04")
    ]
    start = making.Cluster.new(seed=1, now=making.NOW, objects=objects)
    unit = UNITS["probe"]
    manifest = making.pod("probe", nodeSelector={"disk": "ssd"})
    for name, other in (("node03", "node04"), ("node04", "node03")):
        spec = unit.Spec.model_validate({"pod": {"manifest": manifest}, "mustNotLandOn": [name]})
        finding = unit.run(spec, Context(start, start))
        assert not finding.passed
        assert str(finding.found) in {
            f"probe is on {name}",
            f"probe is on {other}, and {name} would have been as good",
        }


def test_a_probe_that_cannot_be_prepared_is_no_wrong_answer():
    spec = {**PLAIN, "given": making.node("node09", unschedulable="yes"), "mustStayPending": True}
    unit = UNITS["probe"]
    with pytest.raises(NotGraded, match="given: "):
        unit.run(unit.Spec.model_validate(spec), Context(making.cluster(), making.cluster()))


def test_a_probe_changes_nothing():
    cluster = making.cluster(making.deployment("web", **PINNED))
    before = cluster.dump()
    unit = UNITS["probe"]
    spec = unit.Spec.model_validate({**LIKE, "given": CORDONED, "mustStayPending": True})
    assert unit.run(spec, Context(cluster, cluster)).passed
    assert cluster.dump() == before


LITERALS = {
    "object": (
        {"kind": "Pod", "name": "bee", "namespace": "hive", "expect": 'self.spec.nodeName == "node01"'},
        ["bee", "hive", "node01"],
    ),
    "placement": (
        {"selector": "app=web,tier in (db, ui)", "count": 3, "onNodesWith": "disk=ssd", "notOnNodes": ["node02"]},
        ["3", "app", "db", "disk", "node02", "ssd", "tier", "ui", "web"],
    ),
    "scheduledBy": (
        {"pod": {"name": "bee", "namespace": "hive"}, "scheduler": "my-scheduler"},
        ["bee", "hive", "my-scheduler"],
    ),
    "event": (
        {"reason": "Scheduled", "involved": {"kind": "Pod", "name": "bee"}, "contains": "node01"},
        ["bee", "node01"],
    ),
    "probe": (
        {
            "pod": {
                "manifest": making.pod(
                    "probe",
                    schedulerName="mine",
                    nodeSelector={"kubernetes.io/hostname": "node01", "disk": "ssd"},
                    tolerations=[{"key": "spray", "operator": "Exists"}],
                )
            },
            "mustLandOn": ["node02"],
        },
        ["disk", "mine", "node01", "node02", "spray", "ssd"],
    ),
}


@pytest.mark.parametrize("kind", LITERALS)
def test_a_check_knows_what_a_learner_must_read(kind):
    spec, expected = LITERALS[kind]
    unit = UNITS[kind]
    assert sorted(set(unit.literals(unit.Spec.model_validate(spec)))) == expected


def test_every_kind_of_check_is_explained():
    page = (making.ROOT / "docs" / "exercise-format.md").read_text()
    assert [kind for kind in UNITS if f"### `{kind}`" not in page] == []
