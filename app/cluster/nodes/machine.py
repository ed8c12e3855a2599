"""A machine of the cluster: its files, its services, its journal, and the kubelet that may run on it.

Machines outlive their Node objects. The kubelets' memory holds of each only what is not as it came: changed files,
units to which something happened, journal lines, and the options of a kubelet that was started anew.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from app.apimachinery import clock, meta
from app.apimachinery.clock import Instant, Micros
from app.apimachinery.meta import Object
from app.cluster import logs
from app.cluster.loops import Context
from app.cluster.nodes import base_files, journal, kubelet_options, programs, service, unit_files
from app.cluster.nodes.filesystem import FileSystem
from app.cluster.nodes.kubelet_options import Options, OptionsError
from app.cluster.nodes.systemd import Systemd
from app.cluster.processes import QUICK, Run

KUBELET = "kubelet.service"
FILES, UNITS = "files/", "unit/"
"""Beginnings of timer keys: a machine's files changed; a step of one of its units is due."""
_KUBELET_CONF = "/etc/kubernetes/kubelet.conf"
_CONTROL_PLANE = "node-role.kubernetes.io/control-plane"


def ensure(context: Context) -> None:
    """Give each node a machine that has none: those of older snapshots, and those that were added."""
    known = context.state.setdefault("machines", {})
    for node in context.client.list("nodes"):
        if meta.name_of(node) not in known:
            made = facts(node, control_plane=_CONTROL_PLANE in meta.labels_of(node))
            removed = context.state.get("removed", {}).pop(meta.name_of(node), None)
            known[meta.name_of(node)] = {**made, **({"files": removed} if removed else {})}
    context.state.pop("removed", None)
    context.state.setdefault("static", {})


def facts(node: Object, *, control_plane: bool) -> dict[str, Any]:
    """What a machine is known by: its address, when it was made, and whether it is a control plane's."""
    addresses = (node.get("status") or {}).get("addresses") or []
    address = next((str(found.get("address")) for found in addresses if found.get("type") == "InternalIP"), "")
    made = clock.parse(str(node["metadata"]["creationTimestamp"]))
    return {"address": address, "made": made, **({"control": True} if control_plane else {})}


def of(context: Context, name: str) -> Machine:
    """The machine of that name. KeyError where there is none."""
    return Machine(context, name)


