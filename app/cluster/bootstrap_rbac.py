"""The roles and bindings that the API server and kubeadm make.

Their tables are in `default_roles`.

Names are complete; the rules of controllers that the simulated cluster does not run are left at what their names
say. Nobody changes most of these objects, so a snapshot keeps them as a name and what differs (`folded`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from app.apimachinery import labels, meta
from app.apimachinery.meta import Object
from app.cluster import default_roles

GROUP = "rbac.authorization.k8s.io"

_ALIASES = {
    "R": "get list watch",
    "LW": "list watch",
    "W": "create delete deletecollection patch update",
    "RW": "create delete deletecollection get list patch update watch",
}
_EVENTS = ", events.k8s.io | events | create patch update"
_AGGREGATED = {"admin": (), "edit": ("admin",), "view": ("edit",)}
PLURALS = {
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
    "Role": "roles",
    "RoleBinding": "rolebindings",
}


@cache
def objects() -> tuple[Object, ...]:
    """All of them, as they are stored but for creationTimestamp and resourceVersion. Not to be changed."""
    roles = [
        *_roles(default_roles.PLAIN, "ClusterRole"),
        *_roles(default_roles.CONTROLLERS, "ClusterRole", "system:controller:"),
    ]
    for name, into in _AGGREGATED.items():
        selector = {"matchLabels": {f"{GROUP}/aggregate-to-{name}": "true"}}
        roles.append(_object("ClusterRole", name, into, aggregationRule={"clusterRoleSelectors": [selector]}, rules=[]))
    for name in reversed(_AGGREGATED):
        role = next(role for role in roles if meta.name_of(role) == name)
        role["rules"] = aggregate(role, roles)
    return (
        *roles,
        *_roles(default_roles.KUBEADM, "ClusterRole", ours=False),
        *_roles(default_roles.NAMESPACED, "Role"),
        *_roles(default_roles.KUBEADM_NAMESPACED, "Role", ours=False),
        *_bindings(default_roles.CLUSTER_BINDINGS, "ClusterRoleBinding"),
        *_controller_bindings(),
        *_bindings(default_roles.KUBEADM_BINDINGS, "ClusterRoleBinding", ours=False),
        *_bindings(default_roles.BINDINGS, "RoleBinding"),
        *_bindings(default_roles.KUBEADM_NAMESPACED_BINDINGS, "RoleBinding", ours=False),
    )


def aggregate(role: Object, roles: Sequence[Object]) -> list[Any]:
    """The rules of all roles that an aggregated one selects (clusterroleaggregation_controller.go: syncClusterRole)."""
    rules: list[Any] = []
    for term in (role.get("aggregationRule") or {}).get("clusterRoleSelectors") or []:
        try:
            selector = labels.from_label_selector(term)
        except labels.SelectorError:
            return list(role.get("rules") or [])
        for other in sorted(roles, key=meta.name_of):
            if meta.name_of(other) != meta.name_of(role) and selector.matches(meta.labels_of(other)):
                rules += [rule for rule in other.get("rules") or [] if rule not in rules]
    return rules


def _roles(table: str, kind: str, prefix: str = "", *, ours: bool = True) -> list[Object]:
    """Roles from lines: a name, and indented its rules."""
    found: list[Object] = []
    for line in table.strip().splitlines():
        if line.startswith(" "):
            found[-1]["rules"].append(_rule(line.strip()))
            continue
        name, _, into = line.partition(" ")
        found.append(_object(kind, prefix + name, tuple(into.strip("[]").split()), ours=ours, rules=[]))
    return found


def _rule(line: str) -> dict[str, Any]:
    """`groups | resources | verbs | names`, or `@paths | verbs`."""
    text = _EVENTS if line == "EVENTS" else line
    parts = [part.strip() for part in text.removeprefix("|").split("|")] if text.startswith("|") else []
    if text.startswith("@"):
        urls, _, allowed = text[1:].partition("|")
        return {"verbs": allowed.split(), "nonResourceURLs": urls.split()}
    groups, resources, verbs, *names = ["", *parts] if parts else [part.strip() for part in text.split("|")]
    rule = {
        "verbs": _ALIASES.get(verbs, verbs).split(),
        "apiGroups": [group.strip() for group in groups.split(",")],
        "resources": resources.split(),
    }
    return {**rule, "resourceNames": names} if names else rule


def _object(kind: str, name: str, into: Sequence[str] = (), *, ours: bool = True, **fields: Any) -> Object:
    namespace, _, short = name.rpartition("/")
    metadata: dict[str, Any] = {"name": short}
    if namespace:
        metadata["namespace"] = namespace
    if ours:
        marks = {f"{GROUP}/aggregate-to-{role}": "true" for role in into}
        metadata["labels"] = {"kubernetes.io/bootstrapping": "rbac-defaults", **marks}
        metadata["annotations"] = {"rbac.authorization.kubernetes.io/autoupdate": "true"}
    digest = hashlib.sha256(f"{kind}/{name}".encode()).hexdigest()
    metadata["uid"] = f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-a{digest[17:20]}-{digest[20:32]}"
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": metadata, **fields}


def _bindings(table: str, kind: str, *, ours: bool = True) -> Iterator[Object]:
    """Bindings from lines: a name, the role, subjects."""
    role_kind = kind.removesuffix("Binding")
    for line in table.strip().splitlines():
        name, role, *subjects = line.split()
        yield _binding(kind, name, role_kind, role, [_subject(subject) for subject in subjects], ours=ours)


def _controller_bindings() -> Iterator[Object]:
    for line in default_roles.CONTROLLERS.strip().splitlines():
        if not line.startswith(" "):
            name = f"system:controller:{line}"
            yield _binding("ClusterRoleBinding", name, "ClusterRole", name, [_subject(f"account/kube-system/{line}")])


def _binding(
    kind: str, name: str, role_kind: str, role: str, subjects: list[dict[str, str]], *, ours: bool = True
) -> Object:
    reference = {"apiGroup": GROUP, "kind": role_kind, "name": role}
    given: dict[str, Any] = {"subjects": subjects} if subjects else {}
    return _object(kind, name, ours=ours, roleRef=reference, **given)


def _subject(text: str) -> dict[str, str]:
    kind, _, name = text.partition("/")
    if kind == "account":
        namespace, _, account = name.partition("/")
        return {"kind": "ServiceAccount", "name": account, "namespace": namespace}
    return {"kind": kind.capitalize(), "apiGroup": GROUP, "name": name}


@cache
def _by_key() -> Mapping[tuple[str, str], Object]:
    return {(PLURALS[obj["kind"]], meta.key_of(obj)): obj for obj in objects()}


def folded(state: dict[str, Any]) -> dict[str, Any]:
    """A store's state in which objects as they were made are `[key, creationTimestamp, resourceVersion]`."""
    kept = dict(state["objects"])
    for plural in PLURALS.values():
        if plural in kept:
            kept[plural] = [_fold(plural, obj) for obj in kept[plural]]
    return {**state, "objects": kept}


