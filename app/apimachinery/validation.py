"""Field errors in the API server's words, and the name rules that every kind shares.

Mirrors k8s.io/apimachinery/pkg/util/validation (validation.go) and …/validation/field (errors.go). Rules are
functions that return what is wrong with one value, empty where nothing is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from app.apimachinery.errors import Hint, Invalid
from app.apimachinery.messages import Message


class ErrorKind(Enum):
    """What a field error says, with the reason that its cause carries (field.ErrorType)."""

    NOT_FOUND = ("FieldValueNotFound", "Not found")
    REQUIRED = ("FieldValueRequired", "Required value")
    DUPLICATE = ("FieldValueDuplicate", "Duplicate value")
    INVALID = ("FieldValueInvalid", "Invalid value")
    NOT_SUPPORTED = ("FieldValueNotSupported", "Unsupported value")
    FORBIDDEN = ("FieldValueForbidden", "Forbidden")
    TOO_LONG = ("FieldValueTooLong", "Too long")
    TOO_MANY = ("FieldValueTooMany", "Too many")

    @property
    def reason(self) -> str:
        """The cause's reason."""
        return self.value[0]

    @property
    def words(self) -> str:
        """How the message begins."""
        return self.value[1]


_VALUELESS = {ErrorKind.REQUIRED, ErrorKind.FORBIDDEN, ErrorKind.TOO_LONG}
OMITTED = object()
"""Instead of a value that the message does not show (field.OmitValueType)."""


@dataclass(frozen=True)
class FieldError:
    """One refused field; `str()` is upstream's `field.Error`: `spec.a[0].b: Invalid value: "x": detail`."""

    field: str
    kind: ErrorKind
    value: Any = None
    detail: str = ""
    advice: Message | None = None

    def body(self) -> str:
        """The message without the field's path (field.Error: ErrorBody)."""
        hidden = self.kind in _VALUELESS or self.value is OMITTED
        text = self.kind.words if hidden else f"{self.kind.words}: {_printed(self.value)}"
        return f"{text}: {self.detail}" if self.detail else text

    def __str__(self) -> str:
        return f"{self.field}: {self.body()}"


def _printed(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return quoted(value)
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def quoted(text: str) -> str:
    """The text as Go's `%q` prints it, for what JSON and Go escape alike and non-ASCII letters as they are."""
    return json.dumps(text, ensure_ascii=False)


def required(field: str, detail: str = "", advice: Message | None = None) -> FieldError:
    """A missing value."""
    return FieldError(field, ErrorKind.REQUIRED, None, detail, advice)


def invalid(field: str, value: Any, detail: str, advice: Message | None = None) -> FieldError:
    """A value that breaks a rule."""
    return FieldError(field, ErrorKind.INVALID, value, detail, advice)


def forbidden(field: str, detail: str) -> FieldError:
    """A field that may not be set here."""
    return FieldError(field, ErrorKind.FORBIDDEN, None, detail)


def duplicate(field: str, value: Any) -> FieldError:
    """A value that must be unique and is not."""
    return FieldError(field, ErrorKind.DUPLICATE, value)


def too_many(field: str, actual: int, most: int) -> FieldError:
    """A list with more items than it may have."""
    return FieldError(field, ErrorKind.TOO_MANY, actual, f"must have at most {most} items")


def too_long(field: str, limit: int) -> FieldError:
    """A text of more bytes than may be."""
    return FieldError(field, ErrorKind.TOO_LONG, None, f"may not be more than {limit} bytes")


def not_found(field: str, value: Any) -> FieldError:
    """A reference to something that is not there."""
    return FieldError(field, ErrorKind.NOT_FOUND, value)


def not_supported(field: str, value: Any, supported: Iterable[str]) -> FieldError:
    """A value outside an enumeration; the values are listed in the order given."""
    listed = ", ".join(quoted(item) for item in supported)
    return FieldError(field, ErrorKind.NOT_SUPPORTED, value, f"supported values: {listed}")


def invalid_object(group_kind: str, name: str, errors: Iterable[FieldError]) -> Invalid:
    """The 422 of several field errors (apimachinery/pkg/api/errors: NewInvalid).

    `group_kind` is `Pod` or `Deployment.apps`. One error stands bare, several stand in brackets.
    """
    found = list(errors)
    texts = list(dict.fromkeys(str(error) for error in found))
    joined = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    kind, _, group = group_kind.partition(".")
    details: dict[str, Any] = {"name": name, **({"group": group} if group else {}), "kind": kind}
    details["causes"] = [
        {"reason": error.kind.reason, "message": error.body(), "field": error.field} for error in found
    ]
    hints = [Hint(error.field, error.advice) for error in found]
    return Invalid(f"{group_kind} {quoted(name)} is invalid: {joined}", details=details, hints=hints)


_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_UNDERSCORED_LABEL = r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_UNDERSCORED = rf"{_UNDERSCORED_LABEL}(\.{_UNDERSCORED_LABEL})*"
_HEADER = r"[-A-Za-z0-9]+"
_WILDCARD = rf"\*\.{_SUBDOMAIN}"
_HTTP_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_QUALIFIED = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = rf"({_QUALIFIED})?"
_DNS1035 = r"[a-z]([-a-z0-9]*[a-z0-9])?"
_CONFIG_KEY = r"[-._a-zA-Z0-9]+"
_PERCENT = r"[0-9]+%"

_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_UNDERSCORED_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_WILDCARD_TEXT = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character"
)
_LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character"
)
_DNS1035_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
    "start with an alphabetic character, and end with an alphanumeric character"
)
_LABEL_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)
_QUALIFIED_TEXT = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)


