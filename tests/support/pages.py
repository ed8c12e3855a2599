"""The real application over a lab that stands still: what pages show can be tested without a cluster."""

from pathlib import Path

from fastapi import FastAPI

from app.progress.db import Database
from app.settings import Settings
from app.web.app import create_app
from tests.support.fake_lab import FakeLab


def pages_app(home: Path, **settings: object) -> FastAPI:
    """The application with its own empty database, and `FakeLab` in place of the use cases."""
    made = Settings(home=home, workers=1, **settings)  # type: ignore[arg-type]
    home.mkdir(parents=True, exist_ok=True)
    database = Database(made.database)
    database.migrate()
    app = create_app(made, database=database)
    app.state.service = FakeLab()
    return app
