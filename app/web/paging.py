"""Long lists page by page; the address is the state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode


@dataclass(frozen=True, slots=True)
class Paging:
    """One page of a list of `total` rows. A page number past the end means the last page."""

    path: str
    query: Mapping[str, str]
    """What else the address asks for: filters and search. Empty ones are left out."""
    total: int
    size: int
    wanted: int = 1

    @property
    def pages(self) -> int:
        """How many pages there are, at least one."""
        return max(1, -(-self.total // self.size))

    @property
    def page(self) -> int:
        """The page shown, counted from 1."""
        return min(max(1, self.wanted), self.pages)

    @property
    def offset(self) -> int:
        """How many rows come before this page."""
        return (self.page - 1) * self.size

    def link(self, page: int) -> str:
        """The address of a page of this list."""
        query = {name: value for name, value in self.query.items() if value and name != "page"}
        if page > 1:
            query["page"] = str(page)
        return f"{self.path}?{urlencode(query)}" if query else self.path
