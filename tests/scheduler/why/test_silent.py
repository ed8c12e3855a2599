"""Pods that nobody tries."""

import pytest

from app.scheduler.why import silent
from tests.scheduler.builders import pod

SERVED = ["default-scheduler", "batch"]
CASES = [
    (pod("p"), None, []),
    (pod("p", schedulerName="batch"), ["batch"], []),
    (pod("p", on="a", schedulerName="ghost"), None, []),
    (pod("p", schedulerName="ghost", status={"phase": "Failed"}), None, []),
    (
        pod("p", schedulerName="ghost"),
        None,
        [
            (
                "No scheduler is called ghost (spec.schedulerName), so nobody tries this pod. "
                "Known are: batch, default-scheduler."
            )
        ],
    ),
    (
        pod("p"),
        ["batch"],
        ["The scheduler default-scheduler is not running, so nobody tries this pod."],
    ),
    (
        pod("p", schedulingGates=[{"name": "a"}, {"name": "b"}]),
        None,
        ["The pod is held back by its scheduling gates: a, b. It is tried once they are gone."],
    ),
    (
        pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "g"}]),
        None,
        ["The pod waits for resource claims that do not exist: gpu."],
    ),
    (
        pod("p", schedulerName="ghost", schedulingGates=[{"name": "a"}]),
        [],
        [
            (
                "No scheduler is called ghost (spec.schedulerName), so nobody tries this pod. "
                "Known are: batch, default-scheduler."
            ),
            "The pod is held back by its scheduling gates: a. It is tried once they are gone.",
        ],
    ),
]


@pytest.mark.parametrize(("wanted", "running", "expected"), CASES)
def test_it_says_why_nobody_tries_a_pod(wanted, running, expected):
    assert [str(fact.message) for fact in silent.reasons(wanted, SERVED, running)] == expected


def test_a_pod_that_is_going_is_not_placed():
    going = pod("p")
    going = {**going, "metadata": {**going["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    (fact,) = silent.reasons(going, SERVED)
    assert fact.data == {"kind": "terminating"}
