"""The arithmetic of scores: what is shown is what was computed."""

import pytest

from app.scheduler.why import scores
from tests.scheduler.builders import attempt, config, node, pod

PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
WEB = {"app": "web"}
GI = 2**30


def shown(objects, wanted, plugin, name="a", configuration=None):
    found = scores.explain(attempt(objects, wanted, configuration).record)[name]
    (fact,) = (fact for fact in found if fact.plugin == plugin)
    assert fact.data["raw"] == fact.data["computed"]
    return str(fact.message)


def profile(plugin, **args):
    return config({"pluginConfig": [{"name": plugin, "args": args}]})


def near(weight, kind="podAffinity"):
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": WEB}}
    return {kind: {PREFERRED: [{"weight": weight, "podAffinityTerm": term}]}}


A, B = node("a", cpu="2", memory="4Gi", labels={"zone": "x"}), node("b", labels={"zone": "y"})
RATIO = {
    "type": "RequestedToCapacityRatio",
    "resources": [{"name": "cpu", "weight": 2}],
    "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]},
}
PREFER = [
    {"weight": weight, "preference": {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}}
    for weight in (10, 20)
]
SPREAD = [
    {"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {"matchLabels": WEB}}
]

CASES = {
    "least allocated": (
        [A, B],
        pod("p", cpu="500m", memory="1Gi"),
        "NodeResourcesFit",
        None,
        (
            f"NodeResourcesFit: LeastAllocated: cpu (2000 - 500) * 100 / 2000 = 75; "
            f"memory ({4 * GI} - {GI}) * 100 / {4 * GI} = 75; (75 + 75) / 2 = 75. Times weight 1: 75."
        ),
    ),
    "most allocated, weighed": (
        [A, B],
        pod("p", cpu="500m", memory="1Gi"),
        "NodeResourcesFit",
        profile(
            "NodeResourcesFit",
            scoringStrategy={"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 3}]},
        ),
        "NodeResourcesFit: MostAllocated: cpu 500 * 100 / 2000 = 25; (25 * 3) / 3 = 25. Times weight 1: 25.",
    ),
    "requested to capacity": (
        [A, B],
        pod("p", cpu="500m"),
        "NodeResourcesFit",
        profile("NodeResourcesFit", scoringStrategy=RATIO),
        "NodeResourcesFit: RequestedToCapacityRatio: cpu 500 / 2000 = 25% → 25; (25 * 2) / 2 = 25. Times weight 1: 25.",
    ),
    "balance": (
        [A, B],
        pod("p", cpu="1", memory="1Gi"),
        "NodeResourcesBalancedAllocation",
        None,
        (
            f"NodeResourcesBalancedAllocation: shares in use: cpu 1000 / 2000 = 0.500; memory {GI} / {4 * GI} = 0.250; "
            "(1 - |0.500 - 0.250| / 2) * 100 = 87. Times weight 1: 87."
        ),
    ),
    "a soft taint": (
        [node("a", taints=[{"key": "k", "effect": "PreferNoSchedule"}]), B],
        pod("p"),
        "TaintToleration",
        None,
        (
            "TaintToleration: PreferNoSchedule taints that the pod does not tolerate: 1 (k:PreferNoSchedule). "
            "Scaled: 100 - 100 * 1 / 1 = 0. Times weight 3: 0."
        ),
    ),
    "preferred terms": (
        [A, node("b")],
        pod("p", affinity={"nodeAffinity": {PREFERRED: PREFER}}),
        "NodeAffinity",
        None,
        (
            "NodeAffinity: weights of the preferred terms that match: 10 + 20 = 30. Scaled: 100 * 30 / 30 = 100. "
            "Times weight 2: 200."
        ),
    ),
    "an image": (
        [node("a", images={"nginx:1.27": 500 * 2**20}), B],
        pod("p"),
        "ImageLocality",
        None,
        (
            "ImageLocality: images on the node: nginx:1.27 500Mi * 1/2; of 23Mi to 1000Mi that 250Mi make 23. "
            "Times weight 1: 23."
        ),
    ),
    "pods nearby": (
        [A, B, pod("r", on="a", labels=WEB)],
        pod("p", affinity=near(40)),
        "InterPodAffinity",
        None,
        (
            "InterPodAffinity: weights of the terms that match in the node's domains: default/r +40 (zone=x); together 40. "
            "Scaled: 100 * (40 - 0) / (40 - 0) = 100. Times weight 2: 200."
        ),
    ),
    "pods that shun it": (
        [A, B, pod("r", on="b", affinity=near(40, "podAntiAffinity"))],
        pod("p", labels=WEB),
        "InterPodAffinity",
        None,
        (
            "InterPodAffinity: no preferred term matches in the node's domains. "
            "Scaled: 100 * (0 - -40) / (0 - -40) = 100. Times weight 2: 200."
        ),
    ),
    "spread": (
        [A, B, pod("r", on="a", labels=WEB), pod("s", on="a", labels=WEB)],
        pod("p", labels=WEB, topologySpreadConstraints=SPREAD),
        "PodTopologySpread",
        None,
        (
            "PodTopologySpread: matching pods in the node's domains, weighed: zone=x 2 * 1.386 + 1; together 4. "
            "Scaled: 4 → 25. Times weight 2: 50."
        ),
    ),
    "a node outside the domains": (
        [node("a"), A | {"metadata": {"name": "c", "labels": {"zone": "x"}}}],
        pod("p", labels=WEB, topologySpreadConstraints=SPREAD),
        "PodTopologySpread",
        None,
        "PodTopologySpread: the node is in no domain of a soft spread constraint. Scaled: 0 → 0. Times weight 2: 0.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_it_shows_how_a_score_comes_about(case):
    objects, wanted, plugin, configuration, expected = CASES[case]
    assert shown(objects, wanted, plugin, configuration=configuration) == expected


def test_weighted_scores_add_up_to_the_total():
    record = attempt([A, B], pod("p", cpu="1")).record
    for name, found in scores.explain(record).items():
        assert sum(fact.data["weighted"] for fact in found) == record.totals[name]


def test_one_feasible_node_needs_no_scores():
    assert scores.explain(attempt([A, node("b", unschedulable=True)], pod("p")).record) == {}


def test_more_than_two_resources_are_balanced_by_their_deviation():
    listed = [{"name": name, "weight": 1} for name in ("cpu", "memory", "ephemeral-storage")]
    big = node("a", cpu="2", memory="4Gi", resources={"ephemeral-storage": "10Gi"})
    text = shown(
        [big, node("b", resources={"ephemeral-storage": "10Gi"})],
        pod("p", cpu="1", memory="1Gi"),
        "NodeResourcesBalancedAllocation",
        configuration=profile("NodeResourcesBalancedAllocation", resources=listed),
    )
    assert "(1 - stddev 0.204) * 100 = 79" in text
