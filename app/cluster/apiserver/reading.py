"""GET: one object, a list, and what a watch sees (k8s.io/apiserver/pkg/endpoints/handlers/get.go)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from app.apimachinery import labels
from app.apimachinery.errors import BadRequest, Invalid
from app.apimachinery.meta import Object, key_of, labels_of
from app.apis.scheme import KindInfo
from app.cluster.apiserver import field_selectors, strategies_table, tables
from app.cluster.apiserver.exchange import ApiRequest, ApiResponse
from app.cluster.apiserver.negotiation import Form, negotiate
from app.cluster.apiserver.paths import Target
from app.cluster.apiserver.served import Served
from app.cluster.apiserver.watch import Stream


def get(cluster: Served, request: ApiRequest, target: Target) -> ApiResponse:
    """One object, whole, as metadata or as a Table of one row. NotFound."""
    form = negotiate(request.accept, Form.TABLE, Form.METADATA)
    obj = cluster.client.get(target.info, target.name, target.namespace)
    return ApiResponse.of(encoder(cluster, request, target.info, form)(obj))


def answer(cluster: Served, request: ApiRequest, target: Target, obj: Object, code: int = 200) -> ApiResponse:
    """An object that a write returns, in the form that the client accepts."""
    form = negotiate(request.accept, Form.TABLE, Form.METADATA)
    return ApiResponse.of(encoder(cluster, request, target.info, form)(obj), code)


def list_(cluster: Served, request: ApiRequest, target: Target) -> ApiResponse:
    """The objects that the selectors leave, in key order, at most `limit` of them."""
    info = target.info
    form = negotiate(request.accept, Form.TABLE, Form.METADATA_LIST)
    matches = selector(request, target)
    found = [obj for obj in cluster.client.list(info, target.namespace or None) if matches(obj)]
    page, metadata = _page(request, found, cluster.client.revision)
    if form is Form.TABLE:
        body = _table(cluster, request, info, page, metadata)
    elif form is Form.METADATA_LIST:
        items = [tables.partial_metadata(obj) for obj in page]
        body = {"kind": form.value, "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "items": items}
    else:
        # Items of a typed list carry neither kind nor apiVersion: the list's own say it.
        items = [_without_type(obj) for obj in page]
        body = {
            "kind": f"{info.kind}List",
            "apiVersion": info.api_version,
            "metadata": metadata,
            "items": items,
        }
    return ApiResponse.of(body)


def selector(request: ApiRequest, target: Target) -> Callable[[Object], bool]:
    """Whether an object is one that the request is about. BadRequest for selectors that make no sense."""
    try:
        chosen = labels.parse_selector(request.param("labelSelector"))
    except labels.SelectorError as error:
        raise BadRequest(str(error)) from error
    fields = field_selectors.parse(request.param("fieldSelector"))
    fields_of = strategies_table.strategy_for(target.info).selectable_fields

    def about(obj: Object) -> bool:
        metadata = obj["metadata"]
        return (
            (not target.namespace or metadata.get("namespace") == target.namespace)
            and (not target.name or metadata["name"] == target.name)
            and chosen.matches(labels_of(obj))
            and fields.matches(obj, fields_of)
        )

    return about


def stream(cluster: Served, request: ApiRequest, target: Target) -> Stream:
    """The watch that the request asks for."""
    form = negotiate(request.accept, Form.TABLE, Form.METADATA)
    return Stream(
        info=target.info,
        matches=selector(request, target),
        encode=encoder(cluster, request, target.info, form),
        bookmarks=request.flag("allowWatchBookmarks"),
    )


def wants_initial_events(request: ApiRequest) -> bool | None:
    """`sendInitialEvents`; None where it is not given. Invalid without the match rule that it needs."""
    if not request.param("sendInitialEvents"):
        return None
    if request.param("resourceVersionMatch") != "NotOlderThan":
        raise Invalid(
            'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: '
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        )
    return request.flag("sendInitialEvents")


def encoder(cluster: Served, request: ApiRequest, info: KindInfo, form: Form) -> Callable[[Object], Object]:
    """How one object is written in a form. BadRequest for table options that make no sense."""
    if form is Form.TABLE:
        return lambda obj: _table(cluster, request, info, [obj], _version_of(obj))
    if form is Form.METADATA:
        return tables.partial_metadata
    return lambda obj: obj


def _version_of(obj: Object) -> dict[str, Any]:
    return {"resourceVersion": obj["metadata"]["resourceVersion"]}


def _table(
    cluster: Served, request: ApiRequest, info: KindInfo, objects: Sequence[Object], metadata: dict[str, Any]
) -> Object:
    include = request.param("includeObject") or "Metadata"
    if include not in tables.INCLUDE_OBJECT:
        raise BadRequest(
            f'Unable to convert to Table as requested: includeObject: Invalid value: "{include}": '
            "must be 'Metadata', 'Object', 'None', or empty"
        )
    printer = tables.printer_for(info.group_resource)
    return tables.table(printer, objects, cluster.now, metadata=metadata, include_object=include)


def _without_type(obj: Object) -> Object:
    return {key: value for key, value in obj.items() if key not in ("kind", "apiVersion")}


def _page(request: ApiRequest, found: list[Object], revision: int) -> tuple[Sequence[Object], dict[str, Any]]:
    """One chunk of a list and the list's metadata. A later chunk shows the objects as they are by then."""
    metadata: dict[str, Any] = {"resourceVersion": str(revision)}
    limit = request.number("limit") or 0
    if request.param("continue"):
        start, seen_revision = _decode_token(request.param("continue"))
        found = [obj for obj in found if key_of(obj) > start]
        metadata["resourceVersion"] = str(seen_revision)
        revision = seen_revision
    if limit <= 0 or len(found) <= limit:
        return found, metadata
    page = found[:limit]
    metadata["continue"] = _encode_token(key_of(page[-1]), revision)
    if not request.param("labelSelector") and not request.param("fieldSelector"):
        metadata["remainingItemCount"] = len(found) - limit
    return page, metadata


def _encode_token(start: str, revision: int) -> str:
    return base64.urlsafe_b64encode(orjson.dumps([start, revision])).decode().rstrip("=")


def _decode_token(token: str) -> tuple[str, int]:
    try:
        start, revision = orjson.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except (binascii.Error, ValueError, TypeError) as error:
        raise BadRequest("continue key is not valid") from error
    if not isinstance(start, str) or not isinstance(revision, int):
        raise BadRequest("continue key is not valid")
    return start, revision
