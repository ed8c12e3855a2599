"""What would make a pod fit and a node win, case by case."""

import pytest

from app.scheduler.profile import build_profiles
from app.scheduler.snapshot import Snapshot
from app.scheduler.why import counterfactuals
from app.scheduler.why.counterfactuals import to_fit, to_win
from app.scheduler.why.edits import World
from app.scheduler.why.fit_search import Budget, FitSearch, OutOfRuns
from tests.scheduler.builders import attempt, node, pod
from tests.scheduler.why.clusters import applied
from tests.scheduler.why.test_facts import MOUNT, SPRAY, SSD, WEB, near, nodes_of, spread

(FRAMEWORK,) = build_profiles(None).values()
CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def ask(question, objects, wanted, name="a"):
    return question(FRAMEWORK, Snapshot.of(objects), wanted, name)


def sentences(changes):
    return [[str(edit.text) for edit in change.edits] for change in changes]


ZONES = [node("a", labels={"zone": "x"}), node("b", labels={"zone": "y"})]
FIT = {
    "a taint": (
        [node("a", taints=[SPRAY])],
        pod("p"),
        [
            ["Give the pod a toleration for spray=mortein:NoSchedule."],
            ["Take the taint spray=mortein:NoSchedule off a."],
        ],
    ),
    "a cordon with the taint that comes with it": (
        [node("a", unschedulable=True, taints=[CORDON])],
        pod("p"),
        [["Give the pod a toleration for node.kubernetes.io/unschedulable:NoSchedule."], ["Uncordon a."]],
    ),
    "another node named": (
        [node("a"), node("b")],
        pod("p", nodeName="b"),
        [["Take spec.nodeName out of the pod."]],
    ),
    "a label that is missing": (
        [node("a")],
        pod("p", nodeSelector={"disk": "ssd"}),
        [["Take disk out of the pod's nodeSelector."], ["Label a with disk=ssd."]],
    ),
    "a hostname, which nobody may relabel": (
        [node("a"), node("b")],
        pod("p", nodeSelector={"kubernetes.io/hostname": "b"}),
        [["Set kubernetes.io/hostname: a in the pod's nodeSelector."]],
    ),
    "an expression beside one that holds": (
        [node("a", labels={"tier": "high"})],
        pod("p", affinity=nodes_of({"matchExpressions": [SSD, {"key": "tier", "operator": "Exists"}]})),
        [
            ["Take “disk In [ssd, nvme]” out of the pod's node affinity term 1."],
            ["Take the required node affinity out of the pod."],
            ["Label a with disk=ssd."],
        ],
    ),
    "any of two terms": (
        [node("a")],
        pod(
            "p",
            affinity=nodes_of(
                {"matchExpressions": [SSD, {"key": "x", "operator": "Exists"}]},
                {"matchExpressions": [{"key": "gen", "operator": "Gt", "values": ["3"]}]},
            ),
        ),
        [
            ["Take the required node affinity out of the pod."],
            ["Label a with gen=4."],
            ["Label a with disk=ssd.", "Label a with x=true."],
        ],
    ),
    "a label too many": (
        [node("a", labels={"old": "yes"})],
        pod("p", affinity=nodes_of({"matchExpressions": [{"key": "old", "operator": "DoesNotExist"}]})),
        [["Take the required node affinity out of the pod."], ["Take the label old off a."]],
    ),
    "a host port": (
        [node("a"), pod("r", on="a", ports=[80])],
        pod("p", ports=[80]),
        [["Do without host port 80 in the pod."], ["Remove the pod default/r."]],
    ),
    "too little, where one pod holds enough": (
        [node("a", cpu="1"), pod("r", cpu="600m", on="a"), pod("s", cpu="200m", on="a")],
        pod("p", cpu="500m"),
        [["Lower what the pod requests of cpu from 500m to 200m."], ["Remove the pod default/r."]],
    ),
    "too little, where two pods must go": (
        [node("a", cpu="1"), *(pod(f"r{index}", cpu="300m", on="a") for index in range(3))],
        pod("p", cpu="500m"),
        [
            ["Lower what the pod requests of cpu from 500m to 100m."],
            ["Remove the pod default/r0.", "Remove the pod default/r1."],
        ],
    ),
    "too little of two, and one pod that settles both": (
        [node("a", cpu="1", memory="1Gi"), pod("r", cpu="900m", memory="900Mi", on="a")],
        pod("p", cpu="500m", memory="512Mi"),
        [
            ["Remove the pod default/r."],
            [
                "Lower what the pod requests of cpu from 500m to 100m.",
                "Lower what the pod requests of memory from 512Mi to 124Mi.",
            ],
        ],
    ),
    "more than there is": (
        [node("a", memory="1000Mi")],
        pod("p", memory="2Gi"),
        [["Lower what the pod requests of memory from 2Gi to 1000Mi."]],
    ),
    "too many pods, of which one belongs to the cluster": (
        [node("a", pods="2"), pod("r", on="a"), pod("s", on="a", priority=2_000_001_000)],
        pod("p"),
        [["Remove the pod default/r."]],
    ),
    "nobody to be near to": (
        [node("a"), pod("r", on="a", labels={"tier": "front"})],
        pod("p", affinity=near("podAffinity")),
        [["Take pod affinity term 1 out of the pod."], ["Label the pod default/r with app=web."]],
    ),
    "no topology to be near in": (
        [node("a"), node("b", labels={"zone": "y"}), pod("r", on="b", labels=WEB)],
        pod("p", affinity=near("podAffinity", "zone")),
        [["Take pod affinity term 1 out of the pod."], ["Label a with zone=y."]],
    ),
    "somebody to be far from": (
        [node("a"), pod("r", on="a", labels=WEB)],
        pod("p", affinity=near("podAntiAffinity")),
        [["Take pod anti-affinity term 1 out of the pod."], ["Remove the pod default/r."]],
    ),
    "somebody who wants to be far from this pod": (
        [node("a"), pod("r", on="a", affinity=near("podAntiAffinity"))],
        pod("p", labels=WEB),
        [["Take the label app off this pod."], ["Remove the pod default/r."]],
    ),
    "a domain that is too full": (
        [*ZONES, pod("r", on="a", labels=WEB)],
        pod("p", labels=WEB, topologySpreadConstraints=spread()),
        [
            ["Set whenUnsatisfiable: ScheduleAnyway in the spread constraint over zone."],
            ["Raise maxSkew of the spread constraint over zone to 2."],
            ["Remove the pod default/r."],
        ],
    ),
    "a domain that is too full, and a soft twin": (
        [*ZONES, *(pod(f"r{index}", on="a", labels=WEB) for index in range(4))],
        pod("p", labels=WEB, topologySpreadConstraints=[*spread(), *spread(whenUnsatisfiable="ScheduleAnyway")]),
        [
            ["Take the hard spread constraint over zone out of the pod."],
            ["Raise maxSkew of the spread constraint over zone to 5."],
        ],
    ),
    "no domain": (
        [node("a"), node("b", labels={"zone": "y"})],
        pod("p", labels=WEB, topologySpreadConstraints=spread()),
        [
            ["Set whenUnsatisfiable: ScheduleAnyway in the spread constraint over zone."],
            ["Label a with zone=y."],
        ],
    ),
    "two plugins": (
        [node("a", cpu="1", taints=[SPRAY])],
        pod("p", cpu="2"),
        [
            [
                "Give the pod a toleration for spray=mortein:NoSchedule.",
                "Lower what the pod requests of cpu from 2 to 1.",
            ],
            [
                "Take the taint spray=mortein:NoSchedule off a.",
                "Lower what the pod requests of cpu from 2 to 1.",
            ],
        ],
    ),
    "nothing in the way": ([node("a")], pod("p"), []),
    "a claim that does not exist": ([node("a")], pod("p", volumes=MOUNT), []),
    "a node that takes no pod at all": ([node("a", pods="0")], pod("p"), []),
    "more taints than anybody would tolerate": (
        [node("a", taints=[{"key": f"k{index}", "effect": "NoSchedule"} for index in range(9)])],
        pod("p"),
        [],
    ),
}


