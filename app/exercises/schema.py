"""The format as JSON Schema, for authors' editors: made from the models, so that it cannot say something else."""

from __future__ import annotations

import json
from typing import Any

from app.exercises.model import ExerciseFile

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def document() -> dict[str, Any]:
    """The schema of an exercise file."""
    made = _with_short_names(ExerciseFile.model_json_schema())
    return {"$schema": DIALECT, **made, "title": "Exercise of the scheduling lab, lab/v1"}


def _with_short_names(made: dict[str, Any]) -> dict[str, Any]:
    """Definitions of the same name in several modules, named after their module and not its whole path."""
    text = json.dumps(made)
    for name in made["$defs"]:
        *modules, last = name.split("__")
        if modules:
            text = text.replace(json.dumps(name), json.dumps(f"{modules[-1]}.{last}"))
            text = text.replace(f'"#/$defs/{name}"', f'"#/$defs/{modules[-1]}.{last}"')
    short: dict[str, Any] = json.loads(text)
    return short


def text() -> str:
    """The schema as it stands in docs/exercise.schema.json."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"
