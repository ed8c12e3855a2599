"""`cka-lab migrate`: bring the database to the tables of this version."""

from __future__ import annotations

import argparse

from app.progress.db import Database
from app.settings import Settings


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command; it has no options."""
    subparsers.add_parser("migrate", help="bring the database to this version")


def run(args: argparse.Namespace) -> int:  # noqa: ARG001 (every command takes its arguments)
    """Run the migrations; they do nothing where the database is up to date."""
    settings = Settings()
    settings.home.mkdir(parents=True, exist_ok=True)
    database = Database(settings.database)
    database.migrate()
    print("The database is up to date.")
    return 0
