"""Grading: points and reasons, on copies, and never a wrong answer for what is not the learner's fault."""

from dataclasses import asdict

import orjson
import pytest

from app.cluster.cluster import Cluster, NeverSettlesError
from app.exercises import answers, grader, setup
from tests.exercises import making

GOOD = making.POD.format(node="node01", image="nginx")


def graded(manifests, **changes):
    variant = making.exercise(**changes).variant(1)
    start = setup.start(variant, making.NOW)
    cluster = start.fork()
    answers.carry_out(cluster, manifests)
    return grader.grade(variant, cluster, start)


@pytest.mark.parametrize(
    ("manifests", "points", "failed"),
    [
        (GOOD, 10, set()),
        (making.POD.format(node="node02", image="nginx"), 4, {"on-node01"}),
        (making.POD.format(node="node01", image="httpd"), 6, {"image"}),
        (making.POD.format(node="nowhere", image="nginx"), 4, {"on-node01"}),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bee}\n", 0, {"on-node01", "image"}),
        ("nonsense", 0, {"on-node01", "image"}),
    ],
)
def test_it_gives_points_for_what_came_about(manifests, points, failed):
    verdict = graded(manifests)
    assert (verdict.points, verdict.possible, verdict.failed) == (points, 10, failed)
    assert verdict.full is (points == 10)
    assert verdict.final


def test_it_says_what_was_looked_for_what_was_found_and_where():
    first, second = graded(making.POD.format(node="node02", image="nginx")).results
    assert [str(message) for message in (first.looked_for, first.found, first.where)] == [
        "bee on node01",
        "bee is on node02",
        "pod bee in namespace default",
    ]
    assert (first.status, first.points, first.possible) == ("failed", 0, 6)
    assert (second.status, second.points, second.possible) == ("passed", 4, 4)


def test_a_broken_check_is_not_graded_and_the_others_are():
    verdict = graded(GOOD, spec__checks__1__object__expect="1 / (self.spec.containers.size() - 1) == 1")
    assert [(result.status, result.points) for result in verdict.results] == [("passed", 6), ("fault", 0)]
    assert str(verdict.results[1].found).startswith("This check is broken and was not graded: ")
    assert verdict.possible == 10
    assert verdict.failed == set()
    assert not verdict.full
    assert not verdict.final


def test_an_exception_in_a_check_is_a_fault(monkeypatch):
    monkeypatch.setattr("app.exercises.landing.find", lambda *_: 1 / 0)
    verdict = graded(GOOD)
    assert [result.status for result in verdict.results] == ["fault", "passed"]


def test_a_cluster_that_never_settles_is_a_fault(monkeypatch):
    variant = making.exercise().variant(1)
    start = setup.start(variant, making.NOW)

    def never(*_):
        raise NeverSettlesError("busy")

    monkeypatch.setattr(Cluster, "settle", never)
    assert [result.status for result in grader.grade(variant, start, start).results] == ["fault", "fault"]


def test_it_leaves_the_learners_cluster_as_it_is():
    variant = making.exercise().variant(1)
    start = setup.start(variant, making.NOW)
    cluster = start.fork()
    answers.carry_out(cluster, GOOD)
    before = cluster.dump()
    first = grader.grade(variant, cluster, start)
    assert cluster.dump() == before
    assert first == grader.grade(variant, cluster, start)


def test_it_waits_for_what_is_still_moving():
    variant = making.exercise().variant(1)
    start = setup.start(variant, making.NOW)
    cluster = start.fork()
    answers.carry_out(cluster, GOOD)
    assert not cluster.client.get("pods", "bee")["spec"].get("nodeName")
    assert grader.grade(variant, cluster, start).full


def test_a_verdict_becomes_json():
    results = [asdict(result) for result in graded(GOOD).results]
    assert orjson.loads(orjson.dumps(results))[0]["found"]["text"] == "{pod} is on {node}"


def test_the_same_seed_makes_the_same_cluster():
    variant = making.exercise(spec__cluster={"manifests": making.deployment("web", 3)}).variant(5)
    assert setup.start(variant, making.NOW).dump() == setup.start(variant, making.NOW).dump()
    assert setup.start(variant, making.NOW).now == making.NOW


def test_a_start_has_what_the_exercise_brings():
    manifests = (
        making.node("node01", {"disk": "ssd"}) + "---\n" + making.node("node09") + "---\n" + making.deployment("web")
    )
    variant = making.exercise(
        spec__cluster={"manifests": manifests, "withoutStaticPods": ["kube-scheduler-controlplane"]}
    ).variant(1)
    start = setup.start(variant, making.NOW)
    assert start.client.get("nodes", "node01")["metadata"]["labels"]["disk"] == "ssd"
    assert start.client.find("nodes", "node09") is not None
    assert not start.has_scheduler("default-scheduler")
    assert [pod["status"]["phase"] for pod in start.client.list("pods", "default")] == ["Pending", "Pending"]


@pytest.mark.parametrize(
    ("cluster", "reason"),
    [
        ({"manifests": making.pod("bee", nodeSelector={"not a key": "x"})}, "is invalid"),
        ({"withoutStaticPods": ["kube-schedule"]}, "there is no static pod kube-schedule to take away"),
        ({"manifests": making.node("Node_09")}, "is invalid"),
    ],
)
def test_a_start_that_cannot_be_made_is_told(cluster, reason):
    variant = making.exercise(spec__cluster=cluster).variant(1)
    with pytest.raises(setup.SetupError, match=reason):
        setup.start(variant, making.NOW)
