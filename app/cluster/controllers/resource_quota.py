"""Keeps the status of ResourceQuotas true (pkg/controller/resourcequota/resource_quota_controller.go).

Admission adds what is written; this loop counts anew when limits change, when something goes, when a pod ends, and
when a service or a claim changes (resource_quota_monitor.go).
"""

from __future__ import annotations

from app.apimachinery import meta
from app.apis import helpers
from app.cluster import controller_utils as utils
from app.cluster.loops import Context
from app.cluster.quota import evaluators
from app.cluster.store import WatchEvent

NAME = "resourcequota-controller"
WATCHES = frozenset({evaluator.info.plural for evaluator in evaluators.EVALUATORS.values()} - {"leases"})
_CHANGING = {"services", "persistentvolumeclaims"}


def sync(context: Context) -> None:
    """Count the quotas of every namespace in which something was released."""
    quotas = context.client.list("resourcequotas")
    if not quotas:
        return
    released = {meta.namespace_of(change.object) for change in context.changes if _releases(change)}
    for quota in quotas:
        if context.full or not evaluators.is_counted(quota) or meta.namespace_of(quota) in released:
            status = evaluators.status_of(quota, context.client.list)
            utils.write_status(context, quota, status)


def _releases(change: WatchEvent) -> bool:
    """Whether less may be used since, or something that admission did not see (replenishment filters)."""
    if change.type != "MODIFIED" or change.previous is None:
        return change.type == "DELETED"
    if change.resource == "pods":
        return helpers.is_terminal(change.object) and not helpers.is_terminal(change.previous)
    return change.resource in _CHANGING
