"""The bell that wakes watches."""

import asyncio
import threading
import time

from app.lab.bell import Bell


def test_a_ring_from_another_thread_wakes_who_waits_for_that_lab():
    bell = Bell()

    async def wait():
        threading.Timer(0.1, bell.ring, ["mine"]).start()
        return await asyncio.gather(bell.wait("mine", 5), bell.wait("mine", 5), bell.wait("other", 0.3))

    started = time.monotonic()
    assert asyncio.run(wait()) == [True, True, False]
    assert time.monotonic() - started < 3


def test_nobody_is_remembered_after_waiting():
    bell = Bell()
    asyncio.run(bell.wait("mine", 0.01))
    bell.ring("mine")
    assert not bell._waiting
