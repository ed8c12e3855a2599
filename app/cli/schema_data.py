"""`cka-lab schema-data`: write app/apis/schema/v1.35.json from the published OpenAPI (a tool for developers).

Only the structure is taken: names, types, what is required, merge keys, list types. Descriptions stay out.
The source is the development package kubernetes-validate, so this runs only where the development set is installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.apis import scheme

RELEASE = "1.35"
TARGET = Path(__file__).parent.parent / "apis" / "schema" / f"v{RELEASE}.json"

_SCALARS = {
    "meta.v1.Time": "time",
    "meta.v1.MicroTime": "time",
    "resource.Quantity": "quantity",
    "intstr.IntOrString": "intstr",
    "meta.v1.FieldsV1": "any",
    "runtime.RawExtension": "any",
}
_PLAIN = {"string": "string", "integer": "int64", "boolean": "bool", "number": "double", "object": "any"}
_EXTENSIONS = {
    "x-kubernetes-patch-merge-key": "mergeKey",
    "x-kubernetes-patch-strategy": "strategy",
    "x-kubernetes-list-type": "listType",
    "x-kubernetes-list-map-keys": "listKeys",
    "x-kubernetes-map-type": "mapType",
}


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `schema-data` to the command line."""
    parser = subparsers.add_parser("schema-data", help="write the API's structure from the published OpenAPI")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the file."""
    del args
    data = build(_definitions())
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(json.dumps(data, sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{TARGET.name}: {len(data['kinds'])} kinds, {len(data['types'])} types, {TARGET.stat().st_size} bytes")
    return 0


def _definitions() -> dict[str, Any]:
    found = importlib.util.find_spec("kubernetes_validate")
    if found is None or found.origin is None:
        raise SystemExit("kubernetes-validate is not installed: it belongs to the development set")
    folder = Path(found.origin).parent / "kubernetes-json-schema" / f"v{RELEASE}.0-local"
    definitions: dict[str, Any] = json.loads((folder / "_definitions.json").read_bytes())["$defs"]
    return definitions


def build(definitions: Mapping[str, Any]) -> dict[str, Any]:
    """The kinds of the scheme, every type that they reach, and which of them are atomic.

    {"kinds": {"v1/Pod": type}, "types": {type: …}, "atomic": [type]}
    """
    kinds: dict[str, str] = {}
    for name, definition in definitions.items():
        for known in definition.get("x-kubernetes-group-version-kind", []):
            kinds[f"{known['group']}/{known['version']}/{known['kind']}"] = name
    wanted = {info: kinds[f"{info.group}/{info.version}/{info.kind}"] for info in scheme.KINDS}
    types: dict[str, Any] = {}
    atomic: list[str] = []
    waiting = sorted(set(wanted.values()))
    while waiting:
        name = waiting.pop()
        if _short(name) in types:
            continue
        types[_short(name)], reached = _type(definitions[name])
        if definitions[name].get("x-kubernetes-map-type") == "atomic":
            atomic.append(_short(name))
        waiting += reached
    return {
        "kinds": {f"{info.api_version}/{info.kind}": _short(name) for info, name in wanted.items()},
        "types": types,
        "atomic": sorted(atomic),
    }


def _short(name: str) -> str:
    """`core.v1.PodSpec` of `io.k8s.api.core.v1.PodSpec`."""
    for prefix in ("io.k8s.api.", "io.k8s.apimachinery.pkg.apis.", "io.k8s.apimachinery.pkg.util."):
        if name.startswith(prefix):
            return name.removeprefix(prefix)
    return name.removeprefix("io.k8s.apimachinery.pkg.").removeprefix("api.")


def _type(definition: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """One type's fields, and the types that they name."""
    required = set(definition.get("required", []))
    fields: dict[str, Any] = {}
    reached: list[str] = []
    for name, schema in definition.get("properties", {}).items():
        kind = _kind(schema, reached)
        more = {short: schema[key] for key, short in _EXTENSIONS.items() if key in schema}
        if name in required:
            more["required"] = True
        fields[name] = {"type": kind, **more} if more else kind
    return fields, reached


def _kind(schema: Mapping[str, Any], reached: list[str]) -> str:
    """A type in few letters: `string`, `[]core.v1.Container`, `{}quantity`."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        short = _short(name)
        if short in _SCALARS:
            return _SCALARS[short]
        reached.append(name)
        return short
    plain = schema.get("type")
    if isinstance(plain, list):
        plain = next(item for item in plain if item != "null")
    if plain == "array":
        return "[]" + _kind(schema["items"], reached)
    if plain == "object" and "additionalProperties" in schema:
        return "{}" + _kind(schema["additionalProperties"], reached)
    if schema.get("format") == "byte":
        return "bytes"
    if schema.get("format") in {"int32", "date-time"}:
        return {"int32": "int32", "date-time": "time"}[schema["format"]]
    return _PLAIN[str(plain)]
