"""The admission plugins that are on, in upstream's order: the list a new one is added to.

Mirrors pkg/kubeapiserver/options/plugins.go: AllOrderedPlugins. All mutating ones run, then the object is
validated, then all validating ones run.
"""

from __future__ import annotations

from collections.abc import Callable

from app.cluster.admission import (
    default_ingress_class,
    default_storage_class,
    default_toleration_seconds,
    escalation,
    limit_ranger,
    namespace_lifecycle,
    node_restriction,
    persistent_volume_claim_resize,
    priority,
    resource_quota,
    runtime_class,
    service_account,
    storage_object_in_use_protection,
    taint_nodes_by_condition,
)
from app.cluster.attributes import Attributes
from app.cluster.store import Store

Plugin = Callable[[Attributes, Store], None]

MUTATING: tuple[Plugin, ...] = (
    namespace_lifecycle.admit,
    limit_ranger.admit,
    service_account.admit,
    node_restriction.admit,
    taint_nodes_by_condition.admit,
    priority.admit,
    default_toleration_seconds.admit,
    default_storage_class.admit,
    storage_object_in_use_protection.admit,
    runtime_class.admit,
    default_ingress_class.admit,
)

VALIDATING: tuple[Plugin, ...] = (
    namespace_lifecycle.validate,
    limit_ranger.validate,
    service_account.validate,
    node_restriction.validate,
    priority.validate,
    persistent_volume_claim_resize.validate,
    runtime_class.validate,
    resource_quota.validate,
    escalation.validate,
)


def admit(attributes: Attributes, store: Store) -> None:
    """Let each plugin change the object; Forbidden or another StatusError where one refuses."""
    for plugin in MUTATING:
        plugin(attributes, store)


def validate(attributes: Attributes, store: Store) -> None:
    """Let each plugin look at the finished object."""
    for plugin in VALIDATING:
        plugin(attributes, store)
