"""Arithmetic that several plugins share (pkg/scheduler/framework/plugins/helper)."""

from __future__ import annotations

from collections.abc import Sequence

from app.scheduler.framework.interface import MAX_NODE_SCORE, Scores


def default_normalize_score(scores: Scores, *, reverse: bool = False, highest: int = MAX_NODE_SCORE) -> None:
    """Scale so that the best score becomes `highest`; with `reverse` the smallest is best (normalize_score.go)."""
    top = max(scores.values(), default=0)
    for node, score in scores.items():
        if top == 0:
            scores[node] = highest if reverse else score
        else:
            scaled = highest * score // top
            scores[node] = highest - scaled if reverse else scaled


def truncated(numerator: int, denominator: int) -> int:
    """Integer division as Go does it: towards zero."""
    result = abs(numerator) // abs(denominator)
    return result if (numerator >= 0) == (denominator >= 0) else -result


def shape_score(shape: Sequence[tuple[int, int]], utilization: int) -> int:
    """The score at a utilization (0…100) on a broken line of (utilization, score) points (shape_score.go)."""
    for index, (x, y) in enumerate(shape):
        if utilization <= x:
            if index == 0:
                return y
            before_x, before_y = shape[index - 1]
            return before_y + truncated((y - before_y) * (utilization - before_x), x - before_x)
    return shape[-1][1]
