from collections.abc import Callable

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.apimachinery.errors import StatusError
from app.apimachinery.meta import Object
from app.cluster.cluster import FORMAT, Cluster, FormatError, NeverSettlesError
from app.cluster.loops import Context
from tests.cluster.builders import MINUTE, NOW, SECOND, command, config_map, fresh, phase, pod, taint, workload
from tests.cluster.schedulers import account, bindings, config, scheduler_pod


def busy(seed: int = 3) -> Cluster:
    cluster = fresh(seed)
    cluster.client.create(workload("Deployment", replicas=3))
    cluster.client.create(pod("odd", image="nginx:no-such-tag"))
    cluster.client.create(command("sh", "-c", "echo hi; sleep 7; exit 3", name="crash"))
    return cluster


def test_the_same_seed_and_calls_give_the_same_bytes() -> None:
    one, other = busy(), busy()
    for cluster in (one, other):
        cluster.advance_to(NOW + 90 * SECOND)
    assert one.dump() == other.dump()


def test_a_loaded_cluster_goes_on_as_the_saved_one() -> None:
    cluster = busy()
    cluster.advance_to(NOW + SECOND)
    loaded, forked = Cluster.load(cluster.dump()), cluster.fork()
    for one in (cluster, loaded, forked):
        one.advance_to(NOW + 5 * MINUTE)
    assert cluster.dump() == loaded.dump() == forked.dump()


def test_a_fork_is_independent() -> None:
    cluster = fresh()
    before = cluster.dump()
    fork = cluster.fork()
    fork.client.create(pod())
    fork.settle()
    assert cluster.dump() == before
    assert phase(fork) == "Running"


def test_reading_changes_nothing() -> None:
    cluster = busy()
    cluster.settle()
    before = cluster.dump()
    cluster.client.list("pods")
    cluster.attempts("default", "crash")
    cluster.has_scheduler("default-scheduler")
    cluster.logs("default", "crash")
    cluster.next_event()
    assert cluster.dump() == before


ACTIONS: dict[str, Object] = {
    "deployment": workload("Deployment", replicas=2),
    "daemonset": workload("DaemonSet", "agent"),
    "big": pod("big", container={"resources": {"requests": {"cpu": "1500m"}}}),
    "bigger": pod("bigger", container={"resources": {"requests": {"cpu": "3"}}}),
    "crash": command("false", name="crash"),
    "sleep": command("sleep", "20", name="sleep", restartPolicy="Never"),
    "bound": pod("bound", nodeName="node02"),
    "nowhere": pod("nowhere", nodeName="node77"),
    "bad-image": pod("bad-image", image="ngnix"),
    "mine": pod("mine", schedulerName="my-scheduler"),
    "urgent": pod(
        "urgent", container={"resources": {"requests": {"cpu": "1700m"}}}, priorityClassName="system-node-critical"
    ),
    "patient": pod(
        "patient", nodeName="node01", tolerations=[{"key": "x", "operator": "Exists", "tolerationSeconds": 9}]
    ),
}
STEPS = st.lists(
    st.tuples(
        st.sampled_from([*ACTIONS, "second scheduler", "taint", "close", "cordon", "open", "delete", "delete node"]),
        st.integers(0, 40 * SECOND),
        st.integers(0, 40 * SECOND),
        st.booleans(),
    ),
    max_size=5,
)


def act(cluster: Cluster, action: str) -> None:
    try:
        if action in ACTIONS:
            cluster.client.create(ACTIONS[action])
        else:
            OTHERS[action](cluster)
    except StatusError:
        return


def second_scheduler(cluster: Cluster) -> None:
    for obj in (account(), *bindings(), config(), scheduler_pod()):
        cluster.client.create(obj)


OTHERS: dict[str, Callable[[Cluster], object]] = {
    "second scheduler": second_scheduler,
    "taint": lambda cluster: taint(cluster, "node01", {"key": "x", "effect": "NoExecute"}),
    "close": lambda cluster: taint(cluster, "node02", {"key": "y", "effect": "NoSchedule"}),
    "cordon": lambda cluster: cluster.client.patch("nodes", "node01", "", {"spec": {"unschedulable": True}}),
    "open": lambda cluster: taint(cluster, "node02"),
    "delete": lambda cluster: cluster.client.delete("pods", "big", "default"),
    "delete node": lambda cluster: cluster.client.delete("nodes", "node02"),
}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_how_often_one_looks_changes_nothing(steps: list[tuple[str, int, int, bool]]) -> None:
    rare, often = fresh(), fresh()
    for action, first, second, reload in steps:
        act(rare, action)
        act(often, action)
        rare.advance_to(rare.now + first + second)
        often.advance_to(often.now + first)
        if reload:
            often = Cluster.load(often.dump())
        often.advance_to(often.now + second)
        often.advance_to(often.now)
    assert rare.dump() == often.dump()


def test_settling_stops_when_phases_no_longer_move() -> None:
    cluster = fresh()
    cluster.client.create(pod())
    cluster.settle()
    assert phase(cluster) == "Running"
    assert cluster.now < NOW + 5 * SECOND


def test_settling_goes_no_further_than_its_limit() -> None:
    cluster = fresh()
    cluster.client.create(command("sleep", "3000", restartPolicy="Never"))
    cluster.settle()
    assert phase(cluster) == "Running"
    assert cluster.now <= NOW + 10 * MINUTE
    cluster.settle(60 * MINUTE)
    assert phase(cluster) == "Succeeded"


def test_time_does_not_run_back() -> None:
    cluster = fresh()
    with pytest.raises(ValueError, match="cannot run back"):
        cluster.advance_to(NOW - 1)


def test_the_next_event_says_when_something_happens() -> None:
    cluster = fresh()
    assert cluster.next_event() is None
    cluster.client.create(pod(nodeName="node01"))
    cluster.advance_to(NOW)
    upcoming = cluster.next_event()
    assert upcoming is not None
    assert NOW < upcoming < NOW + SECOND


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "is JSON"),
        (b"[]", "has format None"),
        (b'{"format": 9999}', "has format 9999, which a newer version"),
        (b'{"format": 1}', "is damaged"),
    ],
)
def test_what_is_no_snapshot_is_refused(data: bytes, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        Cluster.load(data)


def test_a_snapshot_names_its_format() -> None:
    assert orjson.loads(fresh().dump())["format"] == FORMAT


class Restless:
    NAME = "restless"
    WATCHES = frozenset({"configmaps"})

    def sync(self, context: Context) -> None:
        current = context.client.get("configmaps", "c")
        context.client.update({**current, "data": {"n": str(int(current["data"]["n"]) + 1)}})


def test_loops_that_never_rest_are_named() -> None:
    cluster = fresh()
    cluster._loops = (*cluster._loops, Restless())
    cluster.client.create(config_map("c", n="1"))
    with pytest.raises(NeverSettlesError, match="still busy: restless"):
        cluster.advance_to(NOW)
