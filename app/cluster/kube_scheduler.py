"""The kube-scheduler processes of a cluster: every running container whose program is kube-scheduler.

The default scheduler is no special case: it is the one in the control plane's static pod. A process reads its flags
and its configuration when its container starts, needs the rights of its user, contends for its lease, and then
serves the schedulerNames of its profiles (cmd/kube-scheduler/app/server.go: Run). What it decides is the engine's
matter (`scheduler_process`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.apimachinery import clock, meta
from app.apimachinery.clock import SECOND, Micros
from app.apimachinery.errors import AlreadyExists, Conflict, NotFound
from app.apimachinery.meta import Object
from app.cluster import controller_utils as utils
from app.cluster import heartbeats, logs, mounts, rbac, scheduler_attempts, scheduler_options, scheduler_process
from app.cluster.loops import Context
from app.cluster.processes import QUICK, Launch, Run

NAME = "kube-scheduler"
WATCHES = scheduler_process.WATCHES | {"clusterroles", "clusterrolebindings", "roles", "rolebindings", "leases"}
LEASE_DURATION: Micros = 15 * SECOND
"""How long a dead holder keeps its lease (leaderElection.leaseDuration)."""
USER = "system:kube-scheduler"
_NEEDED = (
    ("list", "nodes", ""),
    ("watch", "nodes", ""),
    ("list", "pods", ""),
    ("watch", "pods", ""),
    ("list", "namespaces", ""),
    ("list", "services", ""),
    ("list", "replicationcontrollers", ""),
    ("list", "replicasets", "apps"),
    ("list", "statefulsets", "apps"),
    ("list", "persistentvolumes", ""),
    ("list", "persistentvolumeclaims", ""),
    ("list", "storageclasses", "storage.k8s.io"),
    ("list", "csinodes", "storage.k8s.io"),
    ("list", "poddisruptionbudgets", "policy"),
)
"""What the informers must be able to read before the first pod is tried (WaitForCacheSync)."""
_LISTED_BY = {
    "nodes": "Node", "pods": "Pod", "namespaces": "Namespace", "services": "Service",
    "replicationcontrollers": "ReplicationController", "replicasets": "ReplicaSet", "statefulsets": "StatefulSet",
    "persistentvolumes": "PersistentVolume", "persistentvolumeclaims": "PersistentVolumeClaim",
    "storageclasses": "StorageClass", "csinodes": "CSINode", "poddisruptionbudgets": "PodDisruptionBudget",
}  # fmt: skip


def start_program(launch: Launch) -> Run:
    """The program as a kubelet starts it: it runs, or dies of its flags or configuration (app.NewSchedulerCommand)."""
    try:
        options = _options(launch.argv, launch.files, str(launch.container.get("image") or ""))
    except scheduler_options.OptionsError as error:
        line = logs.klog(launch.now, "run.go:72", f'"command failed" err="{logs.escaped(str(error))}"', "E")
        return Run(runs=QUICK, code=1, lines=(line,))
    lines = (
        logs.klog(launch.now, "serving.go:386", "Generated self-signed cert in-memory"),
        logs.klog(launch.now, "server.go:173", f'"Starting Kubernetes Scheduler" version="{options.version}"'),
        logs.klog(launch.now, "secure_serving.go:211", f"Serving securely on [::]:{options.secure_port}"),
    )
    return Run(lines=lines, ports=(), https=(options.secure_port,))


def _options(argv: Sequence[str], files: Mapping[str, str], image: str) -> scheduler_options.Options:
    """What the process goes on with. Raises OptionsError for what it dies of."""
    options = scheduler_options.read(argv, files, image)
    if options.kubeconfig and options.kubeconfig not in files:
        raise scheduler_options.OptionsError(f"stat {options.kubeconfig}: no such file or directory")
    return options


def runs_scheduler(container: Mapping[str, Any]) -> bool:
    """Whether the container's program is kube-scheduler, by its command or by its image."""
    command = container.get("command") or []
    if command:
        return str(command[0]).rpartition("/")[2] == NAME
    repository = str(container.get("image") or "").partition("@")[0].partition(":")[0]
    return repository.rpartition("/")[2] == NAME


