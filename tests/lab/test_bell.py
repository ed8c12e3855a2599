"""The bell that wakes watches."""

import asyncio
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from app.lab.bell import Bell


def run(waiting: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine returns, run in a thread of its own: browser tests leave a loop running in the main one."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, waiting).result()


def test_a_ring_from_another_thread_wakes_who_waits_for_that_lab():
    bell = Bell()

    async def wait():
        threading.Timer(0.1, bell.ring, ["mine"]).start()
        return await asyncio.gather(bell.wait("mine", 5), bell.wait("mine", 5), bell.wait("other", 0.3))

    started = time.monotonic()
    assert run(wait()) == [True, True, False]
    assert time.monotonic() - started < 3


def test_nobody_is_remembered_after_waiting():
    bell = Bell()
    run(bell.wait("mine", 0.01))
    bell.ring("mine")
    assert not bell._waiting
