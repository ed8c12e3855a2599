"""A real HTTP server around a KubeApi, on a free port of this machine."""

import asyncio
import contextlib
import socket
import threading

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

from app.kubeapi.app import KubeApi

SECRET = "s3cret-of-the-lab"


@contextlib.contextmanager
def served(backend, limits=None, middleware=()):
    """The address of a server that answers for the backend; it has ended when the block is left."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()  # from here on clients wait for the server instead of being refused
    app = Starlette(routes=[Mount("/k", app=KubeApi(backend, limits))], middleware=middleware)
    config = uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/k/{SECRET}"
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        listener.close()
