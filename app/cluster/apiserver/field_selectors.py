"""Field selectors: `spec.nodeName=node01,status.phase!=Failed` (k8s.io/apimachinery/pkg/fields/selector.go)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.apimachinery.errors import BadRequest
from app.apimachinery.meta import Object


@dataclass(frozen=True)
class FieldSelector:
    """Terms that must all hold: (field, wanted value, whether it must equal)."""

    terms: tuple[tuple[str, str, bool], ...]

    def matches(self, obj: Object, fields_of: Callable[[Object], Mapping[str, str]]) -> bool:
        """Whether the object's selectable fields satisfy every term.

        Raises:
            BadRequest: the kind has no such field to select by.
        """
        fields = fields_of(obj)
        for name, wanted, equal in self.terms:
            if name not in fields:
                raise BadRequest(f"field label not supported: {name}")
            if (fields[name] == wanted) != equal:
                return False
        return True


def parse(text: str) -> FieldSelector:
    """Parse the text; BadRequest where a term is none (fields: ParseSelector)."""
    terms = []
    for term in filter(None, text.split(",")):
        name, operator, value = _split(term)
        if not operator:
            raise BadRequest(f"invalid selector: '{text}'; can't understand '{term}'")
        terms.append((name, value, operator != "!="))
    return FieldSelector(tuple(terms))


def _split(term: str) -> tuple[str, str, str]:
    for operator in ("!=", "==", "="):
        name, found, value = term.partition(operator)
        if found:
            return name, found, value
    return term, "", ""
