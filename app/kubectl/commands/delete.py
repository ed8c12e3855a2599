"""`kubectl delete -f` (kubectl/pkg/cmd/delete/delete.go). Waiting until the objects are gone is the caller's."""

from __future__ import annotations

from collections.abc import Sequence

from app.apimachinery import meta
from app.apimachinery.manifests import Document
from app.apimachinery.meta import Object
from app.apis.scheme import KindInfo
from app.cluster.client import Client
from app.kubectl import resource_builder
from app.kubectl.resource_builder import Output
from app.kubectl.result import CommandResult, Ref


def run(
    client: Client,
    documents: Sequence[Document],
    *,
    namespace: str = "default",
    grace_seconds: int | None = None,
    propagation: str = "Background",
) -> CommandResult:
    """Delete each document's object by its name; `grace_seconds=0` is `--force --grace-period=0`."""

    def delete(info: KindInfo, obj: Object, output: Output) -> None:
        name, place = meta.name_of(obj), meta.namespace_of(obj)
        known = client.get(info, name, place)
        client.delete(info, name, place, grace_seconds=grace_seconds, propagation=propagation)
        output.stdout.append(message(info, known, forced=grace_seconds == 0))
        output.changed.append(Ref.to(known))

    result = resource_builder.visit(documents, namespace, "deleting", delete)
    if grace_seconds != 0:
        return result
    warning = (
        "Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. "
        "The resource may continue to run on the cluster indefinitely.\n"
    )
    return CommandResult(result.stdout, warning + result.stderr, result.code, result.changed, result.problems)


def message(info: KindInfo, obj: Object, *, forced: bool = False) -> str:
    """`pod "bee" deleted from default namespace` (PrintObj)."""
    operation = "force deleted" if forced else "deleted"
    place = f" from {meta.namespace_of(obj)} namespace" if info.namespaced else ""
    return f'{resource_builder.kind_name(info)} "{meta.name_of(obj)}" {operation}{place}'
