"""PATCH: the stored object, changed, goes through the update (apiserver/pkg/endpoints/handlers/patch.go)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from app.apimachinery import go_text, meta, validation
from app.apimachinery import patch as patches
from app.apimachinery.errors import BadRequest, UnsupportedMediaType
from app.apimachinery.meta import Object
from app.apis import decode, schema
from app.apis.scheme import KindInfo
from app.cluster.apiserver import decoding
from app.cluster.apiserver.registry import Registry, WriteOptions

_TYPES = {
    "strategic": "strategic",
    "merge": "merge",
    "json": "json",
    "application/strategic-merge-patch+json": "strategic",
    "application/merge-patch+json": "merge",
    "application/json-patch+json": "json",
}


@dataclass(frozen=True)
class Target:
    """What is to be patched."""

    info: KindInfo
    name: str
    namespace: str = ""
    subresource: str = ""


def patch(
    registry: Registry,
    target: Target,
    changes: Mapping[str, Any] | Sequence[Any],
    patch_type: str,
    options: WriteOptions,
) -> Object:
    """Apply a patch and store the result.

    Raises:
        UnsupportedMediaType: a patch type that is not served.
        BadRequest: a patch that cannot be read.
        Invalid: a patch that does not fit the object, or a result that is not valid.
    """
    known = _TYPES.get(patch_type)
    if known is None:
        supported = ", ".join(sorted(name for name in _TYPES if "/" in name))
        raise UnsupportedMediaType(
            f"the body of the request was in an unknown format - accepted media types include: {supported}"
        )
    if meta.too_deep(changes, patches.MAX_DEPTH):
        raise BadRequest("the patch is nested too deep")
    current = registry.get(target.info, target.name, target.namespace)
    changed = _changed(target, current, changes, known)
    for field, value in (("apiVersion", target.info.api_version), ("kind", target.info.kind)):
        changed.setdefault(field, value)
    if meta.name_of(changed) != target.name:
        raise BadRequest(
            f"the name of the object ({meta.name_of(changed)}) does not match the name on the URL ({target.name})"
        )
    _check_decodes(changes, changed, known, options)
    return registry.update(target.info, changed, meta.namespace_of(current), options, target.subresource)


def _check_decodes(
    changes: Mapping[str, Any] | Sequence[Any], changed: Object, known: str, options: WriteOptions
) -> None:
    """A patch that leaves something undecodable is itself what is invalid (patch.go: applyPatchToCurrentObject)."""
    found = decode.problems(changed)
    if not found or (found[0].kind == "unknown" and options.field_validation != "Strict"):
        return
    shown = go_text.plain(changes) if known == "strategic" else orjson.dumps(changed).decode()
    error = validation.invalid("patch", shown, decoding.text(found))
    refusal = validation.invalid_object("", "", [error])
    refusal.hints = tuple(decoding.hints(found))
    raise refusal


def _changed(target: Target, current: Object, changes: Mapping[str, Any] | Sequence[Any], known: str) -> Object:
    if known == "json":
        if isinstance(changes, Mapping):
            raise BadRequest("json: cannot unmarshal object into Go value of type jsonpatch.Patch")
        return patches.json_patch(current, changes)
    if not isinstance(changes, Mapping):
        raise BadRequest("json: cannot unmarshal array into Go value of type map[string]interface {}")
    if known == "merge":
        return dict(patches.merge(current, changes))
    return patches.strategic(current, changes, schema.patch_meta(target.info))
