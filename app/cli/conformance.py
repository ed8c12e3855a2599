"""`cka-lab conformance FILE…`: replay recorded decisions of the real scheduler and compare whole results."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from app.apimachinery.errors import StatusError
from app.scheduler.replay import vectors

_SHOWN = 5


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "conformance",
        help="compare the engine with decisions of the real scheduler",
        description="Replays vectors (JSON arrays or JSON Lines). Ends with code 0 when all agree.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", type=Path)
    parser.add_argument("--quiet", action="store_true", help="do not show differences")


def run(args: argparse.Namespace) -> int:
    """Compare all vectors of all files; the last line is `N of M agree`."""
    total = agreeing = 0
    for path in args.files:
        try:
            for vector in vectors.read(path):
                total += 1
                lines = list(islice(_problems(vector), _SHOWN))
                agreeing += not lines
                if lines and not args.quiet:
                    print(f"{vector.get('name', path)}:")
                    for line in lines:
                        print(f"  {line}")
        except (OSError, ValueError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            return 2
    print(f"{agreeing} of {total} agree")
    return 0 if agreeing == total else 1


def _problems(vector: vectors.Vector) -> Iterator[str]:
    try:
        actual = vectors.replay(vector)
    except (LookupError, TypeError, ValueError, RuntimeError, AssertionError, AttributeError, StatusError) as error:
        yield f"the replay ended with {type(error).__name__}: {error}"
        return
    yield from vectors.differences(vectors.comparable(vector["expected"]), vectors.comparable(actual))
