"""The scale subresource: replicas of a workload as an autoscaling/v1 Scale (pkg/registry/apps/*/storage: ScaleREST)."""

from __future__ import annotations

from typing import Any

import orjson

from app.apimachinery import patch as patches
from app.apimachinery import validation
from app.apimachinery.errors import BadRequest
from app.apimachinery.meta import Object
from app.apis.scheme import KindInfo
from app.cluster.apiserver import bodies, patching, request_options, shapes, writing
from app.cluster.apiserver.exchange import ApiRequest, ApiResponse
from app.cluster.apiserver.paths import Target
from app.cluster.apiserver.printers.base import selector_text
from app.cluster.apiserver.served import Served

_SCALE = KindInfo("autoscaling", "v1", "Scale", "scales", "scale")
_SHAPE: shapes.Shape = {"metadata": {**shapes.METADATA, "resourceVersion": "string"}, "spec": {"replicas": "int32"}}
_KEPT = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def get(cluster: Served, request: ApiRequest, target: Target) -> ApiResponse:
    """GET: how many replicas are wanted and how many there are."""
    del request
    return ApiResponse.of(scale_of(cluster.client.get(target.info, target.name, target.namespace)))


def update(cluster: Served, request: ApiRequest, target: Target) -> ApiResponse:
    """PUT: the wanted number of replicas."""
    return _write(cluster, request, target, bodies.decoded(request, _SCALE))


def patch(cluster: Served, request: ApiRequest, target: Target) -> ApiResponse:
    """PATCH: the same, by a patch of the Scale."""
    document = writing.patch_of(request)
    current = scale_of(cluster.client.get(target.info, target.name, target.namespace))
    if request.content_type == patching.APPLY:
        return _apply(cluster, request, target, document)
    if request.content_type == "application/json-patch+json":
        if isinstance(document, dict):
            problem = "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"
            raise BadRequest(f"error decoding patch: {problem}")
        return _write(cluster, request, target, patches.json_patch(current, document))
    if not isinstance(document, dict):
        raise BadRequest("the patch of a scale must be an object")
    return _write(cluster, request, target, patches.merge(current, document))


def _apply(cluster: Served, request: ApiRequest, target: Target, scale: Any) -> ApiResponse:
    """The replicas that a Scale applies, as a configuration of the workload (managedfields/scalehandler.go)."""
    options = request_options.of_patch(request, applies=True)
    named = (scale.get("apiVersion"), scale.get("kind"))
    if named != ("autoscaling/v1", "Scale"):
        raise BadRequest(f"invalid object type: {named[0] or '/'}, Kind={named[1] or ''}")
    spec = scale.get("spec") or {}
    configuration = {
        "apiVersion": target.info.api_version,
        "kind": target.info.kind,
        "metadata": {"name": target.name},
        "spec": {"replicas": spec["replicas"]} if isinstance(spec, dict) and "replicas" in spec else {},
    }
    place = (target.info, target.name, target.namespace)
    return ApiResponse.of(scale_of(cluster.client.patch(*place, configuration, "apply", door="scale", **options)))


def scale_of(obj: Object) -> Object:
    """The Scale of a Deployment, ReplicaSet, StatefulSet or ReplicationController."""
    metadata = obj["metadata"]
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: metadata[key] for key in _KEPT if key in metadata},
        "spec": {"replicas": obj.get("spec", {}).get("replicas", 0)},
        "status": {
            "replicas": obj.get("status", {}).get("replicas", 0),
            "selector": selector_text(obj.get("spec", {}).get("selector")),
        },
    }


def _write(cluster: Served, request: ApiRequest, target: Target, scale: Object) -> ApiResponse:
    _check_form(request, scale)
    replicas = (scale.get("spec") or {}).get("replicas") or 0
    if replicas < 0:
        told = "must be greater than or equal to 0"
        error = validation.invalid("spec.replicas", replicas, told)
        raise validation.invalid_object("Scale.autoscaling", target.name, [error])
    change: Object = {"spec": {"replicas": replicas}}
    version = (scale.get("metadata") or {}).get("resourceVersion")
    if version:
        change["metadata"] = {"resourceVersion": version}
    options = request_options.of_write(request)
    written = cluster.client.patch(target.info, target.name, target.namespace, change, "merge", door="scale", **options)
    return ApiResponse.of(scale_of(written))


def _check_form(request: ApiRequest, scale: Object) -> None:
    """Whether it is a Scale; of a patch the patch is what is invalid (handlers/patch.go). BadRequest, Invalid."""
    try:
        shapes.check(scale, _SCALE, _SHAPE)
    except BadRequest as error:
        if request.method != "PATCH":
            raise
        told = error.message.partition("cannot be handled as a Scale: ")[2]
        refused = validation.invalid("patch", orjson.dumps(scale).decode(), told)
        raise validation.invalid_object("", "", [refused]) from error
