"""The published JSON Schema says what the models say."""

import jsonschema
import pytest
import yaml

from app.exercises import schema
from app.settings import ROOT
from tests.exercises import making

PAGE = ROOT / "docs" / "exercise.schema.json"
VALIDATOR = jsonschema.Draft202012Validator(schema.document())


def test_the_published_schema_is_fresh():
    assert PAGE.read_text() == schema.text(), "run: cka-lab new --schema > docs/exercise.schema.json"


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(schema.document())


@pytest.mark.parametrize("path", sorted((ROOT / "exercises").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_exercise_fits_the_schema(path):
    assert [error.message for error in VALIDATOR.iter_errors(yaml.safe_load(path.read_text()))] == []


@pytest.mark.parametrize(
    "changes",
    [
        {"spec__minuts": 3},
        {"spec__level": 9},
        {"spec__solution": None},
        {"spec__checks__1__object": None},
        {"spec__checks__1__event": {"reason": "x", "involved": {"kind": "Pod", "name": "bee"}}},
    ],
)
def test_the_schema_refuses_what_the_loader_refuses(changes):
    assert list(VALIDATOR.iter_errors(making.document(**changes)))


def test_every_field_of_the_format_is_explained():
    page = (ROOT / "docs" / "exercise-format.md").read_text()
    fields = {name for made in schema.document()["$defs"].values() for name in made.get("properties", {})}
    assert sorted(name for name in fields if name not in page) == []
