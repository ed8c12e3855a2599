"""What takes reasons about other pods out of the way: looser terms, labels, fewer pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.apimachinery import meta
from app.apimachinery.messages import N_, Message
from app.scheduler.framework.affinity_terms import AffinityTerm
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.why import actions, pod_facts, spread_facts
from app.scheduler.why.model import Alternative, Edit, Fact, Situation
from app.scheduler.why.node_facts import REQUIRED

_HARD, _SOFT = "DoNotSchedule", "ScheduleAnyway"


def affinity(here: Situation, fact: Fact) -> Iterator[Alternative]:
    """Do without the term; or bring the node, or a pod, to where the term looks."""
    message = Message(N_("Take pod affinity term {number} out of the pod."), {"number": fact.data["term"] + 1})
    yield (_drop_term(here, "podAffinity", fact, message),)
    key, value, elsewhere = fact.data["topologyKey"], fact.data["value"], fact.data["elsewhere"]
    if value is None:
        for domain in elsewhere[:1]:
            yield (actions.label_node(here.node.name, key, domain),)
        return
    edit = _label_a_pod(here, key, value)
    if edit is not None:
        yield (edit,)


def _drop_term(here: Situation, kind: str, fact: Fact, message: Message) -> Edit:
    term = here.pod.spec["affinity"][kind][REQUIRED][fact.data["term"]]
    step = {"op": "drop", "path": ["spec", "affinity", kind, REQUIRED], "value": term}
    return actions.pod_edit(here, f"drop{kind[0].upper()}{kind[1:]}Term", message, step)


def _label_a_pod(here: Situation, key: str, value: str) -> Edit | None:
    """A pod in the domain that all terms mean once it has some labels; the one that changes least."""
    found: list[tuple[int, int, str, dict[str, str]]] = []
    terms = here.pod.required_affinity
    wanted = _labels(terms)
    if not wanted:
        return None
    for node in here.nodes():
        if node.labels.get(key) != value:
            continue
        for other in node.pods:
            missing = {name: text for name, text in wanted.items() if other.labels.get(name) != text}
            candidate = PodInfo(_labelled(other, missing))
            if all(pod_facts.means(term, candidate, here.state.snapshot) for term in terms):
                replaced = sum(name in other.labels for name in missing)
                found.append((replaced, len(missing), other.key, missing))
    if not found:
        return None
    _, _, name, missing = min(found, key=lambda item: item[:3])
    return actions.label_pod(name, missing) if missing else None


def _labels(terms: tuple[AffinityTerm, ...]) -> dict[str, str]:
    """The labels that selectors ask for; a list of values is answered with its first."""
    found: dict[str, str] = {}
    for term in terms:
        for requirement in term.selector.requirements:
            if requirement.operator == "In" and requirement.values:
                found.setdefault(requirement.key, min(requirement.values))
            elif requirement.operator == "Exists":
                found.setdefault(requirement.key, "true")
    return found


def _labelled(pod: PodInfo, more: Mapping[str, str]) -> dict[str, Any]:
    metadata = {**pod.metadata, "labels": {**pod.labels, **more}}
    return {**pod.pod, "metadata": metadata}


def anti_affinity(here: Situation, fact: Fact) -> Iterator[Alternative]:
    """Do without the term, or without the pods that it shuns."""
    message = Message(N_("Take pod anti-affinity term {number} out of the pod."), {"number": fact.data["term"] + 1})
    yield (_drop_term(here, "podAntiAffinity", fact, message),)
    yield from actions.removal(here, fact.data["pods"])


def existing_anti_affinity(here: Situation, fact: Fact) -> Iterator[Alternative]:
    """A label less, so that the term means this pod no longer; or the other pod goes."""
    for key in fact.data["selector"]:
        if key in here.pod.labels:
            message = Message(N_("Take the label {key} off this pod."), {"key": key})
            step = {"op": "unset", "path": ["metadata", "labels", key]}
            yield (actions.pod_edit(here, "unlabelPod", message, step),)
            break
    yield from actions.removal(here, [fact.data["pod"]])


def no_domain(here: Situation, fact: Fact) -> Iterator[Alternative]:
    """Relax the constraint, or put the node into a domain."""
    yield from _relaxed(here, fact)
    key = fact.data["topologyKey"]
    counts = fact.data["counts"]
    value = min(counts, key=lambda name: (counts[name], name), default=here.node.name)
    yield (actions.label_node(here.node.name, key, here.node.name if key == actions.HOSTNAME else value),)


def skew(here: Situation, fact: Fact) -> Iterator[Alternative]:
    """Relax the constraint, allow the skew, or remove pods from the full domain."""
    yield from _relaxed(here, fact)
    raw = _constraint(here, fact)
    if raw is not None:
        facts = {"key": fact.data["topologyKey"], "skew": fact.data["skew"]}
        message = Message(N_("Raise maxSkew of the spread constraint over {key} to {skew}."), facts)
        yield (_replace(here, "raiseMaxSkew", message, raw, {**raw, "maxSkew": fact.data["skew"]}),)
    surplus = fact.data["skew"] - fact.data["maxSkew"]
    inside = set(fact.data["pods"])
    pods = [pod for node in here.nodes() for pod in node.pods if pod.key in inside and actions.removable(pod)]
    pods.sort(key=lambda pod: (pod.priority, pod.key))
    if surplus <= len(pods):
        yield from actions.removal(here, [pod.key for pod in pods[:surplus]])


def _constraint(here: Situation, fact: Fact) -> dict[str, Any] | None:
    """The pod's own constraint as it is written; None where the profile's defaults are in force."""
    own, _ = spread_facts.constraints(here)
    if not own:
        return None
    hard = [item for item in here.pod.spec["topologySpreadConstraints"] if item.get("whenUnsatisfiable") == _HARD]
    found: dict[str, Any] = hard[fact.data["constraint"]]
    return found


def _relaxed(here: Situation, fact: Fact) -> Iterator[Alternative]:
    raw = _constraint(here, fact)
    if raw is None:
        return
    key = raw.get("topologyKey")
    twins = [
        item
        for item in here.pod.spec["topologySpreadConstraints"]
        if item.get("topologyKey") == key and item.get("whenUnsatisfiable") == _SOFT
    ]
    if twins:
        message = Message(N_("Take the hard spread constraint over {key} out of the pod."), {"key": key})
        path = ["spec", "topologySpreadConstraints"]
        yield (actions.pod_edit(here, "dropSpread", message, {"op": "drop", "path": path, "value": raw}),)
        return
    message = Message(N_("Set whenUnsatisfiable: ScheduleAnyway in the spread constraint over {key}."), {"key": key})
    changed = {**raw, "whenUnsatisfiable": _SOFT}
    changed.pop("minDomains", None)
    yield (_replace(here, "relaxSpread", message, raw, changed),)


def _replace(here: Situation, kind: str, message: Message, raw: Mapping[str, Any], new: Mapping[str, Any]) -> Edit:
    path = ["spec", "topologySpreadConstraints"]
    drop, append = {"op": "drop", "path": path, "value": raw}, {"op": "append", "path": path, "value": new}
    return actions.pod_edit(here, kind, message, drop, append)


def drop_soft(here: Situation) -> Iterator[Edit]:
    """The pod's soft rules about other pods, one by one."""
    preferred = "preferredDuringSchedulingIgnoredDuringExecution"
    for kind in ("podAffinity", "podAntiAffinity"):
        listed = ((here.pod.spec.get("affinity") or {}).get(kind) or {}).get(preferred) or ()
        for index, term in enumerate(listed):
            facts = {"number": index + 1}
            message = (
                Message(N_("Take preferred pod affinity term {number} out of the pod."), facts)
                if kind == "podAffinity"
                else Message(N_("Take preferred pod anti-affinity term {number} out of the pod."), facts)
            )
            step = {"op": "drop", "path": ["spec", "affinity", kind, preferred], "value": meta.copied(term)}
            yield actions.pod_edit(here, "dropPreferredTerm", message, step)
    for item in here.pod.spec.get("topologySpreadConstraints") or ():
        if item.get("whenUnsatisfiable") == _SOFT:
            key = item.get("topologyKey")
            message = Message(N_("Take the soft spread constraint over {key} out of the pod."), {"key": key})
            step = {"op": "drop", "path": ["spec", "topologySpreadConstraints"], "value": item}
            yield actions.pod_edit(here, "dropSpread", message, step)
