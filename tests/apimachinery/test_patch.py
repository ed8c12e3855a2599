"""The three patches and client-side apply's own."""

from __future__ import annotations

from copy import deepcopy

import pytest

from app.apimachinery import patch
from app.apimachinery.errors import BadRequest, Invalid, PlainFault, RequestEntityTooLarge
from app.apis import schema, scheme

DEPLOYMENT = schema.patch_meta(scheme.for_kind("apps/v1", "Deployment"))
NODE = schema.patch_meta(scheme.for_kind("v1", "Node"))


@pytest.mark.parametrize(
    ("original", "change", "result"),
    [
        ({"a": 1}, {"a": 2}, {"a": 2}),
        ({"a": 1, "b": 2}, {"a": None}, {"b": 2}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": None, "d": 3}}, {"a": {"c": 2, "d": 3}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": "x"}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
    ],
)
def test_merge_patch(original, change, result):
    before = deepcopy(original)
    assert patch.merge(original, change) == result
    assert original == before


DOCUMENT = {"a": [1, 2, {"b": 3}], "m/n": {"~": 0}}


@pytest.mark.parametrize(
    ("operations", "result"),
    [
        ([{"op": "add", "path": "/c", "value": 1}], {**DOCUMENT, "c": 1}),
        ([{"op": "add", "path": "/a/-", "value": 4}], {**DOCUMENT, "a": [1, 2, {"b": 3}, 4]}),
        ([{"op": "add", "path": "/a/1", "value": 9}], {**DOCUMENT, "a": [1, 9, 2, {"b": 3}]}),
        ([{"op": "remove", "path": "/a/0"}], {**DOCUMENT, "a": [2, {"b": 3}]}),
        ([{"op": "remove", "path": "/a/-1"}], {**DOCUMENT, "a": [1, 2]}),
        ([{"op": "replace", "path": "/a/2/b", "value": 5}], {**DOCUMENT, "a": [1, 2, {"b": 5}]}),
        ([{"op": "replace", "path": "/m~1n/~0", "value": 1}], {**DOCUMENT, "m/n": {"~": 1}}),
        ([{"op": "move", "from": "/a/2", "path": "/c"}], {**DOCUMENT, "a": [1, 2], "c": {"b": 3}}),
        ([{"op": "copy", "from": "/a/2", "path": "/c"}], {**DOCUMENT, "c": {"b": 3}}),
        ([{"op": "test", "path": "/a/0", "value": 1}], DOCUMENT),
    ],
)
def test_json_patch(operations, result):
    before = deepcopy(DOCUMENT)
    assert patch.json_patch(DOCUMENT, operations) == result
    assert before == DOCUMENT


@pytest.mark.parametrize(
    ("operations", "kind"),
    [
        ([{"op": "remove", "path": "/x"}], Invalid),
        ([{"op": "remove", "path": "/a/7"}], Invalid),
        ([{"op": "remove", "path": "/a/-4"}], Invalid),
        ([{"op": "remove", "path": ""}], Invalid),
        ([{"op": "add", "path": "/x/y", "value": 1}], Invalid),
        ([{"op": "add", "path": "/x"}], Invalid),
        ([{"op": "replace", "path": "/x", "value": 1}], Invalid),
        ([{"op": "test", "path": "/a/0", "value": 2}], Invalid),
        ([{"op": "frobnicate", "path": "/a"}], Invalid),
        ([{"op": "replace", "path": "", "value": 3}], Invalid),
        ([{"op": "copy", "path": "/x"}], Invalid),
        ([{"op": "add", "path": "x", "value": 1}], Invalid),
        ([{"op": "add", "path": "/a" * 200, "value": 1}], Invalid),
        (["add"], BadRequest),
        ([{"op": "test", "path": "/a/0", "value": 1}] * 10_001, RequestEntityTooLarge),
        ([{"op": "copy", "from": "", "path": "/x"}, {"op": "copy", "from": "", "path": "/y"}] * 5000, Invalid),
    ],
    ids=range(16),
)
def test_json_patch_refuses_what_does_not_fit(operations, kind):
    with pytest.raises(kind):
        patch.json_patch(DOCUMENT, operations)


