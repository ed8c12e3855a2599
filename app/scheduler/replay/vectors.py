"""Vectors in files: read them, replay them, say where a result differs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from app.scheduler.replay.world import World

Vector = dict[str, Any]


def read(path: Path) -> Iterator[Vector]:
    """The vectors of a file: a JSON array, or one JSON object a line. ValueError when it is neither."""
    text = path.read_text(encoding="utf-8")
    if text.lstrip().startswith("["):
        yield from json.loads(text)
        return
    for line in text.splitlines():
        if line.strip():
            yield json.loads(line)


def replay(vector: Mapping[str, Any]) -> dict[str, Any]:
    """What the engine makes of a vector, in the form of its `expected`."""
    gates = [gate for gate, on in (vector.get("featureGates") or {}).items() if on]
    world = World(vector["objects"], vector.get("schedulerConfig"), gates)
    found: dict[str, Any] = {"steps": [world.play(step).to_json() for step in vector["steps"]]}
    found["final"] = world.final()
    if world.deleted:
        found["deleted"] = sorted(world.deleted)
    claims = world.bound_claims()
    if claims:
        found["pvcs"] = claims
    return found


def comparable(expected: Any) -> Any:
    """The defined part of a result: upstream's pick among ties only informs, and it lists what lacks in any order."""
    if isinstance(expected, dict):
        found = {key: comparable(value) for key, value in expected.items() if key != "upstreamPick"}
        if found.get("plugin") == "NodeResourcesFit" and "reasons" in found:
            found["reasons"] = sorted(found["reasons"])
        return found
    if isinstance(expected, list):
        return [comparable(item) for item in expected]
    return expected


def differences(expected: Any, actual: Any, path: str = "") -> Iterator[str]:
    """Readable lines, one for each place where two results differ."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in sorted(expected.keys() | actual.keys()):
            inner = f"{path}.{key}" if path else str(key)
            if key not in actual:
                yield f"{inner}: missing, expected {json.dumps(expected[key])}"
            elif key not in expected:
                yield f"{inner}: not expected, got {json.dumps(actual[key])}"
            else:
                yield from differences(expected[key], actual[key], inner)
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for index, (left, right) in enumerate(zip(expected, actual, strict=True)):
            yield from differences(left, right, f"{path}[{index}]")
    elif expected != actual:
        yield f"{path}: expected {json.dumps(expected)}, got {json.dumps(actual)}"
