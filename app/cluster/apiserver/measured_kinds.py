"""The kinds of metrics.k8s.io: served from measurements, never stored (k8s.io/metrics/pkg/apis/metrics/v1beta1)."""

from __future__ import annotations

from app.apis.scheme import KindInfo

GROUP = "metrics.k8s.io"
VERSION = "v1beta1"

NODE_METRICS = KindInfo(GROUP, VERSION, "NodeMetrics", "nodes", "", namespaced=False)
POD_METRICS = KindInfo(GROUP, VERSION, "PodMetrics", "pods", "")

KINDS = (NODE_METRICS, POD_METRICS)
VERBS = ("get", "list")
