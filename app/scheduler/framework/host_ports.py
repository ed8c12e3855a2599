"""Host ports in use on a node (staging/src/k8s.io/kube-scheduler/framework/types.go: HostPortInfo)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.apimachinery.meta import Object

HostPort = tuple[str, str, int]
"""(IP, protocol, port); the IP 0.0.0.0 stands for every address."""

ANY_IP = "0.0.0.0"  # noqa: S104 - a value that is compared, nothing binds to it


def host_ports(pod: Object) -> tuple[HostPort, ...]:
    """The ports that containers and sidecars take on the node (pkg/scheduler/util/utils.go: GetHostPorts)."""
    spec = pod.get("spec") or {}
    sidecars = [c for c in spec.get("initContainers") or () if c.get("restartPolicy") == "Always"]
    found = []
    for container in [*(spec.get("containers") or ()), *sidecars]:
        for port in container.get("ports") or ():
            number = _number(port, host_network=bool(spec.get("hostNetwork")))
            if number > 0:
                found.append((str(port.get("hostIP") or ANY_IP), str(port.get("protocol") or "TCP"), number))
    return tuple(found)


def _number(port: dict[str, Any], *, host_network: bool) -> int:
    number = int(port.get("hostPort") or 0)
    return int(port.get("containerPort") or 0) if host_network and not number else number


class HostPortInfo:
    """A multiset of host ports with the question whether one more would clash."""

    __slots__ = ("_used",)

    def __init__(self, used: dict[HostPort, int] | None = None) -> None:
        self._used: dict[HostPort, int] = dict(used or {})

    def add(self, ports: Iterable[HostPort]) -> None:
        """Take ports."""
        for port in ports:
            self._used[port] = self._used.get(port, 0) + 1

    def remove(self, ports: Iterable[HostPort]) -> None:
        """Give ports back."""
        for port in ports:
            left = self._used.get(port, 0) - 1
            if left > 0:
                self._used[port] = left
            else:
                self._used.pop(port, None)

    def conflicts(self, wanted: HostPort) -> bool:
        """Whether an address in use overlaps: the same one, or one of the two is every address."""
        if not self._used:
            return False
        ip, protocol, number = wanted
        return any(
            used_protocol == protocol and used_number == number and (ip in {ANY_IP, used_ip} or used_ip == ANY_IP)
            for used_ip, used_protocol, used_number in self._used
        )

    @property
    def is_empty(self) -> bool:
        """Whether no port is taken."""
        return not self._used

    def copy(self) -> HostPortInfo:
        """An independent copy."""
        return HostPortInfo(self._used)
