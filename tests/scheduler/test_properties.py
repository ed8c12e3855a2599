"""What holds for any cluster and any pod."""

import json

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from app.scheduler.profile import build_profiles
from app.scheduler.schedule_one import schedule_one
from app.scheduler.snapshot import Snapshot
from tests.scheduler.builders import attempt, info, node, pod

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


def _feasible(objects, wanted):
    return set(attempt(objects, wanted).record.feasible)


@settings(max_examples=60, deadline=None)
@given(_clusters(), st.data())
def test_the_order_of_nodes_is_irrelevant(given_cluster, data):
    objects, wanted = given_cluster
    first, second = attempt(objects, wanted), attempt(data.draw(st.permutations(objects)), wanted)
    assert (first.node, first.message, first.nominated_node) == (second.node, second.message, second.nominated_node)
    assert first.record.totals == second.record.totals
    assert set(first.record.feasible) == set(second.record.feasible)


TOLERATION = st.one_of(
    st.just({"operator": "Exists"}),
    st.fixed_dictionaries({"key": st.sampled_from(["a", "b"]), "operator": st.just("Exists")}),
    st.fixed_dictionaries({"operator": st.just("Exists"), "effect": st.sampled_from(["NoSchedule", "NoExecute"])}),
)


@settings(max_examples=60, deadline=None)
@given(_clusters(), TOLERATION)
def test_a_further_toleration_never_removes_a_feasible_node(given_cluster, more):
    objects, wanted = given_cluster
    spec = {**wanted["spec"], "tolerations": [*wanted["spec"]["tolerations"], more]}
    assert _feasible(objects, wanted) <= _feasible(objects, {**wanted, "spec": spec})


@settings(max_examples=60, deadline=None)
@given(_clusters(), st.sampled_from(["cpu", "memory"]))
def test_raising_a_request_never_adds_a_feasible_node(given_cluster, resource):
    objects, wanted = given_cluster
    before = _feasible(objects, wanted)
    for amount in ("3", "5Gi", "100Gi"):
        (container,) = wanted["spec"]["containers"]
        requests = {**container["resources"]["requests"], resource: amount}
        raised = {**wanted["spec"], "containers": [{**container, "resources": {"requests": requests}}]}
        after = _feasible(objects, {**wanted, "spec": raised})
        assert after <= before
        before = after


@settings(max_examples=60, deadline=None)
@given(_clusters())
def test_the_request_of_a_bound_pod_is_seen_by_the_next(given_cluster):
    objects, wanted = given_cluster
    snapshot = Snapshot.of(objects)
    (framework,) = build_profiles(None).values()
    result = schedule_one(framework, snapshot, wanted)
    assume(result.node)
    after = snapshot.assume(wanted, result.node).nodes[result.node]
    bound = {**wanted, "spec": {**wanted["spec"], "nodeName": result.node}}
    again = Snapshot.of([*objects, bound]).nodes[result.node]
    left = again.allocatable["cpu"] - again.requested["cpu"]
    assert after.requested == again.requested
    assert left == snapshot.nodes[result.node].allocatable["cpu"] - (
        snapshot.nodes[result.node].requested.get("cpu", 0) + info(wanted).requests["cpu"]
    )
    too_much = pod("next", cpu=f"{left + 1}m", tolerations=[{"operator": "Exists"}])
    assert result.node not in _feasible([*objects, bound], too_much)
    just_enough = pod("next", cpu=f"{max(left, 0)}m", tolerations=[{"operator": "Exists"}])
    assert result.node in _feasible([*objects, bound], just_enough)
