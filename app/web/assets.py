"""Static files under addresses that change with their content, so that browsers may keep them for ever."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from app.settings import ROOT

STATIC = ROOT / "static"
_FOREVER = "public, max-age=31536000, immutable"
_SHORT = "public, max-age=60"


class Assets:
    """The files of one folder. Hashes are kept per (time, size) of a file, so a rebuilt bundle is noticed."""

    def __init__(self, folder: Path = STATIC) -> None:
        self._folder = folder.resolve()
        self._lock = threading.Lock()
        self._hashes: dict[str, tuple[int, int, str]] = {}

    def digest(self, name: str) -> str:
        """Twelve hex digits of the file's SHA-256. FileNotFoundError also for names outside the folder."""
        path = (self._folder / name).resolve()
        if not path.is_relative_to(self._folder) or not path.is_file():
            raise FileNotFoundError(name)
        status = path.stat()
        with self._lock:
            known = self._hashes.get(name)
        if known is not None and known[:2] == (status.st_mtime_ns, status.st_size):
            return known[2]
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        with self._lock:
            self._hashes[name] = (status.st_mtime_ns, status.st_size, digest)
        return digest

    def url(self, name: str) -> str:
        """The address of a static file. A bundle not built yet gets one too: pages work without it."""
        try:
            return f"/static/{self.digest(name)}/{name}"
        except FileNotFoundError:
            return f"/static/none/{name}"

    def respond(self, digest: str, name: str) -> Response:
        """The file. A stale hash still gets today's file, but only for a minute. Raises 404."""
        try:
            current = self.digest(name)
        except (FileNotFoundError, ValueError) as missing:
            raise HTTPException(404) from missing
        headers = {"Cache-Control": _FOREVER if digest == current else _SHORT}
        return FileResponse(self._folder / name, headers=headers)


assets = Assets()


def endpoint(request: Request) -> Response:
    """Route for `/static/{digest}/{name:path}`."""
    return assets.respond(request.path_params["digest"], request.path_params["name"])
