"""Facts about the node itself: cordoned, another one named, taints, labels, host ports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.apimachinery.labels import Requirement
from app.apimachinery.messages import N_, Message
from app.apis import helpers
from app.scheduler.framework.host_ports import HostPort, HostPortInfo
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.framework.runtime import Framework
from app.scheduler.why.model import Fact, Situation, shown

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
COMPARISON_GATE = "TaintTolerationComparisonOperators"
_HARD = ("NoSchedule", "NoExecute")


def unschedulable(here: Situation) -> list[Fact]:
    """pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go: Filter."""
    message = Message(N_("{node} is cordoned (spec.unschedulable: true)."), {"node": here.node.name})
    return [Fact("NodeUnschedulable", here.node.name, message, {"kind": "cordoned"})]


def node_name(here: Situation) -> list[Fact]:
    """pkg/scheduler/framework/plugins/nodename/node_name.go: Fits."""
    named = here.pod.node_name
    message = Message(
        N_("The pod names the node {wanted} (spec.nodeName), and this is {node}."),
        {"wanted": named, "node": here.node.name},
    )
    return [Fact("NodeName", here.node.name, message, {"kind": "nodeName", "wanted": named})]


def compares(framework: Framework) -> bool:
    """Whether the profile's TaintToleration knows the operators Lt and Gt."""
    return any(
        plugin.NAME == "TaintToleration" and COMPARISON_GATE in plugin.gates for plugin in framework.at("filter")
    )


def taint_text(taint: Mapping[str, Any]) -> str:
    """`key=value:effect`, as kubectl writes a taint."""
    value = taint.get("value")
    return f"{taint.get('key')}{f'={value}' if value else ''}:{taint.get('effect')}"


def taints(here: Situation) -> list[Fact]:
    """Every hard taint that nothing tolerates (plugins/tainttoleration/taint_toleration.go: Filter)."""
    compare = compares(here.framework)
    found = []
    for taint in here.node.taints:
        if helpers.find_untolerated_taint([taint], here.pod.tolerations, _HARD, compare=compare) is None:
            continue
        message = Message(
            N_("No toleration of the pod covers the taint {taint} of {node}."),
            {"taint": taint_text(taint), "node": here.node.name},
        )
        data = {"kind": "taint", **{name: taint.get(name) or "" for name in ("key", "value", "effect")}}
        found.append(Fact("TaintToleration", here.node.name, message, data))
    return found


def node_affinity(here: Situation) -> list[Fact]:
    """Selector entries and expressions that fail (plugins/nodeaffinity/node_affinity.go: Filter)."""
    found = list(_selector_facts(here))
    for source, required in _required(here):
        if not helpers.node_selector_matches(required, here.node.node):
            found.extend(_term_facts(here, source, required))
    return found


def _selector_facts(here: Situation) -> Iterator[Fact]:
    for key, wanted in (here.pod.spec.get("nodeSelector") or {}).items():
        value = here.node.labels.get(key)
        if value == wanted:
            continue
        facts = {"node": here.node.name, "key": key, "value": value, "wanted": wanted}
        message = (
            Message(N_("nodeSelector wants {key}={wanted}, and {node} has no label {key}."), facts)
            if value is None
            else Message(N_("nodeSelector wants {key}={wanted}, and {node} has {key}={value}."), facts)
        )
        data = {"kind": "nodeSelector", "key": key, "wanted": wanted, "value": value}
        yield Fact("NodeAffinity", here.node.name, message, data)


def _required(here: Situation) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(whose, node selector): what the profile adds to every pod, and what the pod requires."""
    for plugin in here.framework.at("filter"):
        if plugin.NAME == "NodeAffinity":
            added = (plugin.args.get("addedAffinity") or {}).get(REQUIRED)
            if added:
                yield "profile", added
    own = ((here.pod.spec.get("affinity") or {}).get("nodeAffinity") or {}).get(REQUIRED)
    if own is not None:
        yield "pod", own


def _term_facts(here: Situation, source: str, required: Mapping[str, Any]) -> Iterator[Fact]:
    name = here.node.name
    for index, term in enumerate(required.get("nodeSelectorTerms") or ()):
        failing = list(failing_expressions(term, here))
        if not failing:
            message = Message(N_("Node affinity term {number} is empty and matches no node."), {"number": index + 1})
            data: dict[str, Any] = {"kind": "emptyTerm", "source": source, "term": index}
            yield Fact("NodeAffinity", name, message, data)
        for field, expression, value in failing:
            facts = {"number": index + 1, "expression": expression_text(expression), "node": name, "value": value}
            message = (
                Message(N_("Node affinity term {number} wants “{expression}”, and {node} has no such label."), facts)
                if value is None
                else Message(N_("Node affinity term {number} wants “{expression}”, and {node} has “{value}”."), facts)
            )
            data = {"kind": "expression", "source": source, "term": index, "field": field, "value": value}
            yield Fact("NodeAffinity", name, message, {**data, "expression": expression})
    if not required.get("nodeSelectorTerms"):
        message = Message(N_("The required node affinity has no term and matches no node."))
        yield Fact("NodeAffinity", name, message, {"kind": "noTerm", "source": source})


def failing_expressions(
    term: Mapping[str, Any], here: Situation
) -> Iterator[tuple[str, Mapping[str, Any], str | None]]:
    """(matchExpressions or matchFields, expression, the node's value) for each that fails on the node."""
    values = {"matchExpressions": here.node.labels, "matchFields": {"metadata.name": here.node.name}}
    for field, own in values.items():
        for expression in term.get(field) or ():
            if not _requirement(expression).matches(own):
                yield field, expression, own.get(str(expression.get("key")))


def _requirement(expression: Mapping[str, Any]) -> Requirement:
    return Requirement(
        str(expression.get("key", "")), str(expression.get("operator", "")), tuple(expression.get("values") or ())
    )


def expression_text(expression: Mapping[str, Any]) -> str:
    """`key Operator [values]`."""
    values = ", ".join(str(value) for value in expression.get("values") or ())
    return f"{expression.get('key')} {expression.get('operator')}{f' [{values}]' if values else ''}"


def ports(here: Situation) -> list[Fact]:
    """Each wanted host port that is taken, and by whom (plugins/nodeports/node_ports.go: Fits)."""
    found = []
    for port in here.pod.host_ports:
        holders = [pod.key for pod in here.node.pods if _clashes(pod, port)]
        if not holders:
            continue
        address, protocol, number = port
        message = Message(
            N_("Host port {port}/{protocol} of {node} is taken by {pods}."),
            {"port": number, "protocol": protocol, "node": here.node.name, "pods": shown(holders)},
        )
        data = {"kind": "hostPort", "ip": address, "protocol": protocol, "port": number, "pods": holders}
        found.append(Fact("NodePorts", here.node.name, message, data))
    return found


def _clashes(pod: PodInfo, port: HostPort) -> bool:
    taken = HostPortInfo()
    taken.add(pod.host_ports)
    return taken.conflicts(port)
