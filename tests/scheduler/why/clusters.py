"""Random small clusters in which most things that can go wrong do, and an apply that knows nothing of the engine."""

import copy

from hypothesis import strategies as st

from tests.scheduler.builders import node, pod

CPU = st.sampled_from(["100m", "500m", "1", "2"])
APPS = st.sampled_from(["web", "db"])
KEYS = st.sampled_from(["zone", "kubernetes.io/hostname"])
TAINTS = st.lists(
    st.fixed_dictionaries(
        {
            "key": st.sampled_from(["a", "b"]),
            "value": st.sampled_from(["", "x"]),
            "effect": st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"]),
        }
    ),
    max_size=2,
    unique_by=lambda taint: (taint["key"], taint["effect"]),
)
EXPRESSION = st.sampled_from(
    [
        {"key": "disk", "operator": "In", "values": ["ssd", "nvme"]},
        {"key": "disk", "operator": "Exists"},
        {"key": "zone", "operator": "NotIn", "values": ["x"]},
        {"key": "gen", "operator": "Gt", "values": ["3"]},
    ]
)


def _required(kind, app, key):
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def _preferred(kind, app, key):
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 50, "podAffinityTerm": term}]}}


def _nodes_of(expressions):
    terms = [{"matchExpressions": group} for group in expressions]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


KINDS = st.sampled_from(["podAffinity", "podAntiAffinity"])
PODS_AFFINITY = st.one_of(
    st.just({}), st.builds(_required, KINDS, APPS, KEYS), st.builds(_preferred, KINDS, APPS, KEYS)
)
AFFINITY = st.one_of(
    PODS_AFFINITY,
    st.builds(_nodes_of, st.lists(st.lists(EXPRESSION, min_size=1, max_size=2), min_size=1, max_size=2)),
)
SPREAD = st.lists(
    st.fixed_dictionaries(
        {
            "maxSkew": st.integers(1, 2),
            "topologyKey": KEYS,
            "whenUnsatisfiable": st.sampled_from(["DoNotSchedule", "ScheduleAnyway"]),
            "labelSelector": st.just({"matchLabels": {"app": "web"}}),
        }
    ),
    max_size=2,
    unique_by=lambda rule: (rule["topologyKey"], rule["whenUnsatisfiable"]),
)
LABELS = st.fixed_dictionaries(
    {},
    optional={
        "zone": st.sampled_from(["x", "y"]),
        "disk": st.sampled_from(["ssd", "hdd"]),
        "gen": st.sampled_from(["2", "5"]),
    },
)


@st.composite
def clusters(draw):
    """(objects, the pod that waits)."""
    nodes = [
        node(
            f"n{index}",
            cpu=draw(CPU),
            pods=draw(st.sampled_from(["1", "110"])),
            taints=draw(TAINTS),
            labels=draw(LABELS),
            unschedulable=draw(st.sampled_from([False, False, True])),
        )
        for index in range(draw(st.integers(1, 4)))
    ]
    running = [
        pod(
            f"r{index}",
            cpu=draw(CPU),
            on=f"n{draw(st.integers(0, len(nodes) - 1))}",
            labels={"app": draw(APPS)},
            ports=draw(st.sampled_from([None, None, [80]])),
            affinity=draw(PODS_AFFINITY),
        )
        for index in range(draw(st.integers(0, 5)))
    ]
    wanted = pod(
        "p",
        cpu=draw(CPU),
        labels={"app": draw(APPS)},
        affinity=draw(AFFINITY),
        nodeSelector=draw(st.sampled_from([{}, {}, {"disk": "ssd"}])),
        ports=draw(st.sampled_from([None, [80]])),
        topologySpreadConstraints=draw(SPREAD),
        tolerations=draw(st.sampled_from([[], [], [{"key": "a", "operator": "Exists"}]])),
    )
    return [*nodes, *running], wanted


def applied(objects, wanted, edits):
    """(objects, pod) with the edits carried out on deep copies, step by step."""
    copies = {_target(obj): copy.deepcopy(obj) for obj in [*objects, wanted]}
    for edit in edits:
        assert edit.target in copies, f"{edit.target} is not there"
        for step in edit.patch:
            if step["op"] == "delete":
                del copies[edit.target]
            else:
                _step(copies[edit.target], **step)
    changed = copies.pop(_target(wanted))
    return list(copies.values()), changed


def _target(obj):
    metadata = obj["metadata"]
    name = f"{metadata['namespace']}/{metadata['name']}" if "namespace" in metadata else metadata["name"]
    return f"{obj['kind']} {name}"


def _step(obj, op, path, value=None):
    *way, last = path
    for key in way:
        obj = obj[key] if isinstance(key, int) else obj.setdefault(key, {})
    if op == "set":
        obj[last] = value
    elif op == "unset":
        del obj[last]
    elif op == "append":
        obj.setdefault(last, []).append(value)
    else:
        assert op == "drop"
        obj[last].remove(value)
