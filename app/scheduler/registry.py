"""Plugin name to class: the list that a new plugin is added to (pkg/scheduler/framework/plugins/registry.go)."""

from __future__ import annotations

from app.scheduler.framework.interface import Plugin
from app.scheduler.framework.release import NEWEST
from app.scheduler.plugins.default_binder import DefaultBinder
from app.scheduler.plugins.default_preemption import DefaultPreemption
from app.scheduler.plugins.dynamic_resources import DynamicResources
from app.scheduler.plugins.image_locality import ImageLocality
from app.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from app.scheduler.plugins.node_affinity import NodeAffinity
from app.scheduler.plugins.node_name import NodeName
from app.scheduler.plugins.node_ports import NodePorts
from app.scheduler.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from app.scheduler.plugins.node_resources_fit import NodeResourcesFit
from app.scheduler.plugins.node_unschedulable import NodeUnschedulable
from app.scheduler.plugins.node_volume_limits import NodeVolumeLimits
from app.scheduler.plugins.pod_topology_spread import PodTopologySpread
from app.scheduler.plugins.priority_sort import PrioritySort
from app.scheduler.plugins.scheduling_gates import SchedulingGates
from app.scheduler.plugins.taint_toleration import TaintToleration
from app.scheduler.plugins.volume_binding import VolumeBinding
from app.scheduler.plugins.volume_restrictions import VolumeRestrictions
from app.scheduler.plugins.volume_zone import VolumeZone

PLUGINS: dict[str, type[Plugin]] = {
    plugin.NAME: plugin
    for plugin in (
        DefaultBinder,
        DefaultPreemption,
        DynamicResources,
        ImageLocality,
        InterPodAffinity,
        NodeAffinity,
        NodeName,
        NodePorts,
        NodeResourcesBalancedAllocation,
        NodeResourcesFit,
        NodeUnschedulable,
        PodTopologySpread,
        PrioritySort,
        SchedulingGates,
        TaintToleration,
        VolumeZone,
        VolumeRestrictions,
        VolumeBinding,
        NodeVolumeLimits,
    )
}

UPSTREAM_POINTS: dict[str, frozenset[str]] = {
    "NodeDeclaredFeatures": frozenset({"preFilter", "filter"}),
    "GangScheduling": frozenset({"preEnqueue", "reserve", "permit"}),
}
"""Plugins of the real scheduler that are not built here, and where they take part: configurations may name them."""


_FILTER = frozenset({"filter"})
OLD: dict[str, tuple[int, frozenset[str]]] = {
    "AzureDiskLimits": (30, _FILTER),
    "CinderLimits": (30, _FILTER),
    "EBSLimits": (30, _FILTER),
    "GCEPDLimits": (30, _FILTER),
    "SelectorSpread": (28, frozenset({"preScore", "score"})),
}
"""Plugins that later releases do not have: the last minor release with them, and where they took part."""


def is_known(name: str, minor: int = NEWEST.minor) -> bool:
    """Whether the real scheduler 1.`minor` has such a plugin."""
    return name in PLUGINS or name in UPSTREAM_POINTS or (name in OLD and minor <= OLD[name][0])


def points_of_unbuilt(name: str) -> frozenset[str]:
    """Where a plugin takes part that is not built here."""
    return OLD[name][1] if name in OLD else UPSTREAM_POINTS[name]
