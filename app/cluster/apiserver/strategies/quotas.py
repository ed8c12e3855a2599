"""ResourceQuotas and LimitRanges (pkg/registry/core/resourcequota, limitrange)."""

from __future__ import annotations

from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError
from app.cluster.apiserver.strategy import Strategy
from app.cluster.apiserver.validation import limit_range, quota


class ResourceQuotaStrategy(Strategy):
    """ResourceQuotas: limits, scopes, and a status of what is used."""

    has_status = True

    def validate(self, obj: Object) -> list[FieldError]:
        """Names, amounts and scopes."""
        return quota.resource_quota(obj)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """Scopes never change."""
        return quota.resource_quota_update(new, old)


class LimitRangeStrategy(Strategy):
    """LimitRanges."""

    def validate(self, obj: Object) -> list[FieldError]:
        """Types, names, amounts and what contradicts what."""
        return limit_range.limit_range(obj)


STRATEGIES: dict[str, Strategy] = {
    "resourcequotas": ResourceQuotaStrategy(),
    "limitranges": LimitRangeStrategy(),
}