class Machine:
    """One machine at one instant; the host of its `Systemd`."""

    def __init__(self, context: Context, name: str) -> None:
        self.context = context
        self.name = name
        self.state: dict[str, Any] = context.state["machines"][name]
        server = next((str(m["address"]) for m in context.state["machines"].values() if m.get("control")), "")
        self._came_as = (name, str(self.state["address"]), server, int(self.state["made"]))
        self._base = base_files.of(*self._came_as, control_plane=bool(self.state.get("control")))

    @property
    def now(self) -> Instant:
        """The simulated instant."""
        return self.context.now

    @property
    def base(self) -> FileSystem:
        """The files as the machine came."""
        return FileSystem(self._base, {}, self.now)

    @property
    def files(self) -> FileSystem:
        """The files; whoever changes one has the kubelet look."""
        return FileSystem(self._base, self.state.setdefault("files", {}), self.now, self._touched)

    @property
    def systemd(self) -> Systemd:
        """The service manager."""
        return Systemd(self)

    # ---- the kubelet

    def kubelet(self) -> Options | None:
        """What the kubelet that runs here goes by; None where none does."""
        if "kubelet" in self.state:
            found = self.state["kubelet"]
            return None if found is None else Options(**found)
        return self._first()

    def is_connected(self) -> bool:
        """Whether a kubelet runs here and reaches its API server."""
        return self.kubelet() is not None and not service.is_stopped(self.context, self.name)

    def launch(self, unit: str, argv: Sequence[str], variables: Mapping[str, str]) -> Run:
        """Begin a service's program."""
        program = posixpath.basename(argv[0])
        if program == "kubelet":
            return self._start_kubelet(unit, argv)
        if program == "containerd":
            return Run(lines=("containerd successfully booted in 0.021532s",))
        return programs.on_a_machine(argv, self.context.now, variables)

    def ended(self, unit: str) -> None:
        """A service's program is no more."""
        if self._is_kubelets(unit):
            self.state["kubelet"] = None
            service.stop(self.context, self.name)

    def at(self, unit: str, step: str, delay: Micros) -> None:
        """Have a unit's step taken after a delay; trying again what fails is idle."""
        idle = bool(self.state.get("units", {}).get(unit, {}).get("restarts"))
        self.context.wake(f"{UNITS}{self.name}/{unit}/{step}", self.now + delay, idle=idle)

    def cancel(self, unit: str, step: str) -> None:
        """Do not, after all."""
        self.context.cancel(f"{UNITS}{self.name}/{unit}/{step}")

    def log(self, unit: str, message: str, severity: str = "I") -> None:
        """A line of a unit's program into the journal, unless it is the last one already (`file.go:1] …`)."""
        name = unit_files.full_name(unit)
        pid = int(self.systemd.record(name).get("pid") or 0)
        where, _, text = message.partition("] ")
        line = logs.klog(self.now, where, text, severity, pid)
        before = [entry[4] for entry in self.state.get("journal") or [] if entry[1] == name]
        if before and before[-1].partition("] ")[2] == line.partition("] ")[2]:
            return
        journal.write(self.state, self.now, name, (unit, pid), [line])

    def _start_kubelet(self, unit: str, argv: Sequence[str]) -> Run:
        pid = int(self.systemd.record(unit).get("pid") or 0)
        try:
            options = kubelet_options.read(argv, self.files)
        except OptionsError as error:
            said = f'"command failed" err="{logs.escaped(str(error))}"'
            return Run(runs=QUICK, code=1, lines=(logs.klog(self.now, "run.go:72", said, "E", pid),))
        if options == self._first():
            self.state.pop("kubelet", None)
        else:
            self.state["kubelet"] = asdict(options)
        if unit != KUBELET:
            self.state["by"] = unit
        self.context.wake(FILES + self.name, self.now)
        if self._reaches(options):
            service.start(self.context, self.name)
        else:
            service.stop(self.context, self.name)
        said_of = [("server.go:527", '"Kubelet version" kubeletVersion="v1.35.7"')]
        if options.stands_alone:
            said_of.append(("server.go:655", '"Standalone mode, no API client"'))
        if options.static_pod_path:
            said_of.append(("kubelet.go:394", f'"Adding static pod path" path="{options.static_pod_path}"'))
        return Run(lines=tuple(logs.klog(self.now, where, text, "I", pid) for where, text in said_of))

    def _first(self) -> Options:
        return _first_options(*self._came_as, bool(self.state.get("control")))

    def _reaches(self, options: Options) -> bool:
        """Whether these options lead to the cluster's API server."""
        return bool(options.server) and options.server == kubelet_options.server_of(_KUBELET_CONF, self.base)

    def _is_kubelets(self, unit: str) -> bool:
        return unit == str(self.state.get("by", KUBELET))

    def _touched(self) -> None:
        self.context.wake(FILES + self.name, self.now)


@lru_cache(maxsize=64)
def _first_options(name: str, address: str, server: str, made: Instant, control_plane: bool) -> Options:
    """What the kubelet goes by that a machine comes with."""
    files = FileSystem(base_files.of(name, address, server, made, control_plane=control_plane), {}, 0)
    unit = unit_files.load(files, KUBELET) or unit_files.Unit(KUBELET, "")
    variables, _ = unit_files.environment(unit, files)
    return kubelet_options.read(unit_files.command(unit.value("ExecStart"), variables), files)


def fired(context: Context) -> None:
    """Take the steps of units that are due."""
    for key in context.fired:
        if key.startswith(UNITS):
            host, unit, step = key.removeprefix(UNITS).split("/")
            if host in context.state["machines"]:
                of(context, host).systemd.fired(unit, step)