def test_of_a_json_patch_that_does_not_fit_the_server_says_nothing_and_the_hint_does():
    with pytest.raises(Invalid) as caught:
        patch.json_patch(DOCUMENT, [{"op": "remove", "path": "/x"}])
    assert caught.value.message == "the server rejected our request due to an error in our request"
    assert "doc is missing path: /x" in str(caught.value.hints[0].advice)


@pytest.mark.parametrize(
    ("operation", "text"),
    [
        ("add", "json: cannot unmarshal string into Go value of type handlers.jsonPatchOp"),
        (
            {"op": "add", "path": 5},
            "json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string",
        ),
    ],
)
def test_an_operation_that_is_none_is_told_in_the_words_of_the_decoder(operation, text):
    with pytest.raises(BadRequest) as caught:
        patch.json_patch(DOCUMENT, [operation])
    assert caught.value.message == f"error decoding patch: {text}"


def web(*containers: dict, **metadata: object) -> dict:
    return {"metadata": metadata, "spec": {"replicas": 1, "template": {"spec": {"containers": list(containers)}}}}


A = {"name": "a", "image": "x", "ports": [{"containerPort": 80}]}
B = {"name": "b", "image": "y"}


def containers_of(obj: dict) -> list[dict]:
    return obj["spec"]["template"]["spec"]["containers"]


@pytest.mark.parametrize(
    ("change", "result"),
    [
        ({"containers": [{"name": "a", "image": "z"}]}, [{**A, "image": "z"}, B]),
        ({"containers": [{"name": "c", "image": "z"}]}, [{"name": "c", "image": "z"}, A, B]),
        ({"containers": [{"name": "a", "$patch": "delete"}]}, [B]),
        ({"containers": [{"name": "a", "ports": None}]}, [{"name": "a", "image": "x"}, B]),
        ({"containers": [{"name": "c"}, {"$patch": "replace"}]}, [{"name": "c"}]),
        ({"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}, [B, A]),
        (
            {
                "$setElementOrder/containers": [{"name": "c"}, {"name": "a"}, {"name": "b"}],
                "containers": [{"name": "c"}],
            },
            [{"name": "c"}, A, B],
        ),
    ],
)
def test_strategic_merge_knows_containers_by_name(change, result):
    original = web(A, B)
    before = deepcopy(original)
    assert containers_of(patch.strategic(original, {"spec": {"template": {"spec": change}}}, DEPLOYMENT)) == result
    assert original == before


def test_strategic_merge_replaces_lists_without_a_merge_key():
    node = {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "b", "effect": "NoExecute"}]}}
    change = {"spec": {"taints": [{"key": "c", "effect": "NoSchedule"}]}}
    assert patch.strategic(node, change, NODE) == change


