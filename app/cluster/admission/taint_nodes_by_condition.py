"""TaintNodesByCondition: a new node starts as not ready (plugin/pkg/admission/nodetaint/admission.go)."""

from __future__ import annotations

from app.cluster.attributes import Attributes
from app.cluster.store import Store

TAINT = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


def admit(attributes: Attributes, store: Store) -> None:
    """Taint a node that is created without being Ready.

    Upstream taints every new node and lets the node lifecycle controller take the taint off; a node that is
    created ready has nothing to wait for here.
    """
    del store
    if attributes.operation != "CREATE" or attributes.resource != "nodes" or attributes.object is None:
        return
    conditions = (attributes.object.get("status") or {}).get("conditions") or []
    if any(item.get("type") == "Ready" and item.get("status") == "True" for item in conditions):
        return
    spec = attributes.object.setdefault("spec", {})
    taints = spec.get("taints") or []
    if not any(item.get("key") == TAINT["key"] and item.get("effect") == TAINT["effect"] for item in taints):
        spec["taints"] = [*taints, dict(TAINT)]
