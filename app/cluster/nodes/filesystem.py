"""The files of one simulated machine: a tree with owners and modes, of which only what was changed is kept.

`base` is what the machine came with (`base_files`), never stored; `changes` is what happened since, JSON in the
snapshot: a path to an entry, or to None where something of the base was removed. Errors carry the words of
strerror(3). Sizes are bounded, so that a learner's loop fills a disk and not the lab.
"""

from __future__ import annotations

import base64
import posixpath
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.apimachinery.clock import Instant

FILE, DIRECTORY, LINK = "f", "d", "l"
_BINARY = "b"
MAX_BYTES = 512 * 1024
"""Bytes of content that a machine's changed files may hold together."""
MAX_ENTRIES = 1000
"""Entries of the tree that may be changed."""
_MAX_NAME = 255
_MAX_PATH = 4096
_MAX_LINKS = 40


class FileError(Exception):
    """An operation failed. The text is strerror's, `path` what it was about."""

    text = "Input/output error"

    def __init__(self, path: str) -> None:
        super().__init__(f"{path}: {self.text}")
        self.path = path


class NoSuchFile(FileError):
    """ENOENT."""

    text = "No such file or directory"


class NotADirectory(FileError):
    """ENOTDIR."""

    text = "Not a directory"


class IsADirectory(FileError):
    """EISDIR."""

    text = "Is a directory"


class FileExists(FileError):
    """EEXIST."""

    text = "File exists"


class DirectoryNotEmpty(FileError):
    """ENOTEMPTY."""

    text = "Directory not empty"


class InvalidArgument(FileError):
    """EINVAL."""

    text = "Invalid argument"


class NameTooLong(FileError):
    """ENAMETOOLONG."""

    text = "File name too long"


class TooManyLinks(FileError):
    """ELOOP."""

    text = "Too many levels of symbolic links"


class NoSpace(FileError):
    """ENOSPC."""

    text = "No space left on device"


@dataclass(frozen=True)
class Entry:
    """One name in the tree: a file with its text, a directory, or a link with its target.

    Bytes that are no UTF-8 stand in `content` as lone surrogates (PEP 383).
    """

    kind: str
    mode: int
    content: str = ""
    owner: str = "root"
    group: str = "root"
    changed: Instant = 0

    @property
    def size(self) -> int:
        """Bytes of the content; a directory's block."""
        return 4096 if self.kind == DIRECTORY else len(self.content.encode("utf-8", "surrogateescape"))

    def state(self) -> list[Any]:
        """The entry as JSON; the content in base64 where it is no text."""
        content, kind = self.content, self.kind
        try:
            content.encode()
        except UnicodeEncodeError:
            kind, content = _BINARY, base64.b64encode(content.encode("utf-8", "surrogateescape")).decode()
        return [kind, self.mode, content, self.owner, self.group, self.changed]

    @classmethod
    def restore(cls, state: list[Any]) -> Entry:
        """The entry from `state()`."""
        kind, mode, content, *others = state
        if kind == _BINARY:
            kind, content = FILE, base64.b64decode(content).decode("utf-8", "surrogateescape")
        return cls(kind, mode, content, *others)


def file(content: str, mode: int = 0o644, changed: Instant = 0) -> Entry:
    """A file of root's."""
    return Entry(FILE, mode, content, changed=changed)


def directory(mode: int = 0o755, changed: Instant = 0) -> Entry:
    """A directory of root's."""
    return Entry(DIRECTORY, mode, changed=changed)


