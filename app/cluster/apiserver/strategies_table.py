"""Which strategy serves which resource: the list a new one is added to."""

from __future__ import annotations

from app.apis.scheme import KindInfo
from app.cluster.apiserver.strategies import apps, core, nodes, pods, quotas, rbac, scheduling, stored
from app.cluster.apiserver.strategy import Strategy

STRATEGIES: dict[str, Strategy] = {
    **core.STRATEGIES,
    **pods.STRATEGIES,
    **quotas.STRATEGIES,
    **nodes.STRATEGIES,
    **apps.STRATEGIES,
    **rbac.STRATEGIES,
    **scheduling.STRATEGIES,
    **stored.STRATEGIES,
}
"""Group resource (`pods`, `deployments.apps`) to strategy."""


class _WithStatus(Strategy):
    has_status = True


_PLAIN = Strategy()
_WITH_STATUS = _WithStatus()


def strategy_for(info: KindInfo) -> Strategy:
    """The kind's own strategy, or the plain one."""
    own = STRATEGIES.get(info.group_resource)
    if own is not None:
        return own
    return _WITH_STATUS if "status" in info.subresources else _PLAIN
