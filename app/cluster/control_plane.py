"""The control plane as programs: what its parts do when they are started, and which of them run.

A cluster has an API while a kube-apiserver and an etcd run in static pods; controllers work while a
kube-controller-manager does besides. Each dies of what it would really die of: an unknown flag, a file that is not
there, a store that does not answer (cmd/kube-apiserver/app/server.go, cmd/kube-controller-manager/app, etcdmain).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.apimachinery.clock import SECOND, Micros
from app.cluster import logs
from app.cluster.control_plane_flags import API_SERVER, CONTROLLER_MANAGER, ETCD, SWITCHES
from app.cluster.loops import Context
from app.cluster.processes import QUICK, Launch, Run

ETCD_NAME, API_SERVER_NAME, MANAGER_NAME = "etcd", "kube-apiserver", "kube-controller-manager"
COMPONENTS = frozenset({ETCD_NAME, API_SERVER_NAME, MANAGER_NAME, "kube-scheduler"})
PORT = 6443
_ETCD_PORT = "2379"
_LIVENESS: Micros = 80 * SECOND
"""How long the API server's liveness probe may fail: eight times, ten seconds apart."""
_LOST = "Liveness probe failed: HTTP probe failed with statuscode: 500"
_GIVES_UP: Micros = 20 * SECOND
"""How long an API server waits for its store before it ends."""
_FILES = re.compile(
    r".*-(file|cafile|certfile|keyfile|kubeconfig)|kubeconfig|client-ca-file|cert-file|key-file|trusted-ca-file"
)


def running(kubelet: Mapping[str, Any]) -> frozenset[str]:
    """The components that run in static pods and are not about to die, by the kubelets' memory."""
    static = {entry["uid"] for entries in (kubelet.get("static") or {}).values() for entry in entries.values()}
    static |= set(kubelet.get("ending") or {})
    records = kubelet.get("pods") or {}
    return frozenset(
        name
        for uid in static
        for name, state in records.get(uid, {}).get("containers", {}).items()
        if name in COMPONENTS and state["state"] == "running" and not {"elsewhere", "ends"} & state.keys()
    )


def problem(kubelet: Mapping[str, Any]) -> str:
    """Why the API does not answer: `refused`, or `timeout` where only its store is gone; empty where it does."""
    found = running(kubelet)
    if API_SERVER_NAME not in found:
        return "refused"
    return "" if ETCD_NAME in found else "timeout"


def watch_store(context: Context) -> None:
    """An API server whose store is gone fails its liveness probe after a while, unless the store comes back."""
    found = running(context.state)
    if API_SERVER_NAME not in found:
        return
    for uid, record in context.state["pods"].items():
        state = record["containers"].get(API_SERVER_NAME)
        if state is None or state["state"] != "running":
            continue
        key = f"{uid}/{API_SERVER_NAME}/unhealthy"
        if ETCD_NAME in found and state.get("probe") == _LOST:
            del state["probe"]
            context.cancel(key)
        elif ETCD_NAME not in found and "probe" not in state:
            state["probe"] = _LOST
            context.wake(key, context.now + _LIVENESS)


def start_etcd(launch: Launch) -> Run:
    """Etcd speaks JSON (etcdmain/etcd.go)."""
    flags, wrong = _flags(launch.argv[1:], ETCD)
    if wrong:
        name = wrong.partition(": ")[2].lstrip("-").partition("=")[0]
        return Run(runs=QUICK, code=2, lines=(f"flag provided but not defined: -{name}",))
    missing = _missing(flags, launch.files)
    if missing:
        text = f"open {missing}: no such file or directory"
        line = f'{{"level":"fatal","caller":"etcdmain/etcd.go:204","msg":"discovery failed","error":"{text}"}}'
        return Run(runs=QUICK, code=1, lines=(line,))
    host = launch.pod["spec"].get("nodeName")
    lines = (
        f'{{"level":"info","caller":"etcdmain/etcd.go:64","msg":"starting etcd","name":"{host}"}}',
        '{"level":"info","caller":"embed/serve.go:210","msg":"serving client traffic securely"}',
    )
    return Run(lines=lines, ports=(2381,), https=(2379, 2380))


