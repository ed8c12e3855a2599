"""Pods per second from the queue to the binding, next to what the real scheduler did.

A run creates 1,000 pods at once, takes each from the queue, decides, and lets the queue and the cache hear of the
binding. Nothing is recorded. Nodes are there before the clock starts; everything that a template of pods costs once
is counted. The figures of the real scheduler (1.35.7) are of a machine with two cores, too.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.apimachinery.meta import Object
from app.scheduler import event_handlers
from app.scheduler.cache import Cache
from app.scheduler.fast_path import FastPath
from app.scheduler.profile import build_profiles
from app.scheduler.queue import SchedulingQueue
from app.scheduler.schedule_one import schedule_one
from app.scheduler.snapshot import Snapshot
from app.scheduler.why import facts, scores

PODS = 1000
_APPS = 10
"""Anti-affinity on the host name leaves room for one pod of an app on a node: 100 nodes take ten apps of 100."""

_ZONES = 3
SIZES = (100, 1000, 5000)
KINDS = ("plain", "spread", "anti-affinity")
REAL: Mapping[tuple[str, str], tuple[int, int, int]] = {
    ("default sampling", "plain"): (2265, 901, 666),
    ("default sampling", "spread"): (1419, 441, 246),
    ("default sampling", "anti-affinity"): (1201, 506, 315),
    ("all nodes", "plain"): (1975, 459, 95),
    ("all nodes", "spread"): (1580, 338, 44),
    ("all nodes", "anti-affinity"): (897, 197, 58),
}
"""The real scheduler's pods per second with 100, 1,000 and 5,000 nodes."""

_TIMES_REAL = (1.2, 2.0, 3.0)
"""How many times the real scheduler's figure with default sampling is wanted with all nodes scored."""


@dataclass(frozen=True)
class Row:
    """One line: the median rate in pods a second, the real scheduler's, and the least that is wanted (0: nothing)."""

    what: str
    rate: float
    real: int
    target: float

    @property
    def missed(self) -> bool:
        """Whether the rate is below the target."""
        return self.rate < self.target

    def cells(self) -> str:
        """The line in Markdown."""
        target = f"{self.target:,.0f}" if self.target else ""
        return f"| {self.what} | {self.rate:,.0f} | {self.real:,} | {self.rate / self.real:.1f} | {target} |"


def node(index: int) -> Object:
    """A node of 32 CPUs and 256 GiB in one of three zones."""
    name = f"node-{index:05}"
    room = {"cpu": "32", "memory": "256Gi", "pods": "110"}
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone-{index % _ZONES}"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {},
        "status": {"capacity": room, "allocatable": room},
    }


def pod(kind: str, index: int) -> Object:
    """The pod of a kind as the API server would hand it out."""
    app = f"app-{index % _APPS if kind == 'anti-affinity' else 0}"
    selector = {"matchLabels": {"app": app}}
    requests = {"cpu": "100m", "memory": "500Mi"}
    spec: dict[str, Any] = {
        "schedulerName": "default-scheduler",
        "priority": 0,
        "containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": requests}}],
    }
    if kind == "spread":
        spec["topologySpreadConstraints"] = [
            _constraint("topology.kubernetes.io/zone", "DoNotSchedule", selector),
            _constraint("kubernetes.io/hostname", "ScheduleAnyway", selector),
        ]
    elif kind == "anti-affinity":
        term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": selector}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    name = f"pod-{index:05}"
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}", "labels": {"app": app}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}


def _constraint(key: str, action: str, selector: Mapping[str, Any]) -> dict[str, Any]:
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": action, "labelSelector": selector}


