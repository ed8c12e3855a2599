"""What is wrong in an exercise file: each mistake with its place and what to write instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.apimachinery.messages import Message


@dataclass(frozen=True)
class Problem:
    """One mistake. Line and column count from 1; 0 where no place is known."""

    file: str
    line: int
    column: int
    message: Message
    advice: Message | None = None

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        text = f"{place}: {self.message}"
        return f"{text} {self.advice}" if self.advice else text


class ExerciseErrors(ValueError):
    """A file that is no exercise; `problems` are all its mistakes, in the order of the file."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)
