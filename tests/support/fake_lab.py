"""A lab that stands still: pages can be rendered from it without a cluster, a worker or a database."""

from datetime import UTC, datetime

from app.apimachinery.messages import Message
from app.lab.service import NoStepBack
from app.lab.views import (
    CatalogueView,
    ChangeView,
    ChapterView,
    CheckView,
    EventView,
    ExerciseCard,
    ExerciseProgress,
    ExerciseView,
    FieldChange,
    Gauge,
    HistoryLine,
    LabLine,
    LabView,
    NodeView,
    Outcome,
    PodView,
    Problem,
    ProgressView,
    ResultView,
    ScoreView,
    SolutionView,
    Standing,
    StepView,
    VerdictView,
)

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)
CHAPTERS = (
    ("manual-scheduling", "Manual scheduling", "Place a pod by hand"),
    ("labels-and-selectors", "Labels and selectors", "Repair a ReplicaSet's selector"),
    ("taints-and-tolerations", "Taints and tolerations", "Taint a node"),
    ("node-affinity", "Node selectors and node affinity", "Keep a Deployment on the control plane"),
    ("resources", "Requests, limits, LimitRange, ResourceQuota", "Make room by requests"),
    ("daemonsets", "DaemonSets", "Write a toleration"),
    ("static-pods", "Static pods", "Tell static pods from others"),
    ("multiple-schedulers", "Multiple schedulers", "Deploy my-scheduler"),
    ("scheduler-profiles", "Scheduler profiles", "Let important pods go first"),
)
STATES = (Standing.FULL, Standing.NEW, Standing.PARTIAL, Standing.BEGUN, *[Standing.NEW] * 5)
BEST = (10, 0, 7, 0, 0, 0, 0, 0, 0)
TASK = """The team of `controlplane` wants **node01** for itself.

1. Taint `node01` with key `spray`, value `mortein` and effect `NoSchedule`.
2. Create a pod `bee` in the namespace `default`, image `nginx`, that still runs on `node01`.

A manifest of kind `Node` with `metadata.name` and `spec.taints` is enough.
"""
MANIFEST = """apiVersion: v1
kind: Pod
metadata:
  name: bee
spec:
  containers:
  - name: bee
    image: nginx
  tolerations:
  - key: spray
    operator: Equal
    value: mortein
    effect: NoSchedule
"""


def gauge(used: int, capacity: int, unit: str) -> Gauge:
    return Gauge(used, capacity, f"{used}{unit}", f"{capacity}{unit}")


def node(name: str, *, taints: tuple[str, ...] = (), cpu: int = 200, ready: bool = True) -> NodeView:
    control = name == "controlplane"
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux"}
    if not control:
        labels["color"] = "blue"
    return NodeView(
        name=name,
        roles=("control-plane",) if control else (),
        ready=ready,
        unschedulable=name == "node02",
        taints=taints,
        labels=labels,
        cpu=gauge(cpu, 2000, "m"),
        memory=gauge(390, 3900, "Mi"),
        pods=gauge(5 if control else 2, 110, ""),
    )


def pod(name: str, where: str = "", phase: str = "Running", **more: object) -> PodView:
    values = {"namespace": "default", "scheduler": "default-scheduler", "age": "42s"} | more
    return PodView(name=name, node=where, phase=phase, **values)  # type: ignore[arg-type]


def system(name: str, where: str) -> PodView:
    return pod(f"{name}-{where}", where, namespace="kube-system", system=True, age="3d")


WAITING = Message(
    "0/3 nodes are available: {reason}. Give the pod a toleration for {taint}, or remove the taint.",
    {"reason": "1 node(s) had untolerated taint {spray: mortein}", "taint": "spray=mortein:NoSchedule"},
)


def lab_view(**more: object) -> LabView:
    values: dict[str, object] = {
        "steps": (StepView(2, "create", "apiVersion: v1 kind: Pod", NOW), StepView(1, "pause", "", NOW), StepView(0)),
        "id": "Zk3x9",
        "exercise": "taint-a-node",
        "title": "Taint a node",
        "chapter": "Taints and tolerations",
        "task": TASK,
        "checks": (
            CheckView("tainted", "node01 has the taint spray=mortein:NoSchedule", 4),
            CheckView("bee", "bee runs on node01", 3),
            CheckView("others", "Pods without a toleration stay away from node01", 3),
        ),
        "hints": 3,
        "nodes": (
            node("controlplane", taints=("node-role.kubernetes.io/control-plane:NoSchedule",), cpu=850),
            node("node01", taints=("spray=mortein:NoSchedule",)),
            node("node02", cpu=1900),
        ),
        "pods": (
            *(system(name, "controlplane") for name in ("etcd", "kube-apiserver", "kube-scheduler")),
            system("kube-proxy", "node01"),
            pod("web-5d9c7b6f4-x2x8k", "node02"),
            pod("job-1", "node02", "Completed"),
            pod("web-old", "node02", "Terminating"),
            pod("stress", "node02", "CrashLoopBackOff"),
            pod("bee", phase="Pending", why=WAITING, attempts=2),
        ),
        "events": (
            EventView("3d", "Normal", "Starting", "node/node01", "Starting kubelet.", "kubelet"),
            EventView(
                "12s",
                "Warning",
                "FailedScheduling",
                "pod/bee",
                "0/3 nodes are available",
                "default-scheduler",
                2,
            ),
        ),
        "changes": (
            ChangeView("Pod", "default", "bee", "created"),
            ChangeView(
                "Node",
                "",
                "node01",
                "changed",
                (FieldChange("spec.taints[0]", "", "spray=mortein:NoSchedule"),),
            ),
        ),
        "revision": 3,
        "now": NOW,
        "manifest": MANIFEST,
        "seed": 17,
        "level": 2,
        "minutes": 6,
    }
    return LabView(**(values | more))  # type: ignore[arg-type]


