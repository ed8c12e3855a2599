"""The terminal of a lab's machine over a WebSocket: one line in, its output out, as JSON text frames.

Client → server: `{"line": "ls /"}`. Server → client: `{"prompt": …}` first, then for each line
`{"stdout": …, "stderr": …, "code": 0, "prompt": …}`, or `{"error": …}` where the line could not be run: the
shell is then as it was before it.
"""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from starlette.concurrency import run_in_threadpool

from app.lab.service import LabNotFound, LabService
from app.lab.workers import WorkerError
from app.web import i18n

router = APIRouter()

MAX_FRAME = 256 * 1024
"""Characters of a frame; a longer one ends the connection."""

_NOT_FOUND = 4404
_TOO_LARGE = 1009
_UNREADABLE = 1003


@router.websocket("/lab/{lab_id}/terminal")
async def terminal(socket: WebSocket, lab_id: str) -> None:
    """Serve one terminal until the browser leaves."""
    service: LabService = socket.app.state.service
    user = getattr(socket.state, "user", None)
    await socket.accept()
    if user is None:
        await socket.close(_NOT_FOUND)
        return
    try:
        await socket.send_json({"prompt": await run_in_threadpool(service.prompt, user, lab_id)})
        while True:
            frame = await socket.receive_text()
            if len(frame) > MAX_FRAME:
                await socket.close(_TOO_LARGE)
                return
            line = _line(frame)
            if line is None:
                await socket.close(_UNREADABLE)
                return
            await socket.send_json(await run_in_threadpool(_run, service, user, lab_id, line, user.language))
    except LabNotFound:
        await socket.close(_NOT_FOUND)
    except WebSocketDisconnect:
        return


def _line(frame: str) -> str | None:
    try:
        message = json.loads(frame)
    except json.JSONDecodeError:
        return None
    line = message.get("line") if isinstance(message, dict) else None
    return line if isinstance(line, str) else None


def _run(service: LabService, user: Any, lab_id: str, line: str, language: str) -> dict[str, Any]:
    try:
        return service.terminal(user, lab_id, line)
    except WorkerError:
        text = i18n.translations(language).gettext(
            i18n.N_("This line needed too much time or memory and was stopped. The shell is as it was before it.")
        )
        return {"error": text, "prompt": service.prompt(user, lab_id)}
