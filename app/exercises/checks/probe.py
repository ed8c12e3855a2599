"""`probe`: a pod that the check tries in a copy of the learner's cluster, and where it must or must not land.

The pod is an ordinary one, one by a manifest, or one like those of an object that the learner made. `given` changes
the copy first: a probe can ask what would happen if a node were cordoned or another label set.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from app.apimachinery import manifests, meta
from app.apimachinery.errors import StatusError
from app.apimachinery.manifests import ManifestError
from app.apimachinery.messages import N_, Message
from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from app.exercises import answers, landing, reading
from app.exercises.base import Manifests, ObjectName, Strict
from app.exercises.checking import Context, Fault, Finding, NotGraded

_NAME = "probe"
_PLAIN: Object = {"containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10"}]}

Nodes = Annotated[list[ObjectName], Field(min_length=1, max_length=20)]
TemplateKind = Literal["Pod", "Deployment", "ReplicaSet", "DaemonSet"]


class Like(Strict):
    """An object of the learner's whose pods are imitated."""

    kind: TemplateKind
    name: ObjectName
    namespace: ObjectName = "default"


class ProbePod(Strict):
    """The pod to try: exactly one of the three."""

    template: Literal["plain"] | None = None
    """`plain`: no requests, no tolerations, no wishes."""
    manifest: Manifests | None = None
    like: Like | None = None


class Spec(Strict):
    """The pod, what is changed in the copy first, and exactly one of the three outcomes."""

    pod: ProbePod
    given: Manifests | None = None
    mustLandOn: Nodes | None = None  # noqa: N815 (the file's own spelling)
    mustNotLandOn: Nodes | None = None  # noqa: N815 (the file's own spelling)
    mustStayPending: bool = False  # noqa: N815 (the file's own spelling)


def run(spec: Spec, context: Context) -> Finding:
    """Try the pod in a copy that is moved on until it is settled."""
    copy = context.cluster.fork()
    where = Message(N_("a trial in a copy of your cluster"), {})
    looked_for = _looked_for(spec)
    pod = _pod(spec.pod, copy)
    if pod is None:
        like = spec.pod.like
        facts = {"kind": like.kind if like else "", "name": like.name if like else ""}
        found = Message(N_("there is no {kind} {name} to try"), facts)
        return Finding(passed=False, looked_for=looked_for, found=found, where=where)
    if spec.given:
        refused = answers.carry_out(copy, spec.given)
        if refused:
            raise NotGraded(f"given: {refused}")
        copy.settle()
    try:
        made = copy.client.create(pod, meta.namespace_of(pod))
    except StatusError as error:
        found = Message(N_("the pod was refused: {reason}"), {"reason": error.message})
        return Finding(passed=False, looked_for=looked_for, found=found, where=where)
    copy.settle()
    landed = copy.client.find("pods", meta.name_of(made), meta.namespace_of(made))
    if landed is None:
        found = Message(N_("the pod was deleted again"), {})
        return Finding(passed=False, looked_for=looked_for, found=found, where=where)
    return Finding(_holds(spec, copy, landed), looked_for, _found(spec, copy, landed), where)


def _holds(spec: Spec, copy: Cluster, pod: Object) -> bool:
    may_be_on = landing.candidates(copy, pod)
    if spec.mustLandOn:
        return bool(may_be_on & set(spec.mustLandOn))
    if spec.mustNotLandOn:
        return not may_be_on & set(spec.mustNotLandOn)
    return not may_be_on and (pod.get("status") or {}).get("phase") == "Pending"


def _found(spec: Spec, copy: Cluster, pod: Object) -> Message:
    tied = landing.candidates(copy, pod) & set(spec.mustNotLandOn or ()) - {landing.node_of(pod)}
    if tied:
        facts = {"where": landing.whereabouts(pod), "others": landing.words(tied)}
        return Message(N_("{where}, and {others} would have been as good"), facts)
    return landing.whereabouts(pod)


