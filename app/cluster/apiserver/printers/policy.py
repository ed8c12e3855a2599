"""Rows of the groups that order and permit: scheduling, RBAC, policy, coordination (printers.go)."""

from __future__ import annotations

from app.apimachinery.clock import Instant
from app.apimachinery.meta import Object
from app.cluster.apiserver.printers.base import AGE, NAME, Cells, Column, Printer, age, integer, name_of, text


def _priority_class(obj: Object, now: Instant) -> Cells:
    return [
        name_of(obj),
        obj.get("value", 0),
        bool(obj.get("globalDefault")),
        age(obj, now),
        obj.get("preemptionPolicy", ""),
    ]


def _binding(obj: Object, now: Instant) -> Cells:
    role = obj.get("roleRef", {})
    subjects: dict[str, list[str]] = {"User": [], "Group": [], "ServiceAccount": []}
    for subject in obj.get("subjects") or []:
        name = str(subject.get("name", ""))
        if subject.get("kind") == "ServiceAccount" and subject.get("namespace"):
            name = f"{subject['namespace']}/{name}"
        subjects.setdefault(str(subject.get("kind")), []).append(name)
    return [
        name_of(obj),
        f"{role.get('kind', '')}/{role.get('name', '')}",
        age(obj, now),
        ", ".join(subjects["User"]),
        ", ".join(subjects["Group"]),
        ", ".join(subjects["ServiceAccount"]),
    ]


def _pod_disruption_budget(obj: Object, now: Instant) -> Cells:
    spec = obj.get("spec", {})
    return [
        name_of(obj),
        str(spec.get("minAvailable", "N/A")),
        str(spec.get("maxUnavailable", "N/A")),
        obj.get("status", {}).get("disruptionsAllowed", 0),
        age(obj, now),
    ]


def _lease(obj: Object, now: Instant) -> Cells:
    return [name_of(obj), obj.get("spec", {}).get("holderIdentity", ""), age(obj, now)]


_BINDING = Printer(
    columns=(
        NAME,
        text("Role"),
        AGE,
        text("Users", wide=True),
        text("Groups", wide=True),
        text("ServiceAccounts", wide=True),
    ),
    cells=_binding,
)

PRINTERS = {
    "priorityclasses.scheduling.k8s.io": Printer(
        (NAME, integer("Value"), Column("Global-Default", type="boolean"), AGE, text("PreemptionPolicy")),
        _priority_class,
    ),
    "rolebindings.rbac.authorization.k8s.io": _BINDING,
    "clusterrolebindings.rbac.authorization.k8s.io": _BINDING,
    "poddisruptionbudgets.policy": Printer(
        (NAME, text("Min Available"), text("Max Unavailable"), integer("Allowed Disruptions"), AGE),
        _pod_disruption_budget,
    ),
    "leases.coordination.k8s.io": Printer((NAME, text("Holder"), AGE), _lease),
}