def start_api_server(launch: Launch) -> Run:
    """The API server needs its files and its store."""
    flags, wrong = _flags(launch.argv[1:], API_SERVER)
    if wrong:
        return Run(runs=QUICK, code=1, lines=(f"Error: {wrong}",))
    missing = _missing(flags, launch.files)
    if missing:
        return _failed(launch, f"open {missing}: no such file or directory")
    store = flags.get("etcd-servers", "")
    if not store:
        return _failed(launch, "--etcd-servers must be specified")
    if not re.fullmatch(rf"https://[^/:,]{{1,253}}:{_ETCD_PORT}", store.partition(",")[0]) or not launch.has_store:
        where = store.partition("://")[2] or store
        return _without_store(launch, where)
    port = flags.get("secure-port", str(PORT))
    if not port.isdecimal() or not 0 < int(port[:6]) < 65536:
        return _failed(launch, f'invalid argument {port!r} for "--secure-port" flag: must be a port')
    lines = (
        logs.klog(launch.now, "server.go:150", "Version: v1.35.7"),
        logs.klog(launch.now, "secure_serving.go:211", f"Serving securely on [::]:{port}"),
    )
    return Run(lines=lines, ports=(), https=(int(port),), elsewhere=int(port) != PORT)


def start_controller_manager(launch: Launch) -> Run:
    """The controller manager needs its kubeconfig and its files."""
    flags, wrong = _flags(launch.argv[1:], CONTROLLER_MANAGER)
    if wrong:
        return Run(runs=QUICK, code=1, lines=(f"Error: {wrong}",))
    missing = _missing(flags, launch.files)
    if missing:
        verb = "stat" if missing.endswith(".conf") else "open"
        return _failed(launch, f"{verb} {missing}: no such file or directory")
    if not launch.files.get(flags.get("kubeconfig", ""), "").strip():
        return _failed(launch, "invalid configuration: no configuration has been provided")
    lines = (
        logs.klog(launch.now, "serving.go:386", "Generated self-signed cert in-memory"),
        logs.klog(launch.now, "controllermanager.go:189", '"Starting" version="v1.35.7"'),
        logs.klog(launch.now, "secure_serving.go:211", "Serving securely on 127.0.0.1:10257"),
    )
    return Run(lines=lines, ports=(), https=(10257,))


PROGRAMS = {ETCD_NAME: start_etcd, API_SERVER_NAME: start_api_server, MANAGER_NAME: start_controller_manager}


def _without_store(launch: Launch, where: str) -> Run:
    """The store cannot be reached: the server tries for a while and gives up."""
    lost = f"transport: Error while dialing: dial tcp {where}: connect: connection refused"
    tried = f'[core] grpc: addrConn.createTransport failed to connect. Err: connection error: desc = "{lost}"'
    gave_up = "Error creating leases: error creating storage factory: context deadline exceeded"
    lines = (
        logs.klog(launch.now, "logging.go:55", tried, "W"),
        logs.klog(launch.now + _GIVES_UP, "instance.go:233", gave_up, "F"),
    )
    return Run(runs=_GIVES_UP, code=1, lines=lines)


def _failed(launch: Launch, error: str) -> Run:
    line = logs.klog(launch.now, "run.go:72", f'"command failed" err="{logs.escaped(error)}"', "E")
    return Run(runs=QUICK, code=1, lines=(line,))


def _flags(words: Sequence[str], known: frozenset[str]) -> tuple[dict[str, str], str]:
    """Flags as spf13/pflag reads them, and the error that it would end with."""
    found: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            if word.startswith("-v"):
                continue
            return found, f'unknown command "{word}"' if not word.startswith("-") else f"unknown shorthand flag: {word}"
        name, equals, value = word[2:].partition("=")
        if name not in known:
            return found, f"unknown flag: --{name}"
        if not equals and name not in SWITCHES:
            if not rest:
                return found, f"flag needs an argument: --{name}"
            value = rest.pop(0)
        found[name] = value
    return found, ""


def _missing(flags: Mapping[str, str], files: Mapping[str, str]) -> str:
    """The first file that a flag names and the container does not see."""
    named = (value for name, value in flags.items() if _FILES.fullmatch(name) and value.startswith("/"))
    return next((path for path in named if path not in files), "")
