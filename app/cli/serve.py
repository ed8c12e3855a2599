"""`cka-lab serve`: migrate, load the exercises, say where the lab is, and serve it."""

from __future__ import annotations

import argparse
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

import uvicorn

from app.lab.library import Library
from app.lab.service import make_pool
from app.progress import accounts
from app.progress.db import BadDatabaseUrl, Database
from app.settings import Settings
from app.web.app import create_app


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command's options."""
    parser = subparsers.add_parser("serve", help="run the lab", description="Run the lab on this machine.")
    parser.add_argument("--host", help="address to listen on (CKA_LAB_HOST)")
    parser.add_argument("--port", type=int, help="port to listen on; 0 takes a free one (CKA_LAB_PORT)")


def run(args: argparse.Namespace) -> int:
    """Serve until interrupted. Returns 1 when the address cannot be had."""
    given = {name: value for name in ("host", "port") if (value := getattr(args, name)) is not None}
    settings = Settings(**given)
    try:
        listener = _listen(settings.host, settings.port)
    except OSError as error:
        print(
            f"Cannot listen on {settings.host}:{settings.port}: {error.strerror}. "
            "Choose another port with CKA_LAB_PORT=8001.",
            file=sys.stderr,
        )
        return 1
    settings.home.mkdir(parents=True, exist_ok=True)
    try:
        database = Database(settings.database)
    except BadDatabaseUrl as error:
        print(error, file=sys.stderr)
        return 2
    with ThreadPoolExecutor(1) as background:
        pool = background.submit(make_pool, settings)  # the workers' imports take as long as all the rest
        database.migrate()
        library = Library(database, settings.exercises)
        _say_exercises(library)
        app = create_app(settings, database=database, library=library, pool=pool.result())
    _say_address(database, settings.public_url.rstrip("/") or _address(listener))
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,  # paths hold the secrets of labs and links
        timeout_graceful_shutdown=5,
        proxy_headers=True,
    )
    uvicorn.Server(config).run(sockets=[listener])
    return 0


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(128)
    return listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


def _say_exercises(library: Library) -> None:
    catalogue = library.catalogue()
    print(f"{len(catalogue.exercises)} exercises loaded")
    for problem in catalogue.problems:
        print(f"  not loaded: {problem}", file=sys.stderr)


def _say_address(database: Database, address: str) -> None:
    print(f"The lab is at    {address}/")
    with database.session() as session:
        token = accounts.create_setup_link(session) if not accounts.has_administrator(session) else None
    if token:
        print(f"Administrator    {address}/setup/{token}   (works once: its opener becomes the first administrator)")
    sys.stdout.flush()
