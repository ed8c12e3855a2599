"""The format as JSON Schema, for authors' editors: made from the models, so that it cannot say something else."""

from __future__ import annotations

import json
from typing import Any

from app.exercises.model import ExerciseFile

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def document() -> dict[str, Any]:
    """The schema of an exercise file."""
    made = ExerciseFile.model_json_schema()
    return {"$schema": DIALECT, **made, "title": "Exercise of the scheduling lab, lab/v1"}


def text() -> str:
    """The schema as it stands in docs/exercise.schema.json."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"
