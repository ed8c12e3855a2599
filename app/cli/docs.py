"""`cka-lab docs`: the pages of docs/ that are generated, so that they cannot go stale."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from app import settings
from app.cli import COMMANDS, fidelity

_BEGIN = "<!-- generated: begin -->\n"
_END = "<!-- generated: end -->\n"


def _commands() -> str:
    rows = ["| Command | What it does |", "| --- | --- |"]
    return "\n".join([*rows, *(f"| `cka-lab {name}` | {text} |" for name, text in COMMANDS.items())]) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "settings.md": settings.table,
    "command-line.md": _commands,
    "fidelity.md": fidelity.page,
}
"""Page → what stands between its two markers."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command's options."""
    parser = subparsers.add_parser("docs", help="write or verify the generated pages of docs/")
    parser.add_argument("--write", action="store_true", help="write the pages; without it they are compared")


def run(args: argparse.Namespace) -> int:
    """Write the pages, or return 1 and name the stale ones."""
    stale = 0
    for name, generate in PAGES.items():
        path = settings.ROOT / "docs" / name
        fresh = render(path, generate())
        if fresh == path.read_text():
            continue
        if args.write:
            path.write_text(fresh)
            print(f"docs/{name} written")
        else:
            stale += 1
            print(f"docs/{name} is stale: run make docs", file=sys.stderr)
    return 1 if stale else 0


def render(path: Path, generated: str) -> str:
    """The page with its generated part replaced. ValueError when it has no markers."""
    before, begin, rest = path.read_text().partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"{path.name} has no place for its generated part")
    return f"{before}{_BEGIN}{generated}{_END}{after}"
