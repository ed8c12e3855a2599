"""Queueing hints: which happening is worth another try for which pod."""

import pytest

from app.scheduler.framework import events
from app.scheduler.framework.events import Action, ClusterEvent, node_changes, pod_changes
from app.scheduler.profile import build_profiles
from tests.scheduler.builders import config, info, node, pod

(DEFAULT,) = build_profiles(None).values()
SPRAY = [{"key": "spray", "effect": "NoSchedule"}]
WEB = {"app": "web"}


def _wakes(plugin, waiting, old, new):
    """Whether any hint of the plugin answers yes to any event of the change."""
    obj = new or old
    if old is not None and new is not None:
        happened = node_changes(old, new) if obj["kind"] == "Node" else pod_changes(old, new)
    else:
        resource = obj["kind"]
        if resource == "Pod":
            resource = events.ASSIGNED_POD if obj["spec"].get("nodeName") else events.UNSCHEDULED_POD
        happened = [ClusterEvent(resource, Action.ADD if old is None else Action.DELETE)]
    return any(
        hint is None or hint(info(waiting), old, new, events.nothing_listed)
        for registered, name, hint in DEFAULT.hints
        if name == plugin and any(registered.matches(event) for event in happened)
    )


def _near(kind, key="zone"):
    term = {"topologyKey": key, "labelSelector": {"matchLabels": WEB}}
    return pod("p", affinity={kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})


SPREAD = pod("p", labels=WEB, topologySpreadConstraints=[
    {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": WEB}},
])  # fmt: skip
CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "c", "namespace": "default"},
    "spec": {},
}
WITH_CLAIM = pod("p", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])
ZONE_A, ZONE_B, NO_ZONE = node("n", labels={"zone": "a"}), node("n", labels={"zone": "b"}), node("n")

