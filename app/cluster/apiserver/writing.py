"""POST, PUT, PATCH and DELETE (k8s.io/apiserver/pkg/endpoints/handlers: create.go to delete.go)."""

from __future__ import annotations

from typing import Any

from app.apimachinery import patch as patches
from app.apimachinery.errors import BadRequest, MethodNotAllowed, UnsupportedMediaType
from app.apimachinery.meta import Object, name_of, namespace_of
from app.apis import scheme
from app.cluster.apiserver import (
    bodies,
    eviction,
    list_options,
    managedfields,
    patching,
    reading,
    request_options,
    shapes,
    token_requests,
    warnings,
)
from app.cluster.apiserver.exchange import ApiRequest, ApiResponse
from app.cluster.apiserver.paths import Target
from app.cluster.apiserver.served import Served

_PATCH_TYPES = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    patching.APPLY,
)
_RETURN_DELETED = (
    "Pod",
    "Service",
    "ServiceAccount",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "ResourceQuota",
)

_BINDING = scheme.for_kind("v1", "Binding")
_SUCCESS = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}


def create(cluster: Served, request: ApiRequest, target: Target) -> ApiResponse:
    """POST to a collection: 201 and the object; for a Binding 201 and a Status."""
    if target.info.namespaced and not target.namespace:
        raise MethodNotAllowed("the server does not allow this method on the requested resource")
    obj = bodies.decoded(request, target.info)
    created = cluster.client.create(obj, target.namespace, **request_options.of_write(request))
    if target.info.kind == "Binding":
        return ApiResponse.of({**_SUCCESS, "code": 201}, 201)
    told = [*bodies.unknown_fields(request, obj), *warnings.on_create(created)]
    return bodies.warned(reading.answer(cluster, request, target, created, 201), told)


def update(cluster: Served, request: ApiRequest, target: Target) -> ApiResponse:
    """PUT of an object or of its status."""
    obj = bodies.decoded(request, target.info)
    if name_of(obj) != target.name:
        raise BadRequest(f"the name of the object ({name_of(obj)}) does not match the name on the URL ({target.name})")
    options = request_options.of_write(request)
    old = cluster.client.find(target.info, target.name, target.namespace)
    updated = cluster.client.update(obj, target.namespace, subresource=target.subresource, **options)
    told = [*bodies.unknown_fields(request, obj), *_changed(target, updated, old)]
    return bodies.warned(reading.answer(cluster, request, target, updated), told)


def _changed(target: Target, new: Object, old: Object | None) -> list[str]:
    return [] if target.subresource or old is None else warnings.on_update(new, old)


def patch(cluster: Served, request: ApiRequest, target: Target) -> ApiResponse:
    """PATCH of an object or of its status, in any of the four forms; an apply may create the object: 201."""
    applies = request.content_type == patching.APPLY
    options = request_options.of_patch(request, applies=applies)
    document = patch_of(request)
    old = cluster.client.find(target.info, target.name, target.namespace)
    patched = cluster.client.patch(
        target.info,
        target.name,
        target.namespace,
        document,
        request.content_type,
        target.subresource or None,
        **options,
    )
    told = _changed(target, patched, old) if old is not None else warnings.on_create(patched)
    if not applies:
        told = [*_unknown_in_patch(request, target, document), *told]
    code = 201 if applies and old is None else 200
    return bodies.warned(reading.answer(cluster, request, target, patched, code), told)


def _unknown_in_patch(request: ApiRequest, target: Target, document: dict[str, Any] | list[Any]) -> list[str]:
    """Unknown fields that a patch sets; directives are no fields, and what is null is not set."""
    if not isinstance(document, dict):
        quiet = request.param("fieldValidation") == "Ignore"
        return [] if quiet else patching.unknown_in_operations(document)
    named = {**patches.merge({}, document), "apiVersion": target.info.api_version, "kind": target.info.kind}
    return [text for text in bodies.unknown_fields(request, named) if "$" not in text]


