"""Kinds whose differences are their rules alone."""

from __future__ import annotations

from collections.abc import Callable

from app.apimachinery.meta import Object
from app.apimachinery.validation import FieldError
from app.cluster.apiserver.strategy import Strategy

Rule = Callable[[Object], list[FieldError]]
UpdateRule = Callable[[Object, Object], list[FieldError]]


class Ruled(Strategy):
    """A kind with a rule, and perhaps another one for changes and one for changes of its status."""

    def __init__(
        self, rule: Rule, update_rule: UpdateRule | None = None, status_rule: UpdateRule | None = None
    ) -> None:
        self._rule = rule
        self._update_rule = update_rule
        self._status_rule = status_rule

    def validate(self, obj: Object) -> list[FieldError]:
        """The kind's rule."""
        return self._rule(obj)

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """The kind's rule for changes, where there is one."""
        return self._rule(new) if self._update_rule is None else self._update_rule(new, old)

    def validate_status_update(self, new: Object, old: Object) -> list[FieldError]:
        """The kind's rule for its status, where there is one."""
        return [] if self._status_rule is None else self._status_rule(new, old)
