"""The ReplicationController controller (pkg/controller/replication): the ReplicaSets' code with another kind."""

from __future__ import annotations

from app.cluster.loops import Context
from app.cluster.replicas import ReplicaManager

NAME = "replication-controller"
WATCHES = frozenset({"replicationcontrollers", "pods"})
_MANAGER = ReplicaManager(NAME, "replicationcontrollers", "ReplicationController")


def sync(context: Context) -> None:
    """Bring every ReplicationController closer to its replicas."""
    _MANAGER.sync(context)