def _pod(wanted: ProbePod, cluster: Cluster) -> Object | None:
    """The pod to create; None where there is no object to imitate."""
    if wanted.manifest:
        return _named(_parsed(wanted.manifest))
    if wanted.like:
        found = cluster.client.find(wanted.like.kind, wanted.like.name, wanted.like.namespace)
        if found is None:
            return None
        spec = found["spec"] if wanted.like.kind == "Pod" else found["spec"]["template"]["spec"]
        # Without its labels, or the object's controller would count the trial among its own pods.
        return _made({key: value for key, value in spec.items() if key != "nodeName"}, wanted.like.namespace)
    return _made(_PLAIN, "default")


def _parsed(text: str) -> Object:
    try:
        return manifests.parse(text)[0].object
    except ManifestError as error:
        raise NotGraded(str(error)) from error


def _made(spec: Object, namespace: str) -> Object:
    metadata = {"name": _NAME, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": meta.copied(spec)}


def _named(pod: Object) -> Object:
    metadata = pod.get("metadata") or {}
    return {**pod, "metadata": {"name": _NAME, "namespace": "default", **metadata}}


def _looked_for(spec: Spec) -> Message:
    facts = {"pod": _description(spec.pod)}
    if spec.mustLandOn:
        return Message(N_("{pod} lands on {nodes}"), {**facts, "nodes": landing.words(spec.mustLandOn)})
    if spec.mustNotLandOn:
        return Message(N_("{pod} does not land on {nodes}"), {**facts, "nodes": landing.words(spec.mustNotLandOn)})
    return Message(N_("{pod} finds no node and waits"), facts)


def _description(pod: ProbePod) -> Message:
    if pod.like:
        return Message(N_("a pod like those of {kind} {name}"), {"kind": pod.like.kind, "name": pod.like.name})
    return Message(N_("an ordinary pod"), {}) if pod.template else Message(N_("a pod made for this trial"), {})


def literals(spec: Spec) -> Iterator[str]:
    """Nodes, the object that is imitated, and what makes the pod of a manifest special to the scheduler."""
    yield from [*(spec.mustLandOn or ()), *(spec.mustNotLandOn or ())]
    if spec.pod.like:
        yield spec.pod.like.name
        if spec.pod.like.namespace != "default":
            yield spec.pod.like.namespace
    if spec.pod.manifest:
        yield from _wishes(_parsed(spec.pod.manifest).get("spec") or {})


def _wishes(spec: Object) -> Iterator[str]:
    for key in ("schedulerName", "priorityClassName"):
        if spec.get(key) and spec[key] != "default-scheduler":
            yield str(spec[key])
    for key, value in (spec.get("nodeSelector") or {}).items():
        # A host name only sends the trial to a node; the node's name stands in the task, the key need not.
        yield from (str(value),) if key == "kubernetes.io/hostname" else (key, str(value))
    for toleration in spec.get("tolerations") or []:
        yield from (str(toleration[key]) for key in ("key", "value", "effect") if toleration.get(key))


def faults(spec: Spec) -> Iterator[Fault]:
    """Not exactly one pod or outcome, and manifests that cannot be read."""
    if sum(choice is not None for choice in (spec.pod.template, spec.pod.manifest, spec.pod.like)) != 1:
        advice = Message(N_("Write one of “template: plain”, “manifest” or “like”."), {})
        yield Fault("pod", Message(N_("It is not clear which pod is to be tried."), {}), advice)
    if sum(map(bool, (spec.mustLandOn, spec.mustNotLandOn, spec.mustStayPending))) != 1:
        advice = Message(N_("Write one of “mustLandOn”, “mustNotLandOn” or “mustStayPending: true”."), {})
        yield Fault("", Message(N_("It is not clear what the trial must show."), {}), advice)
    for path, text in (("pod.manifest", spec.pod.manifest), ("given", spec.given)):
        if text:
            yield from reading.faults(path, text)
    if spec.pod.manifest and reading.kinds(spec.pod.manifest) not in ([], ["Pod"]):
        yield Fault("pod.manifest", Message(N_("This must be the manifest of one Pod."), {}))
