"""Supervised child processes, one per slot: whatever a learner's input reaches runs in one of them.

A request goes in as bytes and comes back as bytes; nothing is unpickled from a child. A child that hangs is
killed at its deadline, one that crashes is replaced, and either costs only the request it was working on. The
children are forked from a server process that has the heavy imports done, so a new one takes milliseconds.
"""

from __future__ import annotations

import contextlib
import gc
import math
import multiprocessing
import queue
import resource
import signal
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

Handler = Callable[[bytes], bytes]

_CPU = struct.Struct(">I")
"""Before each request on the pipe: the CPU seconds that it may use."""

_STARTS = 5
_IDLE = 0.05
"""Seconds without a request after which a child collects its garbage."""
_SELDOM = (400_000, 10, 10)
"""Objects made until a child collects garbage in a request all the same; a usual one makes a tenth of that."""
MAX_REPLY = 64 * 1024 * 1024
"""Bytes that a child may answer with; more counts as a crash."""


class WorkerError(Exception):
    """A request that no worker answered. The lab's state is as it was."""


class WorkerCrashed(WorkerError):
    """The child died while it worked on the request (a bug, or one of its limits)."""


class WorkerTimedOut(WorkerError):
    """The child was still working at the deadline and has been killed."""


class WorkersBusy(WorkerError):
    """No child became free in time."""


@dataclass(frozen=True)
class Limits:
    """What one child may use. Memory in bytes of address space, times in seconds."""

    memory: int = 1024 * 1024 * 1024
    cpu: int = 8
    deadline: float = 10.0
    wait: float = 10.0
    requests: int = 2000
    """After so many requests a child is replaced, so that nothing can pile up in it."""


@dataclass
class _Child:
    process: multiprocessing.process.BaseProcess
    pipe: Connection
    served: int = 0
    deadline_at: float = field(default=float("inf"))
    timed_out: bool = False


class WorkerPool:
    """A fixed number of slots with one child each. Safe to call from many threads.

    `handler` must be an importable function: the child looks it up by name.
    """

    def __init__(
        self, size: int, handler: Handler, limits: Limits | None = None, preload: tuple[str, ...] = ()
    ) -> None:
        self.limits = limits or Limits()
        self._handler = handler
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([handler.__module__, *preload])
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._busy: set[int] = set()
        self._children: dict[int, _Child] = {}
        self._free: queue.LifoQueue[int] = queue.LifoQueue()
        for slot in range(size):
            self._children[slot] = self._spawn()
            self._free.put(slot)
        self._watchdog = threading.Thread(target=self._watch, name="worker-watchdog", daemon=True)
        self._watchdog.start()

    @property
    def size(self) -> int:
        """The number of slots."""
        return len(self._children)

    def pids(self) -> list[int]:
        """Process ids of the children, for the health page and for tests that kill them."""
        return [child.process.pid or 0 for child in self._children.values()]

    def run(self, request: bytes, *, deadline: float | None = None) -> bytes:
        """Have a child handle the request. Raises a WorkerError where there is no answer."""
        try:
            slot = self._free.get(timeout=self.limits.wait)
        except queue.Empty:
            raise WorkersBusy("every worker is busy") from None
        try:
            return self._run(slot, request, self.limits.deadline if deadline is None else deadline)
        finally:
            self._free.put(slot)

    def close(self) -> None:
        """End all children; requests in flight fail."""
        self._closing.set()
        for child in self._children.values():
            _end(child)
        self._watchdog.join(timeout=2)

    def _run(self, slot: int, request: bytes, deadline: float) -> bytes:
        child = self._children[slot]
        if not child.process.is_alive():  # it died while idle: nobody's request is lost
            child = self._replace(slot)
        with self._lock:
            child.deadline_at = time.monotonic() + deadline
            self._busy.add(slot)
        try:
            # A request that may take longer than others may also use that much of a core.
            longer = deadline > self.limits.deadline
            cpu = max(self.limits.cpu, math.ceil(deadline)) if longer else self.limits.cpu
            child.pipe.send_bytes(_CPU.pack(cpu) + request)
            reply = child.pipe.recv_bytes(MAX_REPLY)
        except (EOFError, OSError) as error:
            self._replace(slot)
            if child.timed_out:
                raise WorkerTimedOut(f"no answer within {deadline:g} s") from error
            raise WorkerCrashed(f"the worker ended with code {child.process.exitcode}") from error
        finally:
            with self._lock:
                child.deadline_at = float("inf")
                self._busy.discard(slot)
        child.served += 1
        if child.served >= self.limits.requests:
            self._replace(slot)
        return reply

    def _spawn(self) -> _Child:
        """A new child. One that is killed before it has said who it is makes no difference: another is started."""
        problem: Exception | None = None
        for _ in range(_STARTS):
            ours, theirs = self._context.Pipe()
            process = self._context.Process(
                target=serve, args=(theirs, self._handler, self.limits), name="cka-lab-worker", daemon=True
            )
            try:
                process.start()
            except (EOFError, OSError) as error:
                problem = error
                ours.close()
                continue
            finally:
                theirs.close()
            return _Child(process, ours)
        raise WorkerCrashed("no worker could be started") from problem

    def _replace(self, slot: int) -> _Child:
        _end(self._children[slot])
        if not self._closing.is_set():
            self._children[slot] = self._spawn()
        return self._children[slot]

    def _watch(self) -> None:
        while not self._closing.wait(0.05):
            now = time.monotonic()
            with self._lock:
                for slot in self._busy:
                    child = self._children[slot]
                    if child.deadline_at < now:
                        child.timed_out = True
                        child.process.kill()


def _end(child: _Child) -> None:
    child.process.kill()
    child.process.join(timeout=5)
    with contextlib.suppress(OSError):  # the pipe of a killed child may be gone already
        child.pipe.close()


def serve(pipe: Connection, handler: Handler, limits: Limits) -> None:
    """The child's loop: read a request, handle it, answer; ends when the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which closes the pipe
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # a child has no file to write
    gc.freeze()
    gc.set_threshold(*_SELDOM)  # garbage is collected between requests: in one, it would double their time
    while True:
        if not pipe.poll(_IDLE):
            gc.collect()
        try:
            request = pipe.recv_bytes()
        except (EOFError, OSError):
            return
        _allow_cpu(_CPU.unpack_from(request)[0])
        pipe.send_bytes(handler(request[_CPU.size :]))


def _allow_cpu(seconds: int) -> None:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    used = usage.ru_utime + usage.ru_stime
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used) + 1 + seconds, hard))
