"""Moves one pod through its life on a node, step by step (kubelet.go: SyncPod, kuberuntime_manager.go: SyncPod).

A worker holds nothing of its own: what it knows stands in the pod's record, what comes next stands in timers named
`uid/container/step`. Durations are of the order of a real node's; back-offs are the kubelet's own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from app.apimachinery import meta
from app.apimachinery.clock import SECOND, Instant, Micros
from app.apimachinery.meta import Object
from app.cluster import control_plane, events, mounts
from app.cluster import controller_utils as utils
from app.cluster.nodes import (
    host_paths,
    images,
    machine,
    pod_status,
    probes,
    programs,
    resize,
    restart_policy,
    static_pods,
)
from app.cluster.nodes.image_puller import FIRST_BACKOFF, MAX_BACKOFF, RESYNC, ImagePuller
from app.cluster.nodes.machine import Machine
from app.cluster.nodes.worker import Record, duration
from app.cluster.processes import Launch, Run

SANDBOX: Micros = 300_000
FIRST_MOUNT_PAUSE: Micros = SECOND // 2
MAX_MOUNT_PAUSE: Micros = 122 * SECOND
MIN_STOP: Micros = SECOND // 2
DEFAULT_GRACE = 30


def new_record(pod: Object, node: str, ip: str, now: Instant) -> Record:
    """What a kubelet remembers of a pod that it has just taken on."""
    waiting = {"state": "waiting", "reason": "ContainerCreating"}
    if pod["spec"].get("initContainers"):
        waiting = {"state": "waiting", "reason": "PodInitializing"}
    return {
        "key": meta.key_of(pod),
        "node": node,
        "ip": ip,
        "since": now,
        "stage": "starting",
        "containers": {container["name"]: dict(waiting) for container in _all_containers(pod)},
    }


def _all_containers(pod: Object) -> list[dict[str, Any]]:
    return [*pod_status.containers_of(pod), *(pod["spec"].get("ephemeralContainers") or [])]


class PodWorker(ImagePuller):
    """One pod's steps at one instant."""

    def begin(self) -> None:
        """The sandbox is being made."""
        self.at("", "setup", SANDBOX)

    def fired(self, container: str, step: str) -> None:
        """One timer went off."""
        if self.record["stage"] == "stopping" and step != "stopped":
            return
        steps = {"setup": self._set_up, "stopped": self._stopped, "resize": self._resize}
        if step in steps:
            steps[step]()
            return
        if container not in self.record["containers"]:
            return
        {
            "pull": self.pulled,
            "create": self._create,
            "retry": self.start,
            "exit": self._exit,
            "restart": self._restart,
            "backoff": self.pull_backoff,
            "ready": self._ready,
            "unhealthy": self._unhealthy,
        }[step](container)

    def mounts_changed(self) -> None:
        """Something that this pod mounts was written: tries that wait for it are no longer idle."""
        self.record["hope"] = True
        for container in ("", *self.record["containers"]):
            for step in ("setup", "retry", "restart"):
                key = f"{self.uid}/{container}/{step}"
                due = self.context.timers.get(self.context.loop, key)
                if due is not None:
                    self.context.wake(key, due)

    def definition_changed(self) -> None:
        """Start what has been added to the live pod, restart containers whose image changed (computePodActions)."""
        for name in [name for name in self.ephemeral if name not in self.record["containers"]]:
            self.record["containers"][name] = {"state": "waiting", "reason": "ContainerCreating"}
            if self.record.get("sandbox"):
                self.proceed()
        for name in self._known():
            spec = self.specs[name]
            state, image = self.record["containers"][name], spec.get("image")
            if state["state"] == "running" and state.get("image") not in {None, image}:
                self.event("Killing", f"Container {name} definition changed, will be restarted", name)
                self.cancel(name, "exit")
                state["ends"] = {"code": 0}
                state["image"] = image
                self.at(name, "exit", MIN_STOP)

    def _resize(self) -> None:
        """The runtime has applied other resources; containers whose policy says so start anew."""
        for name in resize.to_restart(self):
            self.event("Killing", f"Container {name} resize requires restart", name)
            self.cancel(name, "exit")
            state = self.record["containers"][name]
            state.update(ends={"code": 0}, again=True)
            self.at(name, "exit", MIN_STOP)

    def stop(self) -> None:
        """Deletion was asked for: end what runs, within the grace period (killPod)."""
        metadata = self.pod["metadata"]
        grace = int(metadata.get("deletionGracePeriodSeconds") or 0) * SECOND
        first = self.record["stage"] != "stopping"
        longest: Micros = 0
        for name in self._known():
            state = self.record["containers"][name]
            if state["state"] == "running":
                stops = state.get("stops")
                longest = max(longest, grace if stops is None else min(stops, grace))
                if first:
                    self.event("Killing", f"Stopping container {name}", name)
        due = self.context.now + max(longest, 0) + MIN_STOP
        key = f"{self.uid}//stopped"
        standing = self.context.timers.get(self.context.loop, key)
        if standing is None or due < standing:
            self.context.wake(key, due)
        self.record["stage"] = "stopping"

    def _known(self) -> list[str]:
        """The containers that the kubelet has taken on; an ephemeral one may have come this very instant."""
        return [name for name in self.specs if name in self.record["containers"]]

    # ---- volumes and sandbox

    def _set_up(self) -> None:
        self.record.pop("hope", None)
        problem = self._mount_problem()
        if problem is not None:
            pause = self.record.get("mount_pause", FIRST_MOUNT_PAUSE)
            self.record["mount_pause"] = min(pause * 2, MAX_MOUNT_PAUSE)
            self.event("FailedMount", problem, kind=events.WARNING)
            self.at("", "setup", pause, idle=True)
            return
        self.record["sandbox"] = True
        self.record["stage"] = "running"
        self.proceed()

    def _mount_problem(self) -> str | None:
        """Why the pod's volumes cannot be set up, or None."""
        found = mounts.mount_problem(self.context.client, self.pod)
        return found[1] if found is not None else host_paths.problem(self.machine.files, self.pod)

    @property
    def machine(self) -> Machine:
        """The machine that the pod runs on."""
        return machine.of(self.context, str(self.record["node"]))

    def proceed(self) -> None:
        """Start the next container that is due: init containers one by one, then all others."""
        if self.record.get("busy"):
            return
        states = self.record["containers"]
        for name in self.ephemeral:
            if name in states and _is_fresh(states[name]) and not self.record.get("busy"):
                self.start(name)
        for container in self.pod["spec"].get("initContainers") or []:
            state = states[container["name"]]
            if state["state"] == "terminated" and state["code"] == 0 and not pod_status.is_sidecar(container):
                continue
            if state["state"] == "running" and pod_status.is_sidecar(container):
                continue
            if _is_fresh(state):
                self.start(container["name"])
            return
        for container in self.pod["spec"]["containers"]:
            if _is_fresh(states[container["name"]]) and not self.record.get("busy"):
                self.start(container["name"])

    # ---- the process

    def _create(self, name: str) -> None:
        container, state = self.specs[name], self.record["containers"][name]
        self.record.pop("hope", None)
        problem = mounts.environment_problem(self.context.client, self.pod, container)
        if problem is not None:
            self.wait(name, "CreateContainerConfigError", problem)
            self.event("Failed", f"Error: {problem}", name, kind=events.WARNING)
            self.at(name, "retry", 10 * SECOND, idle=True)
            self.release()
            return
        reference = images.parse(str(container.get("image") or ""))
        image = images.find(reference) if reference else None
        if image is None:
            return
        launch = Launch(
            now=self.context.now,
            client=self.context.client,
            pod=self.pod,
            container=container,
            argv=programs.argv_of(container, image),
            files=self._files_of(container),
            has_store=control_plane.ETCD_NAME in control_plane.running(self.context.state),
        )
        self.context.logs.begin(self.uid, name)
        run = programs.start(launch, image, self.programs)
        state["id"] = hashlib.sha256(f"{self.uid}/{name}/{state.get('restarts', 0)}".encode()).hexdigest()
        self.event("Created", "Container created", name)
        if run.failure:
            self.event("Failed", f"Error: {run.failure}", name, kind=events.WARNING)
            self._ended(name, code=128, ending="StartError", detail=run.failure)
        else:
            self.event("Started", "Container started", name)
            self._run(name, run)
        self.release()

    def _files_of(self, container: Object) -> Mapping[str, str]:
        given = mounts.files_of(self.context.client, self.pod, container)
        return host_paths.Mounted(given, self.machine.files, self.pod, container)

    def _run(self, name: str, run: Run) -> None:
        state = self.record["containers"][name]
        for leftover in ("reason", "message", "code", "until", "ending", "detail"):
            state.pop(leftover, None)
        state.update(state="running", since=self.context.now, stops=run.stops, image=self.specs[name].get("image"))
        self.context.logs.write(self.uid, name, run.lines)
        state.pop("elsewhere", None)
        if run.elsewhere:
            state["elsewhere"] = True
        resize.restarted(self, name)
        if run.runs is not None:
            state["ends"] = {"code": run.code, "ending": run.reason} if run.reason else {"code": run.code}
            self.at(name, "exit", run.runs)
        verdict = probes.judge(self.specs[name], self.pod, self.record.get("ip", ""), run)
        if verdict.ready_after == 0:
            state["ready"] = True
        elif verdict.ready_after is not None:
            self.at(name, "ready", verdict.ready_after)
        if verdict.message:
            state["probe"] = verdict.message
            after = verdict.fails_after if verdict.fails_after is not None else verdict.warns_after
            self.at(name, "unhealthy", after, idle=verdict.fails_after is None)

    def _ready(self, name: str) -> None:
        state = self.record["containers"][name]
        if state["state"] == "running":
            state["ready"] = True

    def _unhealthy(self, name: str) -> None:
        """A probe failed as often as it may: warn, and restart the container where the probe is for liveness."""
        state = self.record["containers"][name]
        if state["state"] != "running":
            return
        self.event("Unhealthy", state["probe"], name, kind=events.WARNING)
        if state["probe"].startswith("Readiness"):
            return
        kind = state["probe"].partition(" ")[0].lower()
        self.event("Killing", f"Container {name} failed {kind} probe, will be restarted", name)
        self.cancel(name, "exit")
        stops = state.get("stops")
        grace = int(self.pod["spec"].get("terminationGracePeriodSeconds") or DEFAULT_GRACE) * SECOND
        state["ends"] = {"code": 137 if stops is None else 2}
        self.at(name, "exit", grace if stops is None else min(stops, grace))

    def _exit(self, name: str) -> None:
        state = self.record["containers"][name]
        if state["state"] == "running":
            self._ended(name, **state.pop("ends", {"code": 0}))
            self.proceed()

    def _ended(self, name: str, code: int, ending: str = "", detail: str = "") -> None:
        state = self.record["containers"][name]
        now = self.context.now
        since = state["since"] if state["state"] == "running" else now
        for step in ("ready", "unhealthy"):
            self.cancel(name, step)
        for leftover in ("reason", "message", "ready"):
            state.pop(leftover, None)
        state.update(state="terminated", code=code, since=since, until=now)
        if ending:
            state["ending"] = ending
        if detail:
            state["detail"] = detail
        if self._restarts(name, code):
            self.at(name, "restart", RESYNC, idle=state.get("pause", 0) > 0)

    def _restarts(self, name: str, code: int) -> bool:
        if name in self.ephemeral:
            return False
        if self.record["containers"][name].pop("again", False):
            return True
        spec = self.specs[name]
        is_init = spec in (self.pod["spec"].get("initContainers") or [])
        if is_init and code == 0 and not pod_status.is_sidecar(spec):
            return False
        return restart_policy.starts_again(self.pod, spec, code)

    def _restart(self, name: str) -> None:
        """Start again, or wait out the back-off first (kuberuntime_manager.go: doBackOff)."""
        state, now = self.record["containers"][name], self.context.now
        finished = state.get("until") or (state.get("last") or {}).get("until", now)
        pause = state.get("pause", 0)
        if pause and finished - state.get("paused", finished) > 2 * MAX_BACKOFF:
            pause = state["pause"] = 0
        if now - finished < pause:
            where = f"container={name} pod={pod_status.status_key(self.pod)}"
            self.event(
                "BackOff",
                f"Back-off restarting failed container {name} in pod {pod_status.status_key(self.pod)}",
                name,
                kind=events.WARNING,
            )
            self._keep_last(name)
            self.wait(name, "CrashLoopBackOff", f"back-off {duration(pause)} restarting failed {where}")
            self.at(name, "restart", finished + pause - now, idle=True)
            return
        state["pause"] = min(max(pause * 2, FIRST_BACKOFF), MAX_BACKOFF)
        state["paused"] = now
        state["restarts"] = state.get("restarts", 0) + 1
        self._keep_last(name)
        self.start(name)

    def _keep_last(self, name: str) -> None:
        state = self.record["containers"][name]
        if state["state"] == "terminated":
            parts = ("code", "ending", "detail", "since", "until", "id")
            state["last"] = {part: state[part] for part in parts if part in state}

    def _stopped(self) -> None:
        """Everything has ended: the last word, and the pod leaves the API (status_manager.go: TerminatePod)."""
        metadata = self.pod["metadata"]
        self.record["stage"] = "ended"
        for name in self._known():
            self._end_for_good(name)
        if static_pods.is_static(self.pod):
            static_pods.ended(self.context, self.pod)
            return
        self._say_the_last_word()
        self.context.client.delete("pods", metadata["name"], metadata["namespace"], grace_seconds=0, uid=self.uid)

    def _end_for_good(self, name: str) -> None:
        """What a container's status says once its pod has been stopped."""
        state, now = self.record["containers"][name], self.context.now
        if state["state"] == "terminated":
            return
        state.pop("ready", None)
        if state["state"] == "running":
            code = 137 if state.get("stops") is None else 0
            state.update(state="terminated", code=code, until=now)
            return
        unknown = "The container could not be located when the pod was terminated"
        state.update(state="terminated", code=137, ending="ContainerStatusUnknown", detail=unknown, since=0, until=0)

    def _say_the_last_word(self) -> None:
        metadata = self.pod["metadata"]
        current = self.context.client.find("pods", metadata["name"], metadata["namespace"])
        if current is None or current["metadata"]["uid"] != self.uid:
            return
        host = str((current.get("status") or {}).get("hostIP") or "")
        utils.write_status(self.context, current, pod_status.of(current, self.record, host, self.context.now))


def _is_fresh(state: Mapping[str, Any]) -> bool:
    return state["state"] == "waiting" and not state.get("begun")
