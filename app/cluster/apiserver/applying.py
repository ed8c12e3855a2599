"""Server-side apply: PATCH with an apply configuration (apiserver/pkg/endpoints/handlers/patch.go: applyPatcher).

What the configuration says goes over the stored object, what it no longer says goes away, and both only where nobody
else owns the field. Where there is no object yet, it is created.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.apimachinery import meta
from app.apimachinery.errors import BadRequest, PlainFault
from app.apimachinery.meta import Object
from app.apis import conversion, typed_check
from app.apis.scheme import KindInfo
from app.cluster import store as stores
from app.cluster.apiserver import managedfields
from app.cluster.apiserver.registry import Registry, WriteOptions, key, limit_size


@dataclass(frozen=True)
class Target:
    """What is to be patched."""

    info: KindInfo
    name: str
    namespace: str = ""
    subresource: str = ""


def apply(
    registry: Registry, target: Target, applied: Mapping[str, Any] | Sequence[Any], options: WriteOptions
) -> Object:
    """Apply a configuration and store the result.

    Raises:
        BadRequest: a body that is no configuration of the kind.
        PlainFault: fields that the kind does not have, or values of the wrong type.
        Conflict: others own fields that the configuration would change.
        RequestEntityTooLarge: the object and what is known of its owners are too large.
        NotFound: a subresource of an object that is not there.
    """
    configuration = _checked(target, applied)
    stored = registry.store.get(target.info.plural, key(target.info, target.name, target.namespace))
    if stored is None and target.subresource:
        raise stores.not_found(target.info.plural, target.name)
    write = managedfields.Write(
        target.info, options.field_manager, options.door or target.subresource, registry.store.clock.now()
    )
    live = None if stored is None else conversion.shown(target.info, stored)
    merged, owners = managedfields.after_apply(write, live, configuration, force=options.force)
    _check_identity(target, merged, stored)
    limit_size(merged, owners)
    namespace = target.namespace if target.info.namespaced else ""
    if stored is None:
        return registry.create(target.info, merged, namespace, options, owners)
    return registry.update(target.info, merged, namespace, options, target.subresource, owners)


def _checked(target: Target, applied: Mapping[str, Any] | Sequence[Any]) -> Object:
    """The configuration, where it is one of the target's kind and fits its schema (versioncheck.go)."""
    if not isinstance(applied, Mapping):
        problem = "json: cannot unmarshal array into Go value of type map[string]interface {}"
        raise BadRequest(f"error decoding YAML: error unmarshaling JSON: while decoding JSON: {problem}")
    info = target.info
    api_version, kind = str(applied.get("apiVersion") or ""), str(applied.get("kind") or "")
    if (api_version, kind) != (info.api_version, info.kind):
        group_version = api_version if "/" in api_version else f"/{api_version}"
        raise BadRequest(f"invalid object type: {group_version}, Kind={kind}")
    metadata = applied.get("metadata") or {}
    if isinstance(metadata, Mapping) and metadata.get("managedFields") is not None:
        raise BadRequest("metadata.managedFields must be nil")
    problem = typed_check.problems(dict(applied), info)
    if problem:
        place = f"{meta.namespace_of(applied)}/{meta.name_of(applied)}" if isinstance(metadata, Mapping) else "/"
        told = f"{place}; {info.group}/{info.version}, Kind={info.kind}"
        raise PlainFault(f"failed to create typed patch object ({told}): {problem}")
    return {**applied, "metadata": dict(metadata)}


def _check_identity(target: Target, merged: Object, stored: Object | None) -> None:
    """The name, the namespace and the uid must be those of the request (patch.go: applyPatch)."""
    metadata = merged["metadata"]
    if stored is None and metadata.get("uid"):
        problem = f"uid mismatch: the provided object specified uid {metadata['uid']}, and no existing object was found"
        raise stores.conflict(target.info.plural, target.name, problem)
    name = meta.name_of(merged)
    if not name:
        told = f"the name of the object ({target.name} based on URL) was undeterminable"
        raise BadRequest(f"{told}: name must be provided")
    if name != target.name:
        raise BadRequest(f"the name of the object ({name}) does not match the name on the URL ({target.name})")
