"""Which form an answer takes: the Accept header against what the server can write.

Mirrors k8s.io/apiserver/pkg/endpoints/handlers/negotiation: NegotiateMediaTypeOptions. JSON is the only
serialisation; it may carry a Table or metadata alone, or be aggregated discovery.
"""

from __future__ import annotations

from enum import Enum

from app.apimachinery.errors import StatusError


class NotAcceptable(StatusError):
    """No form that the client accepts can be written."""

    code = 406
    reason = "NotAcceptable"


class Form(Enum):
    """The shapes of an answer."""

    PLAIN = "plain"
    TABLE = "Table"
    METADATA = "PartialObjectMetadata"
    METADATA_LIST = "PartialObjectMetadataList"
    AGGREGATED_DISCOVERY = "APIGroupDiscoveryList"


AGGREGATED_CONTENT_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

_JSON_TYPES = ("application/json", "application/*", "*/*")
_META_FORMS = (Form.TABLE, Form.METADATA, Form.METADATA_LIST)
_MAX_CLAUSES = 32


def negotiate(accept: str, *allowed: Form) -> Form:
    """The first form of `accept` that is allowed; PLAIN is always. NotAcceptable where none is.

    Clauses are tried in the order of the header, which is how kubectl ranks them.
    """
    for clause in accept.split(",", _MAX_CLAUSES)[:_MAX_CLAUSES]:
        media_type, *pairs = (part.strip() for part in clause.split(";"))
        if media_type.lower() not in _JSON_TYPES:
            continue
        parameters = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
        form = _form(parameters)
        if form is Form.PLAIN or form in allowed:
            return form
    raise NotAcceptable("only the following media types are accepted: application/json")


def _form(parameters: dict[str, str]) -> Form | None:
    wanted = parameters.get("as")
    if not wanted:
        return Form.PLAIN
    group, version = parameters.get("g"), parameters.get("v")
    for form in _META_FORMS:
        if (wanted, group, version) == (form.value, "meta.k8s.io", "v1"):
            return form
    if (wanted, group, version) == (Form.AGGREGATED_DISCOVERY.value, "apidiscovery.k8s.io", "v2"):
        return Form.AGGREGATED_DISCOVERY
    return None
