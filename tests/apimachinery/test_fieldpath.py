"""Sets of field paths: what FieldsV1 is made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.apimachinery import fieldpath

CONTAINER = 'k:{"name":"c"}'


def test_the_union_of_a_path_and_one_below_it_holds_both():
    assert fieldpath.union({"f:a": {}}, {"f:a": {"f:b": {}}}) == {"f:a": {".": {}, "f:b": {}}}


def test_taking_a_path_away_leaves_those_below_it():
    assert fieldpath.difference({"f:a": {".": {}, "f:b": {}}}, {"f:a": {}}) == {"f:a": {"f:b": {}}}


def test_taking_all_paths_below_away_leaves_the_item():
    assert fieldpath.difference({CONTAINER: {".": {}, "f:image": {}}}, {CONTAINER: {"f:image": {}}}) == {CONTAINER: {}}


def test_taking_everything_away_leaves_the_empty_set():
    assert fieldpath.difference({"f:a": {"f:b": {}}}, {"f:a": {".": {}, "f:b": {}}}) == {}


def test_the_intersection_holds_a_parent_only_where_both_do():
    one = {"f:a": {".": {}, "f:b": {}, "f:c": {}}}
    assert fieldpath.intersection(one, {"f:a": {"f:b": {}}}) == {"f:a": {"f:b": {}}}
    assert fieldpath.intersection(one, {"f:a": {}}) == {"f:a": {}}


def test_paths_that_end_come_before_those_that_go_on():
    tree = {"f:spec": {"f:a": {"f:b": {}}, "f:z": {}}}
    assert [fieldpath.text(path) for path in fieldpath.paths(tree)] == [".spec.z", ".spec.a.b"]


@pytest.mark.parametrize(
    ("element", "text"),
    [
        (CONTAINER, '[name="c"]'),
        ('k:{"containerPort":80,"protocol":"TCP"}', '[containerPort=80,protocol="TCP"]'),
        ('v:"kubernetes.io/pvc-protection"', '[="kubernetes.io/pvc-protection"]'),
        ("f:deployment.kubernetes.io/revision", ".deployment.kubernetes.io/revision"),
    ],
)
def test_an_element_is_printed_as_upstream_prints_it(element, text):
    assert fieldpath.element_text(element) == text


@pytest.mark.parametrize("value", [[], "f:a", {"a": {}}, {"f:a": 1}, {"k:{": {}}, {"v:": {}}])
def test_what_is_no_set_of_paths_is_known(value):
    assert not fieldpath.is_tree(value)
    assert fieldpath.is_tree({"f:a": {".": {}, CONTAINER: {}, 'v:"x"': {}}})


PATHS = st.frozensets(
    st.lists(st.sampled_from(["f:a", "f:b", CONTAINER]), min_size=1, max_size=3).map(tuple), max_size=6
)


def tree(members, prefix=()):
    """The set of these paths, built from nothing but what a set is."""
    elements = {path[len(prefix)] for path in members if len(path) > len(prefix) and path[: len(prefix)] == prefix}
    below = {element: tree(members, (*prefix, element)) for element in elements}
    return {".": {}, **below} if prefix in members and below else below


@given(PATHS, PATHS)
def test_trees_behave_as_sets_of_paths(one, other):
    first, second = tree(one), tree(other)
    assert frozenset(fieldpath.paths(first)) == one
    assert fieldpath.union(first, second) == tree(one | other)
    assert fieldpath.difference(first, second) == tree(one - other)
    assert fieldpath.intersection(first, second) == tree(one & other)
