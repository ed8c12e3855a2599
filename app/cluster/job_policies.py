"""What a Job's policies say of its pods (pkg/controller/job: pod_failure_policy.go, success_policy.go)."""

from __future__ import annotations

from dataclasses import dataclass

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.cluster import completion_indexes as indexes
from app.cluster.completion_indexes import Ranges


@dataclass(frozen=True)
class Verdict:
    """What the failure policy says of a failed pod.

    `counts`: towards the backoff limit; `fails_job`: why the whole job fails; `fails_index`: its index does.
    """

    counts: bool = True
    fails_job: str = ""
    fails_index: bool = False


_COUNTS = Verdict()


def judge(job: Object, pod: Object) -> Verdict:
    """The first rule that the pod matches (matchPodFailurePolicy)."""
    rules = (job["spec"].get("podFailurePolicy") or {}).get("rules") or []
    for number, rule in enumerate(rules):
        why = _match(rule, pod)
        if not why:
            continue
        action = rule.get("action")
        if action == "FailJob":
            return Verdict(fails_job=f"{why} matching FailJob rule at index {number}")
        return Verdict(counts=action != "Ignore", fails_index=action == "FailIndex")
    return _COUNTS


def _match(rule: Object, pod: Object) -> str:
    """What in the pod matches the rule, in upstream's words; empty where nothing does."""
    status = pod.get("status") or {}
    codes = rule.get("onExitCodes")
    if codes is None:
        for found in status.get("conditions") or []:
            for wanted in rule.get("onPodConditions") or []:
                if found.get("type") == wanted.get("type") and found.get("status") == wanted.get("status"):
                    return f"Pod {meta.key_of(pod)} has condition {found['type']}"
        return ""
    for kind in ("containerStatuses", "initContainerStatuses"):
        for container in status.get(kind) or []:
            code = ((container.get("state") or {}).get("terminated") or {}).get("exitCode", 0)
            named = codes.get("containerName")
            if code and named in {None, container.get("name")} and _selects(codes, code):
                return f"Container {container.get('name')} for pod {meta.key_of(pod)} failed with exit code {code}"
    return ""


def _selects(codes: Object, code: int) -> bool:
    """Mirrors isOnExitCodesOperatorMatching."""
    listed = code in (codes.get("values") or [])
    return {"In": listed, "NotIn": not listed}.get(str(codes.get("operator")), False)


def success(job: Object, done: Ranges) -> str:
    """Which rule of the success policy is met, in upstream's words; empty for none (matchSuccessPolicy)."""
    rules = (job["spec"].get("successPolicy") or {}).get("rules") or []
    if not done:
        return ""
    for number, rule in enumerate(rules):
        wanted = rule.get("succeededCount")
        if rule.get("succeededIndexes") is None:
            met = wanted is not None and indexes.total(done) >= wanted
        else:
            chosen = indexes.parsed(rule["succeededIndexes"], int(job["spec"].get("completions") or 0))
            among = indexes.overlap(chosen, done)
            met = bool(chosen) and (among == indexes.total(chosen) or (wanted is not None and among >= wanted))
        if met:
            return f"Matched rules at index {number}"
    return ""
