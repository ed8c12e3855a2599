"""Proofs find what is wrong in an exercise; and every exercise of the folder is proven."""

import pytest

from app.exercises import ablation, loader, proof
from app.settings import ROOT
from tests.exercises import making

WRONG = making.BASE["spec"]["wrong"]
THIRD = {"name": "third", "points": 1, "text": {"en": "x"}}

DEFECTS = {
    "a literal that the English task does not say": (
        {"spec__text__en__task": "Run the pod `bee` with the image `nginx` on the first worker."},
        ["the en task does not say “node01”, which check on-node01 needs"],
    ),
    "a literal that the Korean task does not say": (
        {"spec__text__ko__task": "파드 `bee`를 `node01`에서 실행하세요."},
        ["the ko task does not say “nginx”, which check image needs"],
    ),
    "a literal that is only part of a word": (
        {
            "spec__text__en__task": "Run the pod `bee-2` with the image `nginx` on `node01`.",
            "spec__text__en__title": "Place it",
        },
        [
            "the en task does not say “bee”, which check image needs",
            "the en task does not say “bee”, which check on-node01 needs",
        ],
    ),
    "a solution that does not solve it": (
        {"spec__solution__manifests": making.POD.format(node="node02", image="nginx")},
        ["the model solution fails check on-node01: bee is on node02"],
    ),
    "a solution that is refused": (
        {"spec__solution__manifests": making.pod("Bee")},
        ['the model solution is refused: The Pod "Bee" is invalid'],
    ),
    "points for nothing": (
        {
            "spec__cluster": {"manifests": making.POD.format(node="node01", image="nginx")},
            "spec__solution__mode": "replace",
            "spec__wrong": [answer | {"mode": "replace"} for answer in WRONG],
        },
        ["the untouched start gets full marks"],
    ),
    "a wrong answer that passes what it should fail": (
        {"spec__wrong__0__manifests": making.POD.format(node="node01", image="nginx")},
        [
            "the wrong answer elsewhere passes check on-node01",
            "check on-node01 could be left out: no wrong answer fails it alone",
        ],
    ),
    "a wrong answer that fails more than it names": (
        {"spec__wrong__0__manifests": making.POD.format(node="node02", image="httpd")},
        [
            "the wrong answer elsewhere also fails check image: that is not so; it has spec.containers: ",
            "check on-node01 could be left out: no wrong answer fails it alone",
        ],
    ),
    "a check that could be left out": (
        {
            "spec__checks": [
                *making.BASE["spec"]["checks"],
                THIRD | {"object": {"kind": "Pod", "name": "bee", "expect": "true"}},
            ]
        },
        ["check third could be left out: no wrong answer fails it alone"],
    ),
    "a check that breaks": (
        {
            "spec__checks": [
                *making.BASE["spec"]["checks"],
                THIRD | {"object": {"kind": "Pod", "name": "bee", "expect": "1 / 0 == 1"}},
            ]
        },
        [
            "check third broke: This check is broken and was not graded: INVALID_ARGUMENT: divide by zero",
            "the model solution fails check third",
            "check third could be left out: no wrong answer fails it alone",
        ],
    ),
    "a plugin that does not matter": (
        {"spec__about": ["NodePorts"]},
        ["the exercise says that it is about NodePorts, but all is judged alike without that plugin"],
    ),
    "a start that cannot be made": (
        {"spec__cluster": {"withoutStaticPods": ["nothing"]}},
        ["the cluster cannot be set up: there is no static pod nothing to take away"],
    ),
    "a story that is not true": (
        {"spec__cluster": {"expect": "pods.exists(p, p.metadata.name == 'web')"}},
        ["the start is not as the story says: pods.exists(p, p.metadata.name == 'web')"],
    ),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_it_finds(name):
    changes, expected = DEFECTS[name]
    report = proof.prove(making.exercise(**changes))
    assert not report.proven
    assert len(report.failures) == len(expected), report.failures
    for failure, beginning in zip(sorted(report.failures), sorted(expected), strict=True):
        assert failure.startswith(beginning)


def test_a_right_exercise_is_proven():
    report = proof.prove(making.exercise())
    assert report.lines() == ["proven  place-bee (1 variant, 4 answers)"]


def test_a_defect_of_one_variant_is_found_and_names_it():
    task = "Run the pod `bee` with the image `nginx` on `${node}`."
    found = making.exercise(
        spec__parameters={"node": {"choices": ["node01", "node02"]}},
        spec__text__en__task=task,
        spec__text__ko__task=task,
        spec__checks__0__placement={"pod": {"name": "bee"}, "onNodes": ["${node}"]},
        spec__wrong__1__manifests=making.POD.format(node="${node}", image="httpd"),
    )
    report = proof.prove(found)
    assert report.variants == 2
    assert report.failures == (
        "the model solution fails check on-node01: bee is on node01 [node=node02]",
        "the wrong answer elsewhere passes check on-node01 [node=node02]",
        "check on-node01 could be left out: no wrong answer fails it alone [node=node02]",
    )


def test_many_variants_are_sampled_evenly():
    found = making.exercise(
        spec__parameters={"a": {"choices": [f"v{number}" for number in range(20)]}, "b": {"choices": ["left", "right"]}}
    )
    chosen = list(found.sample(12))
    assert len(chosen) == 12
    assert len({variant.seed for variant in chosen}) == 12
    assert {variant.values["b"] for variant in chosen} == {"left", "right"}


def test_a_plugin_is_disabled_in_running_schedulers_and_in_new_ones():
    tainted = making.node("node01", taints=[{"key": "spray", "effect": "NoSchedule"}])
    pinned = making.pod("bee", nodeSelector={"kubernetes.io/hostname": "node01"})
    cluster = making.cluster(tainted)
    for start, expected in ((cluster, None), (ablation.disabled(cluster, "TaintToleration"), "node01")):
        copy = start.fork()
        making.answers.carry_out(copy, pinned)
        copy.settle()
        assert copy.client.get("pods", "bee")["spec"].get("nodeName") == expected


@pytest.mark.parametrize(
    "given",
    [
        None,
        {
            "profiles": [
                {"schedulerName": "a"},
                {"schedulerName": "b", "plugins": {"score": {"enabled": [{"name": "X"}]}}},
            ]
        },
        {
            "profiles": [
                {"plugins": {"multiPoint": {"enabled": [{"name": "X"}, {"name": "Y"}], "disabled": [{"name": "*"}]}}}
            ]
        },
    ],
)
def test_a_disabled_plugin_is_in_no_profile(given):
    changed = ablation.configuration(given, "X")
    assert len(changed["profiles"]) == len((given or {"profiles": [1]})["profiles"])
    for profile in changed["profiles"]:
        assert {"name": "X"} in profile["plugins"]["multiPoint"]["disabled"]
        enabled = [entry["name"] for sets in profile["plugins"].values() for entry in sets.get("enabled", [])]
        assert "X" not in enabled


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((ROOT / "exercises").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_exercise_is_proven(path):
    report = proof.prove(loader.parse(path.read_text(), source=path.name))
    assert report.failures == ()
