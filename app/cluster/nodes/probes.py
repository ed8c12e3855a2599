"""What a container's probes will find, said in advance (pkg/kubelet/prober/).

What a program serves is known, so that a probe is judged once and its timers are set; nothing polls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.apimachinery.clock import SECOND, Micros
from app.apimachinery.meta import Object
from app.cluster.processes import Run


@dataclass(frozen=True)
class Verdict:
    """When the container turns ready (None for never), and when a failing probe warns or restarts it."""

    ready_after: Micros | None
    warns_after: Micros = 0
    fails_after: Micros | None = None
    message: str = ""


def judge(container: Mapping[str, Any], pod: Object, ip: str, run: Run) -> Verdict:
    """What the three probes add up to."""
    address = "127.0.0.1" if pod["spec"].get("hostNetwork") else ip
    for field, kind in (("startupProbe", "Startup"), ("livenessProbe", "Liveness")):
        probe = container.get(field) or {}
        problem = _problem(probe, container, address, run)
        if problem:
            delay, period, failures = _timing(probe)
            limit = delay + period * failures
            ready = None if kind == "Startup" or container.get("readinessProbe") else 0
            return Verdict(ready, limit, limit, f"{kind} probe failed: {problem}")
    ready_after = _first_success(container.get("startupProbe"))
    probe = container.get("readinessProbe") or {}
    problem = _problem(probe, container, address, run)
    if problem:
        delay, period, _ = _timing(probe)
        return Verdict(None, delay + period, None, f"Readiness probe failed: {problem}")
    return Verdict(ready_after + _first_success(probe))


def _timing(probe: Mapping[str, Any]) -> tuple[Micros, Micros, int]:
    delay = int(probe.get("initialDelaySeconds") or 0) * SECOND
    period = int(probe.get("periodSeconds") or 10) * SECOND
    return delay, period, int(probe.get("failureThreshold") or 3)


def _first_success(probe: Mapping[str, Any] | None) -> Micros:
    if not probe:
        return 0
    delay, period, _ = _timing(probe)
    return delay + period * (int(probe.get("successThreshold") or 1) - 1) + SECOND


def _problem(probe: Mapping[str, Any], container: Mapping[str, Any], address: str, run: Run) -> str:
    """Why a probe fails, in the prober's words; empty where it succeeds or nothing is known against it."""
    http, tcp = probe.get("httpGet"), probe.get("tcpSocket")
    target = http or tcp
    if not target or (run.ports is None and not run.https):
        return ""
    port = _port(target.get("port"), container)
    host = target.get("host") or address
    where = f"{host}:{port}"
    refused = f"dial tcp {where}: connect: connection refused"
    if tcp:
        return "" if port in {*(run.ports or ()), *run.https} else refused
    scheme = str(target.get("scheme") or "HTTP").lower()
    url = f'Get "{scheme}://{where}{target.get("path") or "/"}"'
    if port not in {*(run.ports or ()), *run.https}:
        return f"{url}: {refused}"
    if port in run.https and scheme == "http":
        return "HTTP probe failed with statuscode: 400"
    if port not in run.https and scheme == "https":
        return f"{url}: http: server gave HTTP response to HTTPS client"
    return ""


def _port(port: object, container: Mapping[str, Any]) -> int:
    if isinstance(port, int):
        return port
    for named in container.get("ports") or []:
        if named.get("name") == port:
            return int(named["containerPort"])
    text = str(port)
    return int(text) if text.isdecimal() and len(text) < 6 else 0