def _matches(pattern: str, value: str) -> bool:
    # Go's $ matches only at the very end, which is Python's fullmatch and not Python's $.
    return re.fullmatch(pattern, value, re.ASCII) is not None


def _too_long(value: str, limit: int) -> list[str]:
    return [f"must be no more than {limit} bytes"] if len(value.encode()) > limit else []


def _pattern(text: str, pattern: str, *examples: str) -> str:
    """A rule with its examples and expression (util/validation: RegexError)."""
    listed = " or ".join(f"'{example}', " for example in examples)
    head = f"{text} (e.g. {listed}" if examples else f"{text} ("
    return f"{head}regex used for validation is '{pattern}')"


def dns1123_label(value: str) -> list[str]:
    """A container's or a namespace's name (IsDNS1123Label)."""
    wrong = _too_long(value, 63)
    if not _matches(_LABEL, value):
        dotted = _matches(_SUBDOMAIN, value)
        wrong.append("must not contain dots" if dotted else _pattern(_LABEL_TEXT, _LABEL, "my-name", "123-abc"))
    return wrong


def dns1123_subdomain(value: str) -> list[str]:
    """The name of most objects (IsDNS1123Subdomain)."""
    wrong = _too_long(value, 253)
    if not _matches(_SUBDOMAIN, value):
        wrong.append(_pattern(_SUBDOMAIN_TEXT, _SUBDOMAIN, "example.com"))
    return wrong


def dns1123_subdomain_with_underscore(value: str) -> list[str]:
    """A search path of DNS (IsDNS1123SubdomainWithUnderscore)."""
    wrong = _too_long(value, 253)
    if not _matches(_UNDERSCORED, value):
        wrong.append(_pattern(_UNDERSCORED_TEXT, _UNDERSCORED, "example.com"))
    return wrong


def http_header_name(value: str) -> list[str]:
    """A header's name (IsHTTPHeaderName)."""
    if _matches(_HEADER, value):
        return []
    text = "a valid HTTP header must consist of alphanumeric characters or '-'"
    return [_pattern(text, _HEADER, "X-Header-Name")]


def wildcard_subdomain(value: str) -> list[str]:
    """`*.example.com` (IsWildcardDNS1123Subdomain)."""
    wrong = _too_long(value, 253)
    if not _matches(_WILDCARD, value):
        wrong.append(_pattern(_WILDCARD_TEXT, _WILDCARD, "*.example.com"))
    return wrong


def fully_qualified_name(value: str, field: str) -> list[FieldError]:
    """A DNS name of at least three parts (IsFullyQualifiedDomainName)."""
    if not value:
        return [required(field)]
    wrong = dns1123_subdomain(value)
    if wrong:
        return [invalid(field, value, ",".join(wrong))]
    if value.count(".") < 2:
        return [invalid(field, value, "should be a domain with at least three segments separated by dots")]
    return []


