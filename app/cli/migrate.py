"""`cka-lab migrate`: bring the database to the tables of this version."""

from __future__ import annotations

import argparse
import sys

from app.progress.db import BadDatabaseUrl, Database
from app.settings import Settings


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command; it has no options."""
    subparsers.add_parser("migrate", help="bring the database to this version")


def run(args: argparse.Namespace) -> int:  # noqa: ARG001 (every command takes its arguments)
    """Run the migrations; they do nothing where the database is up to date."""
    settings = Settings()
    settings.home.mkdir(parents=True, exist_ok=True)
    try:
        database = Database(settings.database)
    except BadDatabaseUrl as error:
        print(error, file=sys.stderr)
        return 2
    database.migrate()
    print("The database is up to date.")
    return 0
