"""Errors of the Kubernetes API: one class per status that callers must tell apart.

    StatusError
    ├── BadRequest        400
    ├── Unauthorized      401
    ├── Forbidden         403
    ├── NotFound          404
    ├── MethodNotAllowed  405
    ├── AlreadyExists     409
    ├── Conflict          409
    ├── Expired           410  (a watch or list from a revision that is gone)
    ├── RequestEntityTooLarge 413
    ├── UnsupportedMediaType  415
    ├── Invalid           422  (field errors as causes)
    ├── TooManyRequests   429
    └── PlainFault        500  (an error that upstream has no status for)

Mirrors k8s.io/apimachinery/pkg/api/errors/errors.go. Surfaces (kubeapi, kubectl, web) catch StatusError and show
`message` or `status()`; nothing below them does, except to act on one class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from app.apimachinery.messages import Message


@dataclass(frozen=True)
class Hint:
    """Where in the refused object the fault is, and what to write instead. Not part of the `Status` body.

    `path` is a field path as the API prints it (`spec.tolerations[0].effect`), empty for the whole object.
    """

    path: str
    advice: Message | None = None


class StatusError(Exception):
    """An API failure that prints as a `Status` body; `hints` help a person to find and mend it."""

    code: ClassVar[int] = 500
    reason: ClassVar[str] = "InternalError"

    def __init__(self, message: str, *, details: dict[str, Any] | None = None, hints: Sequence[Hint] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.details = details or {}
        self.hints = tuple(hints)

    def status(self) -> dict[str, Any]:
        """The `Status` object that the API server answers with."""
        body: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            body["reason"] = self.reason
        if self.details:
            body["details"] = self.details
        body["code"] = self.code
        return body


class BadRequest(StatusError):
    """The request cannot be understood: undecodable body, unknown field, bad selector."""

    code = 400
    reason = "BadRequest"


class Unauthorized(StatusError):
    """Nobody known is asking."""

    code = 401
    reason = "Unauthorized"


class Forbidden(StatusError):
    """Admission or authorization says no."""

    code = 403
    reason = "Forbidden"


class NotFound(StatusError):
    """There is no such object, or no such resource."""

    code = 404
    reason = "NotFound"


class MethodNotAllowed(StatusError):
    """The resource does not know this verb."""

    code = 405
    reason = "MethodNotAllowed"


class AlreadyExists(StatusError):
    """An object of that name is there."""

    code = 409
    reason = "AlreadyExists"


class Conflict(StatusError):
    """A stale resourceVersion, a bound pod bound again, an apply conflict."""

    code = 409
    reason = "Conflict"


class Expired(StatusError):
    """The revision asked for has been compacted."""

    code = 410
    reason = "Expired"


class RequestEntityTooLarge(StatusError):
    """The body is larger than the server reads."""

    code = 413
    reason = "RequestEntityTooLarge"


class UnsupportedMediaType(StatusError):
    """The body's content type is not one the server decodes."""

    code = 415
    reason = "UnsupportedMediaType"


class Invalid(StatusError):
    """Validation failed; each field error is a cause."""

    code = 422
    reason = "Invalid"


class ServiceUnavailable(StatusError):
    """Nobody answers: the server, or what it stands on, does not run."""

    code = 503
    reason = "ServiceUnavailable"


class TooManyRequests(StatusError):
    """Not now: an eviction that a PodDisruptionBudget holds back."""

    code = 429
    reason = "TooManyRequests"


class PlainFault(StatusError):
    """What upstream returns as a plain error: 500 with its text and no reason (responsewriters/status.go)."""

    reason = ""
