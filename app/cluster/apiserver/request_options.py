"""The options that come with a write: in the query, or in the body of a delete.

Mirrors k8s.io/apimachinery/pkg/apis/meta/v1/validation/validation.go (ValidateCreateOptions, ValidateUpdateOptions,
ValidatePatchOptions, ValidateDeleteOptions) and how apiserver/pkg/endpoints/handlers answers what it refuses.
"""

from __future__ import annotations

from typing import Any

from app.apimachinery import validation
from app.apimachinery.errors import BadRequest
from app.apimachinery.validation import FieldError, forbidden, invalid, not_supported, required
from app.apis.scheme import KindInfo
from app.cluster.apiserver import bodies, field_managers, shapes
from app.cluster.apiserver.exchange import ApiRequest

_KINDS = {"POST": "CreateOptions", "PUT": "UpdateOptions", "PATCH": "PatchOptions"}
_FIELD_VALIDATION = ("", "Ignore", "Strict", "Warn")
_PROPAGATION = ("Foreground", "Background", "Orphan")
_DELETE = KindInfo("meta.k8s.io", "v1", "DeleteOptions", "deleteoptions", "deleteoptions")
_DELETE_SHAPE: shapes.Shape = {
    "gracePeriodSeconds": "int64",
    "propagationPolicy": "string",
    "orphanDependents": "bool",
    "preconditions": {"uid": "string", "resourceVersion": "string"},
    "dryRun": "[]string",
}


def of_write(request: ApiRequest) -> dict[str, Any]:
    """dryRun, fieldManager and fieldValidation of a create, an update or a patch. Invalid."""
    _refuse(_KINDS[request.method], _write_errors(request))
    return _written(request)


def of_patch(request: ApiRequest, *, applies: bool) -> dict[str, Any]:
    """The same of a patch, and `force`, which only an apply may have; an apply names its manager. Invalid."""
    errors: list[FieldError] = []
    if not applies and request.param("force"):
        errors.append(forbidden("force", "may not be specified for non-apply patch"))
    if applies and not request.param("fieldManager"):
        errors.append(required("fieldManager", "is required for apply patch"))
    _refuse(_KINDS["PATCH"], errors + _write_errors(request))
    return {**_written(request), "force": request.flag("force")}


def _refuse(kind: str, errors: list[FieldError]) -> None:
    if errors:
        raise validation.invalid_object(f"{kind}.meta.k8s.io", "", errors)


def _write_errors(request: ApiRequest) -> list[FieldError]:
    errors = field_managers.problems(request.param("fieldManager"), "fieldManager") + _dry_run_errors(
        _dry_runs(request)
    )
    strictness = request.param("fieldValidation")
    if strictness not in _FIELD_VALIDATION:
        errors.append(not_supported("fieldValidation", strictness, _FIELD_VALIDATION))
    return errors


def _written(request: ApiRequest) -> dict[str, Any]:
    given = request.param("fieldManager")
    return {
        "dry_run": bool(_dry_runs(request)),
        "field_manager": given or field_managers.of_user_agent(request.headers.get("user-agent", "")) or "unknown",
        "field_validation": "Strict" if request.param("fieldValidation") == "Strict" else "Ignore",
    }


def _dry_runs(request: ApiRequest) -> list[str]:
    return [value for name, value in request.query if name == "dryRun"]


def _dry_run_errors(values: list[str]) -> list[FieldError]:
    """ValidateDryRun: the whole list is what is not supported."""
    return [] if set(values) <= {"All"} else [not_supported("dryRun", values, ("All",))]


def of_delete(request: ApiRequest) -> dict[str, Any]:
    """The options of a delete, from its body or without one from the query (ValidateDeleteOptions). Invalid."""
    given = _delete_body(request) if request.body else _delete_query(request)
    propagation, orphan = given.get("propagationPolicy"), given.get("orphanDependents")
    errors: list[FieldError] = []
    if orphan is not None and propagation is not None:
        detail = "orphanDependents and deletionPropagation cannot be both set"
        errors.append(invalid("propagationPolicy", propagation, detail))
    if propagation is not None and propagation not in _PROPAGATION:
        errors.append(not_supported("propagationPolicy", propagation, (*_PROPAGATION, "nil")))
    dry_runs = given.get("dryRun") or []
    _refuse(_DELETE.kind, errors + _dry_run_errors(dry_runs))
    wanted, grace = given.get("preconditions") or {}, given.get("gracePeriodSeconds")
    return {
        # What is negative counts as a second (rest/delete.go: BeforeDelete).
        "grace_seconds": 1 if grace is not None and grace < 0 else grace,
        "propagation": "Orphan" if orphan else propagation,
        "uid": wanted.get("uid") or "",
        "resource_version": wanted.get("resourceVersion") or "",
        "dry_run": bool(dry_runs),
    }


def _delete_body(request: ApiRequest) -> dict[str, Any]:
    body = bodies.json_of(request)
    if not isinstance(body, dict):
        raise BadRequest("DeleteOptions is not an object")
    shapes.check(body, _DELETE, _DELETE_SHAPE)
    return body


def _delete_query(request: ApiRequest) -> dict[str, Any]:
    return {
        "gracePeriodSeconds": request.number("gracePeriodSeconds"),
        "propagationPolicy": request.param("propagationPolicy") or None,
        "orphanDependents": request.flag("orphanDependents") if request.param("orphanDependents") else None,
        "dryRun": _dry_runs(request),
    }
