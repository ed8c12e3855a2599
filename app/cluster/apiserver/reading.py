"""GET: one object, a list, and what a watch sees (k8s.io/apiserver/pkg/endpoints/handlers/get.go)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from app.apimachinery import labels
from app.apimachinery.errors import BadRequest, Expired
from app.apimachinery.meta import Object, key_of, labels_of, namespace_of
from app.apis import conversion, scheme
from app.apis.scheme import KindInfo
from app.cluster.apiserver import field_selectors, list_options, managedfields, strategies_table, tables
from app.cluster.apiserver.exchange import ApiRequest, ApiResponse
from app.cluster.apiserver.negotiation import Form, negotiate
from app.cluster.apiserver.paths import Target
from app.cluster.apiserver.served import Served
from app.cluster.apiserver.watch import Stream


def get(cluster: Served, request: ApiRequest, target: Target) -> ApiResponse:
    """One object, whole, as metadata or as a Table of one row. NotFound."""
    form = negotiate(request.accept, Form.TABLE, Form.METADATA)
    list_options.refuse_future(list_options.version_of(request.param("resourceVersion")), cluster.client.revision)
    obj = cluster.client.get(target.info, target.name, target.namespace)
    return ApiResponse.of(encoder(cluster, request, target.info, form)(conversion.stored(target.info, obj)))


def answer(cluster: Served, request: ApiRequest, target: Target, obj: Object, code: int = 200) -> ApiResponse:
    """An object that a write returns, in the form that the client accepts."""
    form = negotiate(request.accept, Form.TABLE, Form.METADATA)
    return ApiResponse.of(encoder(cluster, request, target.info, form)(conversion.stored(target.info, obj)), code)


def list_(cluster: Served, request: ApiRequest, target: Target) -> ApiResponse:
    """The objects that the selectors leave, in key order, at most `limit` of them."""
    info = target.info
    form = negotiate(request.accept, Form.TABLE, Form.METADATA_LIST)
    matches = selector(request, target)
    wanted = list_options.wanted(request, cluster.client.revision)
    found = [obj for obj in _as_of(cluster, info, target.namespace, wanted) if matches(obj)]
    page, metadata = _page(request, found, wanted, cluster.client.revision)
    if form is Form.TABLE:
        body = _table(cluster, request, info, page, metadata)
    elif form is Form.METADATA_LIST:
        items = [tables.partial_metadata(managedfields.shown(obj)) for obj in page]
        body = {"kind": form.value, "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "items": items}
    else:
        # Items of a typed list carry neither kind nor apiVersion: the list's own say it.
        items = [_without_type(managedfields.shown(conversion.shown(info, obj))) for obj in page]
        body = {
            "kind": f"{info.kind}List",
            "apiVersion": info.api_version,
            "metadata": metadata,
            "items": items,
        }
    return ApiResponse.of(body)


def selector(request: ApiRequest, target: Target) -> Callable[[Object], bool]:
    """Whether a stored object is one that the request is about. BadRequest for selectors that make no sense."""
    try:
        chosen = labels.parse_selector(request.param("labelSelector"))
    except labels.SelectorError as error:
        raise BadRequest(str(error)) from error
    fields = field_selectors.parse(request.param("fieldSelector"), target.info)
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
    """`sendInitialEvents`; None where it is not given. Invalid for options that do not fit together."""
    list_options.check(request)
    return request.flag("sendInitialEvents") if request.param("sendInitialEvents") else None


def encoder(cluster: Served, request: ApiRequest, info: KindInfo, form: Form) -> Callable[[Object], Object]:
    """How one stored object is written in a form. BadRequest for table options that make no sense."""
    if form is Form.TABLE:
        return lambda obj: _table(cluster, request, info, [obj], _version_of(obj))
    if form is Form.METADATA:
        return lambda obj: tables.partial_metadata(managedfields.shown(obj))
    return lambda obj: managedfields.shown(conversion.shown(info, obj))


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
    printer = tables.printer_for(scheme.stored(info).group_resource)
    table = tables.table(printer, objects, cluster.now, metadata=metadata, include_object=include)
    if info.stored_as and include == "Object":
        for row in table["rows"]:
            row["object"] = conversion.shown(info, row["object"])
    return table


def _without_type(obj: Object) -> Object:
    return {key: value for key, value in obj.items() if key not in ("kind", "apiVersion")}


def _as_of(cluster: Served, info: KindInfo, namespace: str, wanted: list_options.Wanted) -> list[Object]:
    """The kind's objects in key order, as they were at the wanted revision: what was written since is taken back.

    Expired where the log does not reach back so far.
    """
    found = cluster.client.list(scheme.stored(info), namespace or None)
    if wanted.revision is None or wanted.revision >= cluster.client.revision:
        return found
    try:
        since = cluster.client.events_since(wanted.revision, info)
    except Expired as error:
        raise wanted.gone() from error
    if not since:
        return found
    objects = {key_of(obj): obj for obj in found}
    for event in reversed(since):
        if namespace and namespace_of(event.object) != namespace:
            continue
        if event.previous is None:
            objects.pop(key_of(event.object), None)
        else:
            objects[key_of(event.object)] = event.previous
    return [objects[key] for key in sorted(objects)]


def _page(
    request: ApiRequest, found: list[Object], wanted: list_options.Wanted, newest: int
) -> tuple[Sequence[Object], dict[str, Any]]:
    """One chunk of a list and the list's metadata (storage/etcd3/store.go: GetList)."""
    revision = newest if wanted.revision is None else wanted.revision
    metadata: dict[str, Any] = {"resourceVersion": str(revision)}
    limit = request.number("limit") or 0
    if wanted.start:
        found = [obj for obj in found if key_of(obj) > wanted.start]
    if limit <= 0 or len(found) <= limit:
        return found, metadata
    page = found[:limit]
    metadata["continue"] = list_options.encode_token(key_of(page[-1]), revision)
    if not request.param("labelSelector") and not request.param("fieldSelector"):
        metadata["remainingItemCount"] = len(found) - limit
    return page, metadata