@pytest.mark.parametrize("case", FIT)
def test_it_says_what_would_make_a_pod_fit(case):
    objects, wanted, expected = FIT[case]
    assert sentences(ask(to_fit, objects, wanted)) == expected


CONTAINERS = {
    "the largest gives": ([("c", "600m"), ("d", "300m")], [], {}, {"c": "200m", "d": "300m"}),
    "several give": ([("c", "400m"), ("d", "400m")], [], {}, {"c": "100m", "d": "400m"}),
    "an init container": ([("c", "300m")], ["900m"], {}, {"c": "300m", "i": "500m"}),
    "an init container and the sum": (
        [("c", "600m"), ("d", "200m")],
        ["900m"],
        {},
        {"c": "300m", "d": "200m", "i": "500m"},
    ),
    "overhead": ([("c", "900m")], [], {"overhead": {"cpu": "100m"}}, {"c": "400m"}),
}


@pytest.mark.parametrize("case", CONTAINERS)
def test_lowering_a_request_spares_the_containers_that_need_not_give(case):
    containers, init, more, expected = CONTAINERS[case]

    def container(name, cpu):
        return {"name": name, "image": "i", "resources": {"requests": {"cpu": cpu}}}

    wanted = pod(
        "p",
        containers=[container(*item) for item in containers],
        initContainers=[container("i", cpu) for cpu in init],
        **more,
    )
    objects = [node("a", cpu="500m")]
    (change,) = ask(to_fit, objects, wanted)
    _, changed = applied(objects, wanted, change.edits)
    every = [*changed["spec"]["containers"], *changed["spec"].get("initContainers", ())]
    assert {item["name"]: item["resources"]["requests"]["cpu"] for item in every} == expected