def verdict(kind: str = "check") -> VerdictView:
    return VerdictView(
        points=4,
        possible=10,
        kind=kind,
        at=NOW,
        results=(
            ResultView("tainted", "node01 has the taint spray=mortein:NoSchedule", "passed", 4, 4),
            ResultView(
                "bee",
                "bee runs on node01",
                "failed",
                0,
                3,
                Message("pod {name} on {node}", {"name": "bee", "node": "node01"}),
                Message("it is bound to no node"),
                Message("pod {name}", {"name": "default/bee"}),
            ),
            ResultView("others", "Pods without a toleration stay away from node01", "fault", 0, 3),
        ),
    )


MOVING = "M0ves"
"""A lab whose pod is bound half a second after the page was opened."""


class FakeLab:
    """Answers like the service, always the same; only `MOVING` moves on with each look."""

    def __init__(self):
        self._looks = 0

    def catalogue(self, _user, _language):
        chapters = []
        for number, (name, title, exercise) in enumerate(CHAPTERS, start=1):
            state, best = STATES[number - 1], BEST[number - 1]
            lab = "Zk3x9" if state is Standing.BEGUN else ""
            card = ExerciseCard(f"exercise-{number}", exercise, 1 + number % 5, 6, 10, state, best, lab)
            chapters.append(ChapterView(name, number, title, (card,)))
        return CatalogueView(tuple(chapters))

    def exercise(self, user, name, language):
        chapter = self.catalogue(user, language).chapters[2]
        return ExerciseView(chapter.exercises[0], chapter, 1, TASK, lab_view().checks, 3, varies=True)

    def start(self, _user, _name, seed=None):
        return "Zk3x9" if seed is None else MOVING

    def view(self, _user, lab, _language):
        if lab != MOVING:
            return lab_view()
        self._looks += 1
        bound = self._looks % 2 == 0
        bee = pod("bee", "node02" if bound else "", "Running" if bound else "Pending")
        return lab_view(id=MOVING, pods=(bee,), next_in=None if bound else 0.5)

    def apply(self, _user, _lab, text, _mode, _language):
        if "oops" in text:
            message = Message('unknown field "spec.continers"')
            advice = Message("Write {name} instead.", {"name": "containers"})
            return Outcome(False, (), lab_view(), (Problem(message, 5, 3, advice), Problem(Message("No kind."))))
        return Outcome(True, ("pod/bee created",), lab_view())

    def check(self, _user, _lab, _language):
        last = ScoreView(4, 10, NOW)
        return Outcome(True, (), lab_view(best=last, last=last), verdict=verdict())

    def submit(self, user, lab, text, mode, language):
        outcome = self.apply(user, lab, text, mode, language)
        return Outcome(outcome.ok, outcome.lines, outcome.view, outcome.problems, verdict("submit"))

    def reset(self, _user, _lab, _language):
        return Outcome(True, (), lab_view())

    def advance(self, _user, _lab, span, _language):
        lines = ("Normal Scheduled pod/bee Successfully assigned default/bee to node01",)
        passed = "" if span is None else f"{span:g}s"
        return Outcome(ok=True, lines=lines if passed else (), view=lab_view(), passed=passed)

    def pause(self, _user, _lab, *, paused, language):
        return Outcome(ok=True, lines=(), view=lab_view(paused=paused))

    def steps(self, _user, _lab, _language):
        view = lab_view()
        return view, view.steps

    def step_back(self, _user, _lab, seq, _language):
        if seq > 2:
            raise NoStepBack(seq)
        return Outcome(ok=True, lines=(), view=lab_view())

    def hint(self, _user, _lab, number, _language):
        return f"Hint **{number}**: `spec.taints` is a list."

    def solution(self, _user, _lab, _language):
        return SolutionView(MANIFEST, "A toleration does not *attract*.", ("https://kubernetes.io/docs/",))

    def progress(self, user, language):
        cards = self.catalogue(user, language).exercises
        first, best = ScoreView(4, 10, NOW), ScoreView(7, 10, NOW)
        history = (HistoryLine("exercise-3", "Taint a node", "Zk3x9", "submit", 7, 10, NOW, 1, 17),)
        labs = (LabLine("Zk3x9", "exercise-3", "Taint a node", NOW, NOW),)
        return ProgressView((ExerciseProgress(cards[2], 2, first, best, best),), history, labs)
