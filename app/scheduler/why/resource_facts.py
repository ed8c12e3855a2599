"""Facts about room: how much of which resource is missing, and who holds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.apimachinery.messages import N_, Message
from app.apimachinery.quantity import ONE, Format, Quantity, from_milli
from app.scheduler.framework.amounts import CPU, MEMORY
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.resource_scoring import is_extended
from app.scheduler.why.model import SHOWN, Fact, Situation, shown

_PLUGIN = "NodeResourcesFit"
_FIRST = (CPU, MEMORY, "ephemeral-storage")


def amount(name: str, value: int) -> str:
    """An amount as manifests write it; `value` is in milli for CPU and in units else."""
    if name == CPU:
        return str(from_milli(value))
    if name in {MEMORY, "ephemeral-storage"} or name.startswith("hugepages-"):
        return str(Quantity(value * ONE, Format.BINARY_SI))
    return str(value)


def holders(node: NodeInfo, name: str) -> list[tuple[str, int]]:
    """(pod, amount) of the pods that hold some of a resource, largest first."""
    found = [(pod.key, pod.requests.get(name, 0)) for pod in node.pods]
    return sorted(((key, held) for key, held in found if held > 0), key=lambda item: (-item[1], item[0]))


def resources(here: Situation) -> list[Fact]:
    """Each resource that is short (plugins/noderesources/fit.go: fitsRequest)."""
    node = here.node
    found = []
    if len(node.pods) + 1 > node.allowed_pods:
        message = Message(
            N_("{node} takes {most} pods at most and has {count}."),
            {"node": node.name, "most": node.allowed_pods, "count": len(node.pods)},
        )
        data: dict[str, Any] = {"kind": "pods", "allocatable": node.allowed_pods, "requested": len(node.pods)}
        found.append(Fact(_PLUGIN, node.name, message, data))
    wanted = here.pod.requests
    for name in (*_FIRST, *sorted(set(wanted) - set(_FIRST))):
        asked, capacity = wanted.get(name, 0), node.allocatable.get(name, 0)
        used = node.requested.get(name, 0)
        if asked > 0 and asked > capacity - used and not _ignored(here, name):
            found.append(_lack(here, name, asked, capacity, used))
    return found


def _lack(here: Situation, name: str, asked: int, capacity: int, used: int) -> Fact:
    free, held = capacity - used, holders(here.node, name)
    data = {
        "kind": "resource",
        "resource": name,
        "requested": asked,
        "free": free,
        "allocatable": capacity,
        "used": used,
        "missing": asked - free,
        "hopeless": asked > capacity,
        "holders": [{"pod": key, "amount": each} for key, each in held],
    }
    facts = {
        "node": here.node.name,
        "resource": name,
        "asked": amount(name, asked),
        "free": amount(name, free),
        "capacity": amount(name, capacity),
        "missing": amount(name, asked - free),
        "holders": shown([f"{key} {amount(name, each)}" for key, each in held[:SHOWN]], len(held)),
    }
    return Fact(_PLUGIN, here.node.name, _lack_message(data, facts), data)


def _lack_message(data: Mapping[str, Any], facts: Mapping[str, Any]) -> Message:
    if not data["allocatable"]:
        return Message(N_("The pod asks for {asked} of {resource}, and {node} has none."), facts)
    if data["hopeless"]:
        text = N_("The pod asks for {asked} of {resource}, more than the {capacity} that {node} has in all.")
        return Message(text, facts)
    text = N_(
        "{missing} of {resource} are missing on {node}: the pod asks for {asked}, {free} of {capacity} are free. "
        "Held by {holders}."
    )
    return Message(text, facts)


def _ignored(here: Situation, name: str) -> bool:
    """Whether the profile lets the resource be (ignoredResources, ignoredResourceGroups)."""
    if not is_extended(name):
        return False
    for plugin in here.framework.at("filter"):
        if plugin.NAME == _PLUGIN:
            listed, groups = plugin.args.get("ignoredResources"), plugin.args.get("ignoredResourceGroups")
            return name in (listed or ()) or name.partition("/")[0] in (groups or ())
    return False
