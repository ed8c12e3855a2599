"""What containers use of CPU and memory: simulated, from what their programs are known to do.

A pure function of the pod, and of what it spends on others: nothing is kept and nothing is drawn. The horizontal pod
autoscaler and metrics.k8s.io read the same figures, as they do where the metrics-server scrapes the kubelets
(sigs.k8s.io/metrics-server/pkg/storage: two points of a running container make one measurement).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from app.apimachinery import clock, quantity
from app.apimachinery.clock import SECOND, Instant, Micros
from app.apimachinery.meta import Object, key_of

RESOLUTION: Micros = 15 * SECOND
"""How often every kubelet is asked."""
FIRST_MEASURED: Micros = 2 * RESOLUTION
"""How long a container must have run to have been seen twice."""

Usage = dict[str, int]
"""`cpu` in thousandths of a core, `memory` in bytes."""

_MEBIBYTE = 1 << 20
_CORE = 1000
_NODE_CPU, _NODE_MEMORY = 45, 420 * _MEBIBYTE
_MAX_TEXT = 4096

# Base name of the image: thousandths of a core and MiB of the program at rest.
_AT_REST: Mapping[str, tuple[int, int]] = {
    "pause": (0, 0),
    "busybox": (0, 1),
    "alpine": (0, 1),
    "nginx": (1, 8),
    "httpd": (1, 12),
    "redis": (3, 9),
    "memcached": (1, 4),
    "mysql": (8, 380),
    "postgres": (3, 42),
    "mongo": (7, 160),
    "webapp-color": (1, 24),
    "event-simulator": (1, 14),
    "fluentd": (6, 72),
    "fluentd-elasticsearch": (8, 90),
    "node-exporter": (1, 12),
    "hello-app": (1, 4),
    "agnhost": (1, 8),
    "hpa-example": (1, 11),
    "kube-apiserver": (48, 236),
    "kube-controller-manager": (17, 52),
    "kube-scheduler": (4, 24),
    "kube-proxy": (1, 18),
    "etcd": (22, 47),
    "coredns": (3, 15),
    "metrics-server": (4, 22),
}
_UNKNOWN = (1, 10)
_STRESS = frozenset({"stress", "stress-ng"})
_SHELLS = frozenset({"sh", "bash", "ash", "dash"})
_RESTING = frozenset({"sleep", "tail", "pause"})
_BUSY = frozenset({"yes", "sha256sum", "md5sum", "gzip"})
_WAITS = frozenset({"sleep", "wait", "read", "tail"})
_CPU_FLAGS = frozenset({"--cpu", "-c", "-cpus", "--cpus"})
_MEMORY_FLAGS = frozenset({"--vm-bytes", "-mem-total", "--mem-total"})
_WORKER_FLAGS = frozenset({"--vm", "-m"})
_UNITS = {"B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def of_pod(pod: Object, now: Instant | None = None, served: int = 0) -> dict[str, Usage]:
    """The usage of each running container, by name.

    `served` is what the pod spends on answering others (`traffic.served`): its first container does. With `now`,
    nothing of a pod whose containers have not all been measured twice (metrics-server/pkg/storage/pod.go: GetMetrics).
    """
    running = _running(pod)
    if now is not None and any(now - clock.parse(since) < FIRST_MEASURED for since in running.values() if since):
        return {}
    spec = pod.get("spec") or {}
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    first = containers[0]["name"] if containers else ""
    return {
        one["name"]: of_container(one, served if one["name"] == first else 0)
        for one in containers
        if one["name"] in running
    }


def of_node(node: Object, pods: Iterable[Object], served: Mapping[str, int] | None = None) -> Usage:
    """The usage of a whole node: its running pods, the kubelet, the runtime and the system; never above capacity."""
    cpu, memory = _NODE_CPU, _NODE_MEMORY
    for pod in pods:
        for used in of_pod(pod, served=(served or {}).get(key_of(pod), 0)).values():
            cpu += used["cpu"]
            memory += used["memory"]
    capacity = (node.get("status") or {}).get("capacity") or {}
    if "cpu" in capacity:
        cpu = min(cpu, quantity.of(capacity["cpu"]).milli_value())
    if "memory" in capacity:
        memory = min(memory, quantity.of(capacity["memory"]).value())
    return {"cpu": cpu, "memory": memory}


def of_container(container: Mapping[str, Any], served: int = 0) -> Usage:
    """What a running container uses, with what it spends on answering others; no more than its limits."""
    image = _base_name(str(container.get("image") or ""))
    argv = [str(word) for word in (*(container.get("command") or ()), *(container.get("args") or ()))]
    cpu, mebibytes = _AT_REST.get(image, _UNKNOWN)
    memory = mebibytes * _MEBIBYTE
    program = argv[0].rpartition("/")[2] if argv else ""
    if image in _STRESS or program in _STRESS:
        cpu, memory = _stress(argv)
    elif container.get("command") or (argv and image in {"busybox", "alpine", "ubuntu", "debian"}):
        cpu, memory = _command(argv, cpu, memory)
    cpu += served
    limits = (container.get("resources") or {}).get("limits") or {}
    if "cpu" in limits:
        cpu = min(cpu, quantity.of(limits["cpu"]).milli_value())
    if "memory" in limits:
        memory = min(memory, quantity.of(limits["memory"]).value())
    return {"cpu": cpu, "memory": memory}


def _running(pod: Object) -> dict[str, str]:
    """The running containers, and since when each runs."""
    status = pod.get("status") or {}
    statuses = [*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ())]
    return {
        one["name"]: one["state"]["running"].get("startedAt") or ""
        for one in statuses
        if (one.get("state") or {}).get("running") is not None
    }


def _base_name(image: str) -> str:
    """`nginx` of `docker.io/library/nginx:1.27@sha256:…`."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0]


