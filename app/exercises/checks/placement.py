"""`placement`: on which nodes pods are. A node that was tied for best with a wanted one is accepted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from app.apimachinery import labels, meta
from app.apimachinery.messages import N_, Message
from app.apimachinery.meta import Object
from app.exercises import landing
from app.exercises.base import ObjectName, PodReference, Strict
from app.exercises.checking import Context, Fault, Finding

Nodes = Annotated[list[ObjectName], Field(min_length=1, max_length=20)]
Selector = Annotated[str, Field(min_length=1, max_length=300)]


class Spec(Strict):
    """Which pods (one by name, or all that a selector chooses) and where they must be, or must not be."""

    pod: PodReference | None = None
    selector: Selector | None = None
    namespace: ObjectName = "default"
    """Where the selector looks."""
    count: Annotated[int, Field(ge=1, le=100)] | None = None
    """How many pods the selector must choose, all of them placed."""
    onNodes: Nodes | None = None  # noqa: N815 (the file's own spelling)
    onNodesWith: Selector | None = None  # noqa: N815 (the file's own spelling)
    notOnNodes: Nodes | None = None  # noqa: N815 (the file's own spelling)


def run(spec: Spec, context: Context) -> Finding:
    """Look where the pods are."""
    cluster = context.cluster
    if spec.pod is not None:
        pod = landing.find(cluster, spec.pod)
        where = landing.place(spec.pod.namespace, spec.pod.name)
        if pod is None:
            return Finding(passed=False, looked_for=_looked_for(spec), found=landing.no_such_pod(spec.pod), where=where)
        pods = [pod]
    else:
        pods = landing.selected(cluster, spec.selector or "", spec.namespace)
        facts = {"selector": spec.selector, "namespace": spec.namespace}
        where = Message(N_("pods {selector} in namespace {namespace}"), facts)
    allowed = _allowed(spec, context)
    wrong = [pod for pod in pods if not _is_right(context, pod, allowed)]
    enough = len(pods) == spec.count if spec.count else bool(pods)
    return Finding(enough and not wrong, _looked_for(spec), _found(spec, pods, wrong), where)


def _allowed(spec: Spec, context: Context) -> set[str]:
    """The nodes on which a pod may be."""
    nodes = context.cluster.client.list("nodes")
    allowed = {meta.name_of(node) for node in nodes}
    if spec.onNodes:
        allowed &= set(spec.onNodes)
    if spec.onNodesWith:
        wanted = labels.parse_selector(spec.onNodesWith)
        allowed &= {meta.name_of(node) for node in nodes if wanted.matches(meta.labels_of(node))}
    return allowed - set(spec.notOnNodes or ())


def _is_right(context: Context, pod: Object, allowed: set[str]) -> bool:
    return bool(landing.candidates(context.cluster, pod) & allowed)


def _looked_for(spec: Spec) -> Message:
    facts = {
        "who": spec.pod.name if spec.pod else spec.selector,
        "nodes": landing.words(spec.onNodes or ()),
        "labels": spec.onNodesWith,
        "others": landing.words(spec.notOnNodes or ()),
        "count": spec.count,
    }
    if spec.onNodes:
        text = N_("{count} pods {who} on {nodes}") if spec.count else N_("{who} on {nodes}")
    elif spec.onNodesWith:
        text = N_("{count} pods {who} on nodes with {labels}") if spec.count else N_("{who} on a node with {labels}")
    else:
        text = N_("{count} pods {who}, none on {others}") if spec.count else N_("{who} on another node than {others}")
    return Message(text, facts)


def _found(spec: Spec, pods: list[Object], wrong: list[Object]) -> Message:
    if wrong:
        return landing.all_words(landing.whereabouts(pod) for pod in wrong)
    if spec.count and len(pods) != spec.count:
        return Message(N_("{count} such pods"), {"count": len(pods)})
    if not pods:
        return Message(N_("no such pod"), {})
    return landing.all_words(landing.whereabouts(pod) for pod in pods)


def literals(spec: Spec) -> Iterator[str]:
    """Names of the pod, of nodes, and the selectors' keys and values."""
    if spec.pod:
        yield spec.pod.name
    namespace = spec.pod.namespace if spec.pod else spec.namespace
    if namespace != "default":
        yield namespace
    yield from [*(spec.onNodes or ()), *(spec.notOnNodes or ())]
    for selector in (spec.selector, spec.onNodesWith):
        for term in labels.parse_selector(selector or "").requirements:
            yield term.key
            yield from term.values
    if spec.count and spec.count > 1:
        yield str(spec.count)


def faults(spec: Spec) -> Iterator[Fault]:
    """Both or neither of pod and selector, no condition at all, a selector that cannot be read."""
    if (spec.pod is None) == (spec.selector is None):
        advice = Message(N_("Write either “pod” with a name, or “selector” with labels such as app=web."), {})
        yield Fault("", Message(N_("It is not clear which pods are meant."), {}), advice)
    if not (spec.onNodes or spec.onNodesWith or spec.notOnNodes):
        advice = Message(N_("Write “onNodes”, “onNodesWith” or “notOnNodes”."), {})
        yield Fault("", Message(N_("It is not said where the pods must be."), {}), advice)
    if spec.count is not None and spec.selector is None:
        yield Fault("count", Message(N_("“count” goes with “selector” only."), {}))
    for path, selector in (("selector", spec.selector), ("onNodesWith", spec.onNodesWith)):
        try:
            labels.parse_selector(selector or "")
        except labels.SelectorError as error:
            yield Fault(path, Message(N_("This selector is wrong: {problem}"), {"problem": str(error)}))
