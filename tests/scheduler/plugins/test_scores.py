"""Scores: which node is preferred, and by how much."""

import pytest

from tests.scheduler.builders import attempt, config, node, pod

MIB = 2**20
SOFT = {"key": "k", "effect": "PreferNoSchedule"}


def _score(result, plugin):
    found = {score.plugin: score for score in result.record.scores}
    return found[plugin].normalized if plugin in found else None


def _prefers(*terms):
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": weight, "preference": {"matchExpressions": [{"key": key, "operator": "Exists"}]}}
        for weight, key in terms
    ]}}  # fmt: skip


def _likes(kind, app, weight=10, key="kubernetes.io/hostname"):
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    preferred = [{"weight": weight, "podAffinityTerm": term}]
    return {kind: {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}


def _soft_spread(key):
    selector = {"matchLabels": {"app": "web"}}
    return [{"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": selector}]


WEB = {"app": "web"}
CASES = {
    "fewer soft taints": (
        "TaintToleration", [node("a", taints=[SOFT]), node("b")], pod("p"), {"a": 0, "b": 100},
    ),
    "a tolerated soft taint does not count": (
        "TaintToleration", [node("a", taints=[SOFT]), node("b")], pod("p", tolerations=[{"operator": "Exists"}]),
        {"a": 100, "b": 100},
    ),
    "preferred terms add up and the largest sum is 100": (
        "NodeAffinity", [node("a", labels={"x": "", "y": ""}), node("b", labels={"x": ""})],
        pod("p", affinity=_prefers((30, "x"), (20, "y"))), {"a": 100, "b": 60},
    ),
    "nothing preferred, nothing scored": ("NodeAffinity", [node("a"), node("b")], pod("p"), None),
    "the emptier node": (
        "NodeResourcesFit", [node("a", cpu="1", memory="1Gi"), node("b", cpu="2", memory="2Gi")],
        pod("p", cpu="500m", memory="512Mi"), {"a": 50, "b": 75},
    ),
    "a pod that requests nothing counts as 100m and 200Mi": (
        "NodeResourcesFit", [node("a", cpu="1", memory="1000Mi"), node("b", cpu="2", memory="2000Mi")],
        pod("p"), {"a": 85, "b": 92},
    ),
    "even use": (
        "NodeResourcesBalancedAllocation", [node("a", cpu="1", memory="1Gi"), node("b", cpu="2", memory="1Gi")],
        pod("p", cpu="500m", memory="512Mi"), {"a": 100, "b": 87},
    ),
    "balance does not care for pods without requests": (
        "NodeResourcesBalancedAllocation", [node("a"), node("b")], pod("p"), None,
    ),
    "the image is there, on half of the nodes": (
        "ImageLocality", [node("a", images={"nginx:1.27": 1023 * MIB}), node("b")], pod("p"), {"a": 50, "b": 0},
    ),
    "small images do not matter": (
        "ImageLocality", [node("a", images={"nginx:1.27": 40 * MIB}), node("b")], pod("p"), {"a": 0, "b": 0},
    ),
    "company": (
        "InterPodAffinity", [node("a"), node("b"), pod("w", labels=WEB, on="b")],
        pod("p", affinity=_likes("podAffinity", "web")), {"a": 0, "b": 100},
    ),
    "solitude": (
        "InterPodAffinity", [node("a"), node("b"), pod("w", labels=WEB, on="b")],
        pod("p", affinity=_likes("podAntiAffinity", "web")), {"a": 100, "b": 0},
    ),
    "a running pod's own preference": (
        "InterPodAffinity", [node("a"), node("b"), pod("w", affinity=_likes("podAffinity", "web"), on="b")],
        pod("p", labels=WEB), {"a": 0, "b": 100},
    ),
    "no term matched": (
        "InterPodAffinity", [node("a"), node("b")], pod("p", affinity=_likes("podAffinity", "web")), None,
    ),
    "the emptier domain": (
        "PodTopologySpread",
        [node("a", labels={"zone": "x"}), node("b", labels={"zone": "y"}), pod("w", labels=WEB, on="a")],
        pod("p", labels=WEB, topologySpreadConstraints=_soft_spread("zone")), {"a": 0, "b": 100},
    ),
    "a node outside the topology": (
        "PodTopologySpread", [node("a", labels={"zone": "x"}), node("b")],
        pod("p", labels=WEB, topologySpreadConstraints=_soft_spread("zone")), {"a": 100, "b": 0},
    ),
    "pods of a service are spread by default": (
        "PodTopologySpread",
        [
            node("a"), node("b"), pod("w", labels=WEB, on="a"),
            {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": WEB}},
        ],
        pod("p", labels=WEB), {"a": 66, "b": 100},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_plugin_prefers(case):
    plugin, objects, wanted, scores = case
    assert _score(attempt(objects, wanted), plugin) == scores


def test_strategies_turn_the_preference_round():
    nodes = [node("a", cpu="1", memory="1Gi"), node("b", cpu="2", memory="2Gi")]
    wanted = pod("p", cpu="500m", memory="512Mi")

    def fit(strategy):
        args = {"scoringStrategy": strategy}
        return _score(
            attempt(nodes, wanted, config({"pluginConfig": [{"name": "NodeResourcesFit", "args": args}]})),
            "NodeResourcesFit",
        )

    assert fit({"type": "MostAllocated"}) == {"a": 50, "b": 25}
    shape = [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]
    ratio = {"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": {"shape": shape}}
    assert fit(ratio) == {"a": 50, "b": 75}
    weighted = {"type": "LeastAllocated", "resources": [{"name": "cpu", "weight": 3}, {"name": "memory", "weight": 1}]}
    assert fit(weighted) == {"a": 50, "b": 75}


def test_hard_affinity_of_running_pods_counts_with_the_profiles_weight():
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": WEB}}
    hard = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    objects = [node("a"), node("b"), pod("w", affinity=hard, on="b")]

    def weighed(weight):
        args = {"hardPodAffinityWeight": weight}
        profile = config({"pluginConfig": [{"name": "InterPodAffinity", "args": args}]})
        return _score(attempt(objects, pod("p", labels=WEB), profile), "InterPodAffinity")

    assert weighed(1) == {"a": 0, "b": 100}
    assert weighed(0) is None
