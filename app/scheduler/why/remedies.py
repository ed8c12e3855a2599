"""What would take a fact out of the way: alternatives, each a few edits of the pod, the node or other pods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from app.apimachinery.messages import N_, Message
from app.scheduler.why import actions, node_facts, pod_remedies, resource_remedies
from app.scheduler.why.model import Alternative, Blocker, Edit, Fact, Situation

_CORDON = "node.kubernetes.io/unschedulable"
_AFFINITY = ("spec", "affinity", "nodeAffinity")


def blockers(here: Situation, facts: Sequence[Fact]) -> list[Blocker]:
    """One plugin's facts about a node as blockers: each must go, and any of its alternatives removes it."""
    terms = [fact for fact in facts if fact.data["kind"] in {"expression", "emptyTerm", "noTerm"}]
    by_source = [[fact for fact in terms if fact.data["source"] == source] for source in ("profile", "pod")]
    found = [Blocker("NodeAffinity", tuple(_terms(here, group))) for group in by_source if group]
    for fact in facts:
        if fact not in terms:
            remedy = _REMEDIES.get(str(fact.data["kind"]))
            found.append(Blocker(fact.plugin, tuple(remedy(here, fact)) if remedy else ()))
    return found


def toleration(here: Situation, taint: Mapping[str, Any]) -> Edit:
    """The toleration that covers exactly this taint."""
    value: dict[str, Any] = {"key": taint["key"]}
    if taint.get("value"):
        value |= {"operator": "Equal", "value": taint["value"]}
    else:
        value["operator"] = "Exists"
    value["effect"] = taint["effect"]
    message = Message(
        N_("Give the pod a toleration for {taint}."),
        {"taint": node_facts.taint_text(taint)},
    )
    step = {"op": "append", "path": ["spec", "tolerations"], "value": value}
    return actions.pod_edit(here, "addToleration", message, step)


def untaint(here: Situation, taint: Mapping[str, Any]) -> Edit:
    """Take the taint off the node."""
    message = Message(
        N_("Take the taint {taint} off {node}."),
        {"taint": node_facts.taint_text(taint), "node": here.node.name},
    )
    same = [item for item in here.node.taints if all((item.get(name) or "") == taint[name] for name in _TAINT)]
    steps = tuple({"op": "drop", "path": ["spec", "taints"], "value": item} for item in same)
    return actions.node_edit(here.node.name, "removeTaint", message, *steps)


_TAINT = ("key", "value", "effect")


def _cordoned(here: Situation, _fact: Fact) -> Iterator[Alternative]:
    yield (toleration(here, {"key": _CORDON, "effect": "NoSchedule"}),)
    yield (_uncordon(here),)


def _uncordon(here: Situation) -> Edit:
    """As kubectl does it, with the taint that then goes by itself."""
    steps: list[Mapping[str, Any]] = [{"op": "unset", "path": ["spec", "unschedulable"]}]
    born = [taint for taint in here.node.taints if taint.get("key") == _CORDON]
    steps += [{"op": "drop", "path": ["spec", "taints"], "value": taint} for taint in born]
    message = Message(N_("Uncordon {node}."), {"node": here.node.name})
    return actions.node_edit(here.node.name, "uncordon", message, *steps)


def _taint(here: Situation, fact: Fact) -> Iterator[Alternative]:
    yield (toleration(here, fact.data),)
    if fact.data["key"] == _CORDON and here.node.unschedulable:
        yield (_uncordon(here),)
    else:
        yield (untaint(here, fact.data),)


def _node_name(here: Situation, _fact: Fact) -> Iterator[Alternative]:
    message = Message(N_("Take spec.nodeName out of the pod."))
    step = {"op": "unset", "path": ["spec", "nodeName"]}
    yield (actions.pod_edit(here, "removeNodeName", message, step),)


def _selector(here: Situation, fact: Fact) -> Iterator[Alternative]:
    key, wanted, value = fact.data["key"], fact.data["wanted"], fact.data["value"]
    path = ["spec", "nodeSelector", key]
    if value is None:
        message = Message(N_("Take {key} out of the pod's nodeSelector."), {"key": key})
        step: dict[str, Any] = {"op": "unset", "path": path}
    else:
        message = Message(N_("Set {key}: {value} in the pod's nodeSelector."), {"key": key, "value": value})
        step = {"op": "set", "path": path, "value": value}
    yield (actions.pod_edit(here, "changeNodeSelector", message, step),)
    if actions.can_label(here.node.labels, key):
        yield (actions.label_node(here.node.name, key, wanted),)


