"""Variants: the same seed gives the same names, all of them come up, and they stand everywhere."""

import json

import pytest

from app.exercises import parameters
from app.exercises.parameters import Parameter
from tests.exercises import making

PARAMETERS = {
    "node": Parameter(choices=["node01", "node02"]),
    "other": Parameter(choices=["node01", "node02", "controlplane"], differsFrom=["node"]),
}


def test_the_same_seed_draws_the_same_names():
    assert all(parameters.draw(PARAMETERS, seed) == parameters.draw(PARAMETERS, seed) for seed in range(50))


def test_every_combination_is_drawn_and_no_forbidden_one():
    drawn = {tuple(sorted(parameters.draw(PARAMETERS, seed).items())) for seed in range(200)}
    assert len(drawn) == len(parameters.combinations(PARAMETERS)) == 4
    assert all(dict(values)["node"] != dict(values)["other"] for values in drawn)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${node}", "node01"),
        ("a${node}b${other}", "anode01bnode02"),
        ("$${node}", "${node}"),
        ("$$${node}", "$${node}"),
        ("${unknown}", "${unknown}"),
        ("$node {node} ${", "$node {node} ${"),
        ("${}", "${}"),
    ],
)
def test_placeholders_are_filled_in(text, expected):
    assert parameters.filled({"a": [text, 1, None]}, {"node": "node01", "other": "node02"}) == {
        "a": [expected, 1, None]
    }


def test_a_filled_in_value_is_not_read_for_placeholders_again():
    assert parameters.filled("${a}", {"a": "${b}", "b": "x"}) == "${b}"


def test_a_variant_has_its_names_everywhere():
    found = making.exercise(
        spec__parameters={"node": {"choices": ["node01", "node02"]}},
        spec__text__en__task="Run `bee` with `nginx` on `${node}`. $${node} stays.",
        spec__checks__0__placement={"pod": {"name": "bee"}, "onNodes": ["${node}"]},
        spec__solution__manifests=making.POD.format(node="${node}", image="nginx"),
    )
    assert found.varies
    assert {variant.values["node"] for variant in found.variants()} == {"node01", "node02"}
    for seed in range(10):
        variant = found.variant(seed)
        node = variant.values["node"]
        assert variant.text("en").task == f"Run `bee` with `nginx` on `{node}`. ${{node}} stays."
        assert variant.checks[0].placement.onNodes == [node]
        assert f"hostname: {node}" in variant.spec.solution.manifests
        assert "${" not in json.dumps(variant.spec.model_dump()).replace("${node} stays", "")
