"""Making room: the pod asks for less, or other pods go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from app.apimachinery import meta, quantity
from app.apimachinery.messages import N_, Message
from app.apimachinery.meta import Object
from app.apis import helpers
from app.scheduler.framework import amounts
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.resource_scoring import is_extended
from app.scheduler.why import actions
from app.scheduler.why.model import Alternative, Edit, Fact, Situation
from app.scheduler.why.resource_facts import amount, resources

_MIB = 1024 * 1024
_SINGLES = 3
Path = list[str | int]


def too_many_pods(here: Situation, fact: Fact) -> Iterator[Alternative]:
    """One pod must go for each that is too many; the least important ones."""
    surplus = fact.data["requested"] + 1 - fact.data["allocatable"]
    pods = sorted(filter(actions.removable, here.node.pods), key=lambda pod: (pod.priority, pod.key))
    if surplus == 1:
        for pod in pods[:_SINGLES]:
            yield (actions.delete_pod(pod.key),)
    elif surplus <= len(pods):
        yield from actions.removal(here, [pod.key for pod in pods[:surplus]])


def too_little(here: Situation, fact: Fact) -> Iterator[Alternative]:
    """Lower the pod's request to what is free, or remove pods that hold what is missing."""
    name, free, missing = fact.data["resource"], fact.data["free"], fact.data["missing"]
    edit = lower(here, name, max(free, 0))
    if edit is not None:
        yield (edit,)
    if not fact.data["hopeless"]:
        yield from _free(here, name, missing)


def _free(here: Situation, name: str, missing: int) -> Iterator[Alternative]:
    """Single pods that hold enough, those first that settle everything; else the largest until it is enough."""
    lacks = {fact.data["resource"]: fact.data["missing"] for fact in resources(here) if "resource" in fact.data}
    holding = [pod for pod in here.node.pods if pod.requests.get(name, 0) > 0 and actions.removable(pod)]
    enough = [pod for pod in holding if pod.requests[name] >= missing]

    def rank(pod: PodInfo) -> tuple[Any, ...]:
        settles = all(pod.requests.get(other, 0) >= lack for other, lack in lacks.items())
        return (not settles, pod.priority, pod.requests[name], pod.key)

    for pod in sorted(enough, key=rank)[:_SINGLES]:
        yield (actions.delete_pod(pod.key),)
    if enough:
        return
    found: list[PodInfo] = []
    for pod in sorted(holding, key=lambda pod: (-pod.requests[name], pod.key)):
        if missing > 0:
            found.append(pod)
            missing -= pod.requests[name]
    if missing <= 0:
        yield from actions.removal(here, [pod.key for pod in found])


def lower(here: Situation, name: str, target: int) -> Edit | None:
    """The pod asking for `target` of a resource in all (milli for CPU), or None where its overhead alone is more."""
    if name not in {amounts.CPU, "pods"} and target > _MIB and not is_extended(name):
        target -= target % _MIB
    pod: Object = meta.copied(here.pod.pod)
    steps: dict[str, Mapping[str, Any]] = {}
    for _ in range(2 * len(_requests(pod, name)) + 1):
        if _total(pod, name) <= target:
            break
        step = _next_step(pod, name, target)
        if step is None:
            return None
        steps[str(step["path"])] = step
    own = ((pod["spec"].get("resources") or {}).get("requests")) or {}
    if _total(pod, name) <= target and name in own and amounts.pod_amounts(pod)[name] > target:
        overhead = amounts.amounts({name: quantity.of((pod["spec"].get("overhead") or {}).get(name, "0"))})[name]
        path: Path = ["spec", "resources", "requests", name]
        step = {"op": "set", "path": path, "value": amount(name, target - overhead)}
        own[name] = step["value"]
        steps[str(path)] = step
    if amounts.pod_amounts(pod).get(name, 0) > target:
        return None
    listed = [*steps.values(), *_limits(here.pod.pod, name, steps.values())]
    facts = {"resource": name, "asked": amount(name, here.pod.requests[name]), "target": amount(name, target)}
    message = Message(N_("Lower what the pod requests of {resource} from {asked} to {target}."), facts)
    return actions.pod_edit(here, "lowerRequest", message, *listed)


def _total(pod: Object, name: str) -> int:
    """What the containers ask for, with the overhead."""
    return amounts.amounts(helpers.pod_requests(pod, pod_level=False)).get(name, 0)


def _requests(pod: Object, name: str) -> list[tuple[int, Path]]:
    """(amount, path) of each container's request above 0, largest first."""
    found = []
    for field in ("containers", "initContainers"):
        for index, container in enumerate(pod["spec"].get(field) or ()):
            asked = ((container.get("resources") or {}).get("requests") or {}).get(name)
            held = amounts.amounts({name: quantity.of(asked)})[name] if asked is not None else 0
            if held > 0:
                found.append((held, ["spec", field, index, "resources", "requests", name]))
    return sorted(found, key=lambda item: (-item[0], str(item[1])))


def _next_step(pod: Object, name: str, target: int) -> Mapping[str, Any] | None:
    """Lower, in place, the largest request whose lowering lowers the sum, or else the smallest one."""
    before = _total(pod, name)
    listed = _requests(pod, name)
    for held, path in listed:
        step = {"op": "set", "path": path, "value": amount(name, max(0, held - (before - target)))}
        was = _put(pod, path, step["value"])
        if _total(pod, name) < before:
            return step
        if (held, path) != listed[-1]:
            _put(pod, path, was)
    return step if listed else None


def _put(pod: Object, path: Path, value: Any) -> Any:
    """Set a container's request in place; answers what stood there."""
    requests = pod["spec"][path[1]][path[2]]["resources"]["requests"]
    was, requests[path[5]] = requests[path[5]], value
    return was


def _limits(pod: Object, name: str, steps: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Devices and huge pages are requested exactly as limited."""
    if not is_extended(name) and not name.startswith("hugepages-"):
        return
    for step in steps:
        path = [*step["path"]]
        if path[1] != "resources" and name in (pod["spec"][path[1]][path[2]]["resources"].get("limits") or {}):
            yield {**step, "path": [*path[:-2], "limits", name]}
