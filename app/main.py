"""The command `cka-lab`: finds the module of the command that was asked for, and runs it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from app.cli import COMMANDS


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
