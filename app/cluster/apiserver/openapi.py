"""OpenAPI v3 made of the schema data: what kubectl validates with and explains (k8s.io/kube-openapi/pkg/handler3).

A document carries the structure of a group version's kinds, and for each resource the operations with what kubectl
looks for: the group, version and kind, and `fieldValidation`, by which it leaves strict decoding to the server.
Descriptions are left out: they are Kubernetes' own texts.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

import orjson

from app.apis import schema, scheme
from app.apis.schema import Field, Type
from app.apis.scheme import KindInfo
from app.cluster.apiserver import discovery

_SCALARS: dict[str, dict[str, Any]] = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "double": {"type": "number", "format": "double"},
    "bytes": {"type": "string", "format": "byte"},
    "any": {"type": "object"},
}
_NAMED = {
    "time": ("io.k8s.apimachinery.pkg.apis.meta.v1.Time", {"type": "string", "format": "date-time"}),
    "quantity": (
        "io.k8s.apimachinery.pkg.api.resource.Quantity",
        {"oneOf": [{"type": "string"}, {"type": "number"}]},
    ),
    "intstr": (
        "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
        {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
    ),
}
_WRITE = ("dryRun", "fieldManager", "fieldValidation")
_VERBS = {
    "get": ("get", ("pretty",)),
    "put": ("put", _WRITE),
    "patch": ("patch", (*_WRITE, "force")),
    "delete": ("delete", ("dryRun", "gracePeriodSeconds", "orphanDependents", "propagationPolicy")),
}


@cache
def index() -> bytes:
    """/openapi/v3: where each group version's document is; its hash changes with its content."""
    paths = {}
    for group, version in discovery.group_versions():
        name = f"apis/{group}/{version}" if group else f"api/{version}"
        found = document(name)
        if found is not None:
            digest = hashlib.sha256(found).hexdigest().upper()
            paths[name] = {"serverRelativeURL": f"/openapi/v3/{name}?hash={digest}"}
    return orjson.dumps({"paths": paths})


@cache
def _documents() -> dict[str, list[KindInfo]]:
    found: dict[str, list[KindInfo]] = {}
    for info in scheme.KINDS:
        found.setdefault(f"{'apis' if info.group else 'api'}/{info.api_version}", []).append(info)
    return found


def document(name: str) -> bytes | None:
    """The document of `api/v1` or `apis/GROUP/VERSION`; None where there is none."""
    return _document(name) if name in _documents() else None


@cache
def _document(name: str) -> bytes:
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    for info in _documents()[name]:
        found = schema.type_of_kind(info)
        _collect(found, schemas)
        schemas[_name(found.name)]["x-kubernetes-group-version-kind"] = [_gvk(info)]
        paths |= _paths(f"/{name}", info, _name(found.name))
    body = {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": discovery.VERSION["gitVersion"]},
        "paths": paths,
        "components": {"schemas": dict(sorted(schemas.items()))},
    }
    return orjson.dumps(body)


def _gvk(info: KindInfo) -> dict[str, str]:
    return {"group": info.group, "kind": info.kind, "version": info.version}


def _name(type_name: str) -> str:
    """`core.v1.PodSpec` as the document names it."""
    root = "io.k8s.apimachinery.pkg.apis" if type_name.startswith("meta.") else "io.k8s.api"
    return f"{root}.{type_name}"


def _collect(found: Type, schemas: dict[str, Any]) -> None:
    """Put a type and all that it is made of into the schemas."""
    waiting = [found]
    while waiting:
        current = waiting.pop()
        if _name(current.name) in schemas:
            continue
        properties: dict[str, Any] = {}
        schemas[_name(current.name)] = {"type": "object", "properties": properties}
        required = [field.name for field in current.fields.values() if field.required]
        if required:
            schemas[_name(current.name)]["required"] = sorted(required)
        for field in current.fields.values():
            properties[field.name] = _property(field, schemas)
            inner = schema.type_of(field.type.replace("[]", "").replace("{}", ""))
            if inner is not None:
                waiting.append(inner)


def _property(field: Field, schemas: dict[str, Any]) -> dict[str, Any]:
    shape = _shape(field.type, schemas)
    extensions = {
        "x-kubernetes-list-map-keys": list(field.list_keys),
        "x-kubernetes-list-type": field.list_type,
        "x-kubernetes-map-type": field.map_type,
        "x-kubernetes-patch-merge-key": field.merge_key,
        "x-kubernetes-patch-strategy": ",".join(field.strategies),
    }
    return {**shape, **{key: value for key, value in extensions.items() if value}}


def _shape(type_name: str, schemas: dict[str, Any]) -> dict[str, Any]:
    if type_name.startswith("[]"):
        return {"type": "array", "items": _shape(type_name[2:], schemas)}
    if type_name.startswith("{}"):
        return {"type": "object", "additionalProperties": _shape(type_name[2:], schemas)}
    if type_name in _SCALARS:
        return dict(_SCALARS[type_name])
    name = _name(type_name)
    if type_name in _NAMED:
        name, shape = _NAMED[type_name]
        schemas[name] = shape
    return {"allOf": [{"$ref": f"#/components/schemas/{name}"}]}


def _paths(root: str, info: KindInfo, type_name: str) -> dict[str, Any]:
    """The collection's and the object's operations."""
    base = f"{root}/namespaces/{{namespace}}/{info.plural}" if info.namespaced else f"{root}/{info.plural}"
    post = _operation(info, type_name, "post", _WRITE)
    if info.kind == "Binding":
        return {base: {"post": post}}
    one = {verb: _operation(info, type_name, action, names) for verb, (action, names) in _VERBS.items()}
    many = _operation(info, type_name, "list", ("labelSelector", "fieldSelector", "limit", "continue", "watch"))
    return {base: {"get": many, "post": post}, f"{base}/{{name}}": one}


def _operation(info: KindInfo, type_name: str, action: str, parameters: tuple[str, ...]) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{type_name}"}}}
    return {
        "parameters": [{"name": name, "in": "query", "schema": {"type": "string"}} for name in parameters],
        "responses": {"200": {"description": "OK", "content": content}},
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": _gvk(info),
    }