def test_a_device_is_requested_as_it_is_limited():
    resources = {"requests": {"example.com/gpu": "3"}, "limits": {"example.com/gpu": "3"}}
    wanted = pod("p", containers=[{"name": "c", "image": "i", "resources": resources}])
    objects = [node("a", resources={"example.com/gpu": "2"})]
    (change,) = ask(to_fit, objects, wanted)
    (container,) = applied(objects, wanted, change.edits)[1]["spec"]["containers"]
    assert container["resources"]["requests"] == container["resources"]["limits"] == {"example.com/gpu": "2"}


def test_requests_of_the_pod_itself_are_lowered():
    wanted = pod("p", resources={"requests": {"cpu": "2"}}, containers=[{"name": "c", "image": "i"}])
    objects = [node("a", cpu="1")]
    (change,) = ask(to_fit, objects, wanted)
    _, changed = applied(objects, wanted, change.edits)
    assert changed["spec"]["resources"]["requests"]["cpu"] == "1"


SOFT = {"key": "soft", "effect": "PreferNoSchedule"}
WIN = {
    "a soft taint": (
        [node("a", taints=[SOFT]), node("b")],
        pod("p"),
        [
            ("ties", ["Give the pod a toleration for soft:PreferNoSchedule."]),
            ("ties", ["Take the taint soft:PreferNoSchedule off a."]),
            ("wins", ["Set kubernetes.io/hostname: a in the pod's nodeSelector."]),
        ],
    ),
    "a tie": (
        [node("a", labels={"disk": "ssd"}), node("b")],
        pod("p"),
        [
            ("wins", ["Prefer disk=ssd in the pod's node affinity, with weight 100."]),
            ("wins", ["Set kubernetes.io/hostname: a in the pod's nodeSelector."]),
        ],
    ),
    "room": (
        [node("a", labels={}), node("b"), pod("r", cpu="2", memory="4Gi", on="a")],
        pod("p", cpu="100m", memory="200Mi"),
        [
            ("ties", ["Remove the pod default/r."]),
            ("wins", ["Prefer kubernetes.io/hostname=a in the pod's node affinity, with weight 100."]),
            ("wins", ["Set kubernetes.io/hostname: a in the pod's nodeSelector."]),
        ],
    ),
    "a node that does not fit, and would be the only one": (
        [node("a", taints=[SPRAY]), node("b", unschedulable=True)],
        pod("p"),
        [
            ("wins", ["Give the pod a toleration for spray=mortein:NoSchedule."]),
            ("wins", ["Take the taint spray=mortein:NoSchedule off a."]),
        ],
    ),
    "already alone": ([node("a")], pod("p"), []),
    "nothing that would make it fit": ([node("a", pods="0"), node("b")], pod("p"), []),
}


