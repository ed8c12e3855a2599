"""All settings, by environment variable. `docs/settings.md` is the same table, and a test keeps it so."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import AliasChoices, Field
from pydantic_settings import BaseSettings, SettingsConfigDict

ROOT = Path(__file__).resolve().parent.parent
"""The folder that holds `exercises/`, `templates/`, `static/` and `alembic/`."""


class Settings(BaseSettings):
    """What an operator can set. Every field is read from `CKA_LAB_<NAME>`; the database also from `DATABASE_URL`."""

    model_config = SettingsConfigDict(env_prefix="CKA_LAB_", extra="ignore", populate_by_name=True)

    home: Path = Field(default=ROOT / "var", description="Folder for the SQLite database.")
    database_url: str = Field(
        default="",
        validation_alias=AliasChoices("database_url", "DATABASE_URL"),
        description="`sqlite:///…` or `postgresql://…`; empty means `lab.db` in the home folder.",
    )
    exercises: Path = Field(default=ROOT / "exercises", description="Folder with the exercises' YAML files.")
    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    public_url: str = Field(default="", description="Address that people type, where it differs from host and port.")
    language: str = Field(default="en", description="Language of visitors who state none: `en` or `ko`.")
    guests: bool = Field(default=True, description="Whether people may start without an account.")
    workers: int = Field(
        default_factory=lambda: max(2, os.cpu_count() or 2),
        ge=1,
        le=64,
        description="Worker processes; each serves one interaction at a time.",
    )
    worker_memory_mb: int = Field(default=1024, ge=256, description="Address space of a worker process, in MiB.")
    worker_deadline: float = Field(default=10.0, gt=0, description="Seconds until a worker that hangs is killed.")
    worker_cpu: int = Field(default=8, ge=1, description="CPU seconds that one interaction may use.")
    worker_wait: float = Field(default=10.0, gt=0, description="Seconds to wait for a free worker before 503.")
    max_body: int = Field(default=16 * 1024 * 1024, ge=65536, description="Largest request body, in bytes.")
    labs_per_user: int = Field(default=200, ge=1, description="Labs that one person may have; the oldest end first.")
    history_days: int = Field(
        default=90, ge=1, description="Days after a lab's last command until the states to step back to are dropped."
    )
    history_steps: int = Field(
        default=1000,
        ge=50,
        description="States to step back to that one lab keeps beside its newest 50; the oldest are dropped first.",
    )
    history_kb: int = Field(default=4096, ge=64, description="KiB that these states may take, as they are stored.")

    @property
    def database(self) -> str:
        """The database's address, the default filled in."""
        return self.database_url or f"sqlite:///{self.home / 'lab.db'}"


def table() -> str:
    """The settings as a Markdown table."""
    rows = ["| Variable | Default | Meaning |", "| --- | --- | --- |"]
    for name, field in Settings.model_fields.items():
        variable = "DATABASE_URL" if name == "database_url" else f"CKA_LAB_{name.upper()}"
        rows.append(f"| `{variable}` | {_default(name, field.default)} | {field.description} |")
    return "\n".join(rows) + "\n"


def _default(name: str, value: object) -> str:
    if name == "workers":
        return "number of cores, at least 2"
    if isinstance(value, Path):
        return f"`{value.relative_to(ROOT)}/`"
    return f"`{value}`" if value != "" else "empty"
