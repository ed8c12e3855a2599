"""Aggregated cluster roles: their rules are those of the roles that they select.

Mirrors pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go: syncClusterRole.
"""

from __future__ import annotations

from typing import Any

from app.apimachinery import meta
from app.apimachinery.errors import StatusError
from app.apimachinery.meta import Object
from app.cluster import bootstrap_rbac
from app.cluster.loops import Context

NAME = "clusterrole-aggregation-controller"
WATCHES = frozenset({"clusterroles"})


def sync(context: Context) -> None:
    """Write the rules of aggregated roles anew; any role may be selected by any of them."""
    roles = context.client.list("clusterroles")
    for role in roles:
        if role.get("aggregationRule"):
            rules = bootstrap_rbac.aggregate(role, roles)
            if rules != (role.get("rules") or []):
                try:
                    _apply(context, role, rules)
                except StatusError:
                    # Somebody took the right to escalate away; the next change of a role tries again.
                    continue


def _apply(context: Context, role: Object, rules: list[Any]) -> None:
    """Apply the rules and nothing else, under the controller's own name (applyClusterRoles)."""
    name = meta.name_of(role)
    wanted = {"apiVersion": role["apiVersion"], "kind": role["kind"], "metadata": {"name": name}, "rules": rules}
    context.client.patch("clusterroles", name, "", wanted, "apply", field_manager=NAME, force=True)
