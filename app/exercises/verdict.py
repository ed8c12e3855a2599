"""What grading answers: one result for each check, and their sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.apimachinery.messages import Message

Status = Literal["passed", "failed", "fault"]


@dataclass(frozen=True)
class CheckResult:
    """One check's verdict: passed, failed, or fault (the check itself is broken, and nobody's answer wrong)."""

    name: str
    status: Status
    points: int
    possible: int
    looked_for: Message | None = None
    found: Message | None = None
    where: Message | None = None

    @property
    def passed(self) -> bool:
        """Whether the points were reached."""
        return self.status == "passed"


@dataclass(frozen=True)
class Verdict:
    """All checks' results, in the exercise's order."""

    results: tuple[CheckResult, ...]

    @property
    def points(self) -> int:
        """The points reached."""
        return sum(result.points for result in self.results)

    @property
    def possible(self) -> int:
        """The points of all checks, the broken ones included."""
        return sum(result.possible for result in self.results)

    @property
    def full(self) -> bool:
        """Whether every point was reached."""
        return self.points == self.possible

    @property
    def final(self) -> bool:
        """Whether every check was graded."""
        return all(result.status != "fault" for result in self.results)

    @property
    def failed(self) -> frozenset[str]:
        """The names of the checks that were not passed for the learner's sake."""
        return frozenset(result.name for result in self.results if result.status == "failed")
