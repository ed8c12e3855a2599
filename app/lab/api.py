"""The Kubernetes API of each lab: which lab a secret belongs to, and its requests carried out in a worker.

Requests that change the store are commands: their state is committed before the answer leaves. Watches are
reads, asked again whenever the lab changed or its cluster's next event is due.
"""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.concurrency import run_in_threadpool

from app.cluster.apiserver.dispatch import ApiRequest, ApiResponse
from app.kubeapi.app import Unavailable, UnknownSecret
from app.lab.service import InteractionFailed, LabBusy, LabNotFound, LabService
from app.lab.workers import WorkerError

_POLL = 1.0
"""Seconds between looks at the database: another process may have changed the lab."""


class LabApi:
    """The backend of `kubeapi.app.KubeApi`."""

    def __init__(self, service: LabService) -> None:
        self._service = service
        self._upcoming: dict[str, tuple[int, float | None]] = {}

    async def call(self, secret: str, request: ApiRequest) -> ApiResponse:
        """One request on the lab of the secret."""
        output = await self._in_worker(self._service.api, secret, _plain(request), request.body)
        return ApiResponse(int(output["code"]), output["headers"], str(output["body"]).encode())

    async def watch(self, secret: str, request: ApiRequest, since: int) -> tuple[list[bytes], int]:
        """What a watch that has seen `since` must be sent now."""
        output = await self._in_worker(self._service.api_watch, secret, _plain(request), since)
        self._upcoming[secret] = (int(output["lab_revision"]), output["next_event_in"])
        return [str(line).encode() for line in output["lines"]], int(output["revision"])

    async def changed(self, secret: str, revision: int, timeout: float) -> None:  # noqa: ARG002, ASYNC109 (the seam's)
        """Wait until the lab was changed, its cluster's next event is due, or the timeout is over."""
        lab_id = await self._in_worker(self._service.lab_of_secret, secret)
        seen, upcoming = self._upcoming.pop(secret, (-1, 0.0))
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + timeout
        due_at = ends_at if upcoming is None else min(ends_at, loop.time() + max(upcoming, 0.02))
        while (left := due_at - loop.time()) > 0:
            if await self._service.bell.wait(lab_id, min(left, _POLL)):
                return
            if await run_in_threadpool(self._service.revision, lab_id) != seen:
                return

    async def _in_worker(self, function: Any, *arguments: Any) -> Any:
        try:
            return await run_in_threadpool(function, *arguments)
        except LabNotFound as error:
            raise UnknownSecret from error
        except (WorkerError, LabBusy, InteractionFailed) as error:
            raise Unavailable(f"the lab could not answer: {error}") from error


def _plain(request: ApiRequest) -> dict[str, Any]:
    return {
        "method": request.method,
        "path": request.path,
        "query": [list(pair) for pair in request.query],
        "headers": dict(request.headers),
    }
