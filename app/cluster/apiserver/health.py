"""/healthz, /livez and /readyz (k8s.io/apiserver/pkg/server/healthz: handleRootHealth)."""

from __future__ import annotations

from app.cluster.apiserver.exchange import ApiRequest, ApiResponse

_CHECKS = (
    "ping",
    "log",
    "etcd",
    "poststarthook/start-apiserver-admission-initializer",
    "poststarthook/generic-apiserver-start-informers",
    "poststarthook/priority-and-fairness-config-consumer",
    "poststarthook/start-apiextensions-informers",
    "poststarthook/start-apiextensions-controllers",
    "poststarthook/crd-informer-synced",
    "poststarthook/rbac/bootstrap-roles",
    "poststarthook/scheduling/bootstrap-system-priority-classes",
    "poststarthook/start-kube-aggregator-informers",
    "poststarthook/apiservice-registration-controller",
    "poststarthook/apiservice-status-available-controller",
    "poststarthook/apiservice-openapi-controller",
    "poststarthook/apiservice-openapiv3-controller",
)
_EXTRA = {
    "healthz": ("autoregister-completion",),
    "livez": ("autoregister-completion",),
    "readyz": ("etcd-readiness", "informer-sync", "autoregister-completion", "shutdown"),
}


def answer(request: ApiRequest, root: str, check: str) -> ApiResponse | None:
    """`ok`; the checks by name where `verbose` is asked for; None for a check that does not exist."""
    checks = (*_CHECKS, *_EXTRA[root])
    if check:
        return ApiResponse.plain("ok") if check in checks else None
    if not any(name == "verbose" for name, _ in request.query):
        return ApiResponse.plain("ok")
    excluded = {value for name, value in request.query if name == "exclude"}
    lines = [f"[+]{name} {'excluded: ok' if name in excluded else 'ok'}\n" for name in checks]
    return ApiResponse.plain(f"{''.join(lines)}{root} check passed\n")
