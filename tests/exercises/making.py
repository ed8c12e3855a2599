"""A small right exercise as a dict, to be changed into whatever a test needs."""

import copy

import yaml

from app.apimachinery import clock
from app.cluster.cluster import Cluster
from app.exercises import answers, loader
from app.settings import ROOT

__all__ = ["ROOT", "Cluster", "answers"]

NOW = clock.parse("2026-12-01T09:00:00Z")

POD = """apiVersion: v1
kind: Pod
metadata:
  name: bee
spec:
  nodeSelector:
    kubernetes.io/hostname: {node}
  containers:
  - name: main
    image: {image}
"""

BASE = {
    "apiVersion": "lab/v1",
    "kind": "Exercise",
    "metadata": {"name": "place-bee", "version": 1},
    "spec": {
        "chapter": "node-affinity",
        "level": 1,
        "minutes": 5,
        "text": {
            "en": {"title": "Place bee", "task": "Run the pod `bee` with the image `nginx` on `node01`."},
            "ko": {"title": "bee 배치하기", "task": "파드 `bee`를 이미지 `nginx`로 `node01`에서 실행하세요."},
        },
        "checks": [
            {
                "name": "on-node01",
                "points": 6,
                "text": {"en": "bee is on node01"},
                "placement": {"pod": {"name": "bee"}, "onNodes": ["node01"]},
            },
            {
                "name": "image",
                "points": 4,
                "text": {"en": "bee runs nginx"},
                "object": {
                    "kind": "Pod",
                    "name": "bee",
                    "expect": 'self.spec.containers.all(c, c.image == "nginx")',
                },
            },
        ],
        "hints": [{"en": "One."}, {"en": "Two."}],
        "solution": {"manifests": POD.format(node="node01", image="nginx"), "why": {"en": "Because."}},
        "wrong": [
            {
                "name": "elsewhere",
                "manifests": POD.format(node="node02", image="nginx"),
                "fails": ["on-node01"],
            },
            {
                "name": "another-image",
                "manifests": POD.format(node="node01", image="httpd"),
                "fails": ["image"],
            },
        ],
    },
}


def document(**changes):
    """The exercise with changes by path: `spec__level=3`, `spec__checks__0__points=2`; None takes the field away."""
    made = copy.deepcopy(BASE)
    for path, value in changes.items():
        *steps, last = [int(step) if step.isdigit() else step for step in path.split("__")]
        place = made
        for step in steps:
            place = place[step]
        if value is None:
            del place[last]
        else:
            place[last] = value
    return made


def text(**changes):
    return yaml.safe_dump(document(**changes), sort_keys=False, allow_unicode=True)


def exercise(**changes):
    return loader.parse(text(**changes))


def problems(source):
    try:
        loader.parse(source, source="a.yaml")
    except loader.ExerciseErrors as errors:
        return [str(problem) for problem in errors.problems]
    return []


def cluster(*manifests, seed=1):
    """A settled cluster with these manifests applied, one after the other."""
    made = Cluster.new(seed=seed, now=NOW)
    for text in manifests:
        assert answers.carry_out(made, text) == ""
        made.settle()
    return made


def pod(name, image="nginx", **spec):
    made = {"containers": [{"name": "main", "image": image}], **spec}
    return yaml.safe_dump(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name}}, "spec": made}
    )


def node(name, labels=None, **spec):
    return yaml.safe_dump(
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels or {}}, "spec": spec}
    )


def deployment(name, replicas=2, **spec):
    template = {
        "metadata": {"labels": {"app": name}},
        "spec": {"containers": [{"name": "main", "image": "nginx"}], **spec},
    }
    whole = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}
    return yaml.safe_dump({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": whole})
