"""`kubectl create -f` (kubectl/pkg/cmd/create/create.go)."""

from __future__ import annotations

from collections.abc import Sequence

from app.apimachinery.manifests import Document
from app.apimachinery.meta import Object
from app.apis.scheme import KindInfo
from app.cluster.apiserver import warnings
from app.cluster.client import Client
from app.kubectl import resource_builder
from app.kubectl.resource_builder import Output
from app.kubectl.result import CommandResult


def run(client: Client, documents: Sequence[Document], *, namespace: str = "default") -> CommandResult:
    """Create each document's object; one that exists already is an error."""

    def create(info: KindInfo, obj: Object, output: Output) -> None:
        made = client.create(obj, field_manager="kubectl-create")
        output.warn(info, warnings.on_create(made))
        output.done(info, made, "created")

    return resource_builder.visit(documents, namespace, "creating", create)