def _argv(container: Mapping[str, Any]) -> list[str]:
    return [*(container.get("command") or [NAME]), *(container.get("args") or [])]


class Schedulers:
    """A loop over the scheduler processes."""

    NAME = NAME
    WATCHES = frozenset(WATCHES)

    def sync(self, context: Context) -> None:
        """Follow the processes, hold the elections, let the leaders schedule."""
        context.state.setdefault("processes", {})
        context.state.setdefault("leases", {})
        context.state.setdefault("attempts", {})
        if context.changed("pods"):
            _follow(context)
        rights_changed = context.changed("clusterroles", "clusterrolebindings", "roles", "rolebindings")
        for process in _ordered(context.state):
            if rights_changed or process["allowed"] is None:
                _authorize(context, process)
            _contend(context, process)
            if process["leading"]:
                scheduler_process.run(context, process)
            else:
                process["queue"] = None
                context.cancel(f"queue:{process['id']}")
        scheduler_process.forget_gone(context)


def first_state(context: Context) -> dict[str, Any]:
    """The memory of a cluster that has just been made: its processes run already and have seen everything."""
    context.state.update({"processes": {}, "leases": {}, "attempts": {}})
    _follow(context)
    for process in _ordered(context.state):
        _authorize(context, process)
        _contend(context, process)
    return context.state


def attempts(state: Mapping[str, Any], namespace: str, name: str) -> list[dict[str, Any]]:
    """The kept attempts of a pod, oldest first."""
    return scheduler_attempts.told(state.get("attempts") or {}, f"{namespace}/{name}")


