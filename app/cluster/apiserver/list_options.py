"""The options of lists and watches that must fit together, and continue tokens.

Mirrors k8s.io/apimachinery/pkg/apis/meta/internalversion/validation: ValidateListOptions, and k8s.io/apiserver/pkg/
storage: continue.go, errors.go, etcd3/errors.go.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Any

import orjson

from app.apimachinery import validation
from app.apimachinery.errors import BadRequest, Expired, Invalid, StatusError
from app.apimachinery.validation import FieldError
from app.cluster.apiserver.exchange import ApiRequest

_MATCH = "resourceVersionMatch"
_RULES = ("Exact", "NotOlderThan")
_TOKEN_VERSION = "meta.k8s.io/v1"
_NEWEST = -1
_TOO_OLD = "The resourceVersion for the provided list is too old."
_INCONSISTENT = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list "
    "without the continue parameter, or use the continue token in this response to retrieve the remainder of the "
    "results. Continuing with the provided token results in an inconsistent list - objects that were created, "
    "modified, or deleted between the time the first chunk was returned and now may show up in the list."
)


class ResourceVersionTooLarge(StatusError):
    """The revision asked for has not been reached (storage/errors.go: NewTooLargeResourceVersionError)."""

    code = 504
    reason = "Timeout"


class ContinueExpired(Expired):
    """The revision of a continue token is gone; the Status carries a token that goes on from the newest."""

    def __init__(self, token: str) -> None:
        super().__init__(_INCONSISTENT)
        self._token = token

    def status(self) -> dict[str, Any]:
        """The Status with the token in its metadata."""
        return {**super().status(), "metadata": {"continue": self._token}}


@dataclass(frozen=True)
class Wanted:
    """What part of which state a list shows: from after `start`, as of `revision`, None for the newest."""

    start: str = ""
    revision: int | None = None

    def gone(self) -> Expired:
        """The error where the log does not reach back to the revision."""
        return ContinueExpired(encode_token(self.start, _NEWEST)) if self.start else Expired(_TOO_OLD)


def wanted(request: ApiRequest, newest: int) -> Wanted:
    """What a list asks for. Invalid, BadRequest, ResourceVersionTooLarge."""
    check(request)
    asked = request.param("resourceVersion")
    token = request.param("continue")
    if token:
        start, revision = _decode_token(token)
        if asked not in ("", "0"):
            raise BadRequest("specifying resource version is not allowed when using continue")
        return Wanted(start, None if revision == _NEWEST else revision)
    revision = version_of(asked)
    refuse_future(revision, newest)
    return Wanted("", revision if request.param(_MATCH) == "Exact" else None)


def version_of(text: str) -> int:
    """A resourceVersion as a number, 0 for none. Invalid."""
    if not text:
        return 0
    if not text.isdecimal() or not text.isascii() or len(text) > 18:
        raise Invalid(f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax')
    return int(text)


def refuse_future(revision: int, newest: int) -> None:
    """A client that has seen a revision that does not exist yet may not be shown an older state."""
    if revision > newest:
        message = f"Too large resource version: {revision}, current: {newest}"
        causes = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
        raise ResourceVersionTooLarge(f"Timeout: {message}", details={"causes": causes, "retryAfterSeconds": 1})


def check(request: ApiRequest) -> None:
    """Refuse options that do not fit together. Invalid."""
    errors = _watch_errors(request) if request.is_watch else _list_errors(request)
    if errors:
        raise validation.invalid_object(f"ListOptions.{_TOKEN_VERSION.partition('/')[0]}", "", errors)


def _list_errors(request: ApiRequest) -> list[FieldError]:
    errors = []
    rule, version = request.param(_MATCH), request.param("resourceVersion")
    if rule:
        if not version:
            errors.append(
                validation.forbidden(_MATCH, "resourceVersionMatch is forbidden unless resourceVersion is provided")
            )
        if request.param("continue"):
            errors.append(validation.forbidden(_MATCH, "resourceVersionMatch is forbidden when continue is provided"))
        if rule not in _RULES:
            errors.append(validation.not_supported(_MATCH, rule, (*_RULES, "")))
        if rule == "Exact" and version == "0":
            errors.append(
                validation.forbidden(_MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
            )
    if request.param("sendInitialEvents"):
        errors.append(validation.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    return errors


def _watch_errors(request: ApiRequest) -> list[FieldError]:
    errors = []
    rule, initial = request.param(_MATCH), bool(request.param("sendInitialEvents"))
    if initial and rule != "NotOlderThan":
        errors.append(
            validation.forbidden(_MATCH, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
        )
    if rule:
        if not initial:
            errors.append(
                validation.forbidden(
                    _MATCH, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
                )
            )
        if rule != "NotOlderThan":
            errors.append(validation.not_supported(_MATCH, rule, ("NotOlderThan",)))
        if request.param("continue"):
            errors.append(validation.forbidden(_MATCH, "resourceVersionMatch is forbidden when continue is provided"))
    return errors


def encode_token(start: str, revision: int) -> str:
    """A continue token: the next chunk begins after the key `start`, as of the revision."""
    body = orjson.dumps({"v": _TOKEN_VERSION, "rv": revision, "start": f"{start}\0"})
    return base64.urlsafe_b64encode(body).decode().rstrip("=")


def _decode_token(token: str) -> tuple[str, int]:
    invalid = "invalid continue token: continue key is not valid"
    try:
        body = orjson.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except (binascii.Error, ValueError) as error:
        raise BadRequest(invalid) from error
    if not isinstance(body, dict):
        raise BadRequest(invalid)
    if body.get("v") != _TOKEN_VERSION:
        raise BadRequest(f"{invalid}: server does not recognize this encoded version {body.get('v') or ''}")
    start, revision = body.get("start"), body.get("rv")
    if not isinstance(revision, int) or isinstance(revision, bool) or revision == 0 or revision < _NEWEST:
        raise BadRequest(f"{invalid}: incorrect encoded start resourceVersion (version {_TOKEN_VERSION})")
    if not isinstance(start, str) or not start:
        raise BadRequest(f"{invalid}: encoded start key empty (version {_TOKEN_VERSION})")
    return start.rstrip("\0"), revision
