"""Right answers that are spelt otherwise than the model solution get full marks too."""

import pytest

from app.exercises import answers, grader, loader, setup
from app.settings import ROOT
from tests.exercises import making

BINDING = """
apiVersion: v1
kind: Binding
metadata: {name: nginx}
target: {apiVersion: v1, kind: Node, name: node01}
"""
NODE_SELECTOR = (
    making.node("node01", {"color": "blue"}) + "---\n" + making.deployment("blue", nodeSelector={"color": "blue"})
)
ADOPTION = """
{"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web", "namespace": "shop"}, "spec": {"replicas": 3,
"selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]},
{"key": "release", "operator": "NotIn", "values": ["legacy"]}]},
"template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}}}
"""
AGENT = """
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: log-agent, namespace: kube-system}
spec:
  selector: {matchLabels: {app: log-agent}}
  template:
    metadata: {labels: {app: log-agent, more: "yes"}}
    spec:
      tolerations: [%s]
      containers: [{name: agent, image: "registry.k8s.io/fluentd-elasticsearch:1.20"}]
"""
AMOUNTS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  replicas: 4
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec:
      containers:
      - name: main
        image: nginx
        resources:
          requests: {cpu: 0.25, memory: 134217728}
          limits: {memory: 262144Ki, cpu: "1"}
"""
CONTROL_PLANE = "node-role.kubernetes.io/control-plane"

RIGHT = {
    "a binding": ("place-a-pod-by-hand", {"pod": "nginx", "node": "node01", "other": "node02"}, "create", BINDING),
    "a selector with expressions": ("adopt-pods-by-labels", {"app": "web", "namespace": "shop"}, "apply", ADOPTION),
    "a second taint beside the first": (
        "taint-a-node",
        {"node": "node01", "key": "spray", "value": "mortein"},
        "apply",
        making.node(
            "node01",
            taints=[
                {"key": "more", "effect": "PreferNoSchedule"},
                {"key": "spray", "value": "mortein", "effect": "NoSchedule"},
            ],
        ),
    ),
    "a node selector for an affinity": (
        "require-a-node-label",
        {"color": "blue", "node": "node01", "other": "node02"},
        "apply",
        NODE_SELECTOR,
    ),
    "amounts in other units": (
        "right-size-requests",
        {"name": "api", "cpu": "250m", "memory": "128Mi"},
        "apply",
        AMOUNTS,
    ),
    "a toleration without an effect": (
        "write-a-toleration",
        {"name": "log-agent"},
        "create",
        AGENT % f"{{key: {CONTROL_PLANE}, operator: Exists}}",
    ),
    "a toleration of an empty value": (
        "write-a-toleration",
        {"name": "log-agent"},
        "create",
        AGENT % f'{{key: {CONTROL_PLANE}, operator: Equal, value: "", effect: NoSchedule}}',
    ),
}


def load(name):
    path = ROOT / "exercises" / f"{name}.yaml"
    return loader.parse(path.read_text(), source=path.name)


@pytest.mark.parametrize("name", RIGHT)
def test_another_right_answer_gets_full_marks(name):
    exercise, values, mode, manifests = RIGHT[name]
    variant = load(exercise).with_values(values, 1)
    start = setup.start(variant, making.NOW)
    cluster = start.fork()
    assert answers.carry_out(cluster, manifests, mode) == ""
    verdict = grader.grade(variant, cluster, start)
    assert [str(result.found) for result in verdict.results if not result.passed] == []


def test_replacing_everything_by_force_restarts_the_scheduler_too():
    variant = load("add-a-profile").variant(1)
    start = setup.start(variant, making.NOW)
    cluster = start.fork()
    assert answers.carry_out(cluster, variant.spec.solution.manifests, "replace") == ""
    verdict = grader.grade(variant, cluster, start)
    assert [str(result.found) for result in verdict.results if not result.passed] == []


def test_answering_in_two_steps_is_as_good_as_in_one():
    variant = load("deploy-my-scheduler").variant(1)
    start = setup.start(variant, making.NOW)
    cluster = start.fork()
    parts = variant.spec.solution.manifests.split("---\n")
    for part in reversed(parts):
        answers.carry_out(cluster, part)
        cluster.advance_to(cluster.now + 90_000_000)
    for part in parts:
        answers.carry_out(cluster, part)
    verdict = grader.grade(variant, cluster, start)
    assert [str(result.found) for result in verdict.results if not result.passed] == []


FINAL = {
    "evicts-what-runs": "the evicted pod is gone",
    "removes-the-taint": "the solution does not bring the taint back",
    "selector-too-wide": "the ReplicaSet takes what it adopted with it when it is deleted",
    "only-what-is-there": "the same",
}
"""Wrong answers that only a reset puts right, as in a real cluster."""


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "exercises").glob("*.yaml")))
def test_after_a_wrong_answer_the_right_one_still_works(name):
    variant = load(name).variant(1)
    start = setup.start(variant, making.NOW)
    for wrong in variant.spec.wrong:
        cluster = start.fork()
        answers.carry_out(cluster, wrong.manifests, wrong.mode)
        cluster.advance_to(cluster.now + 120_000_000)
        for manifest in variant.spec.solution.manifests.split("---\n"):
            answers.carry_out(cluster, manifest, "apply" if "kind: Node" in manifest else "replace")
        failed = sorted(grader.grade(variant, cluster, start).failed)
        assert bool(failed) is (wrong.name in FINAL), f"{wrong.name}: {failed}"