@pytest.mark.parametrize("case", WIN)
def test_it_says_what_would_make_a_node_win(case):
    objects, wanted, expected = WIN[case]
    changes = ask(to_win, objects, wanted)
    found = [(change.outcome, *texts) for change, texts in zip(changes, sentences(changes), strict=True)]
    assert sorted(found) == sorted((outcome, *texts) for outcome, texts in expected)


def test_a_preferred_term_may_be_satisfied_or_dropped():
    preferred = [{"weight": 80, "preference": {"matchExpressions": [SSD]}}]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    objects = [node("a", labels={"zone": "x"}), node("b", labels={"disk": "ssd"})]
    listed = sentences(ask(to_win, objects, pod("p", affinity=affinity)))
    assert ["Take preferred node affinity term 1 out of the pod."] in listed
    assert ["Prefer zone=x in the pod's node affinity, with weight 100."] in listed


def test_pods_and_nodes_that_are_given_stay_as_they_were():
    objects, wanted, _ = FIT["two plugins"]
    before = repr((objects, wanted))
    ask(to_fit, objects, wanted)
    ask(to_win, objects, wanted)
    assert repr((objects, wanted)) == before


def test_an_unknown_node_is_an_error():
    with pytest.raises(KeyError):
        ask(to_fit, [node("a")], pod("p"), "ghost")
    with pytest.raises(KeyError):
        ask(to_win, [node("a"), node("b")], pod("p"), "ghost")


def test_a_question_costs_no_more_than_it_may(monkeypatch):
    runs = []
    run = FitSearch._run
    monkeypatch.setattr(FitSearch, "_run", lambda self, world: runs.append(1) or run(self, world))
    taints = [{"key": f"k{index}", "effect": "NoSchedule"} for index in range(5)]
    objects = [node("a", taints=taints, cpu="1"), pod("r", cpu="1", on="a")]
    changes = ask(to_fit, objects, pod("p", tolerations=[]))
    assert len(runs) <= counterfactuals.MOST_RUNS
    assert {len(change.edits) for change in changes} == {5}
    assert attempt(*applied(objects, pod("p"), changes[0].edits)).node == "a"


def test_what_cannot_be_proven_is_not_said():
    objects, wanted, _ = FIT["two plugins"]
    search = FitSearch(FRAMEWORK, World(Snapshot.of(objects), wanted), "a", Budget(3))
    assert search.changes(3) == []
    with pytest.raises(OutOfRuns):
        Budget(0).spend()


def test_a_change_is_json():
    (first, _) = ask(to_fit, [node("a", taints=[SPRAY])], pod("p"))
    assert first.to_json() == {
        "outcome": "fits",
        "edits": [
            {
                "kind": "addToleration",
                "target": "Pod default/p",
                "message": "Give the pod a toleration for spray=mortein:NoSchedule.",
                "patch": [
                    {
                        "op": "append",
                        "path": ["spec", "tolerations"],
                        "value": {"key": "spray", "operator": "Equal", "value": "mortein", "effect": "NoSchedule"},
                    }
                ],
            }
        ],
    }
