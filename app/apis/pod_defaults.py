"""What the API server fills into pods and pod templates (pkg/apis/core/v1/defaults.go)."""

from __future__ import annotations

from typing import Any

from app.apimachinery.meta import Object
from app.apimachinery.quantity import QuantityError
from app.apis import helpers

_FILE_MODE = 0o644
_TOKEN_SECONDS = 3600


def pod(obj: Object) -> None:
    """A pod (SetDefaults_Pod and below): unlike a template, it also gets requests and host ports."""
    spec = obj.setdefault("spec", {})
    for container in _all_containers(spec):
        _requests_from_limits(container)
    _pod_requests(obj)
    spec.setdefault("enableServiceLinks", True)
    if spec.get("hostNetwork"):
        for container in [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]:
            for port in container.get("ports") or []:
                if not port.get("hostPort"):
                    port["hostPort"] = port.get("containerPort")
    pod_spec(spec)


def template(obj: Object) -> None:
    """A pod template: `{metadata, spec}`."""
    obj.setdefault("metadata", {})
    pod_spec(obj.setdefault("spec", {}))


def pod_spec(spec: Object) -> None:
    """A pod's spec (SetDefaults_PodSpec)."""
    _unset(spec, "dnsPolicy", "ClusterFirst")
    _unset(spec, "restartPolicy", "Always")
    spec.setdefault("securityContext", {})
    spec.setdefault("terminationGracePeriodSeconds", 30)
    _unset(spec, "schedulerName", "default-scheduler")
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for container in _all_containers(spec):
        _container(container)
    for volume in spec.get("volumes") or []:
        _volume(volume)


def _all_containers(spec: Object) -> list[Object]:
    kinds = ("containers", "initContainers", "ephemeralContainers")
    return [container for kind in kinds for container in spec.get(kind) or []]


def _unset(obj: Object, field: str, value: Any) -> None:
    """Fill a field that is missing or empty: Go cannot tell the two apart where there is no pointer."""
    if obj.get(field) in {None, ""}:
        obj[field] = value


def _requests_from_limits(container: Object) -> None:
    resources = container.get("resources") or {}
    limits = resources.get("limits")
    if limits:
        resources["requests"] = {**limits, **(resources.get("requests") or {})}


def _pod_requests(obj: Object) -> None:
    """Requests of the pod itself, where it has limits (defaultPodRequests): the containers' sum, else the limit."""
    resources = obj["spec"].get("resources") or {}
    limits = resources.get("limits")
    if not limits:
        return
    try:
        summed = helpers.pod_requests({"spec": {**obj["spec"], "overhead": None}}, pod_level=False)
    except QuantityError:
        # Defaults come before validation, which says what is wrong with the amount.
        return
    requests = dict(resources.get("requests") or {})
    for name, amount in summed.items():
        if name in {"cpu", "memory"}:
            requests.setdefault(name, str(amount))
    for name, limit in limits.items():
        requests.setdefault(name, limit)
    resources["requests"] = requests


def _container(container: Object) -> None:
    container.setdefault("resources", {})
    _unset(container, "terminationMessagePath", "/dev/termination-log")
    _unset(container, "terminationMessagePolicy", "File")
    _unset(container, "imagePullPolicy", pull_policy(container.get("image") or ""))
    for port in container.get("ports") or []:
        _unset(port, "protocol", "TCP")
    for variable in container.get("env") or []:
        reference = (variable.get("valueFrom") or {}).get("fieldRef")
        if reference is not None:
            _unset(reference, "apiVersion", "v1")
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if container.get(name) is not None:
            _probe(container[name])
    for hook in (container.get("lifecycle") or {}).values():
        if isinstance(hook, dict) and hook.get("httpGet") is not None:
            _http_get(hook["httpGet"])


def pull_policy(image: str) -> str:
    """Always for `latest` and for no tag at all, else IfNotPresent (SetDefaults_Container)."""
    name, _, digest = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    if not tag and not digest:
        tag = "latest"
    return "Always" if tag == "latest" else "IfNotPresent"


def _probe(probe: Object) -> None:
    for field, value in (
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ):
        if not probe.get(field):
            probe[field] = value
    if probe.get("httpGet") is not None:
        _http_get(probe["httpGet"])
    if probe.get("grpc") is not None:
        probe["grpc"].setdefault("service", "")


def _http_get(action: Object) -> None:
    _unset(action, "path", "/")
    _unset(action, "scheme", "HTTP")


def _volume(volume: Object) -> None:
    if all(volume.get(field) is None for field in volume if field != "name"):
        volume["emptyDir"] = {}
    for source in ("secret", "configMap", "downwardAPI", "projected"):
        if volume.get(source) is not None:
            volume[source].setdefault("defaultMode", _FILE_MODE)
    if volume.get("hostPath") is not None:
        volume["hostPath"].setdefault("type", "")
    _downward(volume.get("downwardAPI"))
    for projection in (volume.get("projected") or {}).get("sources") or []:
        _downward(projection.get("downwardAPI"))
        if projection.get("serviceAccountToken") is not None:
            projection["serviceAccountToken"].setdefault("expirationSeconds", _TOKEN_SECONDS)
    claim = ((volume.get("ephemeral") or {}).get("volumeClaimTemplate") or {}).get("spec")
    if claim is not None:
        claim.setdefault("volumeMode", "Filesystem")


def _downward(source: Object | None) -> None:
    """SetDefaults_ObjectFieldSelector."""
    for item in (source or {}).get("items") or []:
        if item.get("fieldRef") is not None:
            _unset(item["fieldRef"], "apiVersion", "v1")
