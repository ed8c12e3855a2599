"""What views work out themselves."""

import pytest

from app.apimachinery.messages import Message
from app.lab.views import Gauge, ResultView, VerdictView
from tests.support.fake_lab import lab_view, pod

FULL = Message("{what} is full", {"what": "node01"})


@pytest.mark.parametrize(
    ("used", "capacity", "percent"), [(0, 10, 0), (1, 3, 33), (10, 10, 100), (30, 10, 100), (5, 0, 0)]
)
def test_a_gauge_stays_between_nothing_and_all(used, capacity, percent):
    assert Gauge(used, capacity, "", "").percent == percent


@pytest.mark.parametrize(
    ("phase", "shape"),
    [
        ("Pending", "pending"),
        ("ContainerCreating", "pending"),
        ("SchedulingGated", "pending"),
        ("Running", "running"),
        ("Completed", "succeeded"),
        ("Terminating", "terminating"),
        ("CrashLoopBackOff", "failed"),
        ("OutOfcpu", "failed"),
    ],
)
def test_a_status_has_the_shape_of_its_phase(phase, shape):
    assert pod("bee", phase=phase).shape == shape


def test_only_pods_without_a_node_wait():
    view = lab_view(pods=(pod("a", phase="Pending"), pod("b", "node01", "Pending"), pod("c", phase="Failed")))
    assert [waiting.name for waiting in view.waiting] == ["a"]


def test_pods_that_wait_for_the_same_reason_stand_together():
    other = Message("{what} is full", {"what": "node02"})
    reasons = {"a": FULL, "b": other, "c": Message("{what} is full", {"what": "node01"}), "d": None}
    view = lab_view(pods=tuple(pod(name, phase="Pending", why=why) for name, why in reasons.items()))
    grouped = [(why, [waiting.name for waiting in pods]) for why, pods in view.waiting_by_reason]
    assert grouped == [(FULL, ["a", "c"]), (other, ["b"]), (None, ["d"])]


def test_a_verdict_with_a_broken_check_is_not_final():
    results = (ResultView("a", "", "passed", 2, 2), ResultView("b", "", "fault", 0, 3))
    assert not VerdictView(2, 5, results).final
    assert not VerdictView(2, 5, results).full
    assert VerdictView(2, 2, results[:1]).final