class FileSystem:
    """The tree. Paths are absolute; `.`, `..` and doubled slashes are understood, links are followed.

    `changes` is shared with whoever made this: what is written goes there, and `changed` is called.
    """

    def __init__(
        self,
        base: Mapping[str, Entry],
        changes: dict[str, list[Any] | None],
        now: Instant,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._base = base
        self._changes = changes
        self._now = now
        self._changed = changed

    # ---- looking

    def stat(self, path: str, *, follow: bool = True) -> Entry:
        """The entry at a path. NoSuchFile, NotADirectory, TooManyLinks."""
        return self._entry(self.resolve(path, follow=follow), path)

    def exists(self, path: str) -> bool:
        """Whether something is there (a link to nothing is not)."""
        try:
            self.stat(path)
        except FileError:
            return False
        return True

    def read(self, path: str) -> str:
        """A file's content. NoSuchFile, IsADirectory, NotADirectory."""
        entry = self.stat(path)
        if entry.kind == DIRECTORY:
            raise IsADirectory(path)
        return entry.content

    def names(self, path: str) -> list[str]:
        """What a directory holds, sorted. NoSuchFile, NotADirectory."""
        place = self.resolve(path)
        if self._entry(place, path).kind != DIRECTORY:
            raise NotADirectory(path)
        return sorted(self._children(place))

    def resolve(self, path: str, *, follow: bool = True) -> str:
        """The path without links, dots and doubled slashes; its last name need not exist."""
        if len(path) > _MAX_PATH:
            raise NameTooLong(path)
        todo = [part for part in path.split("/") if part not in {"", "."}][::-1]
        place, links = "/", 0
        while todo:
            part = todo.pop()
            if len(part.encode("utf-8", "surrogateescape")) > _MAX_NAME:
                raise NameTooLong(path)
            if part == "..":
                place = posixpath.dirname(place)
                continue
            entry = self._find(posixpath.join(place, part))
            if entry is not None and entry.kind == LINK and (todo or follow):
                links += 1
                if links > _MAX_LINKS:
                    raise TooManyLinks(path)
                target = [name for name in entry.content.split("/") if name not in {"", "."}]
                todo += target[::-1]
                place = "/" if entry.content.startswith("/") else place
                continue
            place = posixpath.join(place, part)
            if todo and (entry is None or entry.kind != DIRECTORY):
                raise NoSuchFile(path) if entry is None else NotADirectory(path)
        return place

    def walk(self, path: str) -> Iterator[tuple[str, Entry]]:
        """An entry and everything below it, parents before children."""
        place = self.resolve(path, follow=False)
        waiting = [place]
        while waiting:
            current = waiting.pop()
            entry = self._entry(current, current)
            yield current, entry
            if entry.kind == DIRECTORY:
                waiting += [posixpath.join(current, name) for name in sorted(self._children(current), reverse=True)]

    # ---- changing

    def write(self, path: str, content: str, *, append: bool = False, mode: int = 0o644) -> None:
        """Put a file's content there; a new file gets `mode`. IsADirectory, NoSuchFile (its directory), NoSpace."""
        if path.endswith("/"):
            raise IsADirectory(path)
        place = self.resolve(path)
        old = self._find(place)
        if old is not None and old.kind == DIRECTORY:
            raise IsADirectory(path)
        self._need_parent(place, path)
        entry = old or Entry(FILE, mode)
        text = old.content + content if append and old is not None else content
        self._put(place, replace(entry, content=text, changed=self._now), path)

    def make_directory(self, path: str, *, parents: bool = False, mode: int = 0o755) -> None:
        """FileExists where something is there (with `parents` only where it is no directory), NoSuchFile."""
        place = self.resolve(path) if not parents else self._lexical(path)
        missing = []
        while (entry := self._find(place)) is None:
            missing.append(place)
            place = posixpath.dirname(place)
        if entry.kind != DIRECTORY:
            raise NotADirectory(path) if missing else FileExists(path)
        if not missing and not parents:
            raise FileExists(path)
        if len(missing) > 1 and not parents:
            raise NoSuchFile(path)
        for new in reversed(missing):
            self._put(new, Entry(DIRECTORY, mode, changed=self._now), path)

    def link(self, target: str, path: str) -> None:
        """A symbolic link. FileExists, NoSuchFile."""
        place = self.resolve(path, follow=False)
        if self._find(place) is not None:
            raise FileExists(path)
        self._need_parent(place, path)
        self._put(place, Entry(LINK, 0o777, target, changed=self._now), path)

    def remove(self, path: str, *, recursive: bool = False) -> None:
        """Remove a file, a link, or with `recursive` a directory with all that it holds."""
        place = self.resolve(path, follow=False)
        entry = self._entry(place, path)
        if entry.kind == DIRECTORY and not recursive:
            raise IsADirectory(path)
        if place == "/":
            raise InvalidArgument(path)
        for below, _ in list(self.walk(place)):
            self._drop(below)

    def remove_directory(self, path: str) -> None:
        """Remove an empty directory. NotADirectory, DirectoryNotEmpty."""
        place = self.resolve(path, follow=False)
        if self._entry(place, path).kind != DIRECTORY:
            raise NotADirectory(path)
        if place == "/" or self._children(place):
            raise DirectoryNotEmpty(path)
        self._drop(place)

    def rename(self, old: str, new: str) -> None:
        """Move an entry with all that it holds, over a file that is there (rename(2))."""
        source, target = self.resolve(old, follow=False), self.resolve(new, follow=False)
        entry = self._entry(source, old)
        if target == source:
            return
        if f"{target}/".startswith(f"{source}/"):
            raise InvalidArgument(new)
        self._need_parent(target, new)
        there = self._find(target)
        if there is not None and there.kind == DIRECTORY and (entry.kind != DIRECTORY or self._children(target)):
            raise DirectoryNotEmpty(new) if entry.kind == DIRECTORY else IsADirectory(new)
        if there is not None and entry.kind == DIRECTORY and there.kind != DIRECTORY:
            raise NotADirectory(new)
        moved = [(path, found) for path, found in self.walk(source)]
        for path, _ in moved:
            self._drop(path)
        for path, found in moved:
            self._put(target + path.removeprefix(source), found, new)

    def change_mode(self, path: str, mode: int) -> None:
        """Chmod."""
        place = self.resolve(path)
        self._put(place, replace(self._entry(place, path), mode=mode & 0o7777), path)

    def change_owner(self, path: str, owner: str = "", group: str = "") -> None:
        """chown; an empty name leaves it."""
        place = self.resolve(path)
        entry = self._entry(place, path)
        self._put(place, replace(entry, owner=owner or entry.owner, group=group or entry.group), path)

    def touch(self, path: str) -> None:
        """Make an empty file, or set the time of what is there."""
        place = self.resolve(path)
        entry = self._find(place)
        if entry is None:
            self.write(path, "")
        else:
            self._put(place, replace(entry, changed=self._now), path)

    # ---- the two layers

    def _find(self, place: str) -> Entry | None:
        if place == "/":
            return self._base.get("/") or directory()
        if place in self._changes:
            state = self._changes[place]
            return None if state is None else Entry.restore(state)
        return self._base.get(place)

    def _entry(self, place: str, path: str) -> Entry:
        entry = self._find(place)
        if entry is None:
            raise NoSuchFile(path)
        return entry

    def _children(self, place: str) -> set[str]:
        prefix = place.rstrip("/") + "/"
        found = {_next_name(path, prefix) for path in self._base if path.startswith(prefix)}
        found = {name for name in found if self._find(prefix + name) is not None}
        added = {
            _next_name(path, prefix)
            for path, state in self._changes.items()
            if state is not None and path.startswith(prefix)
        }
        return (found | added) - {""}

    def _need_parent(self, place: str, path: str) -> None:
        parent = self._find(posixpath.dirname(place))
        if parent is None:
            raise NoSuchFile(path)
        if parent.kind != DIRECTORY:
            raise NotADirectory(path)

    def _lexical(self, path: str) -> str:
        """As `resolve`, for a path whose directories need not exist yet."""
        parts = [part for part in path.split("/") if part not in {"", "."}]
        place = "/"
        for number, part in enumerate(parts):
            here = self.resolve(posixpath.join(place, part)) if self._find(place) is not None else None
            place = here or posixpath.normpath(posixpath.join(place, part))
            entry = self._find(place)
            if entry is not None and entry.kind != DIRECTORY and number < len(parts) - 1:
                raise NotADirectory(path)
        return place

    def _put(self, place: str, entry: Entry, path: str) -> None:
        if self._base.get(place) == entry:
            self._changes.pop(place, None)
            self._changed()
            return
        if place not in self._changes and len(self._changes) >= MAX_ENTRIES:
            raise NoSpace(path)
        others = sum(len(state[2]) for name, state in self._changes.items() if state is not None and name != place)
        if others + len(entry.content) > MAX_BYTES:
            raise NoSpace(path)
        self._changes[place] = entry.state()
        self._changed()

    def _drop(self, place: str) -> None:
        if place in self._base:
            self._changes[place] = None
        else:
            self._changes.pop(place, None)
        self._changed()


def _next_name(path: str, prefix: str) -> str:
    return path[len(prefix) :].partition("/")[0]
