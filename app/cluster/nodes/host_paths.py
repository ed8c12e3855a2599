"""hostPath volumes: what of a machine a pod asks for, and the files that a container then sees.

Mirrors pkg/volume/hostpath/host_path.go: checkType.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from app.apimachinery.meta import Object
from app.cluster.nodes.filesystem import DIRECTORY, FILE, FileError, FileSystem


def problem(files: FileSystem, pod: Object) -> str | None:
    """Make what is to be made; the first volume that cannot be mounted, in the kubelet's words."""
    for volume in pod["spec"].get("volumes") or []:
        source = volume.get("hostPath")
        if source:
            wrong = _type_problem(files, str(source.get("path") or "/"), str(source.get("type") or ""))
            if wrong:
                return f'MountVolume.SetUp failed for volume "{volume["name"]}" : hostPath type check failed: {wrong}'
    return None


def _type_problem(files: FileSystem, path: str, kind: str) -> str:
    if kind in {"", "Socket", "CharDevice", "BlockDevice"}:
        return "" if kind == "" else f"{path} is not a {_NOUNS[kind]}"
    try:
        if kind == "DirectoryOrCreate" and not files.exists(path):
            files.make_directory(path, parents=True)
        elif kind == "FileOrCreate" and not files.exists(path):
            files.write(path, "")
        found = files.stat(path).kind
    except FileError:
        found = ""
    wanted = DIRECTORY if kind.startswith("Directory") else FILE
    return "" if found == wanted else f"{path} is not a {'directory' if wanted == DIRECTORY else 'file'}"


_NOUNS = {"Socket": "socket file", "CharDevice": "character device", "BlockDevice": "block device"}


class Mounted(Mapping[str, str]):
    """Path to text of what a container sees: given files, and those of the machine where a hostPath shows them."""

    def __init__(self, given: Mapping[str, str], files: FileSystem, pod: Object, container: Mapping[str, Any]) -> None:
        self._given = given
        self._files = files
        sources = {
            v["name"]: str((v.get("hostPath") or {}).get("path") or "") for v in pod["spec"].get("volumes") or []
        }
        self._places = [
            (posixpath.normpath(str(mount["mountPath"])), posixpath.join(source, str(mount.get("subPath") or "")))
            for mount in container.get("volumeMounts") or []
            if (source := sources.get(mount["name"]))
        ]
        self._places.sort(key=lambda place: -len(place[0]))

    def __getitem__(self, path: str) -> str:
        """The text of a file. KeyError where the container sees none there."""
        if path in self._given:
            return self._given[path]
        for place, source in self._places:
            if path == place or path.startswith(place.rstrip("/") + "/"):
                try:
                    return self._files.read(source.rstrip("/") + path.removeprefix(place.rstrip("/")))
                except FileError as error:
                    raise KeyError(path) from error
        raise KeyError(path)

    def __iter__(self) -> Iterator[str]:
        """The given files; those of the machine are only looked up by their names."""
        return iter(self._given)

    def __len__(self) -> int:
        """How many files were given."""
        return len(self._given)
