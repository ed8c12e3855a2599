"""Rules for affinity (pkg/apis/core/validation/validation.go: validateAffinity)."""

from __future__ import annotations

from app.apimachinery import validation
from app.apimachinery.messages import N_, Message
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, invalid, required
from app.cluster.apiserver.validation import selectors

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def validate(affinity: Object, field: str) -> list[FieldError]:
    """Node affinity, pod affinity and pod anti-affinity."""
    errors: list[FieldError] = []
    if affinity.get("nodeAffinity") is not None:
        errors += _node_affinity(affinity["nodeAffinity"], f"{field}.nodeAffinity")
    for name in ("podAffinity", "podAntiAffinity"):
        if affinity.get(name) is not None:
            errors += _pod_affinity(affinity[name], f"{field}.{name}")
    return errors


def _node_affinity(affinity: Object, field: str) -> list[FieldError]:
    """ValidateNodeAffinity."""
    errors: list[FieldError] = []
    if affinity.get(_REQUIRED) is not None:
        terms = affinity[_REQUIRED].get("nodeSelectorTerms") or []
        here = f"{field}.{_REQUIRED}.nodeSelectorTerms"
        if not terms:
            errors.append(required(here, "must have at least one node selector term"))
        for index, term in enumerate(terms):
            errors += selectors.node_selector_term(term, f"{here}[{index}]")
    for index, preferred in enumerate(affinity.get(_PREFERRED) or []):
        here = f"{field}.{_PREFERRED}[{index}]"
        errors += _weight(preferred, here)
        errors += selectors.node_selector_term(preferred.get("preference") or {}, f"{here}.preference")
    return errors


def _weight(preferred: Object, here: str) -> list[FieldError]:
    weight = preferred.get("weight") or 0
    if 1 <= weight <= 100:
        return []
    advice = Message(N_("Write a weight from 1 to 100."))
    return [invalid(f"{here}.weight", weight, "must be in the range 1-100", advice)]


def _pod_affinity(affinity: Object, field: str) -> list[FieldError]:
    """validatePodAffinity, validatePodAntiAffinity."""
    errors: list[FieldError] = []
    for index, term in enumerate(affinity.get(_REQUIRED) or []):
        errors += _term(term, f"{field}.{_REQUIRED}[{index}]")
    for index, preferred in enumerate(affinity.get(_PREFERRED) or []):
        here = f"{field}.{_PREFERRED}[{index}]"
        errors += _weight(preferred, here)
        errors += _term(preferred.get("podAffinityTerm") or {}, f"{here}.podAffinityTerm")
    return errors


def _term(term: Object, field: str) -> list[FieldError]:
    """ValidatePodAffinityTerm."""
    errors: list[FieldError] = []
    for name in ("labelSelector", "namespaceSelector"):
        if term.get(name) is not None:
            errors += selectors.label_selector(term[name], f"{field}.{name}")
    for namespace in term.get("namespaces") or []:
        errors += [invalid(f"{field}.namespace", namespace, text) for text in validation.dns1123_label(namespace)]
    errors += _label_keys(term, field)
    key = term.get("topologyKey") or ""
    if not key:
        advice = Message(N_("Add a line such as “topologyKey: kubernetes.io/hostname”."))
        errors.append(required(f"{field}.topologyKey", "can not be empty", advice))
    errors += [invalid(f"{field}.topologyKey", key, text) for text in validation.qualified_name(key)]
    return errors


def _label_keys(term: Object, field: str) -> list[FieldError]:
    """validateMatchLabelKeysAndMismatchLabelKeys: no key is in both lists."""
    selector, errors = term.get("labelSelector"), []
    listed = {name: term.get(name) or [] for name in ("matchLabelKeys", "mismatchLabelKeys")}
    for name, keys in listed.items():
        errors += selectors.label_keys(keys, selector, f"{field}.{name}")
    errors += selectors.doubled_keys(listed["matchLabelKeys"], selector, field)
    for index, key in enumerate(listed["matchLabelKeys"]):
        if key in listed["mismatchLabelKeys"]:
            detail = "exists in both matchLabelKeys and mismatchLabelKeys"
            errors.append(invalid(f"{field}.matchLabelKeys[{index}]", key, detail))
    return errors