def _stress(argv: Sequence[str]) -> tuple[int, int]:
    """The stress programs: a core for each CPU worker and each memory worker, and the memory that they are given."""
    cpus = workers = size = 0
    for flag, value in zip(argv, [*argv[1:], ""], strict=True):
        name, joined, inline = flag.partition("=")
        text = inline if joined else value
        if name in _CPU_FLAGS:
            cpus = _count(text)
        elif name in _WORKER_FLAGS:
            workers = _count(text)
        elif name in _MEMORY_FLAGS:
            size = _bytes(text)
    hung = "--vm-hang" in argv
    busy = cpus + (0 if hung else workers)
    return max(1, busy * _CORE), size * max(1, workers) + _MEBIBYTE


def _command(argv: Sequence[str], cpu: int, memory: int) -> tuple[int, int]:
    """A command: what computes without a pause takes a core, what waits takes nothing, a known server its own."""
    words = _words(argv)
    if not words:
        return cpu, memory
    name = words[0].rpartition("/")[2]
    if name in _BUSY or (name == "dd" and "if=/dev/zero" in words and "of=/dev/null" in words):
        return _CORE, _MEBIBYTE
    if name in {"while", "until"} or (name == "for" and "((" in "".join(words[:3])):
        return (1 if _WAITS & set(words) else _CORE), _MEBIBYTE
    if name in _RESTING or name in _SHELLS or _WAITS & set(words):
        return 0, _MEBIBYTE
    return cpu, memory


def _words(argv: Sequence[str]) -> list[str]:
    """The command's words; those of the script where a shell is given one."""
    words = list(argv)
    if words and words[0].rpartition("/")[2] in _SHELLS:
        scripts = [after for flag, after in pairwise(words) if flag[:1] == "-" and flag[-1:] == "c"]
        if scripts:
            words = _split(scripts[0][:_MAX_TEXT])
    return words


def _split(script: str) -> list[str]:
    text = script.replace(";", " ").replace("\n", " ")
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _count(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 4 else 0


def _bytes(text: str) -> int:
    """`150M`, `950Mi`, `1G`."""
    short = text[:16].removesuffix("i").upper()
    if short.endswith("B") and not short[:-1].isdecimal():
        short = short[:-1]
    unit = _UNITS.get(short[-1:], 0)
    digits = short[:-1] if unit else short
    return int(digits) * (unit or 1) if digits.isascii() and digits.isdecimal() else 0
