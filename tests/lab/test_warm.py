"""A worker keeps the labs that it had last: it makes no difference but for the time."""

import pytest

from app.cluster.cluster import Cluster
from app.lab import interactions, wire
from app.lab.state import LabState, StateError, deflated
from app.lab.warm import WarmLabs
from tests.cluster.builders import MINUTE, NOW, command, fresh, pod, workload


def made(seed=1):
    cluster = fresh(seed)
    cluster.client.create(workload("Deployment", replicas=3))
    cluster.client.create(command("sh", "-c", "sleep 7; exit 1", name="crash"))
    cluster.client.create(pod("stuck", nodeSelector={"no": "where"}))
    cluster.advance_to(NOW + 2 * MINUTE)
    return LabState(cluster, {"controlplane": b"shell"})


def asked(state, start, number, now, operation="apply"):
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: map-{number}}}\n"
    params = {"operation": operation, "text": text, "mode": "create", "now": now, "source": "", "seed": 1}
    header, (after, difference) = wire.unpack(interactions.handle(wire.pack(params, state, start)))
    assert "fault" not in header, header
    return after, difference, header["output"]


def test_a_worker_that_has_the_lab_gives_the_same_bytes_as_one_that_loads_it(monkeypatch):
    start = state = other = made().dump()
    for number in range(6):
        now = NOW + (3 + 7 * number) * MINUTE
        state, difference, output = asked(state, start, number, now)
        monkeypatch.setattr(interactions, "_warm", WarmLabs(most=0))
        other, other_difference, other_output = asked(other, start, number, now)
        monkeypatch.undo()
        assert (state, difference, output) == (other, other_difference, other_output)
    assert len(state) > len(start)


def test_looking_and_failing_leave_what_is_kept_alone():
    start = state = made().dump()
    shown = [asked(state, start, 0, NOW + minutes * MINUTE, "view")[2]["picture"] for minutes in (3, 20, 3)]
    assert shown[0] == shown[2] != shown[1]
    state, *_ = asked(state, start, 1, NOW + 3 * MINUTE)
    refused, difference, output = asked(state, start, 1, NOW + 3 * MINUTE)
    assert (refused, difference, output["ok"]) == (b"", b"", False)
    again, *_ = asked(state, start, 2, NOW + 3 * MINUTE)
    assert LabState.load(again).cluster.client.find("configmaps", "map-2", "default")


def test_the_ones_used_longest_ago_go():
    states = [made(seed).dump() for seed in range(4)]
    kept = WarmLabs(most=2)
    for state in (states[0], states[1], states[0], states[2]):
        kept.of(state)
    assert list(kept._kept) == [states[0], states[2]]
    assert kept._size == sum(len(found.text) for found in kept._kept.values())
    small = WarmLabs(largest=1000)
    assert small.of(states[3]).lab.dump() == states[3]
    assert not small._kept


def test_what_cannot_be_read_is_not_kept():
    kept = WarmLabs()
    for broken in (b"", b"nonsense", deflated(b'{"format":99}')):
        with pytest.raises(StateError):
            kept.of(broken)
    assert not kept._kept


def test_a_copy_goes_its_own_way():
    lab = made()
    copy = lab.fork()
    copy.shells["controlplane"] = b"other"
    copy.cluster.advance_to(NOW + 30 * MINUTE)
    copy.cluster.client.create(pod("new"))
    assert lab.dump() == made().dump()
    assert isinstance(copy.cluster, Cluster)