def run_once(kind: str, nodes: int, *, percentage: int, pods: int = PODS) -> float:
    """Pods a second from queue to binding. RuntimeError where a pod finds no place."""
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "percentageOfNodesToScore": percentage,
    }
    profiles = build_profiles(configuration)
    scheduler = FastPath(profiles, Cache(node(index) for index in range(nodes)))
    queue = SchedulingQueue(profiles)
    waiting = [pod(kind, index) for index in range(pods)]
    gc.collect()
    started = time.perf_counter()
    for obj in waiting:
        event_handlers.handle(queue, None, obj, 0)
    bound = 0
    while (entry := queue.pop(bound)) is not None:
        obj = entry.pod.pod
        placed = scheduler.schedule(obj)
        if not placed.node:
            raise RuntimeError(f"{entry.pod.key} found no node")
        new = scheduler.cache.assume(obj, placed.node)
        queue.done(entry.pod.key)
        event_handlers.handle(queue, obj, new, bound)
        bound += 1
    return bound / (time.perf_counter() - started)


def rows(quick: bool) -> list[Row]:
    """The table. `quick` measures each line once, with 100 and 1,000 nodes; else it is the median of five."""
    found = []
    for mode, percentage in (("all nodes", 100), ("default sampling", 0)):
        for kind in KINDS:
            for place, size in enumerate(SIZES[:2] if quick else SIZES):
                rates = [run_once(kind, size, percentage=percentage) for _ in range(1 if quick else 5)]
                wanted = _TIMES_REAL[place] * REAL["default sampling", kind][place] if percentage else 0.0
                what = f"{kind}, {size:,} nodes, {mode}"
                found.append(Row(what, statistics.median(rates), REAL[mode, kind][place], wanted))
    return found


def explanations() -> Iterator[tuple[str, float, float]]:
    """(what, median milliseconds, limit) of a decision with its record, its facts and its scores' arithmetic."""
    framework = build_profiles(None)["default-scheduler"]
    wanted = pod("spread", 0)
    for size, limit in ((5, 2.0), (50, 10.0)):
        running = [
            {**pod("spread", index), "metadata": {"name": f"old-{index}", "namespace": "default"}}
            for index in range(size)
        ]
        for index, obj in enumerate(running):
            obj["spec"] = {**obj["spec"], "nodeName": f"node-{index:05}"}
        objects = [*(node(index) for index in range(size)), *running]

        def decide(objects: Sequence[Object] = objects) -> None:
            result = schedule_one(framework, Snapshot.of(objects), wanted)
            assert result.record is not None
            assert result.attempt["nodes"]
            assert len(facts.explain(result.record)) == len(result.attempt["nodes"])
            assert scores.explain(result.record)

        yield f"decision with full explanation, {size} nodes", _milliseconds(decide), limit


def _milliseconds(action: Callable[[], None]) -> float:
    taken = []
    for _ in range(21):
        started = time.perf_counter()
        action()
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)


def memory() -> tuple[int, int]:
    """Bytes that one node and one bound pod take in the cache, parsed forms included and their JSON not."""
    nodes = [node(index) for index in range(1000)]
    pods = [
        {**obj, "spec": {**obj["spec"], "nodeName": f"node-{at:05}"}}
        for at, obj in enumerate(pod("plain", index) for index in range(1000))
    ]
    tracemalloc.start()
    cache = Cache(nodes)
    for_nodes = tracemalloc.get_traced_memory()[0]
    for obj in pods:
        cache.change(None, obj)
    for_all = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return for_nodes // len(nodes), (for_all - for_nodes) // len(pods)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print. Answers 1 where a target is missed."""
    parser = argparse.ArgumentParser(description="measure the scheduler")
    parser.add_argument("--quick", action="store_true", help="once, and no more than 1,000 nodes")
    options = parser.parse_args(arguments)
    table = rows(options.quick)
    print("| what | pods/s | kube-scheduler 1.35.7 | times | wanted |\n| --- | --- | --- | --- | --- |")
    print("\n".join(row.cells() for row in table))
    records = list(explanations())
    print("\n| what | ms | limit |\n| --- | --- | --- |")
    print("\n".join(f"| {what} | {taken:.2f} | {limit:.0f} |" for what, taken, limit in records))
    for_node, for_pod = memory()
    print(f"\n| memory in the cache | bytes |\n| --- | --- |\n| a node | {for_node:,} |\n| a bound pod | {for_pod:,} |")
    return 1 if any(row.missed for row in table) or any(taken > limit for _, taken, limit in records) else 0


if __name__ == "__main__":
    sys.exit(main())
