"""Rules for roles and their bindings (pkg/apis/rbac/validation/validation.go)."""

from __future__ import annotations

from app.apimachinery import validation
from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError, invalid, not_supported, required

_GROUP = "rbac.authorization.k8s.io"


def role(obj: Object) -> list[FieldError]:
    """Each rule names verbs, and either resources or URLs (ValidatePolicyRule)."""
    errors: list[FieldError] = []
    cluster_wide = obj.get("kind") == "ClusterRole"
    for index, rule in enumerate(obj.get("rules") or []):
        field = f"rules[{index}]"
        urls = rule.get("nonResourceURLs") or []
        resources = rule.get("resources") or []
        if not rule.get("verbs"):
            errors.append(required(f"{field}.verbs", "verbs must contain at least one value"))
        if urls:
            if not cluster_wide:
                detail = "namespaced rules cannot apply to non-resource URLs"
                errors.append(invalid(f"{field}.nonResourceURLs", urls, detail))
            if rule.get("apiGroups") or resources or rule.get("resourceNames"):
                detail = "rules cannot apply to both regular resources and non-resource URLs"
                errors.append(invalid(f"{field}.nonResourceURLs", urls, detail))
            continue
        if not rule.get("apiGroups"):
            errors.append(required(f"{field}.apiGroups", "resource rules must supply at least one api group"))
        if not resources:
            errors.append(required(f"{field}.resources", "resource rules must supply at least one resource"))
    return errors


def role_binding(obj: Object) -> list[FieldError]:
    """The role that is bound, and to whom (ValidateRoleBinding, ValidateClusterRoleBinding)."""
    errors: list[FieldError] = []
    reference = obj.get("roleRef") or {}
    cluster_wide = obj.get("kind") == "ClusterRoleBinding"
    kinds = ("ClusterRole",) if cluster_wide else ("Role", "ClusterRole")
    if reference.get("apiGroup") != _GROUP:
        errors.append(not_supported("roleRef.apiGroup", reference.get("apiGroup"), (_GROUP,)))
    if reference.get("kind") not in kinds:
        errors.append(not_supported("roleRef.kind", reference.get("kind") or "", kinds))
    name = reference.get("name") or ""
    if not name:
        errors.append(required("roleRef.name"))
    errors += [invalid("roleRef.name", name, text) for text in validation.path_segment(name)]
    for index, subject in enumerate(obj.get("subjects") or []):
        errors += _subject(subject, f"subjects[{index}]", namespaced=not cluster_wide)
    return errors


def _subject(subject: Object, field: str, *, namespaced: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    name, kind, group = subject.get("name") or "", subject.get("kind") or "", subject.get("apiGroup") or ""
    if not name:
        errors.append(required(f"{field}.name"))
    if kind == "ServiceAccount":
        errors += [invalid(f"{field}.name", name, text) for text in validation.dns1123_subdomain(name) if name]
        if group:
            errors.append(not_supported(f"{field}.apiGroup", group, ("",)))
        if not namespaced and not subject.get("namespace"):
            errors.append(required(f"{field}.namespace"))
    elif kind in {"User", "Group"}:
        if group != _GROUP:
            errors.append(not_supported(f"{field}.apiGroup", group, (_GROUP,)))
    else:
        errors.append(not_supported(f"{field}.kind", kind, ("ServiceAccount", "User", "Group")))
    return errors


def fixed_role(new: Object, old: Object) -> list[FieldError]:
    """The role of a binding never changes (ValidateRoleBindingUpdate)."""
    if new.get("roleRef") != old.get("roleRef"):
        return [invalid("roleRef", new.get("roleRef"), "cannot change roleRef")]
    return []
