"""What printers are made of: columns, a function from an object to its cells, and the usual small texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from app.apimachinery import clock
from app.apimachinery.clock import Instant
from app.apimachinery.meta import Object

NONE = "<none>"
UNKNOWN = "<unknown>"
UNSET = "<unset>"

Cells = list[str | int | bool]
CellsOf = Callable[[Object, Instant], Cells]
"""Cells of one object, in the order of the columns; ages are counted to the instant."""


@dataclass(frozen=True)
class Column:
    """One column. Priority 1 is shown by `-o wide` only."""

    name: str
    type: str = "string"
    format: str = ""
    priority: int = 0

    def to_json(self) -> Object:
        """The column as metav1.TableColumnDefinition."""
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": "",
            "priority": self.priority,
        }


def _no_conditions(_: Object) -> list[Object]:
    return []


@dataclass(frozen=True)
class Printer:
    """The columns of a kind, its cells, and its row conditions (metav1.TableRowCondition)."""

    columns: tuple[Column, ...]
    cells: CellsOf
    conditions: Callable[[Object], list[Object]] = _no_conditions


NAME = Column("Name", format="name")
AGE = Column("Age")
CONTAINERS = Column("Containers", priority=1)
IMAGES = Column("Images", priority=1)
SELECTOR = Column("Selector", priority=1)


def integer(name: str) -> Column:
    """A column of whole numbers."""
    return Column(name, type="integer")


def text(name: str, *, wide: bool = False) -> Column:
    """A column of text."""
    return Column(name, priority=int(wide))


def name_of(obj: Object) -> str:
    """The object's name, or an empty string."""
    return str(obj.get("metadata", {}).get("name", ""))


def age(obj: Object, now: Instant) -> str:
    """How long ago the object was created."""
    return since(obj.get("metadata", {}).get("creationTimestamp"), now)


def since(timestamp: str | None, now: Instant) -> str:
    """How long ago an RFC 3339 time was, `<unknown>` for none (printers.go: translateTimestampSince)."""
    return human_duration(now - clock.parse(timestamp)) if timestamp else UNKNOWN


def human_duration(micros: int) -> str:
    """A length of time in at most two units (k8s.io/apimachinery/pkg/util/duration: HumanDuration)."""
    seconds = int(micros / clock.SECOND)  # towards zero, as Go converts
    if seconds < -1:
        return "<invalid>"
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{max(seconds, 0)}s"
    if minutes < 10:
        return _two(minutes, "m", seconds % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if hours < 192:
        return _two(days, "d", hours % 24, "h")
    if days < 730:
        return f"{days}d"
    if days < 2920:
        return _two(days // 365, "y", days % 365, "d")
    return f"{days // 365}y"


def _two(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}{small}{small_unit}" if small else f"{large}{large_unit}"


def format_labels(labels: Mapping[str, str] | None) -> str:
    """`a=1,b=2` by key, `<none>` for none (k8s.io/kubernetes/pkg/util/labels: FormatLabels)."""
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or NONE


def format_label_selector(selector: Mapping[str, Any] | None) -> str:
    """A LabelSelector as the text that a query would use (metav1.FormatLabelSelector)."""
    return selector_text(selector) or NONE


def selector_text(selector: Mapping[str, Any] | None) -> str:
    """A LabelSelector as the text that a query would use; empty for one that selects everything."""
    requirements = [(key, f"{key}={value}") for key, value in ((selector or {}).get("matchLabels") or {}).items()]
    for expression in (selector or {}).get("matchExpressions") or []:
        key = str(expression.get("key", ""))
        values = ",".join(sorted(expression.get("values") or []))
        written = {
            "In": f"{key} in ({values})",
            "NotIn": f"{key} notin ({values})",
            "Exists": key,
            "DoesNotExist": f"!{key}",
        }.get(expression.get("operator", ""), key)
        requirements.append((key, written))
    return ",".join(written for _, written in sorted(requirements, key=lambda pair: pair[0]))


def containers_and_images(containers: Iterable[Mapping[str, Any]] | None) -> tuple[str, str]:
    """Names and images of containers, each joined by commas (printers.go: layoutContainerCells)."""
    listed = list(containers or [])
    return (
        ",".join(str(container.get("name", "")) for container in listed),
        ",".join(str(container.get("image", "")) for container in listed),
    )
