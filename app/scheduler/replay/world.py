"""The world of a vector: objects, a queue, bindings, victims that leave, events.

Rules are those of the vectors' description: one process at a time, a binding's event reaches the queue while the next
pod is being tried, victims end together when nothing is left to try, back-off counts as elapsed where there are nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from app.apimachinery import clock, meta, patch
from app.apimachinery.clock import SECOND
from app.apimachinery.meta import Object
from app.apis import schema, scheme
from app.scheduler import event_handlers, profile, schedule_one
from app.scheduler.framework.pod_info import PodInfo
from app.scheduler.queue import INITIAL_BACKOFF, MAX_BACKOFF, QueuedPod, SchedulingQueue
from app.scheduler.replay import admission, claims
from app.scheduler.replay.recording import StepRecord, recorded_attempt
from app.scheduler.schedule_one import ScheduleResult
from app.scheduler.snapshot import Snapshot

_BEFORE = clock.parse("2026-01-01T00:00:00Z")
_BINDINGS_FROM = clock.parse("2026-01-02T00:00:00Z")
_MOST_ATTEMPTS = 2000
Key = tuple[str, str]
"""(kind, `namespace/name`)."""


class World:
    """Holds the objects of one vector and plays its steps."""

    def __init__(
        self, objects: Iterable[Object], configuration: Object | None = None, gates: Iterable[str] = ()
    ) -> None:
        listed = list(objects)
        self.profiles = profile.build_profiles(configuration, gates)
        self.objects: dict[Key, Object] = {}
        self.deleted: list[str] = []
        self.created: list[str] = []
        self._now = 0
        self._bindings = 0
        self._victims: list[Key] = []
        self._late: list[tuple[Object | None, Object]] = []
        self._step = StepRecord()
        has_nodes = any(obj["kind"] == "Node" for obj in listed)
        initial, most = (0, 0) if has_nodes else (INITIAL_BACKOFF, MAX_BACKOFF)
        self._queue = SchedulingQueue(self.profiles, initial_backoff=initial, max_backoff=most, listed=self._listed)
        order = {"Node": 1, "Pod": 2}
        for obj in sorted(listed, key=lambda item: order.get(item["kind"], 0)):
            self._create(self._started(self._admitted(obj)))
        self._bind_claims()

    def _admitted(self, obj: Object) -> Object:
        classes = [item for (kind, _), item in self.objects.items() if kind == "PriorityClass"]
        return admission.admitted(obj, classes)

    def _started(self, obj: Object) -> Object:
        """Bound pods that say nothing of it started before everything else."""
        if obj["kind"] != "Pod" or not obj["spec"].get("nodeName"):
            return obj
        status = {"startTime": clock.rfc3339(_BEFORE), **(obj.get("status") or {})}
        return {**obj, "status": status}

    # Steps

    def play(self, step: Mapping[str, Any]) -> StepRecord:
        """Do one step and let the scheduler settle; answers its attempts and events."""
        self._step = StepRecord()
        match step["op"]:
            case "create":
                self._create_new(step["object"])
            case "createAll":
                for obj in step["objects"]:
                    self._create_new(obj)
            case "delete":
                self._remove(self._key(step))
            case "patch":
                self._patch(self._key(step), step["patch"])
        self._bind_claims()
        self._settle()
        return self._step

    def _key(self, step: Mapping[str, Any]) -> Key:
        namespace = step.get("namespace")
        return (step["kind"], f"{namespace}/{step['name']}" if namespace else step["name"])

    def _create_new(self, obj: Object) -> None:
        found = self._admitted(obj)
        if found["kind"] == "Pod":
            self.created.append(meta.key_of(found))
        self._create(found)

    def _create(self, obj: Object) -> None:
        self._change((obj["kind"], meta.key_of(obj)), obj)

    def _change(self, key: Key, new: Object) -> None:
        old = self.objects.get(key)
        self.objects[key] = new
        event_handlers.handle(self._queue, old, new, self._now)

    def _remove(self, key: Key) -> None:
        old = self.objects.pop(key, None)
        if old is None:
            return
        if key[0] == "Pod":
            self.deleted.append(key[1])
        event_handlers.handle(self._queue, old, None, self._now)

    def _patch(self, key: Key, changes: Mapping[str, Any]) -> None:
        old = self.objects[key]
        self._change(key, patch.strategic(old, changes, schema.patch_meta(scheme.of(old))))

    # The scheduler at work

    def _settle(self) -> None:
        """Try pods until nothing is left to try."""
        for _ in range(_MOST_ATTEMPTS):
            entry = self._queue.pop(self._now)
            if self._late:
                late, self._late = self._late, []
                for old, new in late:
                    event_handlers.handle(self._queue, old, new, self._now)
            elif entry is None and not self._something_else():
                return
            if entry is not None:
                self._try(entry)
        raise RuntimeError(f"the scheduler does not settle within {_MOST_ATTEMPTS} attempts")

    def _something_else(self) -> bool:
        """What happens when nothing is left to try: victims vanish, or back-off elapses."""
        if self._victims:
            victims, self._victims = self._victims, []
            for key in victims:
                self._remove(key)
            return True
        if self._bind_claims():
            return True
        instant = self._queue.next_instant(self._now)
        backing_off = any((self._queue.describe(key) or {}).get("queue") == "backoff" for key in self.created)
        if instant is not None and backing_off and any(kind == "Node" for kind, _ in self.objects):
            self._now = instant
            return True
        return False

    def _try(self, entry: QueuedPod) -> None:
        self._now += 1
        key = ("Pod", entry.pod.key)
        framework = self.profiles[entry.pod.scheduler_name]
        snapshot = Snapshot.of(self.objects.values())
        result = schedule_one.schedule_one(framework, snapshot, self.objects[key])
        self._step.attempts.append(recorded_attempt(result))
        for effect in result.effects:
            self._apply(effect, result)
        reporter = framework.profile_name
        self._step.add_event(result.pod.key, None, result.event(), reporter)
        if result.node:
            self._queue.done(entry.pod.key)
            self._bound(key, result.node)
        else:
            self._queue.add_unschedulable(entry, result.unschedulable_plugins, result.pending_plugins, self._now)
            self._failed(key, result)

    def _apply(self, effect: Mapping[str, Any], result: ScheduleResult) -> None:
        if effect["effect"] == "evict":
            key = ("Pod", effect["pod"])
            victim = self.objects[key]
            self._victims.append(key)
            event = schedule_one.preempted_event(result.pod, effect["node"])
            self._step.add_event(effect["pod"], result.pod.key, event, result.record.framework.profile_name)
            self._change(key, _terminating(victim, result.pod.scheduler_name))
        elif effect["effect"] == "clearNomination":
            key = ("Pod", effect["pod"])
            self._change(key, _with_status(self.objects[key], nominatedNodeName=None))
        elif effect["effect"] in {"bindVolume", "provision"}:
            for old, new in claims.apply_effect(self.objects, effect):
                self.objects[(new["kind"], meta.key_of(new))] = new
                self._late.append((old, new))

    def _bound(self, key: Key, node: str) -> None:
        self._bindings += 1
        old = self.objects[key]
        started = clock.rfc3339(_BINDINGS_FROM + self._bindings * SECOND)
        condition = {"type": "PodScheduled", "status": "True"}
        pod = _with_status(old, phase="Running", startTime=started, nominatedNodeName=None, condition=condition)
        new = {**pod, "spec": {**pod["spec"], "nodeName": node}}
        self.objects[key] = new
        self._late.append((old, new))

    def _failed(self, key: Key, result: ScheduleResult) -> None:
        condition = {"type": "PodScheduled", "status": "False", "reason": result.reason, "message": result.message}
        fields: dict[str, Any] = {"condition": condition}
        if result.nominated_node is not None:
            fields["nominatedNodeName"] = result.nominated_node or None
        self._change(key, _with_status(self.objects[key], **fields))

    def _bind_claims(self) -> bool:
        """Let the volume controller work; answers whether it changed anything."""
        changes = claims.bind(self.objects)
        for new in changes:
            self._change((new["kind"], meta.key_of(new)), new)
        return bool(changes)

    def _listed(self, wanted: str) -> dict[str, Object]:
        return {key: obj for (kind, key), obj in self.objects.items() if kind == wanted}

    # What is left at the end

    def final(self) -> dict[str, Any]:
        """What became of the pods that steps made and that still exist."""
        found = {}
        for key in sorted(set(self.created)):
            pod = self.objects.get(("Pod", key))
            if pod is not None:
                found[key] = _outcome(pod)
        return found

    def bound_claims(self) -> dict[str, str]:
        """Volume name by claim; empty where unbound."""
        return {
            key: str((obj.get("spec") or {}).get("volumeName") or "")
            for (kind, key), obj in sorted(self.objects.items())
            if kind == "PersistentVolumeClaim"
        }


def _with_status(pod: Object, *, condition: Mapping[str, str] | None = None, **fields: Any) -> Object:
    """The pod with status fields set, or taken away where None, and one condition replaced."""
    status = {**(pod.get("status") or {}), **fields}
    if condition is not None:
        others = [item for item in status.get("conditions") or () if item["type"] != condition["type"]]
        status["conditions"] = [*others, dict(condition)]
    return {**pod, "status": {key: value for key, value in status.items() if value is not None}}


def _terminating(pod: Object, scheduler: str) -> Object:
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "PreemptionByScheduler",
        "message": f"{scheduler}: preempting to accommodate a higher priority pod",
    }
    marked = _with_status(pod, condition=condition)
    return {**marked, "metadata": {**marked["metadata"], "deletionTimestamp": clock.rfc3339(_BINDINGS_FROM)}}


def _outcome(pod: Object) -> dict[str, Any]:
    info = PodInfo.of(pod)
    found: dict[str, Any] = {}
    if info.node_name:
        found["nodeName"] = info.node_name
    if info.nominated_node:
        found["nominatedNodeName"] = info.nominated_node
    for condition in (pod.get("status") or {}).get("conditions") or ():
        if condition["type"] == "PodScheduled":
            found["podScheduled"] = condition["status"]
            found.update({key: condition[key] for key in ("reason", "message") if condition.get(key)})
    return found
