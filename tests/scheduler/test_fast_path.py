"""The fast path decides as the plain one does: on all vectors, and on clusters that change at random."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.cli import bench_scheduler
from app.scheduler import schedule_one as plain
from app.scheduler.cache import Cache
from app.scheduler.equivalence import template_key
from app.scheduler.fast_path import FastPath
from app.scheduler.profile import build_profiles
from app.scheduler.replay import vectors, world
from app.scheduler.snapshot import Snapshot
from tests.scheduler.builders import config, info, node, pod

FOLDER = Path(__file__).parent / "vectors"
ALL = [vector for path in sorted(FOLDER.glob("*.json")) for vector in vectors.read(path)]
PLAIN_FOR_FAILURES_ALONE = {"topology-spread", "pod-affinity", "resources", "image-locality", "taints", "host-ports"}
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


class FastWorld(world.World):
    """The replay's world with a cache that lives as long as it does, and the fast path for every attempt."""

    def __init__(self, *args):
        self.fast = None
        super().__init__(*args)

    def decide(self, _framework, _snapshot, obj):
        if self.fast is None:
            self.fast = FastPath(self.profiles, Cache())
        self.fast.cache.sync(self.objects)
        result = self.fast.recorded(obj)
        assert self.fast.schedule(obj).node == result.node
        return result


@pytest.mark.parametrize("vector", ALL, ids=[vector["name"] for vector in ALL])
def test_it_decides_as_the_real_scheduler(vector, monkeypatch):
    worlds = []

    def made(*args):
        worlds.append(FastWorld(*args))
        monkeypatch.setattr(plain, "schedule_one", worlds[-1].decide)
        return worlds[-1]

    monkeypatch.setattr(vectors, "World", made)
    found = vectors.replay(vector)
    assert list(vectors.differences(vectors.comparable(vector["expected"]), vectors.comparable(found))) == []
    attempts = [attempt for step in found["steps"] for attempt in step["attempts"]]
    failures = sum(attempt["result"] == "unschedulable" for attempt in attempts)
    if vector["group"] in PLAIN_FOR_FAILURES_ALONE and worlds[0].fast is not None:
        assert worlds[0].fast.plain == 2 * failures


# Clusters that change at random

TERM = st.builds(
    lambda key, app: {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}},
    st.sampled_from([ZONE, HOST, "rack"]),
    st.sampled_from(["web", "db"]),
)
RULES = st.lists(TERM, max_size=1)
WEIGHTED = st.lists(st.fixed_dictionaries({"weight": st.integers(1, 100), "podAffinityTerm": TERM}), max_size=1)
AFFINITY = st.fixed_dictionaries(
    {},
    optional={
        kind: st.fixed_dictionaries(
            {},
            optional={
                "requiredDuringSchedulingIgnoredDuringExecution": RULES,
                "preferredDuringSchedulingIgnoredDuringExecution": WEIGHTED,
            },
        )
        for kind in ("podAffinity", "podAntiAffinity")
    },
)
SPREAD = st.lists(
    st.fixed_dictionaries(
        {
            "maxSkew": st.integers(1, 2),
            "topologyKey": st.sampled_from([ZONE, HOST, "rack"]),
            "whenUnsatisfiable": st.sampled_from(["DoNotSchedule", "ScheduleAnyway"]),
            "labelSelector": st.sampled_from([{}, {"matchLabels": {"app": "web"}}]),
        },
        optional={"nodeTaintsPolicy": st.just("Honor"), "nodeAffinityPolicy": st.just("Ignore")},
    ),
    max_size=3,
    unique_by=lambda rule: (rule["topologyKey"], rule["whenUnsatisfiable"]),
)
NODE_SELECTOR = st.sampled_from([{}, {}, {"rack": "r1"}])
TEMPLATES = st.fixed_dictionaries(
    {
        "cpu": st.sampled_from([None, "100m", "1"]),
        "labels": st.sampled_from([{}, {"app": "web"}, {"app": "db"}]),
        "priority": st.integers(0, 1),
        "affinity": AFFINITY,
        "topologySpreadConstraints": SPREAD,
        "nodeSelector": NODE_SELECTOR,
        "tolerations": st.sampled_from([[], [{"operator": "Exists"}]]),
        "ports": st.sampled_from([None, None, [80]]),
    }
)
NODES = st.fixed_dictionaries(
    {
        "cpu": st.sampled_from(["1", "2", "4"]),
        "labels": st.fixed_dictionaries(
            {}, optional={ZONE: st.sampled_from(["a", "b", ""]), "rack": st.sampled_from(["r1", "r2", "r3"])}
        ),
        "taints": st.sampled_from(
            [[], [], [{"key": "k", "effect": "NoSchedule"}], [{"key": "k", "effect": "PreferNoSchedule"}]]
        ),
        "unschedulable": st.sampled_from([False, False, False, True]),
        "images": st.sampled_from([None, {"nginx:1.27": 500_000_000}]),
    }
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("pod"), st.integers(0, 2)),
        st.tuples(st.just("pod"), st.integers(0, 2)),
        st.tuples(st.just("pod"), st.integers(0, 2)),
        st.tuples(st.sampled_from(["delete", "end", "relabel", "drop"]), st.integers(0, 9)),
        st.tuples(st.just("node"), st.tuples(st.integers(0, 6), NODES)),
        st.tuples(st.just("service"), st.sampled_from(["web", "db"])),
    ),
    min_size=1,
    max_size=14,
)


