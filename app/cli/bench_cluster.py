"""What a lab costs: its cluster, one interaction, its snapshot, its memory, its time, and a large cluster's dump.

A usual lab is a kubeadm cluster of three nodes with a Deployment of five pods, a DaemonSet, a Job, a ConfigMap, a pod
that crashes and one that fits nowhere, ten minutes after they were created, and a few commands later.
"""

from __future__ import annotations

import gc
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import yaml

from app.apimachinery import clock, manifests
from app.apimachinery.clock import MINUTE, SECOND
from app.apimachinery.meta import Object
from app.cli import bench_scheduler
from app.cluster.cluster import Cluster
from app.lab import history
from app.lab.library import Library
from app.lab.service import LabService, make_pool
from app.lab.state import LabState
from app.lab.views import Mode
from app.progress import accounts
from app.progress.db import Database
from app.progress.models import User
from app.settings import Settings

NOW = clock.parse("2026-03-01T09:00:00Z")
EXERCISE = "write-a-toleration"
COMMANDS = 500
_LABS = 20
_NODES, _PODS = 1000, 5000
LIMITS = manifests.Limits(size=256 * 1024 * 1024, values=50_000_000)
"""For dumps, which are no learner's."""


@dataclass(frozen=True)
class Row:
    """One line: the figure, its unit and the most that it may be."""

    what: str
    value: float
    unit: str
    limit: float

    @property
    def missed(self) -> bool:
        """Whether it is more than it may be."""
        return self.value > self.limit

    def cells(self) -> str:
        """The line in Markdown."""
        return f"| {self.what} | {self.value:,.1f} {self.unit} | {self.limit:g} {self.unit} |"


def _pod(name: str, *command: str, image: str = "nginx:1.27", **spec: Any) -> Object:
    container = {"name": "main", "image": image, **({"command": list(command)} if command else {})}
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container], **spec}}


def _workload(kind: str, name: str, **spec: Any) -> Object:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "nginx:1.27"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels}, "template": template, **spec},
    }


def usual_objects() -> list[Object]:
    """What a usual lab's learner has created."""
    job_pod = _pod("count", "sleep", "20", image="busybox", restartPolicy="Never")["spec"]
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "count", "namespace": "default"}}
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "default"}}
    return [
        _workload("Deployment", "web", replicas=5),
        _workload("DaemonSet", "agent"),
        {**job, "spec": {"template": {"spec": job_pod}}},
        {**settings, "data": {"key": "value"}},
        _pod("crash", "sh", "-c", "sleep 7; exit 1", image="busybox"),
        _pod("stuck", nodeSelector={"disk": "ssd"}),
    ]


def usual_lab() -> LabState:
    """A usual lab."""
    cluster = Cluster.new(seed=1, now=NOW)
    for obj in usual_objects():
        cluster.client.create(obj)
    cluster.advance_to(NOW + 10 * MINUTE)
    return LabState(cluster)


def _milliseconds(action: Callable[[], object], runs: int) -> float:
    taken = []
    for _ in range(runs):
        started = time.perf_counter()
        action()
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)


def new_cluster(runs: int) -> Row:
    """A fresh cluster, as each start of a lab needs one."""
    taken = _milliseconds(lambda: Cluster.new(seed=1, now=NOW), runs)
    return Row("new cluster of three nodes", taken, "ms", 15)


def interactions(runs: int) -> Iterable[Row]:
    """A command, and a reset, of a usual lab: through the service, a worker process and SQLite."""
    with tempfile.TemporaryDirectory() as home:
        settings = Settings(home=Path(home), database_url="", workers=2)
        database = Database(settings.database)
        database.migrate()
        pool = make_pool(settings)
        try:
            service = LabService(database, pool, Library(database, settings.exercises), settings)
            with database.session() as session:
                user = accounts.create_guest(session)
            lab = service.start(user, EXERCISE, seed=1)
            text = "---\n".join(map(as_yaml, usual_objects()))
            assert service.apply(user, lab, text, Mode.CREATE, "en").ok
            service.advance(user, lab, 600, "en")
            yield _commands(service, user, lab, runs)
            yield Row("reset of it", _milliseconds(lambda: service.reset(user, lab, "en"), runs), "ms", 200)
        finally:
            pool.close()
            database.dispose()


def _commands(service: LabService, user: User, lab: str, runs: int) -> Row:
    secret = service.new_api_secret(user, lab)
    numbers = iter(range(10**6))

    def once() -> None:
        made = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"map-%d"}}' % next(numbers)
        request = {
            "method": "POST",
            "path": "/api/v1/namespaces/default/configmaps",
            "query": [],
            "headers": {"content-type": "application/json"},
        }
        assert service.api(secret, request, made)["code"] == 201

    for _ in range(5):
        once()
    return Row("one command in a usual lab, through a worker and the store", _milliseconds(once, runs), "ms", 10)


def snapshot() -> Row:
    """A usual lab as it is stored."""
    return Row("a usual lab's snapshot", len(usual_lab().dump()) / 1024, "KB", 40)


