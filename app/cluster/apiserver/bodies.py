"""Request bodies: JSON, YAML or protobuf to objects of the kind that the path names.

Mirrors k8s.io/apiserver/pkg/endpoints/handlers/create.go and rest.go for what is checked before a registry
sees the object.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from app.apimachinery import manifests
from app.apimachinery.errors import BadRequest, UnsupportedMediaType
from app.apimachinery.meta import Object
from app.apis import decode, protobuf
from app.apis.scheme import KindInfo
from app.cluster.apiserver.exchange import ApiRequest, ApiResponse

_YAML = ("application/yaml", "application/x-yaml", "text/yaml")
_READ = ("", "application/json", "application/x-www-form-urlencoded")
_MAX_DEPTH = 100


def json_of(request: ApiRequest) -> Any:
    """The body as JSON values. UnsupportedMediaType for another form, BadRequest for what is no JSON."""
    media_type = request.content_type
    if media_type == protobuf.MEDIA_TYPE:
        return protobuf.decode(request.body)
    if media_type not in _READ and not media_type.endswith("+json"):
        raise UnsupportedMediaType(
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json, application/yaml, application/vnd.kubernetes.protobuf"
        )
    try:
        document = orjson.loads(request.body)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"couldn't get version/kind; json parse error: {error}") from error
    _refuse_depth(document)
    return document


def apply_of(request: ApiRequest) -> Object:
    """The body of an apply: one object in JSON or YAML (handlers/patch.go: applyPatcher). BadRequest."""
    try:
        document = orjson.loads(request.body)
    except orjson.JSONDecodeError:
        document = _applied_yaml(request.body)
    if not isinstance(document, dict):
        raise BadRequest("error decoding YAML: the body is not one object")
    _refuse_depth(document)
    return document


def _applied_yaml(body: bytes) -> Any:
    try:
        documents = manifests.load(body)
    except manifests.ManifestError as error:
        told = f"error converting YAML to JSON: yaml: line {error.line}: {error.problem}"
        raise BadRequest(f"error decoding YAML: {told}") from error
    return documents[0] if documents else None


def _yaml_of(request: ApiRequest) -> Object:
    try:
        documents = manifests.parse(request.body)
    except manifests.ManifestError as error:
        raise BadRequest(f"error parsing YAML: {error}") from error
    if len(documents) != 1:
        raise BadRequest(f"the body holds {len(documents)} objects, it must hold one")
    return documents[0].object


def decoded(request: ApiRequest, info: KindInfo, also: Sequence[str] = ()) -> Object:
    """The body as an object of the kind. kind and apiVersion may be missing, not another's: BadRequest.

    `also` lists further versions in which the kind may come.
    """
    document = _yaml_of(request) if request.content_type in _YAML else json_of(request)
    if not isinstance(document, dict):
        raise BadRequest(f"the body is not a {info.kind}: it must be a JSON object")
    api_version = document.get("apiVersion") or info.api_version
    kind = document.get("kind") or info.kind
    if api_version != info.api_version and api_version not in also:
        raise BadRequest(
            f"the API version in the data ({api_version}) does not match the expected API version ({info.api_version})"
        )
    if kind != info.kind:
        raise BadRequest(f'{kind} in version "{api_version}" cannot be handled as a {info.kind}')
    if not isinstance(document.get("metadata"), dict | None):
        raise BadRequest(
            f'{kind} in version "{api_version}" cannot be handled as a {kind}: json: cannot unmarshal '
            f"{_json_type(document['metadata'])} into Go struct field {kind}.metadata of type v1.ObjectMeta"
        )
    return {**document, "apiVersion": api_version, "kind": kind}


def unknown_fields(request: ApiRequest, obj: Object) -> list[str]:
    """Warnings of unknown fields, where the client neither refuses nor ignores them."""
    if (request.param("fieldValidation") or "Warn") != "Warn":
        return []
    return [problem.text for problem in decode.problems(obj) if problem.kind == "unknown"]


def warned(response: ApiResponse, warnings: Sequence[str]) -> ApiResponse:
    """The response with warnings in its header, each once (apiserver/pkg/warning, endpoints/filters/warning.go)."""
    if not warnings:
        return response
    header = _warning_header(list(dict.fromkeys(warnings)))
    earlier = response.headers.get("warning")
    told = f"{earlier}, {header}" if earlier else header
    return ApiResponse(response.code, {**response.headers, "warning": told}, response.body)


def _warning_header(warnings: list[str]) -> str:
    quoted = [text.replace("\\", "\\\\").replace('"', '\\"') for text in warnings]
    return ", ".join(f'299 - "{text}"' for text in quoted)


def _refuse_depth(document: Any) -> None:
    """What validates an object walks it by recursion: refuse what is nested deeper than any kind is."""
    level, depth = [document], 0
    while level:
        depth += 1
        if depth > _MAX_DEPTH:
            raise BadRequest(f"the body is nested more than {_MAX_DEPTH} levels deep")
        level = [
            child
            for value in level
            if isinstance(value, dict | list)
            for child in (value.values() if isinstance(value, dict) else value)
        ]


def _json_type(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    return "array" if isinstance(value, list) else "string"