def test_strategic_merge_understands_its_other_directives():
    original = {
        "metadata": {"finalizers": ["a", "b"]},
        "spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {}}},
    }
    change = {
        "metadata": {"$deleteFromPrimitiveList/finalizers": ["a"], "finalizers": ["c"]},
        "spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}},
    }
    assert patch.strategic(original, change, DEPLOYMENT) == {
        "metadata": {"finalizers": ["c", "b"]},
        "spec": {"strategy": {"type": "Recreate"}},
    }
    assert patch.strategic(original, {"spec": {"$patch": "replace", "replicas": 1}}, DEPLOYMENT)["spec"] == {
        "replicas": 1
    }
    assert patch.strategic(original, {"spec": {"$patch": "delete"}}, DEPLOYMENT)["spec"] == {}


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        ({"$patch": "explode"}, PlainFault, "unknown patch type: explode in map: map[$patch:explode]"),
        (
            {"containers": [{"image": "z"}]},
            PlainFault,
            "map: map[image:z] does not contain declared merge key: name",
        ),
        ({"containers": ["z"]}, PlainFault, "list element types are not identical"),
        ({"containers": [["z"]]}, Invalid, "the server rejected our request"),
        ({"containers": [{"name": "a", "$patch": "merge"}]}, PlainFault, "merging lists cannot yet be specified"),
        ({"containers": [{"name": "a", "$patch": "x"}]}, PlainFault, "unknown patch type: x in map"),
        ({"$retainKeys": "name"}, BadRequest, "invalid patch format of retainKeys"),
        ({"$retainKeys": ["a"], "b": 1}, BadRequest, "invalid patch format of retainKeys"),
        ({"$deleteFromPrimitiveList": ["a"]}, BadRequest, "invalid patch format of primitive list"),
        ({"$setElementOrder": ["a"]}, BadRequest, "invalid patch format of setElementOrder list"),
        ({"$setElementOrder/containers": "a"}, PlainFault, "expected a []interface {}, but received a string"),
        (
            {
                "$setElementOrder/containers": [{"name": "a"}, {"name": "b"}],
                "containers": [{"name": "b"}, {"name": "a"}],
            },
            PlainFault,
            (
                "The order in patch list:\n[map[name:b] map[name:a]]\n doesn't match $setElementOrder list:\n"
                "[map[name:a] map[name:b]]\n"
            ),
        ),
    ],
    ids=range(12),
)
def test_strategic_merge_refuses_what_is_no_patch(change, kind, text):
    with pytest.raises(kind) as caught:
        patch.strategic(web(A), {"spec": {"template": {"spec": change}}}, DEPLOYMENT)
    assert text in caught.value.message


def test_three_way_changes_adds_and_deletes_and_keeps_what_others_set():
    last, wanted = web(A, B), web({**A, "image": "z"}, {"name": "c", "image": "q"})
    current = web({**A, "imagePullPolicy": "Always"}, B, {"name": "side", "image": "car"}, uid="u")
    change = patch.three_way(last, wanted, current, DEPLOYMENT)
    assert change == {
        "spec": {
            "template": {
                "spec": {
                    "$setElementOrder/containers": [{"name": "a"}, {"name": "c"}],
                    "containers": [
                        {"name": "a", "image": "z"},
                        {"name": "c", "image": "q"},
                        {"name": "b", "$patch": "delete"},
                    ],
                }
            }
        }
    }
    applied = patch.strategic(current, change, DEPLOYMENT)
    assert {item["name"]: item["image"] for item in containers_of(applied)} == {"a": "z", "c": "q", "side": "car"}
    assert containers_of(applied)[0]["imagePullPolicy"] == "Always"
    assert applied["metadata"] == {"uid": "u"}


def test_three_way_removes_fields_that_were_applied_before():
    last = {"metadata": {"labels": {"a": "1", "b": "2"}}, "spec": {"replicas": 1}}
    wanted = {"metadata": {"labels": {"a": "1"}}}
    current = {"metadata": {"labels": {"a": "1", "b": "2", "c": "3"}}, "spec": {"replicas": 1, "paused": True}}
    change = patch.three_way(last, wanted, current, DEPLOYMENT)
    assert change == {"metadata": {"labels": {"b": None}}, "spec": None}


def test_three_way_of_the_same_is_empty():
    assert patch.three_way(web(A, B), web(A, B), {**web(A, B), "status": {}}, DEPLOYMENT) == {}


def test_three_way_merges_lists_of_words():
    change = patch.three_way(
        {"metadata": {"finalizers": ["a", "b"]}},
        {"metadata": {"finalizers": ["b", "c"]}},
        {"metadata": {"finalizers": ["a", "b", "d"]}},
        DEPLOYMENT,
    )
    assert change["metadata"]["$deleteFromPrimitiveList/finalizers"] == ["a"]
    result = patch.strategic({"metadata": {"finalizers": ["a", "b", "d"]}}, change, DEPLOYMENT)
    assert result["metadata"]["finalizers"] == ["b", "c", "d"]


def test_three_way_retains_only_the_wanted_strategy_keys():
    last = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}
    wanted = {"spec": {"strategy": {"type": "Recreate"}}}
    change = patch.three_way(last, wanted, last, DEPLOYMENT)
    assert change["spec"]["strategy"]["$retainKeys"] == ["type"]
    assert patch.strategic(last, change, DEPLOYMENT) == wanted
