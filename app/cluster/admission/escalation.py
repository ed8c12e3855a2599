"""Nobody grants more than they hold, unless they may `escalate` or `bind`.

Mirrors pkg/registry/rbac/*/policybased/storage.go and pkg/registry/rbac/validation (ConfirmNoEscalation, Covers,
CompactRules). Upstream asks in the storage, after validation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from app.apimachinery.errors import Forbidden, NotFound
from app.apimachinery.meta import Object
from app.apis import scheme
from app.cluster import rbac, users
from app.cluster.attributes import Attributes
from app.cluster.rbac import Rule
from app.cluster.store import Store

_ROLES = ("roles", "clusterroles")
_BINDINGS = ("rolebindings", "clusterrolebindings")
_MOST_PARTS = 20_000
"""Single rights of one role that are compared; who grants more at once must hold them as `*`."""

Part = tuple[str, str, str, str, str]
"""Verb, group, resource, resource name, path."""


class _Reader:
    """The store as rules are read from it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def list(self, kind: Any, namespace: str | None = None) -> list[Object]:
        """All objects of a kind, or of one namespace."""
        return self._store.list(kind.plural, namespace)

    def find(self, kind: Any, name: str, namespace: str = "") -> Object | None:
        """One object, or None."""
        return self._store.get(kind.plural, f"{namespace}/{name}" if kind.namespaced else name)


def validate(attributes: Attributes, store: Store) -> None:
    """Refuse a role or a binding that gives away what its writer does not have."""
    if attributes.user is users.ADMIN or attributes.object is None or attributes.info.group != rbac.GROUP:
        return
    if users.MASTERS in attributes.user.groups:
        return
    reader, obj, old = _Reader(store), attributes.object, attributes.old
    if attributes.resource in _ROLES:
        unchanged = old is not None and old.get("rules") == obj.get("rules")
        if not unchanged and not _may(reader, attributes, "escalate", attributes.resource, attributes.name):
            _confirm(reader, attributes, obj.get("rules") or [])
    elif attributes.resource in _BINDINGS:
        same = ("subjects", "roleRef")
        if old is not None and all(old.get(field) == obj.get(field) for field in same):
            return
        _check_binding(reader, attributes, obj.get("roleRef") or {})


def _check_binding(reader: _Reader, attributes: Attributes, reference: Mapping[str, Any]) -> None:
    plural = "clusterroles" if reference.get("kind") == "ClusterRole" else "roles"
    if _may(reader, attributes, "bind", plural, str(reference.get("name"))):
        return
    rules, problem = rbac.role_rules(reader, reference, attributes.namespace)
    if problem:
        info = scheme.for_resource(plural)
        details = {"name": str(reference.get("name")), "group": info.group, "kind": info.singular}
        raise NotFound(problem, details=details)
    _confirm(reader, attributes, rules)


def _may(reader: _Reader, attributes: Attributes, verb: str, plural: str, name: str) -> bool:
    user = attributes.user
    request = rbac.Request(user.name, verb, plural, rbac.GROUP, attributes.namespace, name, groups=user.groups)
    return rbac.allowed(reader, request)


def _confirm(reader: _Reader, attributes: Attributes, rules: Sequence[Rule]) -> None:
    """ConfirmNoEscalation."""
    user = attributes.user
    held, problems = [], []
    for granted in rbac.grants(reader, user, attributes.namespace):
        if granted.problem:
            problems.append(granted.problem)
        else:
            held.append(granted.rule)
    missing = [part for part in _parts(rules) if not any(_covers(rule, part) for rule in held)]
    if not missing:
        return
    groups = " ".join(_quoted(group) for group in user.groups)
    text = "\n".join(sorted(set(_described(missing))))
    told = f"; resolution errors: [{' '.join(problems)}]" if problems else ""
    info = attributes.info
    raise Forbidden(
        f'{info.group_resource} "{attributes.name}" is forbidden: user {_quoted(user.name)} (groups=[{groups}]) is '
        f"attempting to grant RBAC permissions not currently held:\n{text}{told}",
        details={"name": attributes.name, "group": info.group, "kind": info.plural},
    )


def _parts(rules: Sequence[Rule]) -> list[Part]:
    """Each single right of the rules, once (BreakdownRule); no more than anybody can mean."""
    found: dict[Part, None] = {}
    for rule in rules:
        for part in _of_rule(rule):
            found[part] = None
            if len(found) > _MOST_PARTS:
                return list(found)
    return list(found)


def _of_rule(rule: Rule) -> Iterator[Part]:
    for verb in rule.get("verbs") or ():
        for path in rule.get("nonResourceURLs") or ():
            yield verb, "", "", "", path
    for group in rule.get("apiGroups") or ():
        for resource in rule.get("resources") or ():
            for verb in rule.get("verbs") or ():
                for name in rule.get("resourceNames") or ("",):
                    yield verb, group, resource, name, ""


def _covers(rule: Rule, part: Part) -> bool:
    """Whether a rule that is held gives the right (ruleCovers)."""
    verb, group, resource, name, path = part
    request = rbac.Request("", verb, resource, group, "", name, path)
    names = rule.get("resourceNames") or ()
    return rbac.matches(rule, request) and (not names or bool(name) or bool(path))


def _described(parts: Sequence[Part]) -> Iterator[str]:
    """Rights put together again by resource, as Go prints them (CompactRules, CompactString)."""
    together: dict[tuple[str, ...], list[str]] = {}
    for verb, *rest in parts:
        together.setdefault(tuple(rest), []).append(verb)
    for (group, resource, name, path), verbs in together.items():
        if path:
            for verb in verbs:
                yield f"{{NonResourceURLs:[{_quoted(path)}], Verbs:[{_quoted(verb)}]}}"
            continue
        named = f", ResourceNames:[{_quoted(name)}]" if name else ""
        listed = " ".join(_quoted(verb) for verb in verbs)
        yield f"{{APIGroups:[{_quoted(group)}], Resources:[{_quoted(resource)}]{named}, Verbs:[{listed}]}}"


def _quoted(text: str) -> str:
    return orjson.dumps(text).decode()
