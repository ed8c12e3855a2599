"""What holds for any cluster and any pod."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scheduler.builders import attempt, node, pod

CPU = st.sampled_from(["100m", "500m", "1", "2"])
APPS = st.sampled_from(["web", "db"])
TAINT = st.fixed_dictionaries(
    {"key": st.sampled_from(["a", "b"]), "effect": st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"])}
)


def _term(kind, app, key):
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


AFFINITY = st.one_of(
    st.just({}),
    st.builds(
        _term,
        st.sampled_from(["podAffinity", "podAntiAffinity"]),
        APPS,
        st.sampled_from(["zone", "kubernetes.io/hostname"]),
    ),
)
SPREAD = st.lists(
    st.fixed_dictionaries(
        {
            "maxSkew": st.integers(1, 2),
            "topologyKey": st.sampled_from(["zone", "kubernetes.io/hostname"]),
            "whenUnsatisfiable": st.sampled_from(["DoNotSchedule", "ScheduleAnyway"]),
            "labelSelector": st.just({"matchLabels": {"app": "web"}}),
        }
    ),
    max_size=2,
    unique_by=lambda rule: (rule["topologyKey"], rule["whenUnsatisfiable"]),
)


@st.composite
def _clusters(draw):
    nodes = [
        node(
            f"n{index}",
            cpu=draw(CPU),
            taints=draw(st.lists(TAINT, max_size=2)),
            labels=draw(st.sampled_from([{}, {"zone": "x"}, {"zone": "y"}])),
            unschedulable=draw(st.booleans()),
        )
        for index in range(draw(st.integers(1, 4)))
    ]
    running = [
        pod(
            f"r{index}",
            cpu=draw(CPU),
            on=f"n{draw(st.integers(0, len(nodes) - 1))}",
            labels={"app": draw(APPS)},
            priority=draw(st.integers(0, 2)),
            affinity=draw(AFFINITY),
        )
        for index in range(draw(st.integers(0, 5)))
    ]
    wanted = pod(
        "p",
        cpu=draw(CPU),
        labels={"app": draw(APPS)},
        priority=draw(st.integers(0, 3)),
        affinity=draw(AFFINITY),
        topologySpreadConstraints=draw(SPREAD),
        tolerations=draw(st.sampled_from([[], [{"operator": "Exists"}], [{"key": "a", "operator": "Exists"}]])),
    )
    return [*nodes, *running], wanted


@settings(max_examples=80, deadline=None)
@given(_clusters())
def test_a_decision_agrees_with_its_record(given_cluster):
    objects, wanted = given_cluster
    result = attempt(objects, wanted)
    record = json.loads(json.dumps(result.attempt))
    names = [item["metadata"]["name"] for item in objects if item["kind"] == "Node"]
    for name in names:
        found = record["nodes"][name]
        failing = [plugin for plugin, status in found["filters"].items() if status]
        assert (found["status"] == "feasible") is (name in record["feasible"]) is (not failing)
        assert found["reported"] == (failing[0] if failing else None)
    if result.node:
        assert result.node == min(record["best"])
        assert set(record["best"]) <= set(record["feasible"])
        assert result.effects[-1] == {"effect": "bind", "pod": "default/p", "node": result.node}
    else:
        assert record["feasible"] == []
        rows = result.message.split(": ", 1)[1].split(". ")[0].rstrip(".").split(", ")
        assert sum(int(row.split(" ", 1)[0]) for row in rows) >= len(names)
        assert bool(result.nominated_node) is any(effect["effect"] == "evict" for effect in result.effects)


@settings(max_examples=40, deadline=None)
@given(_clusters())
def test_a_nominated_node_takes_the_pod_once_the_victims_are_gone(given_cluster):
    objects, wanted = given_cluster
    result = attempt(objects, wanted)
    if result.nominated_node:
        victims = {effect["pod"] for effect in result.effects if effect["effect"] == "evict"}
        left = [item for item in objects if f"default/{item['metadata']['name']}" not in victims]
        again = attempt(left, {**wanted, "status": {"nominatedNodeName": result.nominated_node}})
        assert again.node == result.nominated_node
