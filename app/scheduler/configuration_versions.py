"""The API versions of KubeSchedulerConfiguration, and which releases of kube-scheduler read them."""

from __future__ import annotations

from typing import Any

GROUP = "kubescheduler.config.k8s.io"
KIND = "KubeSchedulerConfiguration"
SPANS = {"v1beta1": (19, 22), "v1beta2": (22, 27), "v1beta3": (23, 28), "v1": (25, 999)}
"""First and last minor release with an API version (pkg/scheduler/apis/config/scheme/scheme.go)."""

WITHOUT_MULTI_POINT = frozenset({"v1beta1", "v1beta2"})
"""Versions that list their default plugins point by point."""


def is_registered(kind: Any, api_version: Any, minor: int) -> bool:
    """Whether the scheduler 1.`minor` knows such a document."""
    group, _, version = str(api_version).rpartition("/")
    first, last = SPANS.get(version, (1, 0))
    return kind == KIND and group == GROUP and first <= minor <= last
