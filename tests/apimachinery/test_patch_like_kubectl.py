"""Patches as the real kubectl applies them (`kubectl patch --local`)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.apimachinery import patch
from app.apis import schema, scheme

KUBECTL = Path(sys.executable).parent / "kubectl"

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "x", "labels": {"a": "1", "b": "2"}, "finalizers": ["e.x/a", "e.x/b", "e.x/c"]},
    "spec": {
        "containers": [
            {
                "name": "a",
                "image": "x",
                "args": ["1", "2"],
                "ports": [{"containerPort": 80, "name": "http"}, {"containerPort": 81}],
                "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
            },
            {"name": "b", "image": "y"},
            {"name": "c", "image": "z"},
        ],
        "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "configMap": {"name": "c"}}],
        "tolerations": [{"key": "a", "operator": "Exists"}],
        "nodeSelector": {"a": "b", "c": "d"},
    },
}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "x"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"a": "b"}},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": POD["spec"]},
    },
}
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "x"},
    "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "b", "effect": "NoExecute"}]},
}


def by_kubectl(obj: dict, change: object, kind: str, folder: Path) -> dict:
    (folder / "object.json").write_text(json.dumps(obj))
    (folder / "change.json").write_text(json.dumps(change))
    done = subprocess.run(
        [KUBECTL, "patch", "--local", "-f", "object.json", "--type", kind, "--patch-file", "change.json", "-o", "json"],
        cwd=folder,
        env={"HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    return json.loads(done.stdout)


def trimmed(value: object) -> object:
    """Without what a round through Go's types adds or drops: nulls and empty collections."""
    if isinstance(value, dict):
        kept = {key: trimmed(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item not in (None, {}, [])}
    return [trimmed(item) for item in value] if isinstance(value, list) else value


def spec(**fields: object) -> dict:
    return {"spec": fields}


STRATEGIC = [
    (POD, {"metadata": {"labels": {"a": None, "c": "3"}}}),
    (POD, {"metadata": {"$deleteFromPrimitiveList/finalizers": ["e.x/b"]}}),
    (POD, {"metadata": {"finalizers": ["e.x/d", "e.x/a"]}}),
    (POD, {"metadata": {"finalizers": ["e.x/d"], "$setElementOrder/finalizers": ["e.x/d", "e.x/c", "e.x/a"]}}),
    (POD, spec(containers=[{"name": "b", "image": "new"}])),
    (POD, spec(containers=[{"name": "d", "image": "new"}])),
    (POD, spec(containers=[{"name": "b", "$patch": "delete"}])),
    (POD, spec(containers=[{"$patch": "replace"}, {"name": "d", "image": "new"}])),
    (POD, spec(containers=[{"name": "a", "args": ["3"]}])),
    (POD, spec(containers=[{"name": "a", "env": [{"name": "B", "value": "9"}, {"name": "C", "value": "3"}]}])),
    (POD, spec(containers=[{"name": "a", "env": [{"name": "A", "$patch": "delete"}]}])),
    (POD, spec(containers=[{"name": "a", "ports": [{"containerPort": 81, "name": "alt"}]}])),
    (POD, spec(containers=[{"name": "a", "ports": None}])),
    (POD, {"spec": {"$setElementOrder/containers": [{"name": "c"}, {"name": "a"}, {"name": "b"}]}}),
    (
        POD,
        {
            "spec": {
                "$setElementOrder/containers": [{"name": "d"}, {"name": "a"}, {"name": "c"}],
                "containers": [{"name": "d", "image": "new"}, {"name": "b", "$patch": "delete"}],
            }
        },
    ),
    (
        POD,
        {
            "spec": {
                "$setElementOrder/containers": [{"name": "d"}, {"name": "a"}],
                "containers": [{"name": "d", "image": "new"}],
            }
        },
    ),
    (
        POD,
        {
            "spec": {
                "$setElementOrder/containers": [{"name": "c"}, {"name": "d"}, {"name": "a"}],
                "containers": [{"name": "d", "image": "new"}],
            }
        },
    ),
    (
        POD,
        spec(volumes=[{"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/"}, "emptyDir": None}]),
    ),
    (POD, spec(tolerations=[{"key": "b", "operator": "Exists"}])),
    (POD, spec(nodeSelector={"a": None, "e": "f"})),
    (POD, {"spec": {"nodeSelector": {"$patch": "replace", "e": "f"}}}),
    (POD, {"spec": {"nodeSelector": {"$patch": "delete"}}}),
    (DEPLOYMENT, spec(strategy={"$retainKeys": ["type"], "type": "Recreate"})),
    (DEPLOYMENT, spec(strategy={"type": "Recreate", "rollingUpdate": None})),
    (DEPLOYMENT, spec(replicas=5, template={"spec": {"containers": [{"name": "a", "image": "new"}]}})),
    (NODE, spec(taints=[{"key": "c", "effect": "NoSchedule"}])),
    (NODE, spec(taints=None, unschedulable=True)),
]


@pytest.mark.parametrize(("obj", "change"), STRATEGIC, ids=range(len(STRATEGIC)))
def test_a_strategic_patch_does_what_kubectls_does(obj, change, tmp_path):
    meta = schema.patch_meta(scheme.for_kind(obj["apiVersion"], obj["kind"]))
    expected = by_kubectl(obj, change, "strategic", tmp_path)
    assert trimmed(patch.strategic(obj, change, meta)) == trimmed(expected)


@pytest.mark.parametrize(
    "change",
    [
        {"metadata": {"labels": {"a": None, "c": "3"}}},
        {"spec": {"containers": [{"name": "d", "image": "new"}], "nodeSelector": None}},
    ],
    ids=range(2),
)
def test_a_merge_patch_does_what_kubectls_does(change, tmp_path):
    assert trimmed(patch.merge(POD, change)) == trimmed(by_kubectl(POD, change, "merge", tmp_path))


def test_a_json_patch_does_what_kubectls_does(tmp_path):
    change = [
        {"op": "test", "path": "/spec/containers/0/name", "value": "a"},
        {"op": "replace", "path": "/spec/containers/1/image", "value": "new"},
        {"op": "remove", "path": "/spec/containers/2"},
        {"op": "add", "path": "/spec/tolerations/0", "value": {"key": "b", "operator": "Exists"}},
        {"op": "copy", "from": "/metadata/labels/a", "path": "/metadata/labels/x~1y"},
        {"op": "move", "from": "/metadata/labels/b", "path": "/metadata/labels/c"},
        {"op": "add", "path": "/metadata/finalizers/-", "value": "e.x/z"},
    ]
    assert trimmed(patch.json_patch(POD, change)) == trimmed(by_kubectl(POD, change, "json", tmp_path))
