"""DefaultIngressClass: an Ingress without a class gets the default one (plugin/pkg/admission/network)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.apimachinery import clock, meta
from app.cluster.attributes import Attributes
from app.cluster.store import Store

CLASS_ANNOTATION = "kubernetes.io/ingress.class"
IS_DEFAULT = "ingressclass.kubernetes.io/is-default-class"


def admit(attributes: Attributes, store: Store) -> None:
    """Fill in the default class; of several the youngest."""
    created = attributes.operation == "CREATE" and not attributes.subresource
    if not created or attributes.resource != "ingresses" or attributes.object is None:
        return
    spec = attributes.object.setdefault("spec", {})
    if spec.get("ingressClassName") is not None or CLASS_ANNOTATION in meta.annotations_of(attributes.object):
        return
    marked = [found for found in store.list("ingressclasses") if meta.annotations_of(found).get(IS_DEFAULT) == "true"]
    if marked:
        spec["ingressClassName"] = meta.name_of(min(marked, key=_youngest_first))


def _youngest_first(obj: Mapping[str, Any]) -> tuple[int, str]:
    return -clock.parse(obj["metadata"]["creationTimestamp"]), meta.name_of(obj)