def names(state: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    """The schedulerNames that processes serve, and those that processes which lead do."""
    processes = (state.get("processes") or {}).values()
    served = {name for process in processes for name in process["names"]}
    return served, {name for process in processes if process["leading"] for name in process["names"]}


def _may_see(pod: Object, container: Mapping[str, Any], files: Mapping[str, str], path: str) -> bool:
    """Whether the container may have a file there: a given one, or one of its machine."""
    on_host = {volume["name"] for volume in pod["spec"].get("volumes") or [] if volume.get("hostPath")}
    places = [str(m["mountPath"]).rstrip("/") for m in container.get("volumeMounts") or [] if m["name"] in on_host]
    return path in files or any(path == place or path.startswith(f"{place}/") for place in places)


def _ordered(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The processes, longest running first."""
    return sorted(state["processes"].values(), key=lambda process: (process["since"], process["id"]))


def _follow(context: Context) -> None:
    """Begin records of processes that started and drop those that ended."""
    alive = set()
    for pod in context.client.list("pods"):
        statuses = {s["name"]: s for s in (pod.get("status") or {}).get("containerStatuses") or []}
        for container in pod["spec"]["containers"]:
            status = statuses.get(container["name"]) or {}
            if "running" not in (status.get("state") or {}) or not runs_scheduler(container):
                continue
            identity = str(status.get("containerID", "")).removeprefix("containerd://")[:12]
            alive.add(identity)
            if identity not in context.state["processes"]:
                _begin(context, pod, container, identity)
    for identity in sorted(set(context.state["processes"]) - alive):
        _end(context, identity)


def _begin(context: Context, pod: Object, container: Mapping[str, Any], identity: str) -> None:
    files = mounts.files_of(context.client, pod, container)
    try:
        options = scheduler_options.read(_argv(container), files, str(container.get("image") or ""))
        if options.kubeconfig and not _may_see(pod, container, files, options.kubeconfig):
            return
    except scheduler_options.OptionsError:
        # The process is about to die of it.
        return
    account = str(pod["spec"].get("serviceAccountName") or "default")
    user = USER if options.kubeconfig else rbac.service_account(meta.namespace_of(pod), account)
    context.state["processes"][identity] = {
        "id": identity,
        "uid": utils.runtime_uid(pod),
        "pod": meta.key_of(pod),
        "container": container["name"],
        "host": str(pod["spec"].get("nodeName")) if pod["spec"].get("hostNetwork") else meta.name_of(pod),
        "since": context.now,
        "user": user,
        "names": scheduler_options.names(options),
        "allowed": None,
        "leading": False,
        "said": "",
        "queue": None,
        **scheduler_options.summary(options),
    }


def _end(context: Context, identity: str) -> None:
    del context.state["processes"][identity]
    context.cancel(f"queue:{identity}")
    for lease, held in context.state["leases"].items():
        if held.get("holder") == identity:
            context.state["leases"][lease] = {"until": context.now + LEASE_DURATION}
            _stop_renewing(context, lease)
            context.wake(f"lease:{lease}", context.now + LEASE_DURATION)


def _stop_renewing(context: Context, lease: str) -> None:
    """The last renewal of a holder that is gone stands."""
    namespace, _, name = lease.partition("/")
    found = context.client.find("leases", name, namespace)
    renewed = ((found or {}).get("spec") or {}).get("renewTime")
    if found is None or not renewed:
        return
    last = heartbeats.latest(clock.parse(renewed), heartbeats.LEADER_RENEWAL, context.now)
    context.client.update({**found, "spec": {**found["spec"], "renewTime": clock.rfc3339_micro(last)}})


def _authorize(context: Context, process: dict[str, Any]) -> None:
    """Check that the process can read what it must (its informers would fail otherwise, and log why)."""
    process["binds"] = rbac.allowed(context.client, rbac.Request(process["user"], "create", "pods/binding"))
    for verb, resource, group in _NEEDED:
        request = rbac.Request(process["user"], verb, resource, group)
        if not rbac.allowed(context.client, request):
            kind = f"*v1.{_LISTED_BY[resource]}"
            problem = f"failed to list {kind}: {rbac.denial(request)}"
            _say(
                context,
                process,
                "reflector.go:204",
                f'"Failed to watch" err="{logs.escaped(problem)}" logger="UnhandledError" '
                f'reflector="k8s.io/client-go/informers/factory.go:160" type="{kind}"',
                "E",
            )
            process["allowed"] = process["leading"] = False
            return
    process["allowed"] = True


def _contend(context: Context, process: dict[str, Any]) -> None:
    """Take or keep the lease (client-go/tools/leaderelection/leaderelection.go)."""
    if not process["allowed"]:
        return
    if not process["elect"]:
        process["leading"] = True
        return
    lease = process["lease"]
    held = context.state["leases"].get(lease, {})
    if held.get("holder") == process["id"]:
        process["leading"] = True
        return
    process["leading"] = False
    namespace, _, name = lease.partition("/")
    for verb in ("get", "update"):
        request = rbac.Request(process["user"], verb, "leases", "coordination.k8s.io", namespace, name)
        if not rbac.allowed(context.client, request):
            problem = f"error retrieving resource lock {lease}: {rbac.denial(request)}"
            _say(context, process, "leaderelection.go:448", problem, "E")
            return
    _say(context, process, "leaderelection.go:257", f"attempting to acquire leader lease {lease}...")
    if held.get("holder") in context.state["processes"] or held.get("until", 0) > context.now:
        return
    context.state["leases"][lease] = {"holder": process["id"]}
    process["leading"] = True
    _write_lease(context, process, namespace, name)
    _say(context, process, "leaderelection.go:271", f"successfully acquired lease {lease}")


def _write_lease(context: Context, process: Mapping[str, Any], namespace: str, name: str) -> None:
    stamp = clock.rfc3339_micro(context.now)
    held = {
        "holderIdentity": f"{process['host']}_{process['id']}",
        "leaseDurationSeconds": LEASE_DURATION // SECOND,
        "acquireTime": stamp,
        "renewTime": stamp,
    }
    found = context.client.find("leases", name, namespace)
    transitions = int(((found or {}).get("spec") or {}).get("leaseTransitions", 0)) + (found is not None)
    spec = {**held, "leaseTransitions": transitions}
    try:
        if found is None:
            metadata = {"name": name, "namespace": namespace}
            made = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}
            context.client.create(made, namespace)
        else:
            context.client.update({**found, "spec": spec})
    except (AlreadyExists, Conflict, NotFound):
        # Somebody deleted or rewrote the lease object at the same instant; holding it does not depend on that.
        return


def _say(context: Context, process: dict[str, Any], where: str, message: str, severity: str = "I") -> None:
    """Write a log line, unless it was the last one already."""
    if process["said"] == message:
        return
    process["said"] = message
    context.logs.write(process["uid"], process["container"], [logs.klog(context.now, where, message, severity)])
