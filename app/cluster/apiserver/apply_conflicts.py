"""The refusal of a server-side apply that would take fields from others.

Mirrors k8s.io/apimachinery/pkg/util/managedfields/internal/conflict.go and api/errors: NewApplyConflict.
"""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from app.apimachinery import fieldpath
from app.apimachinery.errors import Conflict
from app.cluster.ownership import Owner

Taken = tuple[Owner, tuple[str, ...]]
"""An owner, and the path of one of the owner's fields."""


def error(conflicts: Sequence[Taken]) -> Conflict:
    """`Apply failed with 1 conflict: conflict with "kubectl" using apps/v1: .spec.replicas`."""
    causes = [
        {
            "reason": "FieldManagerConflict",
            "message": f"conflict with {_named(owner)}",
            "field": fieldpath.text(path),
        }
        for owner, path in conflicts
    ]
    return Conflict(_message(conflicts), details={"causes": causes})


def _message(conflicts: Sequence[Taken]) -> str:
    if len(conflicts) == 1:
        owner, path = conflicts[0]
        return f"Apply failed with 1 conflict: conflict with {_named(owner)}: {fieldpath.text(path)}"
    lines: list[str] = []
    last: Owner | None = None
    for owner, path in conflicts:
        if owner is not last:
            lines.append(f"conflicts with {_named(owner)}:")
            last = owner
        lines.append(f"- {fieldpath.text(path)}")
    return f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines)


def _named(owner: Owner) -> str:
    quoted = orjson.dumps(owner.manager).decode()
    if owner.subresource:
        quoted = f"{quoted} with subresource {orjson.dumps(owner.subresource).decode()}"
    return f"{quoted} using {owner.api_version}" if owner.operation == "Update" else quoted
