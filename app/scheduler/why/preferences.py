"""Edits that move scores towards a node: preferences, soft taints, soft rules, room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from app.apimachinery.messages import N_, Message
from app.apis import helpers
from app.scheduler.framework.node_info import NodeInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.why import actions, pod_remedies, remedies
from app.scheduler.why.model import Edit, Situation
from app.scheduler.why.node_facts import compares, failing_expressions

_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_PATH = ("spec", "affinity", "nodeAffinity", _PREFERRED)
_LARGEST_PODS = 3
_MOST_WEIGHT = 100


def edits(here: Situation, rivals: Sequence[NodeInfo]) -> list[Edit]:
    """What may move the decision to the node, most fitting first. `rivals` are the other nodes that pass."""
    found = [*_soft_taints(here)]
    prefer = _prefer(here, rivals)
    if prefer is not None:
        found.append(prefer)
    found += pod_remedies.drop_soft(here)
    found += _preferred_terms(here)
    found += [actions.delete_pod(pod.key) for pod in _largest(here.node)]
    return found


def _soft_taints(here: Situation) -> Iterator[Edit]:
    compare = compares(here.framework)
    for taint in here.node.taints:
        if helpers.find_untolerated_taint([taint], here.pod.tolerations, ["PreferNoSchedule"], compare=compare):
            plain = {name: taint.get(name) or "" for name in ("key", "value", "effect")}
            yield remedies.toleration(here, plain)
            yield remedies.untaint(here, plain)


def _prefer(here: Situation, rivals: Sequence[NodeInfo]) -> Edit | None:
    """Prefer a label that no rival has; one that people gave rather than one that the machine has, hostname last."""
    own = [
        (key, value)
        for key, value in here.node.labels.items()
        if all(rival.labels.get(key) != value for rival in rivals)
    ]
    if not own or not rivals:
        return None
    key, value = min(own, key=lambda item: (item[0] == actions.HOSTNAME, "kubernetes.io/" in item[0], item))
    text = N_("Prefer {key}={value} in the pod's node affinity, with weight {weight}.")
    message = Message(text, {"key": key, "value": value, "weight": _MOST_WEIGHT})
    expression = {"key": key, "operator": "In", "values": [value]}
    term = {"weight": _MOST_WEIGHT, "preference": {"matchExpressions": [expression]}}
    return actions.pod_edit(here, "preferNode", message, {"op": "append", "path": list(_PATH), "value": term})


def _preferred_terms(here: Situation) -> Iterator[Edit]:
    """Preferred terms that the node does not match: without them, or with the label that one lacks."""
    listed = ((here.pod.spec.get("affinity") or {}).get("nodeAffinity") or {}).get(_PREFERRED) or ()
    for index, item in enumerate(listed):
        term: Mapping[str, object] = item.get("preference") or {}
        failing = list(failing_expressions(term, here))
        if not failing:
            continue
        message = Message(N_("Take preferred node affinity term {number} out of the pod."), {"number": index + 1})
        step = {"op": "drop", "path": list(_PATH), "value": item}
        yield actions.pod_edit(here, "dropPreferredTerm", message, step)
        if len(failing) == 1 and failing[0][0] == "matchExpressions":
            edit = remedies.label_for(here, failing[0][1])
            if edit is not None:
                yield edit


def _largest(node: NodeInfo) -> list[PodInfo]:
    """The pods that take the largest shares of the node."""

    def share(pod: PodInfo) -> float:
        return sum(pod.requests.get(name, 0) / (node.allocatable.get(name) or 1) for name in ("cpu", "memory"))

    pods = [pod for pod in node.pods if actions.removable(pod) and share(pod) > 0]
    return sorted(pods, key=lambda pod: (-share(pod), pod.key))[:_LARGEST_PODS]


def pin(here: Situation) -> Edit | None:
    """The last resort: the pod selects the node by its hostname. None where the node has no such label."""
    value = here.node.labels.get(actions.HOSTNAME)
    if value is None or (here.pod.spec.get("nodeSelector") or {}).get(actions.HOSTNAME):
        return None
    facts = {"key": actions.HOSTNAME, "value": value}
    message = Message(N_("Set {key}: {value} in the pod's nodeSelector."), facts)
    step = {"op": "set", "path": ["spec", "nodeSelector", actions.HOSTNAME], "value": value}
    return actions.pod_edit(here, "pinNode", message, step)
