"""Whether a container that has ended starts again.

Mirrors pkg/api/v1/pod/util.go: ContainerShouldRestart, findMatchingContainerRestartRule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.apimachinery.meta import Object


def starts_again(pod: Object, container: Mapping[str, Any], code: int) -> bool:
    """The container's first rule that fits the exit code, or its policy, or the pod's."""
    policy = container.get("restartPolicy")
    if policy is not None and any(_fits(rule, code) for rule in container.get("restartPolicyRules") or ()):
        return True
    policy = policy or pod["spec"].get("restartPolicy", "Always")
    return policy == "Always" or (policy == "OnFailure" and code != 0)


def _fits(rule: Mapping[str, Any], code: int) -> bool:
    """`Restart` is the only action there is."""
    codes = rule.get("exitCodes") or {}
    listed = code in (codes.get("values") or ())
    return listed if codes.get("operator") == "In" else not listed
