"""Grading: every check on a copy of the learner's cluster, moved on until it is settled.

The learner's cluster is not touched. Nothing a learner does makes this raise; a check that breaks is reported as a
fault and costs the verdict its finality, never the learner a wrong answer.
"""

from __future__ import annotations

import logging

from app.apimachinery.clock import MINUTE, Micros
from app.apimachinery.messages import N_, Message
from app.cluster.cluster import Cluster
from app.exercises.checking import Context, NotGraded
from app.exercises.model import Check, Variant
from app.exercises.registry import UNITS
from app.exercises.verdict import CheckResult, Verdict

SETTLING: Micros = 10 * MINUTE
"""Simulated time that the copy gets at most."""

log = logging.getLogger("cka_lab.exercises")


def grade(variant: Variant, cluster: Cluster, start: Cluster) -> Verdict:
    """The verdict on a learner's cluster; `start` is the cluster as it was when the learner came."""
    copy = cluster.fork()
    try:
        copy.settle(SETTLING)
    except Exception as error:
        log.exception("exercise %s: the copy does not settle", variant.name)
        return Verdict(tuple(_fault(check, error) for check in variant.checks))
    context = Context(copy, start)
    return Verdict(tuple(_result(variant, check, context) for check in variant.checks))


def _result(variant: Variant, check: Check, context: Context) -> CheckResult:
    try:
        finding = UNITS[check.kind].run(check.spec, context)
    except NotGraded as error:
        log.warning("exercise %s, check %s: %s", variant.name, check.name, error)
        return _fault(check, error)
    except Exception as error:
        log.exception("exercise %s, check %s", variant.name, check.name)
        return _fault(check, error)
    return CheckResult(
        name=check.name,
        status="passed" if finding.passed else "failed",
        points=check.points if finding.passed else 0,
        possible=check.points,
        looked_for=finding.looked_for,
        found=finding.found,
        where=finding.where,
    )


def _fault(check: Check, error: Exception) -> CheckResult:
    found = Message(N_("This check is broken and was not graded: {problem}"), {"problem": str(error)[:500]})
    return CheckResult(name=check.name, status="fault", points=0, possible=check.points, found=found)
