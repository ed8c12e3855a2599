"""`kubectl replace -f`, with or without `--force` (kubectl/pkg/cmd/replace/replace.go)."""

from __future__ import annotations

from collections.abc import Sequence

from app.apimachinery import meta
from app.apimachinery.errors import NotFound
from app.apimachinery.manifests import Document
from app.apimachinery.meta import Object
from app.apis.scheme import KindInfo
from app.cluster.apiserver import warnings
from app.cluster.client import Client
from app.kubectl import resource_builder
from app.kubectl.resource_builder import Output
from app.kubectl.result import CommandResult


def run(
    client: Client, documents: Sequence[Document], *, namespace: str = "default", force: bool = False
) -> CommandResult:
    """Put each document's object in the place of the stored one.

    With `force` the stored one is deleted at once and the new one created; without, a missing one is an error.
    """

    def update(info: KindInfo, obj: Object, output: Output) -> None:
        former = client.find(info, meta.name_of(obj), meta.namespace_of(obj))
        changed = client.update(obj, field_manager="kubectl-replace")
        output.warn(info, [] if former is None else warnings.on_update(changed, former))
        output.done(info, changed, "replaced")

    def recreate(info: KindInfo, obj: Object, output: Output) -> None:
        name, place = meta.name_of(obj), meta.namespace_of(obj)
        try:
            known = client.get(info, name, place)
            client.delete(info, name, place, grace_seconds=0)
        except NotFound:
            known = None
        if known is not None:
            where = f" from {place} namespace" if info.namespaced else ""
            output.stdout.append(f'{resource_builder.kind_name(info)} "{name}" deleted{where}')
        made = client.create(obj, field_manager="kubectl-replace")
        output.warn(info, warnings.on_create(made))
        output.done(info, made, "replaced")

    return resource_builder.visit(documents, namespace, "replacing", recreate if force else update)
