"""ResourceQuota: a namespace uses no more than its quotas allow (plugin/pkg/admission/resourcequota).

Mirrors k8s.io/apiserver/pkg/admission/plugin/resourcequota/controller.go. What a write uses is added to the status
of its quotas together with the write. A quota that the controller has not counted yet is counted here: upstream's
controller does so within milliseconds, before a person's next request.
"""

from __future__ import annotations

from app.apimachinery import meta
from app.apimachinery.errors import Forbidden
from app.apimachinery.meta import Object
from app.cluster.attributes import Attributes
from app.cluster.quota import amounts, evaluators
from app.cluster.quota.amounts import Amounts
from app.cluster.quota.evaluator import Evaluator, matches
from app.cluster.store import Store


def validate(attributes: Attributes, store: Store) -> None:
    """Refuse a write beyond a quota; charge one that is within (CheckRequest)."""
    if not attributes.info.namespaced or attributes.object is None:
        return
    evaluator = evaluators.EVALUATORS.get(attributes.info.group_resource)
    if evaluator is None or not evaluator.handles(attributes):
        return
    quotas = store.list("resourcequotas", attributes.namespace)
    charged = [found for quota in quotas if (found := _charged(attributes, evaluator, quota, store)) is not None]
    if attributes.dry_run or not _will_be_written(attributes, store):
        return
    for quota in charged:
        store.update("resourcequotas", quota)


def _charged(attributes: Attributes, evaluator: Evaluator, quota: Object, store: Store) -> Object | None:
    """The quota with the write's use added; None where it does not touch the quota."""
    obj = attributes.object or {}
    status = quota.get("status") or {}
    if not evaluators.is_counted(quota):
        status = evaluators.status_of(quota, store.list)
    hard, used = amounts.parsed(status.get("hard")), amounts.parsed(status.get("used"))
    if not matches(evaluator, quota, hard, obj):
        return None
    names = evaluator.matching(hard)
    if problem := evaluator.missing(names, obj):
        raise _forbidden(attributes, f"failed quota: {meta.name_of(quota)}: {problem}")
    if any(name not in used for name in names):
        listed = ",".join(sorted(names))
        raise _forbidden(attributes, f"status unknown for quota: {meta.name_of(quota)}, resources: {listed}")
    delta = amounts.masked(amounts.without_zeros(_delta(attributes, evaluator, quota, hard)), hard)
    if not delta:
        return None
    total = amounts.added(used, delta)
    if attributes.subresource != "status":
        _check(attributes, quota, (delta, used, hard, total))
    return {**quota, "status": {**status, "used": amounts.shown(total)}}


def _delta(attributes: Attributes, evaluator: Evaluator, quota: Object, hard: Amounts) -> Amounts:
    """What the write adds; an update of an object that was charged before adds the difference."""
    usage = evaluator.usage(attributes.object or {})
    if any(amount < amounts.ZERO for amount in usage.values()):
        negative = ",".join(sorted(name for name, amount in usage.items() if amount < amounts.ZERO))
        raise _forbidden(attributes, f"quota usage is negative for resource(s): {negative}")
    if attributes.operation != "UPDATE" or attributes.old is None:
        return usage
    if not matches(evaluator, quota, hard, attributes.old):
        return usage
    return amounts.subtracted(usage, evaluator.usage(attributes.old))


def _check(attributes: Attributes, quota: Object, figures: tuple[Amounts, Amounts, Amounts, Amounts]) -> None:
    delta, used, hard, total = figures
    beyond = amounts.exceeded(amounts.masked(total, delta), hard)
    if not beyond:
        return
    requested, present, limited = (amounts.printed(amounts.masked(part, beyond)) for part in (delta, used, hard))
    raise _forbidden(
        attributes,
        f"exceeded quota: {meta.name_of(quota)}, requested: {requested}, used: {present}, limited: {limited}",
    )


def _will_be_written(attributes: Attributes, store: Store) -> bool:
    """Whether the store will take the write: a taken name or a stale version must not be charged."""
    current = store.get(attributes.info.plural, f"{attributes.namespace}/{attributes.name}")
    if attributes.operation == "CREATE":
        return current is None
    version = ((attributes.object or {}).get("metadata") or {}).get("resourceVersion")
    return current is not None and (not version or version == current["metadata"]["resourceVersion"])


def _forbidden(attributes: Attributes, problem: str) -> Forbidden:
    info = attributes.info
    details = {"name": attributes.name, **({"group": info.group} if info.group else {}), "kind": info.plural}
    return Forbidden(f'{info.group_resource} "{attributes.name}" is forbidden: {problem}', details=details)
