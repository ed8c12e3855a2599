"""Expressions: what they answer, where they are wrong, and that they end."""

import pytest

from app.exercises import cel

POD = {"spec": {"cpu": "500m", "items": [{"k": "x"}], "n": None, "count": 3}, "metadata": {"labels": {"a/b": "c"}}}
VARIABLES = {"self": POD, "before": None, "pods": [{"n": 1}, {"n": 2}], "nodes": []}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('self.spec.cpu == "500m"', cel.Answer(value=True)),
        ('quantity(self.spec.cpu) == quantity("0.5")', cel.Answer(value=True)),
        ('quantity("128Mi") > quantity("128M")', cel.Answer(value=True)),
        ("quantity(self.spec.count) == quantity('3')", cel.Answer(value=True)),
        ('self.metadata.labels["a/b"] == "c"', cel.Answer(value=True)),
        ('self.spec.?missing.orValue("y") == "y"', cel.Answer(value=True)),
        ("pods.exists(p, p.n == 2) && before == null", cel.Answer(value=True)),
        ("self.spec.count == 4", cel.Answer(value=False)),
        ("has(self.spec.missing) && self.spec.missing > 1", cel.Answer(value=False)),
        ("self.spec.missing.exists(x, true)", cel.Answer(value=False, missing="missing")),
        ("self.spec.items[3].k == 'x'", cel.Answer(value=False, missing="[3]")),
    ],
)
def test_an_expression_holds_or_does_not(expression, expected):
    assert cel.evaluate(expression, VARIABLES) == expected


@pytest.mark.parametrize(
    "expression",
    [
        "self.spec.cpu > 3",
        "1 / (self.spec.count - 3) == 1",
        "self.spec.cpu",
        "quantity(self.spec.cpu + 'x') > 0.0",
        "self.spec.n.x == 1",
        "pods.all(a, " * 40 + "true" + ")" * 40,
    ],
)
def test_a_broken_expression_is_an_error_and_no_answer(expression):
    with pytest.raises((cel.EvaluationError, cel.CompileError)):
        cel.evaluate(expression, VARIABLES)


@pytest.mark.parametrize(
    ("expression", "line", "column"),
    [("podz.size() == 1", 1, 1), ("self.x == 1\n&& podz", 2, 4), ("self.", 1, 6), ('"a" + 1', 1, 5), ("1 + 1", 1, 1)],
)
def test_a_wrong_expression_is_told_with_its_place(expression, line, column):
    with pytest.raises(cel.CompileError) as caught:
        cel.compiled(expression)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.text


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("self.a == \"x\" && self.b == 'y z'", ["x", "y z"]),
        ('self["k"] == 3 && self.n >= 1', ["k", "3"]),
        ('self.a == r"a\\d" // "comment"', ["a\\d"]),
        ('self.a == "q\\"uote"', ['q"uote']),
        ('self.a == "" || self.b == "-"', []),
        ("node01 == x2 && quantity('500m') == 2.0", ["500m", "2"]),
        ('self.a == """long\ntext"""', ["long\ntext"]),
    ],
)
def test_literals_are_texts_and_larger_numbers(expression, expected):
    assert list(cel.literals(expression)) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("self.a.b == 1 && self.a.b > 0", [("a", "b")]),
        ('self.data["k-1"] == "x" && self.?b.?c.orValue(1) == 1', [("data", "k-1"), ("b", "c")]),
        ("self.a.exists(x, x.b == 1) && has(self.c.d)", [("a",), ("c", "d")]),
        ("myself.a == 1 && pods.size() == 1", []),
    ],
)
def test_paths_are_the_fields_that_an_expression_looks_at(expression, expected):
    assert cel.paths(expression) == expected
