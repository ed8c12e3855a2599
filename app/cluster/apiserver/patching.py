"""PATCH: the stored object, changed, goes through the update (apiserver/pkg/endpoints/handlers/patch.go)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from app.apimachinery import go_text, meta, validation
from app.apimachinery import patch as patches
from app.apimachinery.errors import BadRequest, Invalid, UnsupportedMediaType
from app.apimachinery.meta import Object
from app.apis import decode, schema
from app.cluster.apiserver import applying, decoding, managedfields
from app.cluster.apiserver.applying import Target
from app.cluster.apiserver.registry import Registry, WriteOptions

APPLY = "application/apply-patch+yaml"
_TYPES = {
    "apply": "apply",
    APPLY: "apply",
    "strategic": "strategic",
    "merge": "merge",
    "json": "json",
    "application/strategic-merge-patch+json": "strategic",
    "application/merge-patch+json": "merge",
    "application/json-patch+json": "json",
}


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
    if known == "apply":
        return applying.apply(registry, target, changes, options)
    current = registry.get(target.info, target.name, target.namespace)
    if _speaks_of_owners(changes):
        current = managedfields.shown(current)
    changed = _changed(target, current, changes, known)
    changed = _named(target, changed, known)
    _check_decodes(changes, changed, known, options)
    if meta.name_of(changed) != target.name:
        raise BadRequest(
            f"the name of the object ({meta.name_of(changed)}) does not match the name on the URL ({target.name})"
        )
    return registry.update(target.info, changed, meta.namespace_of(current), options, target.subresource)


def _speaks_of_owners(changes: Mapping[str, Any] | Sequence[Any]) -> bool:
    """Whether a patch looks at managedFields, which are no part of what is stored."""
    if isinstance(changes, Mapping):
        metadata = changes.get("metadata")
        return isinstance(metadata, Mapping) and "managedFields" in metadata
    pointers = [step.get(name) for step in changes if isinstance(step, Mapping) for name in ("path", "from")]
    return any(
        isinstance(pointer, str) and (pointer in {"", "/metadata"} or pointer.startswith("/metadata/managedFields"))
        for pointer in pointers
    )


def _named(target: Target, changed: Object, known: str) -> Object:
    """The object with its kind. One that has become another kind's cannot be decoded; a strategic patch has no say."""
    info = target.info
    api_version, kind = changed.get("apiVersion") or info.api_version, changed.get("kind") or info.kind
    if known != "strategic" and (api_version, kind) != (info.api_version, info.kind):
        told = (
            f'no kind "{kind}" is registered for version "{api_version}" in scheme "pkg/api/legacyscheme/scheme.go:30"'
        )
        raise _not_decodable(orjson.dumps(changed).decode(), told)
    return {**changed, "apiVersion": info.api_version, "kind": info.kind}


def unknown_in_operations(operations: Sequence[Any]) -> list[str]:
    """Fields of a JSON patch's operations that there are not (patch.go: applyJSPatch)."""
    known = {"op", "path", "from", "value"}
    return [
        f'json patch unknown field "[{index}].{name}"'
        for index, operation in enumerate(operations)
        if isinstance(operation, Mapping)
        for name in operation
        if name not in known
    ]


def _not_decodable(shown: str, told: str) -> Invalid:
    return validation.invalid_object("", "", [validation.invalid("patch", shown, told)])


def _check_decodes(
    changes: Mapping[str, Any] | Sequence[Any], changed: Object, known: str, options: WriteOptions
) -> None:
    """A patch that leaves something undecodable is itself what is invalid (patch.go: applyPatchToCurrentObject)."""
    found = decode.problems(changed)
    strict = options.field_validation == "Strict"
    strange = unknown_in_operations(changes) if strict and not isinstance(changes, Mapping) else []
    if strange and not found:
        raise _not_decodable(orjson.dumps(changed).decode(), f"strict decoding error: {', '.join(strange)}")
    if not found or (found[0].kind == "unknown" and not strict):
        return
    shown = go_text.plain(changes) if known == "strategic" else orjson.dumps(changed).decode()
    refusal = _not_decodable(shown, decoding.text(found))
    refusal.hints = tuple(decoding.hints(found))
    raise refusal


def _changed(target: Target, current: Object, changes: Mapping[str, Any] | Sequence[Any], known: str) -> Object:
    if known == "json":
        if isinstance(changes, Mapping):
            problem = "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"
            raise BadRequest(f"error decoding patch: {problem}")
        return patches.json_patch(current, changes)
    if not isinstance(changes, Mapping):
        problem = "json: cannot unmarshal array into Go value of type map[string]interface {}"
        raise BadRequest(f"error decoding patch: {problem}" if known == "merge" else problem)
    if known == "merge":
        return dict(patches.merge(current, changes))
    return patches.strategic(current, changes, schema.patch_meta(target.info))