def completed(objects: Mapping[str, Any], created: str, version: str) -> dict[str, Any]:
    """A state's objects with those of the default ones that it lacks, folded."""
    whole = dict(objects)
    for plural in PLURALS.values():
        there = list(objects.get(plural, []))
        known = {found[0] if isinstance(found, list) else meta.key_of(found) for found in there}
        missing = [key for kind, key in _by_key() if kind == plural and key not in known]
        whole[plural] = [*there, *([key, created, version] for key in missing)]
    return whole


def _fold(plural: str, obj: Object) -> Object | list[str]:
    made = _by_key().get((plural, meta.key_of(obj)))
    if made is None:
        return obj
    metadata = obj["metadata"]
    stamps = {name: metadata.get(name, "") for name in ("creationTimestamp", "resourceVersion")}
    if {**made, "metadata": {**made["metadata"], **stamps}} != obj:
        return obj
    return [meta.key_of(obj), *stamps.values()]


def unfolded(state: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse of `folded`; a state that was never folded stays as it is."""
    whole = dict(state["objects"])
    for plural in PLURALS.values():
        if plural in whole:
            whole[plural] = [_unfold(plural, kept) for kept in whole[plural]]
    return {**state, "objects": whole}


def _unfold(plural: str, kept: Any) -> Object:
    if isinstance(kept, dict):
        return kept
    key, created, version = kept
    made = _by_key()[plural, key]
    stamps = {"creationTimestamp": created, "resourceVersion": version}
    return {**made, "metadata": {**made["metadata"], **stamps}}
