"""A profile may leave out the point in which a plugin prepares itself: the pod then fails with a reason, as upstream."""

import pytest

from app.scheduler.cache import Cache
from app.scheduler.fast_path import FastPath
from app.scheduler.profile import build_profiles
from app.scheduler.schedule_one import schedule_one
from app.scheduler.snapshot import Snapshot
from tests.scheduler.builders import config, node, pod

NODES = [node(f"node{n}", labels={"zone": "a"}) for n in (1, 2)]
SPREAD = [
    {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": action,
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    for action in ("DoNotSchedule", "ScheduleAnyway")
]


def profiles(point, plugin):
    return build_profiles(config({"plugins": {point: {"disabled": [{"name": plugin}]}}}))


def spread_pod():
    return pod("web", labels={"app": "web"}, topologySpreadConstraints=SPREAD)


@pytest.mark.parametrize(
    ("point", "plugin", "message"),
    [
        (
            "preScore",
            "PodTopologySpread",
            'failed with: reading "PreScorePodTopologySpread" from cycleState: not found',
        ),
        ("preScore", "InterPodAffinity", 'plugin "InterPodAffinity" failed with'),
        ("preScore", "TaintToleration", 'plugin "TaintToleration" failed with'),
        ("preFilter", "PodTopologySpread", 'running "PodTopologySpread" filter plugin: reading'),
        ("preFilter", "InterPodAffinity", 'running "InterPodAffinity" filter plugin: reading'),
    ],
)
def test_the_pod_fails_with_a_reason(point, plugin, message):
    frameworks = profiles(point, plugin)
    result = schedule_one(frameworks["default-scheduler"], Snapshot.of(NODES), spread_pod())
    assert (result.node or "", result.reason) == ("", "SchedulerError")
    assert message in result.message
    assert result.attempt["message"] == result.message, "the record can still be made"
    fast = FastPath(frameworks, Cache(NODES)).schedule(spread_pod())
    assert (fast.node or "", fast.result.message) == ("", result.message)


@pytest.mark.parametrize("plugin", ["NodeResourcesFit", "NodeResourcesBalancedAllocation", "NodeAffinity"])
def test_plugins_that_can_do_without_do(plugin):
    wanted = pod("web", cpu="500m")
    result = schedule_one(profiles("preScore", plugin)["default-scheduler"], Snapshot.of(NODES), wanted)
    assert result.node == "node1"
