"""What would have to change for a pod to fit a node, or for a node to win."""

from __future__ import annotations

from app.apimachinery.meta import Object
from app.scheduler.framework.runtime import Framework
from app.scheduler.snapshot import Snapshot
from app.scheduler.why.model import Change


def to_fit(framework: Framework, snapshot: Snapshot, pod: Object, node: str) -> list[Change]:
    """The smallest changes with which the pod passes all filters on the node; none where it does already."""
    raise NotImplementedError


def to_win(framework: Framework, snapshot: Snapshot, pod: Object, node: str) -> list[Change]:
    """The smallest changes with which the node gets the best total."""
    raise NotImplementedError
