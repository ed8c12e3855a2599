"""Time that passes at once: what a user need not wait for."""

import time

import pytest

from app.apimachinery.clock import MINUTE, SECOND
from app.lab import passing
from app.lab.views import Mode
from app.progress import labs
from tests.cluster.builders import command, fresh, phase, taint
from tests.syllabus.steps import tolerating

PATIENT = """\
apiVersion: v1
kind: Pod
metadata: {name: patient}
spec:
  nodeName: node01
  tolerations: [{operator: Exists, tolerationSeconds: 300, effect: NoExecute}]
  containers: [{name: c, image: nginx}]
---
apiVersion: v1
kind: Node
metadata: {name: node01}
spec: {taints: [{key: a, effect: NoExecute}]}
"""


def test_a_toleration_of_five_minutes_need_not_be_waited_for(service, user):
    lab = service.start(user, "taint-a-node", seed=1)
    before = service.apply(user, lab, PATIENT, Mode.APPLY, "en").view
    service.advance(user, lab, 60, "en")
    assert "patient" in {pod.name for pod in service.view(user, lab, "en").pods}
    outcome = service.advance(user, lab, 300, "en")
    assert outcome.passed == "5m"
    assert any("TaintManagerEviction" in line for line in outcome.lines)
    assert (outcome.view.now - before.now).total_seconds() == pytest.approx(360, abs=5)
    service.advance(user, lab, 60, "en")
    assert "patient" not in {pod.name for pod in service.view(user, lab, "en").pods}


def test_what_passed_is_in_the_log_of_commands_and_outlives_a_look(service, user):
    lab = service.start(user, "taint-a-node", seed=2)
    moved = service.advance(user, lab, 600, "en").view
    assert (service.view(user, lab, "en").now - moved.now).total_seconds() < 5
    with service._database.session() as session:
        (command,) = labs.commands(session, lab)
    assert (command.kind.value, command.input, command.ok) == ("advance", "10m", True)


def test_time_stands_still_while_a_lab_is_paused(service, user):
    lab = service.start(user, "taint-a-node", seed=3)
    stopped = service.pause(user, lab, paused=True, language="en").view
    assert stopped.paused
    time.sleep(1.1)
    assert service.view(user, lab, "en").now == stopped.now
    applied = service.apply(user, lab, PATIENT, Mode.APPLY, "en").view
    assert (applied.now, applied.paused) == (stopped.now, True)
    moved = service.advance(user, lab, 60, "en").view
    assert ((moved.now - stopped.now).total_seconds(), moved.paused) == (60, True)
    assert service.check(user, lab, "en").view.paused
    service.pause(user, lab, paused=False, language="en")
    time.sleep(1.1)
    after = service.view(user, lab, "en")
    assert not after.paused
    assert applied.next_in is None, "a page that stands still asks for nothing"
    assert after.next_in is not None
    assert 1 < (after.now - moved.now).total_seconds() < 30
    with service._database.session() as session:
        kinds = [command.kind.value for command in labs.commands(session, lab)]
    assert kinds == ["pause", "apply", "advance", "check", "resume"]


def test_a_reset_lab_runs_again(service, user):
    lab = service.start(user, "taint-a-node", seed=4)
    service.pause(user, lab, paused=True, language="en")
    assert not service.reset(user, lab, "en").view.paused


def test_the_next_event_is_what_happens_next():
    cluster = fresh()
    cluster.client.create(tolerating("a", effect="NoExecute", tolerationSeconds=100))
    cluster.settle()
    for name in ("node01", "node02"):
        taint(cluster, name, {"key": "a", "effect": "NoExecute"})
    cluster.advance_to(cluster.now)
    begin = cluster.now
    lines = []
    while not any("TaintManagerEviction" in line for line in lines):
        lines = passing.let_pass(cluster, passing.target(cluster, None)).lines
        assert cluster.now <= begin + 100 * SECOND
    assert cluster.now == begin + 100 * SECOND


def test_a_span_is_bounded_and_never_goes_back():
    cluster = fresh()
    assert passing.target(cluster, 10**18) == cluster.now + passing.LONGEST
    assert passing.target(cluster, -MINUTE) == cluster.now


def test_only_the_last_events_are_told():
    cluster = fresh()
    for number in range(15):
        cluster.client.create(tolerating(name=f"bee-{number}"))
    lines = passing.let_pass(cluster, cluster.now + MINUTE).lines
    assert len(lines) == 20
    assert lines[-1].startswith("Normal Started pod/bee-")
    assert phase(cluster, "bee-14") == "Running"


@pytest.mark.parametrize(("span", "text"), [(0, "0s"), (65 * SECOND, "1m5s"), (3600 * SECOND, "1h"), (5, "0s")])
def test_a_span_is_told_as_kubernetes_does(span, text):
    assert passing.span_text(span) == text


def test_a_day_passes_at_once():
    cluster = fresh()
    cluster.client.create(tolerating())
    came = passing.let_pass(cluster, cluster.now + passing.LONGEST)
    assert not came.cut
    assert cluster.client.list("events") == [], "events live for an hour"


def test_time_stops_on_its_way_where_too_much_happens_and_goes_on_the_same():
    one, other = fresh(), fresh()
    for cluster in (one, other):
        for number in range(4):
            cluster.client.create(command("sh", "-c", "sleep 7; exit 1", name=f"crash-{number}"))
    until = one.now + 60 * MINUTE
    stops = 0
    while passing.let_pass(one, until, most_writes=100).cut:
        assert one.now < until
        stops += 1
    assert stops > 1
    other.advance_to(until)
    assert one.dump() == other.dump()
