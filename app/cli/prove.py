"""`cka-lab prove`: run exercises against their own solutions and wrong answers, and say what does not hold."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from app import settings
from app.exercises import loader, proof
from app.exercises.model import Exercise

FOLDER = settings.ROOT / "exercises"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command's options."""
    parser = subparsers.add_parser("prove", help="prove exercises: solution, untouched start, wrong answers")
    parser.add_argument("which", nargs="*", metavar="FILE|NAME", help="exercises to prove; all of exercises/ if none")


def run(args: argparse.Namespace) -> int:
    """Prove them; 1 where one is not proven, cannot be read, or is not there."""
    exercises, problems, wanted = _chosen(args.which)
    for problem in problems:
        print(problem)
    # A broken check is told in the report; its log line would only tear the list apart.
    logging.getLogger("cka_lab.exercises").setLevel(logging.CRITICAL)
    proven = 0
    for exercise in exercises:
        report = proof.prove(exercise, _progress)
        _progress("")
        print("\n".join(report.lines()), flush=True)
        proven += report.proven
    print(f"{proven} of {wanted} proven")
    return 0 if proven == wanted and not problems and wanted else 1


def _chosen(which: list[str]) -> tuple[list[Exercise], list[str], int]:
    """The exercises, what could not be read, and how many were asked for."""
    catalogue = loader.load_folder(FOLDER)
    if not which:
        broken = {problem.file for problem in catalogue.problems}
        problems = [str(problem) for problem in catalogue.problems]
        return list(catalogue.exercises.values()), problems, len(catalogue.exercises) + len(broken)
    exercises: list[Exercise] = []
    problems = []
    for name in which:
        if name in catalogue.exercises:
            exercises.append(catalogue.exercises[name])
            continue
        try:
            exercises.append(loader.parse(Path(name).read_text(encoding="utf-8"), source=name))
        except OSError:
            problems.append(f"{name}: no exercise has this name, and there is no such file")
        except UnicodeDecodeError:
            problems.append(f"{name}: this is not text in UTF-8")
        except loader.ExerciseErrors as errors:
            problems += [str(problem) for problem in errors.problems]
    return exercises, problems, len(which)


def _progress(text: str) -> None:
    """Show on a terminal what is being done, over the line before."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
