"""`cka-lab simulate --vectors`: replay vectors and write their results as JSON Lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from app.apimachinery.errors import StatusError
from app.cli.simulation.progress import Bar
from app.cli.simulation.reading import BadInput, Text
from app.scheduler.replay import vectors


def run(files: Sequence[str]) -> int:
    """Write one line a vector, in order. 1 where a vector cannot be replayed, 2 where a file cannot be read."""
    code = 0
    for name in files:
        try:
            found = list(_read(Text(name)))
        except BadInput as error:
            print(error, file=sys.stderr)
            code = 2
            continue
        bar = Bar(f"replaying {name}")
        for number, vector in enumerate(found):
            bar(number / len(found))
            line = _result(vector, f"{name}: vector {number + 1}", bar)
            if line is None:
                code = code or 1
            else:
                print(line)
        bar.clear()
    return code


def _read(text: Text) -> Iterator[Any]:
    """The vectors of a JSON array, or of JSON Lines. BadInput with the line where it is neither."""
    decoded = text.decoded()
    try:
        if decoded.lstrip().startswith("["):
            yield from json.loads(decoded)
            return
    except (json.JSONDecodeError, RecursionError) as error:
        line = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise BadInput(f"{text.name}{line}: this is not JSON: {error}") from error
    for number, line in enumerate(decoded.splitlines(), 1):
        if line.strip():
            try:
                yield json.loads(line)
            except (json.JSONDecodeError, RecursionError) as error:
                raise BadInput(f"{text.name}:{number}: this is not JSON: {error}") from error


def _result(vector: Any, place: str, bar: Bar) -> str | None:
    """The line for a vector; None, and the reason on standard error, where it cannot be replayed."""
    name = vector.get("name", place) if isinstance(vector, dict) else place
    try:
        return json.dumps({"name": name, "result": vectors.replay(vector)})
    except (LookupError, TypeError, ValueError, RuntimeError, AssertionError, AttributeError, StatusError) as error:
        bar.clear()
        print(f"{name}: cannot be replayed: {type(error).__name__}: {error}", file=sys.stderr)
        return None
