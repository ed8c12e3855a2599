"""The ReplicaSet controller (pkg/controller/replicaset/replica_set.go); its work is in `cluster.replicas`."""

from __future__ import annotations

from app.cluster.loops import Context
from app.cluster.replicas import ReplicaManager

NAME = "replicaset-controller"
WATCHES = frozenset({"replicasets", "pods"})
_MANAGER = ReplicaManager(NAME, "replicasets", "ReplicaSet")


def sync(context: Context) -> None:
    """Bring every ReplicaSet closer to its replicas."""
    _MANAGER.sync(context)