CASES = [
    ("NodeUnschedulable", pod("p"), node("n", unschedulable=True), node("n"), True),
    ("NodeUnschedulable", pod("p"), None, node("n", unschedulable=True), False),
    ("TaintToleration", pod("p"), node("n", taints=SPRAY), node("n"), True),
    ("TaintToleration", pod("p"), node("n", taints=SPRAY), node("n", taints=[*SPRAY, *SPRAY]), False),
    ("TaintToleration", pod("p"), None, node("n", taints=SPRAY), False),
    ("NodeAffinity", pod("p", nodeSelector={"zone": "a"}), NO_ZONE, ZONE_A, True),
    ("NodeAffinity", pod("p", nodeSelector={"zone": "a"}), NO_ZONE, ZONE_B, False),
    ("NodeAffinity", pod("p", nodeSelector={"zone": "a"}), ZONE_A, node("n", labels={"zone": "a", "x": ""}), False),
    ("NodePorts", pod("p", ports=[80]), pod("old", ports=[80], on="n"), None, True),
    ("NodePorts", pod("p", ports=[80]), pod("old", ports=[81], on="n"), None, False),
    ("NodePorts", pod("p", ports=[80]), pod("old", ports=[80]), None, False),
    ("NodeResourcesFit", pod("p", cpu="1"), pod("old", cpu="1", on="n"), None, True),
    ("NodeResourcesFit", pod("p", cpu="1"), node("n", cpu="500m"), node("n", cpu="2"), True),
    ("NodeResourcesFit", pod("p", cpu="9"), node("n", cpu="500m"), node("n", cpu="2"), False),
    ("NodeResourcesFit", pod("p", cpu="1"), node("n", cpu="2"), node("n", cpu="2", memory="9Gi"), False),
    ("NodeResourcesFit", pod("p", cpu="2"), pod("p", cpu="3"), pod("p", cpu="2"), True),
    ("NodeResourcesFit", pod("p", cpu="2"), pod("old", cpu="3", on="n"), pod("old", cpu="2", on="n"), True),
    ("NodeResourcesFit", pod("p", memory="1Gi"), pod("old", cpu="3", on="n"), pod("old", cpu="2", on="n"), False),
    ("NodeName", pod("p"), None, node("n"), True),
    ("NodeName", pod("p"), node("n", taints=SPRAY), node("n"), True),
    ("InterPodAffinity", _near("podAffinity"), None, pod("w", labels=WEB, on="n"), True),
    ("InterPodAffinity", _near("podAffinity"), None, pod("w", on="n"), False),
    ("InterPodAffinity", _near("podAffinity"), None, pod("w", labels=WEB), False),
    ("InterPodAffinity", _near("podAffinity"), pod("w", on="n"), pod("w", labels=WEB, on="n"), True),
    ("InterPodAffinity", _near("podAffinity"), NO_ZONE, ZONE_A, True),
    ("InterPodAffinity", _near("podAffinity"), ZONE_A, NO_ZONE, False),
    ("InterPodAffinity", _near("podAntiAffinity"), pod("w", labels=WEB, on="n"), None, True),
    ("InterPodAffinity", _near("podAntiAffinity"), pod("w", labels=WEB, on="n"), pod("w", on="n"), True),
    ("InterPodAffinity", _near("podAntiAffinity"), None, NO_ZONE, True),
    ("InterPodAffinity", _near("podAntiAffinity"), ZONE_A, ZONE_B, True),
    ("PodTopologySpread", SPREAD, pod("w", labels=WEB, on="n"), None, True),
    ("PodTopologySpread", SPREAD, pod("w", on="n"), None, False),
    ("PodTopologySpread", SPREAD, pod("w", on="n"), pod("w", labels=WEB, on="n"), True),
    ("PodTopologySpread", SPREAD, None, ZONE_A, True),
    ("PodTopologySpread", SPREAD, None, NO_ZONE, False),
    ("PodTopologySpread", SPREAD, ZONE_A, None, True),
    ("PodTopologySpread", SPREAD, ZONE_A, ZONE_B, True),
    ("PodTopologySpread", SPREAD, ZONE_A, node("n", labels={"zone": "a", "x": ""}), False),
    ("VolumeBinding", WITH_CLAIM, None, CLAIM, True),
    ("VolumeBinding", pod("p"), None, CLAIM, False),
    ("VolumeRestrictions", WITH_CLAIM, {**WITH_CLAIM, "spec": {**WITH_CLAIM["spec"], "nodeName": "n"}}, None, True),
    ("VolumeRestrictions", WITH_CLAIM, pod("old", on="n"), None, False),
    ("NodeVolumeLimits", WITH_CLAIM, {**WITH_CLAIM, "spec": {**WITH_CLAIM["spec"], "nodeName": "n"}}, None, True),
    ("NodeVolumeLimits", WITH_CLAIM, pod("old", on="n"), None, False),
    ("DefaultPreemption", pod("p"), pod("old", on="n"), None, False),
]


@pytest.mark.parametrize(
    ("plugin", "waiting", "old", "new", "wakes"), CASES, ids=[f"{index}-{case[0]}" for index, case in enumerate(CASES)]
)
def test_a_happening_is_worth_a_try(plugin, waiting, old, new, wakes):
    assert _wakes(plugin, waiting, old, new) is wakes


def test_default_constraints_count_what_the_pods_service_selects():
    default = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    args = {"defaultingType": "List", "defaultConstraints": [default]}
    (framework,) = build_profiles(config({"pluginConfig": [{"name": "PodTopologySpread", "args": args}]})).values()
    service = {"kind": "Service", "metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": WEB}}
    (hint,) = [hint for event, name, hint in framework.hints if name == "PodTopologySpread" and event.resource == "Pod"]

    def listed(kind):
        return {"default/s": service} if kind == "Service" else {}

    waiting = info(pod("p", labels=WEB))
    assert hint(waiting, pod("w", labels=WEB, on="n"), None, listed)
    assert not hint(waiting, pod("w", on="n"), None, listed)
    assert not hint(waiting, pod("w", labels=WEB, on="n"), None, events.nothing_listed)
