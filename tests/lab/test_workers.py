"""The pool of supervised children: what one request does to its child never reaches another request."""

import os
import signal
import threading
import time
from multiprocessing import popen_forkserver

import pytest

from app.lab.workers import Limits, WorkerCrashed, WorkerPool, WorkersBusy, WorkerTimedOut
from tests.support import misbehave


@pytest.fixture
def pool():
    pool = WorkerPool(2, misbehave.handle, Limits(memory=1 << 30, cpu=1, deadline=20, wait=0.5))
    yield pool
    pool.close()


def test_bytes_go_in_and_come_back(pool):
    assert pool.run(b"echo \x00\xff hello") == b"\x00\xff hello"


def test_a_large_request_and_answer_pass(pool):
    body = os.urandom(3_000_000)
    assert pool.run(b"echo " + body) == body


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        pytest.param(b"crash", WorkerCrashed, id="abort"),
        pytest.param(b"spin", WorkerCrashed, id="cpu limit"),
        pytest.param(b"grow", WorkerCrashed, id="memory limit"),
    ],
)
def test_a_child_that_breaks_its_limits_is_replaced(pool, request_, error):
    with pytest.raises(error):
        pool.run(request_)
    assert pool.run(b"echo again") == b"again"


def test_a_request_that_may_take_longer_may_use_more_of_a_core(pool):
    assert pool.run(b"burn 3", deadline=21) == b"burnt"


def test_a_child_cannot_write_a_file(pool, tmp_path):
    target = tmp_path / "loot"
    with pytest.raises(WorkerCrashed):
        pool.run(b"write " + bytes(target))
    assert target.read_bytes() == b""


def test_a_child_that_hangs_is_killed_at_its_deadline(pool):
    started = time.monotonic()
    with pytest.raises(WorkerTimedOut, match=r"within 0\.3 s"):
        pool.run(b"hang", deadline=0.3)
    assert time.monotonic() - started < 5
    assert pool.run(b"echo again") == b"again"


@pytest.mark.parametrize("poison", [b"crash", b"hang"])
def test_a_neighbour_in_flight_is_not_disturbed(pool, poison):
    answers = []
    neighbour = threading.Thread(target=lambda: answers.append(pool.run(b"sleep 1")))
    neighbour.start()
    time.sleep(0.2)
    with pytest.raises((WorkerCrashed, WorkerTimedOut)):
        pool.run(poison, deadline=0.4)
    neighbour.join()
    assert answers == [b"awake"]


def test_a_child_killed_while_idle_costs_no_request(pool):
    for pid in pool.pids():
        os.kill(pid, signal.SIGKILL)
    time.sleep(0.2)
    assert pool.run(b"echo alive") == b"alive"


def test_who_finds_no_free_child_is_told_so(pool):
    sleepers = [threading.Thread(target=pool.run, args=(b"sleep 1.5",)) for _ in range(2)]
    for sleeper in sleepers:
        sleeper.start()
    time.sleep(0.2)
    with pytest.raises(WorkersBusy):
        pool.run(b"echo me")
    for sleeper in sleepers:
        sleeper.join()


def test_a_child_is_replaced_after_its_share_of_requests():
    pool = WorkerPool(1, misbehave.handle, Limits(requests=2))
    try:
        pids = [pool.run(b"pid") for _ in range(4)]
    finally:
        pool.close()
    assert pids[0] == pids[1] != pids[2] == pids[3]


def test_a_child_that_is_killed_before_it_runs_is_started_again(pool, monkeypatch):
    starts = []
    launch = popen_forkserver.Popen._launch

    def killed_at_first(self, process):
        starts.append(process)
        if len(starts) in {1, 2}:
            raise EOFError("unexpected EOF")
        launch(self, process)

    monkeypatch.setattr(popen_forkserver.Popen, "_launch", killed_at_first)
    with pytest.raises(WorkerCrashed):
        pool.run(b"crash")
    assert len(starts) == 3
    assert pool.run(b"echo again") == b"again"


def test_where_no_child_can_be_started_a_request_fails_and_the_next_tries_again(pool, monkeypatch):
    def broken(self, process):
        raise OSError("no more processes")

    with monkeypatch.context() as patch:
        patch.setattr(popen_forkserver.Popen, "_launch", broken)
        with pytest.raises(WorkerCrashed, match="no worker could be started"):
            pool.run(b"crash")
        with pytest.raises(WorkerCrashed, match="no worker could be started"):
            pool.run(b"echo again")
    assert pool.run(b"echo again") == b"again"
