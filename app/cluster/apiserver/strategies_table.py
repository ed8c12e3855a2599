"""Which strategy serves which resource: the list a new one is added to."""

from __future__ import annotations

from typing import Any

from app.apis.scheme import KindInfo
from app.cluster.apiserver.strategies import (
    apps,
    autoscaling,
    batch,
    core,
    events,
    network,
    nodes,
    pods,
    quotas,
    rbac,
    scheduling,
    stored,
)
from app.cluster.apiserver.strategy import Strategy

STRATEGIES: dict[str, Strategy] = {
    **core.STRATEGIES,
    **events.STRATEGIES,
    **pods.STRATEGIES,
    **quotas.STRATEGIES,
    **nodes.STRATEGIES,
    **apps.STRATEGIES,
    **autoscaling.STRATEGIES,
    **batch.STRATEGIES,
    **network.STRATEGIES,
    **rbac.STRATEGIES,
    **scheduling.STRATEGIES,
    **stored.STRATEGIES,
}
"""Group resource (`pods`, `deployments.apps`) to strategy."""


class _WithStatus(Strategy):
    has_status = True


class _Ingresses(_WithStatus):
    """Ingresses (pkg/registry/networking/ingress/strategy.go)."""

    def new_status(self) -> dict[str, Any]:
        """What a load balancer reports is a structure of its own."""
        return {"loadBalancer": {}}


_PLAIN = Strategy()
_WITH_STATUS = _WithStatus()
_INGRESSES = _Ingresses()


def strategy_for(info: KindInfo) -> Strategy:
    """The kind's own strategy, or the plain one."""
    own = STRATEGIES.get(info.group_resource)
    if own is not None:
        return own
    if info.kind == "Ingress":
        return _INGRESSES
    return _WITH_STATUS if "status" in info.subresources else _PLAIN
