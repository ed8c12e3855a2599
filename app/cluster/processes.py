"""A container's process as the kubelet sees it: what it is started with, and what becomes of it.

The seam between the kubelet and programs that take part in the cluster, such as kube-scheduler.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from app.apimachinery.clock import SECOND, Instant, Micros
from app.apimachinery.meta import Object
from app.cluster.client import Client

QUICK: Micros = SECOND // 2
"""How long a command takes that only does something and ends."""


@dataclass(frozen=True)
class Launch:
    """One start of one container. `files` maps mounted paths to their text."""

    now: Instant
    client: Client
    pod: Object
    container: Object
    argv: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    has_store: bool = True
    """Whether the cluster's etcd answers."""


@dataclass(frozen=True)
class Run:
    """What became of a start.

    `runs` is how long the process lives, None for as long as it is let; `stops` how long it takes after SIGTERM,
    None for a process that ignores it; `failure` a start that the runtime refused; `https` the ports served by TLS.
    """

    runs: Micros | None = None
    code: int = 0
    reason: str = ""
    lines: tuple[str, ...] = ()
    stops: Micros | None = QUICK
    failure: str = ""
    ports: tuple[int, ...] | None = None
    https: tuple[int, ...] = ()
    elsewhere: bool = False
    """Whether it serves at a port where nobody looks for it."""


Program = Callable[[Launch], Run]