class Both:
    """A cluster that is decided on both ways: by the fast path's cache, and anew each time."""

    def __init__(self, configuration=None):
        self.profiles = build_profiles(configuration)
        self.fast = FastPath(self.profiles, Cache())
        self.objects = {}
        self.made = 0

    def put(self, kind, name, obj):
        key = (kind, name)
        self.fast.cache.change(self.objects.get(key), obj)
        if obj is None:
            del self.objects[key]
        else:
            self.objects[key] = obj

    def schedule(self, template):
        self.made += 1
        name = f"p{self.made}"
        obj = pod(name, **template)
        self.put("Pod", name, obj)
        framework = self.profiles["default-scheduler"]
        expected = plain.schedule_one(framework, Snapshot.of(self.objects.values()), obj)
        placed, recorded = self.fast.schedule(obj), self.fast.recorded(obj)
        assert placed.node == recorded.node == expected.node
        assert placed.effects == recorded.effects == expected.effects
        assert recorded.attempt == expected.attempt
        assert recorded.message == expected.message
        if expected.node:
            self.put("Pod", name, {**obj, "spec": {**obj["spec"], "nodeName": expected.node}})
        elif expected.nominated_node:
            self.put("Pod", name, {**obj, "status": {"nominatedNodeName": expected.nominated_node}})

    def _bound(self, number):
        found = [key for key, obj in self.objects.items() if key[0] == "Pod" and obj["spec"].get("nodeName")]
        return found[number % len(found)] if found else None

    def step(self, what, value, templates):
        if what == "pod":
            self.schedule(templates[value % len(templates)])
        elif what == "node":
            number, fields = value
            self.put("Node", f"n{number}", node(f"n{number}", **fields))
        elif what == "drop":
            if ("Node", f"n{value}") in self.objects:
                self.put("Node", f"n{value}", None)
        elif what == "service":
            service = {"kind": "Service", "metadata": {"name": value, "namespace": "default"}}
            self.put("Service", value, {**service, "spec": {"selector": {"app": value}}})
        elif (key := self._bound(value)) is not None:
            obj = self.objects[key]
            if what == "delete":
                self.put(*key, None)
            elif what == "end":
                self.put(*key, {**obj, "metadata": {**obj["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}})
            else:
                self.put(*key, {**obj, "metadata": {**obj["metadata"], "labels": {"app": "web"}}})


@settings(max_examples=150, deadline=None)
@given(st.lists(NODES, min_size=1, max_size=6), st.lists(TEMPLATES, min_size=1, max_size=3), STEPS)
def test_both_paths_agree_on_clusters_that_change(nodes, templates, steps):
    both = Both()
    for number, fields in enumerate(nodes):
        both.put("Node", f"n{number}", node(f"n{number}", **fields))
    for what, value in steps:
        both.step(what, value, templates)


@settings(max_examples=8, deadline=None)
@given(TEMPLATES, st.sampled_from([0, 60]), st.integers(1, 7))
def test_both_paths_agree_where_the_search_ends_early(template, percentage, seed):
    both = Both(config({"schedulerName": "default-scheduler", "percentageOfNodesToScore": percentage}))
    for number in range(140):
        mixed = number * seed % 11
        labels = {ZONE: f"z{mixed % 3}", "rack": f"r{number // 5}"}
        fields = {"cpu": "2" if mixed else "4", "labels": labels, "unschedulable": mixed == 5}
        both.put("Node", f"n{number:03}", node(f"n{number:03}", **fields))
    for _ in range(6):
        both.schedule(template)
    assert not both.fast.plain or template["nodeSelector"] or template["affinity"] or template["ports"]


@pytest.mark.parametrize(
    ("added", "wanted"),
    [
        ({"plugins": {"score": {"disabled": [{"name": "*"}]}}}, {}),
        ({"plugins": {"score": {"disabled": [{"name": "PodTopologySpread"}]}}}, {"cpu": "1"}),
        ({"plugins": {"filter": {"disabled": [{"name": "InterPodAffinity"}]}}}, {"labels": {"app": "web"}}),
        ({"plugins": {"multiPoint": {"disabled": [{"name": "NodeAffinity"}]}}}, {"nodeSelector": {"a": "b"}}),
    ],
)
def test_both_paths_agree_on_profiles_that_leave_plugins_out(added, wanted):
    both = Both(config({"schedulerName": "default-scheduler", **added}))
    for number in range(4):
        both.put("Node", f"n{number}", node(f"n{number}", cpu=str(number + 1)))
    spread = {"maxSkew": 1, "topologyKey": HOST, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
    for _ in range(5):
        both.schedule({**wanted, "topologySpreadConstraints": [spread]} if "filter" in str(added) else wanted)
    assert sum(bool(obj["spec"].get("nodeName")) for (kind, _), obj in both.objects.items() if kind == "Pod") == 5


# What is shared, and what is not


def test_pods_that_differ_in_name_alone_are_of_one_template():
    assert template_key(info(pod("a", cpu="1"))) == template_key(info(pod("b", cpu="1")))


@pytest.mark.parametrize(
    "other",
    [
        pod("b", cpu="2"),
        pod("b", cpu="1", labels={"app": "web"}),
        pod("b", cpu="1", status={"containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "2"}}]}),
        {**pod("b", cpu="1"), "metadata": {"name": "b", "namespace": "other", "labels": {}}},
    ],
)
def test_pods_that_plugins_may_answer_differently_for_are_not(other):
    assert template_key(info(pod("a", cpu="1"))) != template_key(info(other))


@pytest.mark.parametrize("kind", bench_scheduler.KINDS)
def test_the_kinds_that_are_measured_never_leave_the_fast_path(kind):
    fast = FastPath(build_profiles(None), Cache(bench_scheduler.node(index) for index in range(12)))
    for index in range(30):
        wanted = bench_scheduler.pod(kind, index)
        placed = fast.schedule(wanted)
        assert placed.node
        assert placed.effects == (
            {"effect": "bind", "pod": f"default/{wanted['metadata']['name']}", "node": placed.node},
        )
        fast.cache.assume(wanted, placed.node)
    assert fast.plain == 0


def test_a_choice_among_the_best_is_left_to_the_caller():
    seen = []
    fast = FastPath(
        build_profiles(None), Cache([node("b"), node("a")]), pick=lambda names: seen.append(list(names)) or names[-1]
    )
    assert fast.schedule(pod("p")).node == "b"
    assert seen == [["a", "b"]]


def test_an_unknown_profile_is_refused():
    fast = FastPath(build_profiles(None), Cache([node("a")]))
    with pytest.raises(ValueError, match="no profile is named other"):
        fast.schedule(pod("p", schedulerName="other"))


def test_a_failure_comes_with_the_whole_result():
    placed = FastPath(build_profiles(None), Cache([node("a", cpu="1")])).schedule(pod("p", cpu="2"))
    assert (placed.node, placed.effects) == ("", ())
    assert placed.result.message.startswith("0/1 nodes are available: 1 Insufficient cpu.")


# The cache


def _pods(nodes):
    return {name: [other.key for other in found.pods] for name, found in nodes.items()}


def test_a_cache_answers_what_a_snapshot_of_the_same_objects_would():
    objects = {("Pod", "p1"): pod("p1", cpu="1", on="b"), ("Pod", "p2"): pod("p2", cpu="1", on="a")}
    objects |= {("Node", "a"): node("a", images={"nginx": 5}), ("Node", "b"): node("b")}
    objects |= {("Pod", "p3"): pod("p3", status={"nominatedNodeName": "a"}), ("Pod", "p4"): pod("p4", on="gone")}
    cache = Cache()
    cache.sync(objects)
    objects[("Pod", "p1")] = pod("p1", cpu="2", on="a")
    del objects[("Pod", "p4")]
    cache.sync(objects)
    found, expected = cache.snapshot(), Snapshot.of(objects.values())
    assert _pods(found.nodes) == _pods(expected.nodes) == {"a": ["default/p1", "default/p2"], "b": []}
    assert {name: info.requested.get("cpu") for name, info in found.nodes.items()} == {"a": 3000, "b": 0}
    assert [other.key for other in found.nominated["a"]] == ["default/p3"]
    assert found.images == expected.images
    assert found.listed == expected.listed


def test_a_snapshot_stays_as_it_was():
    cache = Cache([node("a")])
    before = cache.snapshot()
    cache.assume(pod("p", cpu="1"), "a")
    assert _pods(before.nodes) == {"a": []}
    assert _pods(cache.snapshot().nodes) == {"a": ["default/p"]}


def test_pods_count_once_their_node_appears():
    cache = Cache([pod("p", on="late")])
    assert cache.snapshot().nodes == {}
    cache.change(None, node("late"))
    assert _pods(cache.snapshot().nodes) == {"late": ["default/p"]}


def test_changes_that_are_long_gone_are_not_told_by_halves():
    cache = Cache([node("a", pods="20000")])
    fast = FastPath(build_profiles(None), cache)
    wanted = pod("p", cpu="1m")
    assert fast.schedule(wanted).node == "a"
    known = cache.position
    for index in range(5000):
        obj = pod("q", on="a")
        cache.change(None, obj)
        cache.change(obj, None)
        assert index or cache.changes_since(known) is not None
    assert cache.changes_since(known) is None
    assert cache.changes_since(cache.position) == []
    assert (
        fast.recorded(wanted).attempt
        == plain.schedule_one(build_profiles(None)["default-scheduler"], cache.snapshot(), wanted).attempt
    )


# What the engine needs


def test_the_engine_loads_no_web_no_database_and_no_clock():
    script = (
        "import sys\n"
        "import app.scheduler\n"
        "import app.scheduler.fast_path, app.scheduler.profile, app.scheduler.queue, app.scheduler.event_handlers\n"
        "print('\\n'.join(sys.modules))\n"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(found.stdout.split())
    assert "app.scheduler.schedule_one" in loaded
    foreign = {"fastapi", "starlette", "uvicorn", "httpx", "sqlalchemy", "sqlmodel", "pydantic", "jinja2", "asyncio"}
    assert not loaded & (foreign | {"random", "numpy", "socket", "yaml", "app.settings"})
    parts = {name.split(".")[1] for name in loaded if name.startswith("app.")}
    assert parts <= {"scheduler", "apis", "apimachinery", "version"}
