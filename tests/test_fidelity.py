"""The page on fidelity: generated, complete, and true to the tests that it names."""

import ast

import pytest

from app.cli import docs, fidelity
from app.settings import ROOT

SYLLABUS = fidelity.read("syllabus")["chapters"]


def functions(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def named():
    return {
        test for rows in SYLLABUS.values() for shown in rows.values() if not isinstance(shown, str) for test in shown
    }


def test_the_page_is_what_the_registries_and_the_notes_make():
    path = ROOT / "docs" / "fidelity.md"
    assert docs.render(path, fidelity.page()) == path.read_text(encoding="utf-8"), "run make docs"


def test_a_registered_name_without_a_row_is_an_error(monkeypatch):
    rows = fidelity.read("controllers")
    del rows["rows"]["deployment-controller"]
    monkeypatch.setattr(fidelity, "read", lambda name: rows)
    with pytest.raises(fidelity.FidelityError, match=r"controllers.yaml lacks a row for deployment-controller"):
        fidelity._registry("Controllers", "controllers", ["deployment-controller", *rows["rows"]])


def test_a_field_that_no_schema_has_is_an_error():
    with pytest.raises(fidelity.FidelityError, match="Pod spec has no field tolerationz"):
        fidelity.unacted("Pod", "spec", ["tolerationz"])


def test_fields_that_nobody_claims_are_only_stored():
    left = fidelity.unacted("Pod", "spec", ["tolerations"])
    assert "tolerations" not in left
    assert "hostAliases" in left


def test_each_line_of_the_syllabus_names_tests_that_exist_or_says_what_it_waits_for():
    for test in named():
        path, _, name = test.partition("::")
        assert name in functions(ROOT / path), test
    waiting = {shown for rows in SYLLABUS.values() for shown in rows.values() if isinstance(shown, str)}
    assert waiting <= {"waits for the terminal", "waits for the commands of kubectl"}


def test_each_test_of_the_syllabus_stands_beside_a_line():
    folder = ROOT / "tests" / "syllabus"
    written = {f"tests/syllabus/{path.name}::{name}" for path in folder.glob("test_*.py") for name in functions(path)}
    assert written == named()