def domain_prefixed_path(value: str, field: str) -> list[FieldError]:
    """`acme.io/foo` (IsDomainPrefixedPath)."""
    domain, _, path = value.partition("/")
    if not domain or not path:
        return [invalid(field, value, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    errors = [invalid(field, domain, text) for text in dns1123_subdomain(domain)]
    if not _matches(_HTTP_PATH, path):
        errors.append(invalid(field, path, _pattern("Invalid path", _HTTP_PATH)))
    return errors


def dns1035_label(value: str) -> list[str]:
    """A Service's name (IsDNS1035Label)."""
    wrong = _too_long(value, 63)
    if not _matches(_DNS1035, value):
        wrong.append(_pattern(_DNS1035_TEXT, _DNS1035, "my-name", "abc-123"))
    return wrong


def path_segment(value: str) -> list[str]:
    """The name of RBAC objects (api/validation/path: IsValidPathSegmentName)."""
    if value in {".", ".."}:
        return [f"may not be '{value}'"]
    return [f"may not contain '{part}'" for part in ("/", "%") if part in value]


def qualified_name(value: str) -> list[str]:
    """A label's key: `name` or `prefix.example/name` (IsQualifiedName)."""
    parts = value.split("/")
    wrong: list[str] = []
    name = parts[-1]
    if len(parts) == 2:
        if not parts[0]:
            wrong.append("prefix part must be non-empty")
        else:
            wrong += [f"prefix part {text}" for text in dns1123_subdomain(parts[0])]
    elif len(parts) > 2:
        text = _pattern(f"a valid label key {_QUALIFIED_TEXT}", _QUALIFIED, "MyName", "my.name", "123-abc")
        return [f"{text} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    if not name:
        wrong.append("name part must be non-empty")
    wrong += [f"name part {text}" for text in _too_long(name, 63)]
    if not _matches(_QUALIFIED, name):
        wrong.append(_pattern(f"name part {_QUALIFIED_TEXT}", _QUALIFIED, "MyName", "my.name", "123-abc"))
    return wrong


def label_value(value: str) -> list[str]:
    """A label's value (IsValidLabelValue)."""
    wrong = _too_long(value, 63)
    if not _matches(_LABEL_VALUE, value):
        wrong.append(_pattern(_LABEL_VALUE_TEXT, _LABEL_VALUE, "MyValue", "my_value", "12345"))
    return wrong


def config_map_key(value: str) -> list[str]:
    """A key of a ConfigMap's or Secret's data (IsConfigMapKey)."""
    wrong = ["must be no more than 253 characters"] if len(value.encode()) > 253 else []
    if not _matches(_CONFIG_KEY, value):
        text = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
        wrong.append(_pattern(text, _CONFIG_KEY, "key.name", "KEY_NAME", "key-name"))
    return [*wrong, *_no_dots(value)]


def _no_dots(value: str) -> list[str]:
    if value in {".", ".."}:
        return [f"must not be '{value}'"]
    return ["must not start with '..'"] if value.startswith("..") else []


def env_var_name(value: str) -> list[str]:
    """An environment variable's name (IsRelaxedEnvVarName: printable ASCII without '=')."""
    if not value:
        return ["environment variable name must be non-empty"]
    if all(" " <= letter <= "~" and letter != "=" for letter in value):
        return []
    return ["a valid environment variable name must consist only of printable ASCII characters other than '='"]


def port_number(value: int) -> list[str]:
    """A port's number (IsValidPortNum)."""
    return [] if 1 <= value <= 65535 else ["must be between 1 and 65535, inclusive"]


def port_name(value: str) -> list[str]:
    """A port's name, an IANA service name (IsValidPortName)."""
    wrong: list[str] = []
    if len(value) > 15:
        wrong.append("must be no more than 15 characters")
    if not _matches(r"[-a-z0-9]+", value):
        wrong.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search(r"[a-z]", value):
        wrong.append("must contain at least one letter (a-z)")
    if "--" in value:
        wrong.append("must not contain consecutive hyphens")
    if value and (value[0] == "-" or value[-1] == "-"):
        wrong.append("must not begin or end with a hyphen")
    return wrong


def percentage(value: str) -> list[str]:
    """`25%` (IsValidPercent)."""
    if _matches(_PERCENT, value):
        return []
    text = "a valid percent string must be a numeric string followed by an ending '%'"
    return [_pattern(text, _PERCENT, "1%", "93%")]


def labels(values: Mapping[str, Any], field: str) -> list[FieldError]:
    """Keys and values of labels (apis/meta/v1/validation: ValidateLabels)."""
    errors: list[FieldError] = []
    for key, value in sorted(values.items()):
        errors += [invalid(field, key, text) for text in qualified_name(key)]
        errors += [invalid(f"{field}", value, text) for text in label_value(str(value))]
    return errors
