"""The authorizers in kubeadm's order, Node before RBAC (k8s.io/apiserver/pkg/authorization/union)."""

from __future__ import annotations

from app.cluster import node_authorizer, rbac
from app.cluster.node_authorizer import Reader
from app.cluster.rbac import Decision, Request
from app.cluster.users import User


def decide(reader: Reader, request: Request, user: User) -> Decision:
    """Whether any of them allows the request; where none does, all of their reasons."""
    reasons = []
    if user.is_node and not user.node:
        reasons.append(f'unknown node for user "{user.name}"')
    elif user.node:
        decision = node_authorizer.decide(reader, request, user.node)
        if decision.allowed:
            return decision
        reasons.append(decision.reason)
    decision = rbac.decide(reader, request, user)
    if decision.allowed:
        return decision
    reasons.append(decision.reason)
    return Decision(allowed=False, reason="\n".join(filter(None, reasons)))
