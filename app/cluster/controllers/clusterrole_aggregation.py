"""Aggregated cluster roles: their rules are those of the roles that they select.

Mirrors pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go: syncClusterRole.
"""

from __future__ import annotations

from app.apimachinery.errors import StatusError
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
                    context.client.update({**role, "rules": rules})
                except StatusError:
                    # Somebody took the right to escalate away; the next change of a role tries again.
                    continue
