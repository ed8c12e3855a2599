"""DefaultTolerationSeconds: pods stay five minutes on a node that is not ready or cannot be reached.

Mirrors plugin/pkg/admission/defaulttolerationseconds/admission.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from app.cluster.attributes import Attributes
from app.cluster.store import Store

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
SECONDS = 300


def admit(attributes: Attributes, store: Store) -> None:
    """Add the two tolerations where the pod has none of its own for them."""
    del store
    concerned = attributes.resource == "pods" and not attributes.subresource
    if not concerned or attributes.object is None or attributes.operation not in {"CREATE", "UPDATE"}:
        return
    spec = attributes.object.setdefault("spec", {})
    tolerations = list(spec.get("tolerations") or [])
    missing = [key for key in (NOT_READY, UNREACHABLE) if not _covered(tolerations, key)]
    if missing:
        spec["tolerations"] = tolerations + [
            {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": SECONDS} for key in missing
        ]


def _covered(tolerations: Iterable[Mapping[str, Any]], key: str) -> bool:
    return any(
        item.get("key") in {key, "", None} and item.get("effect") in {"NoExecute", "", None} for item in tolerations
    )
