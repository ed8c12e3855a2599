"""Files of one volume that lie in each other's way (pkg/api/pod/warnings.go: warningsForOverlappingVirtualPaths)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from app.apimachinery.validation import quoted

_NAMES = (("configMap", "ConfigMap", "name"), ("secret", "Secret", "secretName"))


def overlapping(volumes: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Two keys at one path, or one path below the other."""
    for volume in volumes:
        name = quoted(volume.get("name") or "")
        for field, kind, named in _NAMES:
            source = volume.get(field)
            if source is not None and source.get("items") is not None:
                what = f"({kind} {quoted(source.get(named) or '')})"
                yield from _overlaps(_paths(source), f"volume {name} {what}")
        downward = volume.get("downwardAPI")
        if downward is not None:
            yield from _overlaps(_paths(downward), f"volume {name} (DownwardAPI)")
        if volume.get("projected") is not None:
            yield from _projected(volume["projected"], name)


def _projected(projected: Mapping[str, Any], name: str) -> Iterator[str]:
    taken: set[str] = set()
    paths: list[str] = []
    what = ""
    for source in projected.get("sources") or []:
        if all(source.get(field) is None for field in source):
            yield f"volume {name} (Projected) has no sources provided"
            continue
        # A source without items keeps the paths of the one before, as upstream's does.
        found = _source(source)
        if found is not None:
            kind, paths = found
            what = f"volume {name} (Projected {kind})"
        if not paths:
            continue
        yield from _overlaps(paths, what)
        yield from _overlaps(sorted([*set(paths), *taken]), what)
        taken.update(paths)


def _source(source: Mapping[str, Any]) -> tuple[str, list[str]] | None:
    for field, kind in (("configMap", "ConfigMap"), ("secret", "Secret")):
        if source.get(field) is not None and source[field].get("items") is not None:
            return f"{kind} {quoted(source[field].get('name') or '')}", _paths(source[field])
    if source.get("downwardAPI") is not None and source["downwardAPI"].get("items") is not None:
        return "DownwardAPI", _paths(source["downwardAPI"])
    if source.get("serviceAccountToken") is not None:
        return "ServiceAccountToken", [str(source["serviceAccountToken"].get("path") or "")]
    bundle = source.get("clusterTrustBundle")
    if bundle is not None:
        who = bundle.get("name") or bundle.get("signerName") or ""
        return f"ClusterTrustBundle {quoted(who)}", [str(bundle.get("path") or "")]
    return None


def _paths(source: Mapping[str, Any]) -> list[str]:
    return [str(item.get("path") or "") for item in source.get("items") or []]


def _overlaps(paths: Sequence[str], what: str) -> Iterator[str]:
    seen: dict[str, None] = {}
    for path in paths:
        shown = path.rstrip("/")
        other = next((one for one in sorted(seen) if _overlap(one, shown)), None)
        if other:
            yield f"{what}: overlapping paths: {quoted(shown)} with {quoted(other)}"
        seen[shown] = None


def _overlap(one: str, other: str) -> bool:
    return bool(one and other) and (f"{one}/".startswith(other) or f"{other}/".startswith(one))