def _terms(here: Situation, facts: Sequence[Fact]) -> Iterator[Alternative]:
    """Satisfy one of the terms, whichever; or lift the requirement."""
    by_term: dict[int, list[Fact]] = {}
    for fact in facts:
        if fact.data["kind"] == "expression":
            by_term.setdefault(fact.data["term"], []).append(fact)
    if facts[0].data["source"] == "pod":
        for index, failing in sorted(by_term.items(), key=lambda item: len(item[1])):
            if edits := _drop_expressions(here, index, failing):
                yield edits
        message = Message(N_("Take the required node affinity out of the pod."))
        step = {"op": "unset", "path": [*_AFFINITY, node_facts.REQUIRED]}
        yield (actions.pod_edit(here, "removeNodeAffinity", message, step),)
    for failing in sorted(by_term.values(), key=len):
        if edits := _label_for(here, failing):
            yield edits


def _drop_expressions(here: Situation, index: int, failing: Iterable[Fact]) -> Alternative:
    """Expressions out of a term that keeps others; an empty term would match no node."""
    required = here.pod.spec["affinity"]["nodeAffinity"][node_facts.REQUIRED]
    term = required["nodeSelectorTerms"][index]
    listed = list(failing)
    if len(term.get("matchExpressions") or ()) + len(term.get("matchFields") or ()) <= len(listed):
        return ()
    edits = []
    for fact in listed:
        expression, field = fact.data["expression"], fact.data["field"]
        message = Message(
            N_("Take “{expression}” out of the pod's node affinity term {number}."),
            {"expression": node_facts.expression_text(expression), "number": index + 1},
        )
        path = [*_AFFINITY, node_facts.REQUIRED, "nodeSelectorTerms", index, field]
        step = {"op": "drop", "path": path, "value": expression}
        edits.append(actions.pod_edit(here, "dropExpression", message, step))
    return tuple(edits)


def _label_for(here: Situation, failing: Iterable[Fact]) -> Alternative:
    """Labels with which every failing expression holds; nothing where labels cannot do it."""
    edits = []
    for fact in failing:
        edit = label_for(here, fact.data["expression"]) if fact.data["field"] == "matchExpressions" else None
        if edit is None:
            return ()
        edits.append(edit)
    return tuple(edits)


def label_for(here: Situation, expression: Mapping[str, Any]) -> Edit | None:
    """The label with which the expression holds on the node, or None where it would be a guess."""
    node, key, values = here.node.name, str(expression.get("key")), list(expression.get("values") or ())
    if not actions.can_label(here.node.labels, key):
        return None
    match expression.get("operator"):
        case "In" if values:
            return actions.label_node(node, key, str(values[0]))
        case "Exists":
            return actions.label_node(node, key, "true")
        case "NotIn" | "DoesNotExist":
            return actions.unlabel_node(node, key)
        case "Gt" | "Lt" as operator if len(values) == 1 and str(values[0]).lstrip("+-").isdecimal():
            return actions.label_node(node, key, str(int(values[0]) + (1 if operator == "Gt" else -1)))
    return None


def _host_port(here: Situation, fact: Fact) -> Iterator[Alternative]:
    steps = list(_port_steps(here, fact.data["port"], fact.data["protocol"]))
    if steps and not here.pod.spec.get("hostNetwork"):
        message = Message(N_("Do without host port {port} in the pod."), {"port": fact.data["port"]})
        yield (actions.pod_edit(here, "removeHostPort", message, *steps),)
    yield from actions.removal(here, fact.data["pods"])


def _port_steps(here: Situation, number: int, protocol: str) -> Iterator[Mapping[str, Any]]:
    for field in ("containers", "initContainers"):
        for index, container in enumerate(here.pod.spec.get(field) or ()):
            for place, port in enumerate(container.get("ports") or ()):
                if port.get("hostPort") == number and (port.get("protocol") or "TCP") == protocol:
                    yield {"op": "unset", "path": ["spec", field, index, "ports", place, "hostPort"]}


_REMEDIES: Mapping[str, Callable[[Situation, Fact], Iterator[Alternative]]] = {
    "cordoned": _cordoned,
    "nodeName": _node_name,
    "taint": _taint,
    "nodeSelector": _selector,
    "hostPort": _host_port,
    "pods": resource_remedies.too_many_pods,
    "resource": resource_remedies.too_little,
    "affinity": pod_remedies.affinity,
    "antiAffinity": pod_remedies.anti_affinity,
    "existingAntiAffinity": pod_remedies.existing_anti_affinity,
    "noDomain": pod_remedies.no_domain,
    "skew": pod_remedies.skew,
    "inUse": lambda here, fact: actions.removal(here, fact.data["pods"]),
}