def memory() -> Row:
    """A usual lab that is loaded."""
    data = usual_lab().dump()
    LabState.load(data)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    held = [LabState.load(data) for _ in range(_LABS)]
    gc.collect()
    taken = (tracemalloc.get_traced_memory()[0] - before) / len(held)
    tracemalloc.stop()
    return Row("live memory of a usual lab", taken / 1024, "KB", 1024)


def passing() -> Row:
    """100 simulated minutes of three nodes and 30 pods, of which two crash and one fits nowhere."""
    cluster = Cluster.new(seed=1, now=NOW)
    cluster.client.create(_workload("Deployment", "web", replicas=27))
    for obj in usual_objects()[-2:]:
        cluster.client.create(obj)
    cluster.client.create(_pod("crash-too", "false", image="busybox"))
    started = time.perf_counter()
    cluster.advance_to(NOW + 100 * MINUTE)
    return Row("100 minutes of 3 nodes and 30 pods", time.perf_counter() - started, "s", 1)


def kept_history() -> Row:
    """What 500 commands leave in the database to step back to."""
    lab = LabState(Cluster.new(seed=1, now=NOW))
    state, kept = lab.dump(), 0
    for number in range(COMMANDS):
        cluster = lab.cluster
        cluster.advance_to(NOW + number * 20 * SECOND)
        _command(cluster, number)
        after = lab.dump()
        kept += len(after if number % 51 == 50 else history.difference(state, after))
        state = after
    return Row(f"history of {COMMANDS} commands", kept / 1024, "KB", 2048)


def _command(cluster: Cluster, number: int) -> None:
    """Something that learners do: mostly pods and small objects, now and then a Deployment comes and goes."""
    if number % 25 == 0:
        cluster.client.create(_workload("Deployment", f"web-{number}", replicas=2))
    elif number % 25 == 20:
        cluster.client.delete("deployments", f"web-{number - 20}", "default")
    elif number % 10 == 2:
        cluster.client.delete("pods", f"bee-{number - 1}", "default")
    else:
        cluster.client.create(_pod(f"bee-{number}"))


def as_yaml(obj: Object) -> str:
    """The object as kubectl prints it, without aliases for what is the same."""
    return str(yaml.dump(orjson.loads(orjson.dumps(obj)), Dumper=yaml.CSafeDumper))


def dump_text(nodes: int = _NODES, pods: int = _PODS) -> str:
    """What `kubectl get nodes,pods -A -o yaml` prints of a cluster in which everything runs."""
    items = [bench_scheduler.node(index) for index in range(nodes)]
    items += [_running(index, nodes) for index in range(pods)]
    return as_yaml({"apiVersion": "v1", "kind": "List", "items": items})


def _running(index: int, nodes: int) -> Object:
    pod = bench_scheduler.pod("plain", index)
    made = {
        "namespace": f"team-{index % 10}",
        "uid": f"0f000000-0000-4000-8000-{index:012}",
        "creationTimestamp": "2026-03-01T08:00:00Z",
        "resourceVersion": str(1000 + index),
    }
    since = "2026-03-01T08:00:05Z"
    kinds = ("Initialized", "Ready", "ContainersReady", "PodScheduled")
    conditions = [{"type": kind, "status": "True", "lastTransitionTime": since} for kind in kinds]
    container = {"name": "main", "ready": True, "restartCount": 0, "image": "registry.k8s.io/pause:3.10"}
    running = {**container, "imageID": "", "started": True, "state": {"running": {"startedAt": since}}}
    address = f"10.1.{index // 250}.{index % 250 + 1}"
    status = {"phase": "Running", "podIP": address, "startTime": since, "conditions": conditions}
    return {
        **pod,
        "metadata": {**pod["metadata"], **made},
        "spec": {**pod["spec"], "nodeName": f"node-{index % nodes:05}", "serviceAccountName": "default"},
        "status": {**status, "containerStatuses": [running]},
    }


def large_dump() -> Row:
    """A large cluster's dump: read, made a cluster of, and a new pod placed in it."""
    text = dump_text()
    started = time.perf_counter()
    objects = [document.object for document in manifests.parse(text, LIMITS)]
    cluster = Cluster.new(seed=1, now=NOW, objects=objects)
    cluster.client.create(_pod("new"))
    cluster.advance_to(cluster.now)
    taken = time.perf_counter() - started
    if not cluster.client.get("pods", "new", "default")["spec"].get("nodeName"):
        raise RuntimeError("the new pod was not placed")
    return Row(f"a dump of {_NODES:,} nodes and {_PODS:,} pods, and one more pod placed", taken, "s", 10)


def rows(runs: int) -> list[Row]:
    """The table; `runs` is how often what takes milliseconds is done."""
    return [
        new_cluster(min(runs, 50)),
        *interactions(runs),
        snapshot(),
        memory(),
        passing(),
        kept_history(),
        large_dump(),
    ]


def main(runs: int) -> int:
    """Measure and print. Answers 1 where a limit is passed."""
    table = rows(runs)
    print("| what | figure | at most |\n| --- | --- | --- |")
    print("\n".join(row.cells() for row in table))
    return 1 if any(row.missed for row in table) else 0
