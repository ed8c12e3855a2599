"""`kubectl apply -f`: client-side apply by a three-way strategic merge (kubectl/pkg/cmd/apply/apply.go, patcher.go)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from app.apimachinery import meta, patch
from app.apimachinery.errors import BadRequest, Hint, MethodNotAllowed
from app.apimachinery.manifests import Document
from app.apimachinery.messages import N_, Message
from app.apimachinery.meta import Object
from app.apis import schema
from app.apis.scheme import KindInfo
from app.cluster.apiserver import warnings
from app.cluster.client import Client
from app.kubectl import resource_builder
from app.kubectl.resource_builder import Output
from app.kubectl.result import CommandResult

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
MANAGER = "kubectl-client-side-apply"


def run(client: Client, documents: Sequence[Document], *, namespace: str = "default") -> CommandResult:
    """Create what is missing, patch what differs: `created`, `configured` or `unchanged` for each document."""

    def apply(info: KindInfo, obj: Object, output: Output) -> None:
        _apply(client, info, obj, output)

    return resource_builder.visit(documents, namespace, "applying", apply)


def _apply(client: Client, info: KindInfo, obj: Object, output: Output) -> None:
    _check(info, obj)
    name, place = meta.name_of(obj), meta.namespace_of(obj)
    wanted = _annotated(obj)
    current = client.find(info, name, place) if name else None
    if current is None:
        output.prefix = f'error when creating "{resource_builder.SOURCE}": '
        made = client.create(wanted, field_manager=MANAGER)
        output.warn(info, warnings.on_create(made))
        output.done(info, made, "created")
        return
    if LAST_APPLIED not in meta.annotations_of(current):
        output.stderr.append(_missing_annotation(info, name))
    original = _last_applied(current)
    changes = patch.three_way(original, wanted, current, schema.patch_meta(info))
    if not changes:
        output.stdout.append(f"{resource_builder.kind_name(info)}/{name} unchanged")
        return
    output.prefix = _patch_prefix(info, current, changes)
    patched = client.patch(info, name, place, changes, "strategic", field_manager=MANAGER)
    output.warn(info, warnings.on_update(patched, current))
    output.done(info, patched, "configured")


def _check(info: KindInfo, obj: Object) -> None:
    metadata = obj.get("metadata")
    if info.kind == "Binding":
        advice = Message(N_("A Binding can only be created: use “create” instead of “apply”."))
        raise MethodNotAllowed(
            "the server does not allow this method on the requested resource", hints=[Hint("kind", advice)]
        )
    if isinstance(metadata, dict) and metadata.get("generateName") and not metadata.get("name"):
        generated = metadata["generateName"]
        raise BadRequest(
            f"from {generated}: cannot use generate name with apply", hints=[Hint("metadata.generateName")]
        )


def _patch_prefix(info: KindInfo, current: Object, changes: Object) -> str:
    """What apply says around a refusal of its patch (patcher.go: patchSimple)."""
    group_version = f"{info.group}/{info.version}"
    text = orjson.dumps(changes, option=orjson.OPT_SORT_KEYS).decode()
    return (
        f"error when applying patch:\n{text}\nto:\n"
        f'Resource: "{group_version}, Resource={info.plural}", GroupVersionKind: "{group_version}, Kind={info.kind}"\n'
        f'Name: "{meta.name_of(current)}", Namespace: "{meta.namespace_of(current)}"\n'
        f'for: "{resource_builder.SOURCE}": error when patching "{resource_builder.SOURCE}": '
    )


def _annotated(obj: Object) -> Object:
    """The object with its own text as an annotation (util/apply.go: GetModifiedConfiguration)."""
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("annotations") or {}, dict):
        return obj
    given = {key: value for key, value in (metadata.get("annotations") or {}).items() if key != LAST_APPLIED}
    plain = {**obj, "metadata": {**metadata, "annotations": given}}
    text = orjson.dumps(plain, option=orjson.OPT_SORT_KEYS).decode() + "\n"
    return {**obj, "metadata": {**metadata, "annotations": {**given, LAST_APPLIED: text}}}


def _last_applied(current: Object) -> dict[str, Any]:
    """What was applied last; empty where nothing readable is noted."""
    text = meta.annotations_of(current).get(LAST_APPLIED)
    if not text:
        return {}
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _missing_annotation(info: KindInfo, name: str) -> str:
    return (
        f"Warning: resource {info.plural}/{name} is missing the {LAST_APPLIED} annotation which is required by "
        "kubectl apply. kubectl apply should only be used on resources created declaratively by either kubectl create "
        "--save-config or kubectl apply. The missing annotation will be patched automatically."
    )
