"""Rules for probes and lifecycle hooks (pkg/apis/core/validation/validation.go: validateProbe, validateHandler)."""

from __future__ import annotations

from typing import Any

from app.apimachinery import validation
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, forbidden, invalid, not_supported, required

_NEGATIVE = "must be greater than or equal to 0"
_COUNTS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_PROBE_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_HOOK_HANDLERS = ("exec", "httpGet", "tcpSocket", "sleep")


def of_container(container: Object, field: str, grace: int | None = None) -> list[FieldError]:
    """A container's three probes and its hooks; a hook sleeps no longer than the pod's grace."""
    errors: list[FieldError] = []
    for name, hook in sorted((container.get("lifecycle") or {}).items()):
        if isinstance(hook, dict):
            here = f"{field}.lifecycle.{name}"
            errors += _handler(hook, here, _HOOK_HANDLERS)
            seconds = (hook.get("sleep") or {}).get("seconds") or 0
            if grace is not None and not 0 <= seconds <= max(grace, 0):
                detail = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
                errors.append(invalid(f"{here}.sleep", seconds, detail))
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(name)
        if probe is not None:
            errors += _probe(probe, f"{field}.{name}")
            if name != "readinessProbe" and probe.get("successThreshold") not in {None, 1}:
                errors.append(invalid(f"{field}.{name}.successThreshold", probe["successThreshold"], "must be 1"))
    return errors


def _probe(probe: Object, field: str) -> list[FieldError]:
    errors = _handler(probe, field, _PROBE_HANDLERS)
    errors += [
        invalid(f"{field}.{name}", probe[name], _NEGATIVE)
        for name in _COUNTS
        if probe.get(name) is not None and probe[name] < 0
    ]
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        errors.append(invalid(f"{field}.terminationGracePeriodSeconds", grace, "must be greater than 0"))
    return errors


def _handler(holder: Object, field: str, known: tuple[str, ...]) -> list[FieldError]:
    given = [name for name in known if holder.get(name) is not None]
    if not given:
        return [required(field, "must specify a handler type")]
    errors = [forbidden(f"{field}.{name}", "may not specify more than 1 handler type") for name in given[1:]]
    action, here = holder[given[0]], f"{field}.{given[0]}"
    if given[0] == "exec" and not action.get("command"):
        errors.append(required(f"{here}.command"))
    if given[0] == "httpGet":
        errors += _http_get(action, here)
    if given[0] == "tcpSocket":
        errors += _port(action.get("port"), f"{here}.port")
    if given[0] == "grpc":
        errors += _port(action.get("port") or 0, f"{here}.port")
    return errors


def _http_get(action: Object, field: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if not action.get("path"):
        errors.append(required(f"{field}.path"))
    errors += _port(action.get("port"), f"{field}.port")
    scheme = action.get("scheme") or ""
    if scheme not in {"HTTP", "HTTPS"}:
        errors.append(not_supported(f"{field}.scheme", scheme, ("HTTP", "HTTPS")))
    for header in action.get("httpHeaders") or []:
        name = header.get("name") or ""
        errors += [invalid(f"{field}.httpHeaders", name, text) for text in validation.http_header_name(name)]
    return errors


def _port(port: Any, field: str) -> list[FieldError]:
    """ValidatePortNumOrName."""
    if isinstance(port, str):
        return [invalid(field, port, text) for text in validation.port_name(port)]
    number = port or 0
    return [invalid(field, number, text) for text in validation.port_number(number)]
