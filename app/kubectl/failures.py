"""A refusal in kubectl's words, and for a person: with its place in the manifest (kubectl/pkg/cmd/util/helpers.go)."""

from __future__ import annotations

from typing import Any

from app.apimachinery import meta
from app.apimachinery.errors import Invalid, StatusError
from app.apimachinery.manifests import Document
from app.apimachinery.messages import Message
from app.kubectl.result import Problem


def unreachable(problem: str, server: str) -> str:
    """What kubectl prints where no API server answers (util/helpers.go: checkErr, StandardErrorMessage)."""
    if problem == "timeout":
        return "Error from server (Timeout): the server was unable to return a response in the time allotted"
    return f"The connection to the server {server} was refused - did you specify the right host or port?"


def text(error: StatusError, prefix: str = "") -> str:
    """What kubectl prints for an error of the server (checkErr, StandardErrorMessage)."""
    details = error.details
    if not isinstance(error, Invalid):
        return f"Error from server ({error.reason}): {prefix}{error.message}"
    named = details.get("kind") or details.get("name")
    subject = (
        f'The {details.get("kind", "")} "{details.get("name", "")}" is invalid' if named else "The request is invalid"
    )
    lines = [_cause(cause) for cause in details.get("causes") or []]
    if not lines:
        return subject if named else f"{subject}: {prefix}{error.message}"
    if len(lines) == 1:
        return f"{subject}: {lines[0]}"
    return f"{subject}: " + "".join(f"\n* {line}" for line in lines)


def _cause(cause: dict[str, Any]) -> str:
    return f"{cause.get('field')}: {cause.get('message')}" if cause.get("field") else str(cause.get("message"))


def no_mapping(error: StatusError, document: Document, source: str) -> str:
    """What kubectl prints for a kind that the server does not have (cli-runtime: mapper.infoForData)."""
    name, namespace = _identity(document)
    return (
        f'error: resource mapping not found for name: "{name}" namespace: "{namespace}" from "{source}": '
        f"{error.message}\nensure CRDs are installed first"
    )


def _identity(document: Document) -> tuple[str, str]:
    if isinstance(document.object.get("metadata"), dict):
        return meta.name_of(document.object), meta.namespace_of(document.object)
    return "", ""


def problems(error: StatusError, document: Document) -> list[Problem]:
    """The error for a person: one problem for each cause, or one for the whole."""
    advice = {hint.path: hint.advice for hint in error.hints}
    causes = [cause for cause in error.details.get("causes") or [] if cause.get("field")]
    # A refused patch has the one cause "patch"; the hints know the field.
    if causes and not (error.hints and advice.keys().isdisjoint(cause["field"] for cause in causes)):
        return [_at(document, cause["field"], Message(_cause(cause)), advice.get(cause["field"])) for cause in causes]
    if error.hints:
        first, *rest = error.hints
        found = [_at(document, first.path, Message(error.message), first.advice)]
        return found + [_at(document, hint.path, hint.advice, None) for hint in rest if hint.advice is not None]
    return [Problem(Message(error.message), document.line, 1)]


def _at(document: Document, path: str, message: Message, advice: Message | None) -> Problem:
    line, column = document.where(path)
    return Problem(message, line, column, advice)
