"""What it costs the pods behind a Service to be called by others in a loop.

There is no network and nothing is called: a container whose command goes round and round with wget, curl or one of
their kind is known to ask for the address that it names, as often as its pauses allow. What its calls cost is shared
by the pods that are ready behind the Service, so that more pods have less to do each. A pure function of the objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.apimachinery import labels
from app.apimachinery.meta import Object, key_of, labels_of, name_of, namespace_of

MILLISECONDS_A_CALL = 5
"""How long a caller waits for an answer."""
COST_OF_A_CALL: Mapping[str, float] = {"hpa-example": 9.0, "php-apache": 9.0, "wordpress": 6.0}
"""Thousandths of a core-second that an answer takes, by image; see `_COST` for all others."""
_COST = 0.3
_CLIENTS = frozenset({"wget", "curl", "http", "ab", "hey", "wrk", "siege", "fortio"})
_LOOP = re.compile(r"\bwhile\b|\bfor\s*\(\(")
_PAUSE = re.compile(r"\bsleep\s+([0-9]{1,6}(?:\.[0-9]{1,6})?)")
_URL = re.compile(r"https?://([a-z0-9.-]+)")
_MAX_TEXT = 4096
_OPTIONS_WITH_VALUES = frozenset({"-O", "-o", "-H", "-X", "-d", "-T", "-m"})


@dataclass(frozen=True)
class _Call:
    """Calls of one container: from which namespace, to which host, how many a second."""

    namespace: str
    host: str
    rate: float


def served(pods: Sequence[Object], services: Sequence[Object]) -> dict[str, int]:
    """Thousandths of a core that each pod (`namespace/name`) spends on answering; without those that spend none."""
    calls = [call for pod in pods for call in _calls(pod)]
    found: dict[str, float] = {}
    for call in calls:
        service = next((one for one in services if _is_meant(one, call)), None)
        backends = [] if service is None else _backends(service, pods)
        for pod in backends:
            cost = COST_OF_A_CALL.get(_image(pod), _COST)
            found[key_of(pod)] = found.get(key_of(pod), 0.0) + call.rate * cost / len(backends)
    return {key: amount for key, value in found.items() if (amount := round(value))}


def _calls(pod: Object) -> Iterable[_Call]:
    """What the running containers of a pod call without end."""
    running = {one["name"] for one in _statuses(pod) if (one.get("state") or {}).get("running") is not None}
    for container in (pod.get("spec") or {}).get("containers") or ():
        words = [str(word) for word in (*(container.get("command") or ()), *(container.get("args") or ()))]
        text = " ".join(words)[:_MAX_TEXT]
        if container.get("name") not in running or not _LOOP.search(text):
            continue
        host = _host(text)
        if host:
            pause = sum(float(found) for found in _PAUSE.findall(text))
            yield _Call(namespace_of(pod), host, 1000 / (pause * 1000 + MILLISECONDS_A_CALL))


def _statuses(pod: Object) -> Sequence[Mapping[str, Any]]:
    return (pod.get("status") or {}).get("containerStatuses") or ()


def _host(text: str) -> str:
    """The host of the address that a script calls; nothing where it calls none."""
    words = text.replace(";", " ; ").replace("|", " | ").replace("&", " & ").split()
    for index, word in enumerate(words):
        if word.rpartition("/")[2] not in _CLIENTS:
            continue
        before = ""
        for argument in words[index + 1 :]:
            if argument in {";", "|", "&", "done"}:
                break
            found = _URL.match(argument.strip("\"'"))
            if found:
                return found[1]
            if not argument.startswith(("-", ">", "/")) and before not in _OPTIONS_WITH_VALUES:
                bare = re.match(r"[a-z0-9][a-z0-9.-]*", argument.strip("\"'"))
                if bare:
                    return bare[0]
            before = argument
    return ""


def _is_meant(service: Object, call: _Call) -> bool:
    """Whether the host is the service's: by its name, with its namespace and domain, or by its address."""
    if call.host == (service.get("spec") or {}).get("clusterIP"):
        return True
    name, _, rest = call.host.partition(".")
    namespace, _, domain = rest.partition(".")
    if domain not in {"", "svc", "svc.cluster.local"}:
        return False
    return (name_of(service), namespace_of(service)) == (name, namespace or call.namespace)


def _backends(service: Object, pods: Iterable[Object]) -> list[Object]:
    """The pods that answer for a service: selected, ready and not about to end."""
    selector = (service.get("spec") or {}).get("selector")
    if not selector:
        return []
    chosen = labels.from_label_selector({"matchLabels": selector})
    return [
        pod
        for pod in pods
        if namespace_of(pod) == namespace_of(service)
        and not pod["metadata"].get("deletionTimestamp")
        and chosen.matches(labels_of(pod))
        and _is_ready(pod)
    ]


def _is_ready(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)


def _image(pod: Object) -> str:
    containers: Sequence[Mapping[str, Any]] = (pod.get("spec") or {}).get("containers") or ({},)
    return str(containers[0].get("image") or "").partition("@")[0].rpartition("/")[2].partition(":")[0]
