"""From what was read to a cluster as an API server would hold it, and the pods that are to be scheduled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.apis import decode, scheme
from app.cli.simulation.progress import Bar
from app.cli.simulation.reading import BadInput, Item
from app.cluster.apiserver.validation import node as node_rules
from app.cluster.apiserver.validation import pod as pod_rules
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.replay.admission import SYSTEM_PRIORITIES, admitted
from app.scheduler.snapshot import KINDS

_PRIORITY_CLASS = "PriorityClass"
_NEEDED = KINDS | {_PRIORITY_CLASS}
_SHOWN_FIELDS = 5

Key = tuple[str, str]
"""(kind, `namespace/name` or name)."""


@dataclass
class Inventory:
    """The objects by key, in the order of the files; the pods to schedule, oldest first; remarks for the reader."""

    objects: dict[Key, Object] = field(default_factory=dict)
    wanted: list[Key] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def inventory(cluster: Sequence[Item], given: Sequence[Item] | None = None) -> Inventory:
    """What the files hold, with defaults, priorities and uids.

    `given` are the objects beside the pods that are to be scheduled instead of all that is pending.

    Raises:
        BadInput: an object is not what the API server would take, or `given` holds no pod.
    """
    return _Admission().run(cluster, given)


class _Admission:
    """Takes one object after the other."""

    def __init__(self) -> None:
        self._found = Inventory()
        self._unknown: Counter[str] = Counter()
        self._classes: list[Object] = []

    def run(self, cluster: Sequence[Item], given: Sequence[Item] | None) -> Inventory:
        everything = [item for item in (*cluster, *(given or ())) if self._is_needed(item)]
        self._classes = [self._decoded(item) for item in everything if item.obj["kind"] == _PRIORITY_CLASS]
        placed_anew = {id(item) for item in given or ()}
        bar = Bar("checking objects")
        for number, item in enumerate(everything):
            if item.obj["kind"] != _PRIORITY_CLASS:
                self._take(item, anew=id(item) in placed_anew)
            bar(number / len(everything))
        bar.clear()
        self._note_unknown_fields()
        self._found.wanted = self._to_schedule(given)
        return self._found

    def _is_needed(self, item: Item) -> bool:
        """Whether the engine asks about the kind; a version of it that nobody serves is worth a remark."""
        kind, version = str(item.obj["kind"]), str(item.obj["apiVersion"])
        if kind not in _NEEDED:
            return False
        try:
            scheme.for_kind(version, kind)
        except scheme.NoKindMatchError:
            self._found.notes.append(f"{kind} of {version} is left out: this version is not known")
            return False
        return True

    def _decoded(self, item: Item) -> Object:
        """The object without what is unknown or of no interest; BadInput where a value has the wrong type."""
        obj = item.obj
        metadata = obj.get("metadata")
        if isinstance(metadata, dict) and "managedFields" in metadata:
            metadata = {key: value for key, value in metadata.items() if key != "managedFields"}
            obj = {**obj, "metadata": metadata}
        for problem in decode.problems(obj):
            if problem.kind != "unknown":
                raise item.error(f"{problem.path}: {problem.text}", problem.path)
            self._unknown[f"{obj['kind']} {problem.path}"] += 1
        if not isinstance(metadata, dict) or not metadata.get("name"):
            raise item.error("metadata.name is missing", "metadata")
        return decode.normalised(obj)

    def _take(self, item: Item, *, anew: bool) -> None:
        obj = self._decoded(item)
        if obj["kind"] == "Pod":
            obj = self._unplaced(obj) if anew else obj
            self._check_class(item, obj)
            if not (obj.get("spec") or {}).get("containers"):
                raise item.error("spec.containers: Required value", "spec")
        try:
            obj = admitted(obj, self._classes)
            problems = self._problems(obj)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise item.error(f"this cannot be read: {error}") from error
        if problems:
            raise item.error(problems[0], str(problems[0]).partition(":")[0])
        key = (str(obj["kind"]), meta.key_of(obj))
        if key in self._found.objects and not anew:
            self._found.notes.append(f"{key[0]} {key[1]} is there twice: the last one counts")
        self._found.objects.pop(key, None)
        self._found.objects[key] = obj

    def _unplaced(self, pod: Object) -> Object:
        """A given pod is placed from the beginning, whatever became of it where it was written down."""
        name = str((pod.get("spec") or {}).get("nodeName") or "")
        if name:
            self._found.notes.append(f"Pod {meta.name_of(pod)} is bound to {name}: it is placed anew here")
        dropped = {"deletionTimestamp", "deletionGracePeriodSeconds"}
        metadata = {key: value for key, value in pod["metadata"].items() if key not in dropped}
        spec = {key: value for key, value in (pod.get("spec") or {}).items() if key != "nodeName"}
        nominated = str((pod.get("status") or {}).get("nominatedNodeName") or "")
        status = {"nominatedNodeName": nominated} if nominated and not name else {}
        return {**pod, "metadata": metadata, "spec": spec, "status": status}

    def _check_class(self, item: Item, pod: Object) -> None:
        spec = pod.get("spec") or {}
        name = spec.get("priorityClassName")
        if not name or "priority" in spec or name in SYSTEM_PRIORITIES:
            return
        if not any(meta.name_of(known) == name for known in self._classes):
            self._found.notes.append(
                f"Pod {meta.name_of(pod)} ({item.source}): there is no PriorityClass {name} here, so its priority is 0"
            )

    @staticmethod
    def _problems(obj: Object) -> list[object]:
        """What the API server would refuse. Bound pods have passed it; they need only be readable."""
        if obj["kind"] == "Node":
            return list(node_rules.validate(obj))
        if obj["kind"] != "Pod":
            return []
        info = PodInfo.of(obj)
        if not info.node_name:
            return list(pod_rules.validate(obj))
        _ = info.requests, info.non_zero, info.host_ports, info.required_affinity, info.required_anti_affinity
        _ = info.preferred_affinity, info.preferred_anti_affinity
        return []

    def _note_unknown_fields(self) -> None:
        if not self._unknown:
            return
        total = sum(self._unknown.values())
        names = list(self._unknown)
        more = f", and {len(names) - _SHOWN_FIELDS} more" if len(names) > _SHOWN_FIELDS else ""
        word = "field is" if total == 1 else "fields are"
        self._found.notes.append(f"{total} unknown {word} ignored: {', '.join(names[:_SHOWN_FIELDS])}{more}")

    def _to_schedule(self, given: Sequence[Item] | None) -> list[Key]:
        objects = self._found.objects
        if given is None:
            return _oldest_first(pod for (kind, _), pod in objects.items() if kind == "Pod" and _is_pending(pod))
        pods = [item.obj for item in given if item.obj["kind"] == "Pod"]
        if not pods:
            raise BadInput(f"{given[0].source if given else 'the file of --pod'}: there is no Pod in it")
        return _oldest_first(objects["Pod", meta.key_of(pod)] for pod in map(_in_namespace, pods))


def _in_namespace(pod: Object) -> Object:
    return {**pod, "metadata": {"namespace": "default", **pod["metadata"]}}


def _is_pending(pod: Object) -> bool:
    info = PodInfo.of(pod)
    return not info.node_name and not info.ended


def _oldest_first(pods: Iterable[Object]) -> list[Key]:
    """By creation, as a scheduler that just started would find them; then as they stand in the files."""
    ordered = sorted(pods, key=lambda pod: str(pod["metadata"].get("creationTimestamp") or "~"))
    return list(dict.fromkeys(("Pod", meta.key_of(pod)) for pod in ordered))
