"""The command `cka-lab`: finds the module of the command that was asked for, and runs it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

COMMANDS = {
    "serve": "run the lab",
    "migrate": "bring the database to this version",
    "prove": "prove exercises: solution, untouched start, wrong answers",
    "new": "write a new exercise file to start from",
    "conformance": "compare the engine with decisions of the real scheduler",
    "bench": "measure the lab and print a table",
    "schema-data": "write the API's structure from the published schemas (needs the dev set)",
    "docs": "write or verify the generated pages of docs/",
}
"""Command → what it does. Each lives in `app/cli/<command>.py` with `add_parser` and `run`."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code. Only the chosen command's module is imported."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(
        prog="cka-lab",
        description="A practice lab for Kubernetes scheduling.",
        epilog="\n".join(f"  {name:<12} {text}" for name, text in COMMANDS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if not arguments or arguments[0] not in COMMANDS:
        parser.add_argument("command", choices=list(COMMANDS), metavar="COMMAND")
        parser.parse_args(arguments or ["--help"])
        return 2
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    module = import_module(f"app.cli.{arguments[0].replace('-', '_')}")
    module.add_parser(subparsers)
    return int(module.run(parser.parse_args(arguments)))


if __name__ == "__main__":
    sys.exit(main())
