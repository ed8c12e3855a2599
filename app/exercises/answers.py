"""Carrying out manifests as a learner does: apply, create, replace --force or delete."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from app.apimachinery.manifests import Document, ManifestError
from app.cluster.cluster import Cluster
from app.exercises.base import Mode
from app.kubectl import failures, resource_builder
from app.kubectl.commands import apply, create, delete, replace
from app.kubectl.result import CommandResult

_VERBS: Mapping[Mode, Callable[..., CommandResult]] = {
    "apply": apply.run,
    "create": create.run,
    "replace": partial(replace.run, force=True),
    "delete": delete.run,
}


def carry_out(cluster: Cluster, manifests: str, mode: Mode = "apply") -> str:
    """Run the command on the cluster; returns what was refused, empty where nothing was.

    A command with several documents goes on after a refusal, as kubectl does.
    """
    try:
        documents = resource_builder.documents(manifests)
    except ManifestError as error:
        return str(error)
    return carry_out_documents(cluster, documents, mode)


def carry_out_documents(cluster: Cluster, documents: Sequence[Document], mode: Mode = "apply") -> str:
    """Like `carry_out`, for a text that has been read already."""
    if problem := cluster.unreachable():
        return failures.unreachable(problem, cluster.server)
    result = _VERBS[mode](cluster.client, documents)
    return result.stderr.strip() if result.code else ""
