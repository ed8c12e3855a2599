"""Facts behind rejections, plugin by plugin."""

import pytest

from app.scheduler.why import facts
from tests.scheduler.builders import attempt, config, node, pod

SPRAY = {"key": "spray", "value": "mortein", "effect": "NoSchedule"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def explained(objects, wanted, name="a", configuration=None):
    return facts.explain(attempt(objects, wanted, configuration).record)[name]


def near(kind, key="kubernetes.io/hostname", app="web"):
    return {kind: {REQUIRED: [{"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}]}}


def nodes_of(*terms):
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}


def spread(**more):
    rule = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    return [{**rule, "labelSelector": {"matchLabels": {"app": "web"}}, **more}]


def claim(name, volume=None, **spec):
    annotations = {"pv.kubernetes.io/bind-completed": "yes"} if volume else {}
    metadata = {"name": name, "namespace": "default", "annotations": annotations}
    spec = {"accessModes": ["ReadWriteOnce"], "volumeName": volume or "", **spec}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def volume(name, zone):
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]}
    affinity = {"required": {"nodeSelectorTerms": [term]}}
    metadata = {"name": name}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": {"nodeAffinity": affinity}}


MOUNT = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]
SSD = {"key": "disk", "operator": "In", "values": ["ssd", "nvme"]}
A, WEB = node("a"), {"app": "web"}

CASES = {
    "cordoned": (
        [node("a", unschedulable=True)],
        pod("p"),
        [("NodeUnschedulable", "a is cordoned (spec.unschedulable: true).")],
    ),
    "another node named": (
        [A, node("b")],
        pod("p", nodeName="b"),
        [("NodeName", "The pod names the node b (spec.nodeName), and this is a.")],
    ),
    "every taint, with and without a value": (
        [node("a", taints=[SPRAY, {"key": "k", "effect": "NoExecute"}, {"key": "soft", "effect": "PreferNoSchedule"}])],
        pod("p"),
        [
            ("TaintToleration", "No toleration of the pod covers the taint spray=mortein:NoSchedule of a."),
            ("TaintToleration", "No toleration of the pod covers the taint k:NoExecute of a."),
        ],
    ),
    "a label that is missing and one that differs": (
        [node("a", labels={"tier": "low"})],
        pod("p", nodeSelector={"disk": "ssd", "tier": "high"}),
        [
            ("NodeAffinity", "nodeSelector wants disk=ssd, and a has no label disk."),
            ("NodeAffinity", "nodeSelector wants tier=high, and a has tier=low."),
        ],
    ),
    "the expressions of all terms": (
        [node("a", labels={"disk": "hdd"})],
        pod(
            "p",
            affinity=nodes_of(
                {"matchExpressions": [SSD]}, {"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}
            ),
        ),
        [
            ("NodeAffinity", "Node affinity term 1 wants “disk In [ssd, nvme]”, and a has “hdd”."),
            ("NodeAffinity", "Node affinity term 2 wants “gpu Exists”, and a has no such label."),
        ],
    ),
    "a field": (
        [A, node("b")],
        pod("p", affinity=nodes_of({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]})),
        [("NodeAffinity", "Node affinity term 1 wants “metadata.name In [b]”, and a has “a”.")],
    ),
    "an empty term": (
        [A],
        pod("p", affinity=nodes_of({})),
        [("NodeAffinity", "Node affinity term 1 is empty and matches no node.")],
    ),
    "a port and who holds it": (
        [A, pod("r", on="a", ports=[80, 81])],
        pod("p", ports=[80]),
        [("NodePorts", "Host port 80/TCP of a is taken by default/r.")],
    ),
    "what is missing and who holds it, largest first": (
        [node("a", cpu="1"), pod("s", cpu="100m", on="a"), pod("r", cpu="700m", on="a")],
        pod("p", cpu="500m"),
        [
            (
                "NodeResourcesFit",
                (
                    "300m of cpu are missing on a: the pod asks for 500m, 200m of 1 are free. "
                    "Held by default/r 700m, default/s 100m."
                ),
            )
        ],
    ),
    "more than there is in all, and none at all": (
        [A],
        pod("p", containers=[{"name": "c", "resources": {"requests": {"memory": "9Gi", "example.com/gpu": "1"}}}]),
        [
            ("NodeResourcesFit", "The pod asks for 9Gi of memory, more than the 8Gi that a has in all."),
            ("NodeResourcesFit", "The pod asks for 1 of example.com/gpu, and a has none."),
        ],
    ),
    "too many pods": (
        [node("a", pods="1"), pod("r", on="a")],
        pod("p"),
        [("NodeResourcesFit", "a takes 1 pods at most and has 1.")],
    ),
    "nobody to be near to": (
        [A, node("b"), pod("r", on="b", labels=WEB)],
        pod("p", affinity=near("podAffinity")),
        [
            (
                "InterPodAffinity",
                "Pod affinity wants a pod “app=web” in kubernetes.io/hostname=a of a, and none is there.",
            )
        ],
    ),
    "no topology to be near in": (
        [A],
        pod("p", affinity=near("podAffinity", "zone")),
        [("InterPodAffinity", "Pod affinity for “app=web” needs the label zone, and a has none.")],
    ),
    "somebody to be far from": (
        [A, pod("r", on="a", labels=WEB)],
        pod("p", affinity=near("podAntiAffinity")),
        [
            (
                "InterPodAffinity",
                "Pod anti-affinity shuns “app=web” in kubernetes.io/hostname=a of a; there already: default/r.",
            )
        ],
    ),
    "somebody who wants to be far from this pod": (
        [A, pod("r", on="a", affinity=near("podAntiAffinity"))],
        pod("p", labels=WEB),
        [
            (
                "InterPodAffinity",
                (
                    "default/r runs in kubernetes.io/hostname=a of a, and its anti-affinity shuns “app=web”, "
                    "which is this pod."
                ),
            )
        ],
    ),
    "a domain that is too full": (
        [node("a", labels={"zone": "x"}), node("b", labels={"zone": "y"}), pod("r", on="a", labels=WEB)],
        pod("p", labels=WEB, topologySpreadConstraints=spread()),
        [
            (
                "PodTopologySpread",
                (
                    "In zone=x of a count 1 matching pods, with this one 2; the least is 0. "
                    "The skew would be 2, and maxSkew is 1."
                ),
            )
        ],
    ),
    "no domain": (
        [A],
        pod("p", labels=WEB, topologySpreadConstraints=spread()),
        [("PodTopologySpread", "The spread constraint over zone needs that label, and a has none.")],
    ),
    "a volume out of reach": (
        [node("a", labels={"zone": "x"}), claim("c", "v1"), volume("v1", "y")],
        pod("p", volumes=MOUNT),
        [("VolumeBinding", "The claim c is bound to v1, which cannot be reached from a (its nodeAffinity).")],
    ),
    "a volume that is gone": (
        [A, claim("c", "v1"), {**volume("v2", "x")}],
        pod("p", volumes=MOUNT),
        [("VolumeZone", 'VolumeZone says: persistentvolume "v1" not found')],
    ),
    "a volume of another zone": (
        [
            node("a", labels={"topology.kubernetes.io/zone": "x"}),
            claim("c", "v1"),
            {"kind": "PersistentVolume", "metadata": {"name": "v1", "labels": {"topology.kubernetes.io/zone": "y"}}},
        ],
        pod("p", volumes=MOUNT),
        [
            (
                "VolumeZone",
                "The volume v1 of the claim c is in topology.kubernetes.io/zone=y, and a in x.",
            )
        ],
    ),
    "a claim for one pod alone": (
        [A, claim("c", "v1", accessModes=["ReadWriteOncePod"]), volume("v1", "x"), pod("r", on="a", volumes=MOUNT)],
        pod("p", volumes=MOUNT),
        [
            (
                "VolumeRestrictions",
                "The claim c is for one pod alone (ReadWriteOncePod) and in use by default/r.",
            ),
            ("VolumeBinding", "The claim c is bound to v1, which cannot be reached from a (its nodeAffinity)."),
        ],
    ),
    "a claim that does not exist, before any filter": (
        [A],
        pod("p", volumes=MOUNT),
        [("VolumeRestrictions", 'VolumeRestrictions says: persistentvolumeclaim "c" not found')],
    ),
    "several plugins at once": (
        [node("a", cpu="1", taints=[SPRAY])],
        pod("p", cpu="2", nodeSelector={"disk": "ssd"}),
        [
            ("TaintToleration", "No toleration of the pod covers the taint spray=mortein:NoSchedule of a."),
            ("NodeAffinity", "nodeSelector wants disk=ssd, and a has no label disk."),
            ("NodeResourcesFit", "The pod asks for 2 of cpu, more than the 1 that a has in all."),
        ],
    ),
    "a pod that is nominated to the node": (
        [node("a", cpu="1"), pod("vip", cpu="1", priority=9, status={"nominatedNodeName": "a"})],
        pod("p", cpu="500m"),
        [
            (
                "NodeResourcesFit",
                "500m of cpu are missing on a: the pod asks for 500m, 0 of 1 are free. Held by default/vip 1.",
            )
        ],
    ),
    "nothing": ([A], pod("p"), []),
}


@pytest.mark.parametrize("case", CASES)
def test_it_says_what_is_in_the_way(case):
    objects, wanted, expected = CASES[case]
    found = explained(objects, wanted)
    assert [(fact.plugin, str(fact.message)) for fact in found] == expected
    assert {fact.node for fact in found} <= {"a"}


def test_facts_are_data_too():
    objects = [node("a", cpu="1"), pod("s", cpu="100m", on="a"), pod("r", cpu="700m", on="a")]
    (fact,) = explained(objects, pod("p", cpu="500m"))
    assert fact.data == {
        "kind": "resource",
        "resource": "cpu",
        "requested": 500,
        "free": 200,
        "allocatable": 1000,
        "used": 800,
        "missing": 300,
        "hopeless": False,
        "holders": [{"pod": "default/r", "amount": 700}, {"pod": "default/s", "amount": 100}],
    }


def test_a_long_list_is_cut_in_the_sentence_only():
    objects = [node("a", cpu="1"), *(pod(f"r{index}", cpu="200m", on="a") for index in range(5))]
    (fact,) = explained(objects, pod("p", cpu="100m"))
    assert str(fact.message).endswith("Held by default/r0 200m, default/r1 200m, default/r2 200m (+2).")
    assert len(fact.data["holders"]) == 5


def test_it_knows_what_the_profile_adds():
    added = nodes_of({"matchExpressions": [SSD]})["nodeAffinity"]
    profile = {"pluginConfig": [{"name": "NodeAffinity", "args": {"addedAffinity": added}}]}
    (fact,) = explained([A], pod("p"), configuration=config(profile))
    assert fact.data["source"] == "profile"
    assert fact.data["expression"] == SSD


def test_resources_that_the_profile_ignores_are_no_facts():
    wanted = pod("p", containers=[{"name": "c", "resources": {"requests": {"cpu": "9", "example.com/gpu": "1"}}}])
    args = {"ignoredResources": ["example.com/gpu"]}
    profile = {"pluginConfig": [{"name": "NodeResourcesFit", "args": args}]}
    assert [fact.data["resource"] for fact in explained([A], wanted, configuration=config(profile))] == ["cpu"]


def test_hard_defaults_of_the_profile_count_too():
    defaults = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]
    args = {"defaultingType": "List", "defaultConstraints": defaults}
    profile = {"pluginConfig": [{"name": "PodTopologySpread", "args": args}]}
    service = {"kind": "Service", "metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": WEB}}
    objects = [
        node("a", labels={"zone": "x"}), node("b", labels={"zone": "y"}), pod("r", on="a", labels=WEB), service,
    ]  # fmt: skip
    (fact,) = explained(objects, pod("p", labels=WEB), configuration=config(profile))
    assert (fact.data["count"], fact.data["skew"], fact.data["counts"]) == (1, 2, {"x": 1, "y": 0})