def patch_of(request: ApiRequest) -> dict[str, Any] | list[Any]:
    """The patch in the body. UnsupportedMediaType for a patch type that is not served, BadRequest."""
    if request.content_type not in _PATCH_TYPES:
        raise UnsupportedMediaType(
            "the body of the request was in an unknown format - accepted media types include: "
            + ", ".join(_PATCH_TYPES)
        )
    document = bodies.apply_of(request) if request.content_type == patching.APPLY else bodies.json_of(request)
    if not isinstance(document, dict | list):
        raise BadRequest("the patch is neither an object nor a list of operations")
    return document


def delete(cluster: Served, request: ApiRequest, target: Target) -> ApiResponse:
    """DELETE of one object: the object where it lives on or the kind returns it, else a Status."""
    deleted = _delete(cluster, target, target.name, target.namespace, request_options.of_delete(request))
    gone = cluster.client.find(target.info, target.name, target.namespace) is None
    if gone and target.info.kind not in _RETURN_DELETED:
        details = {"name": target.name, "kind": target.info.plural, "uid": deleted["metadata"]["uid"]}
        if target.info.group:
            details["group"] = target.info.group
        return ApiResponse.of({**_SUCCESS, "details": details})
    return reading.answer(cluster, request, target, deleted)


def delete_collection(cluster: Served, request: ApiRequest, target: Target) -> ApiResponse:
    """DELETE of all objects that the selectors leave; the list of them."""
    options = request_options.of_delete(request)
    list_options.check(request)
    matches = reading.selector(request, target)
    deleted = [
        _delete(cluster, target, name_of(obj), namespace_of(obj), options)
        for obj in cluster.client.list(scheme.stored(target.info), target.namespace or None)
        if matches(obj)
    ]
    metadata = {"resourceVersion": str(cluster.client.revision)}
    info = target.info
    return ApiResponse.of(
        {
            "kind": f"{info.kind}List",
            "apiVersion": info.api_version,
            "metadata": metadata,
            "items": [managedfields.shown(obj) for obj in deleted],
        }
    )


def bind(cluster: Served, request: ApiRequest, target: Target) -> ApiResponse:
    """POST to pods/NAME/binding: assign the pod to a node."""
    binding = bodies.decoded(request, _BINDING)
    if name_of(binding) not in ("", target.name):
        raise BadRequest("name in URL does not match name in Binding object")
    metadata = {**(binding.get("metadata") or {}), "name": target.name, "namespace": target.namespace}
    dry_run = request_options.of_write(request)["dry_run"]
    cluster.client.bind(target.namespace, target.name, {**binding, "metadata": metadata}, dry_run=dry_run)
    return ApiResponse.of({**_SUCCESS, "code": 201}, 201)


def create_token(cluster: Served, request: ApiRequest, target: Target) -> ApiResponse:
    """POST to serviceaccounts/NAME/token: 201 and the request with its token."""
    body = bodies.decoded(request, token_requests.TOKEN_REQUEST)
    shapes.check(body, token_requests.TOKEN_REQUEST, token_requests.SHAPE)
    request_options.of_write(request)
    return ApiResponse.of(cluster.client.create_token(target.namespace, target.name, body), 201)


def evict(cluster: Served, request: ApiRequest, target: Target) -> ApiResponse:
    """POST to pods/NAME/eviction: 201 and a Status."""
    body = bodies.decoded(request, eviction.EVICTION, eviction.VERSIONS)
    shapes.check(body, eviction.EVICTION, eviction.SHAPE)
    given = namespace_of(body)
    if given and given != target.namespace:
        raise BadRequest("the namespace of the provided object does not match the namespace sent on the request")
    dry_run = request_options.of_write(request)["dry_run"]
    cluster.client.evict(target.namespace, target.name, body, dry_run=dry_run)
    return ApiResponse.of({**_SUCCESS, "code": 201}, 201)


def _delete(cluster: Served, target: Target, name: str, namespace: str, options: dict[str, Any]) -> Object:
    return cluster.client.delete(target.info, name, namespace, **options)
