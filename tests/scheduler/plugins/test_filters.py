"""Filters, one rule a row: the reason that a node is turned down with, and whether removing pods could help."""

import pytest

from app.scheduler.framework.status import Code
from tests.scheduler.builders import attempt, config, node, pod

NO, NEVER = Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE
SPRAY = {"key": "spray", "value": "mortein", "effect": "NoSchedule"}


def _near(kind, app, key="kubernetes.io/hostname", **more):
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}, **more}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def _spread(skew=1, key="zone", **more):
    selector = {"matchLabels": {"app": "web"}}
    rule = {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    return [{**rule, **more}]


def _needs(*terms):
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


WEB = {"app": "web"}

CASES = {
    "a taint nobody tolerates": ([node("n", taints=[SPRAY])], pod("p"), NEVER, "node(s) had untolerated taint(s)"),
    "a tolerated taint": (
        [node("n", taints=[SPRAY])],
        pod("p", tolerations=[{"key": "spray", "operator": "Equal", "value": "mortein", "effect": "NoSchedule"}]),
        None,
        "",
    ),
    "a toleration without its effect covers all": (
        [node("n", taints=[{**SPRAY, "effect": "NoExecute"}])],
        pod("p", tolerations=[{"key": "spray", "operator": "Exists"}]),
        None,
        "",
    ),
    "a soft taint": ([node("n", taints=[{**SPRAY, "effect": "PreferNoSchedule"}])], pod("p"), None, ""),
    "a cordoned node": ([node("n", unschedulable=True)], pod("p"), NEVER, "node(s) were unschedulable"),
    "a cordoned node, tolerated": (
        [node("n", unschedulable=True)],
        pod("p", tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]),
        None,
        "",
    ),
    "a selector that no label meets": (
        [node("n", labels={"disk": "hdd"})],
        pod("p", nodeSelector={"disk": "ssd"}),
        NEVER,
        "node(s) didn't match Pod's node affinity/selector",
    ),
    "one of two terms is enough": (
        [node("n", labels={"disk": "hdd"})],
        pod("p", affinity=_needs(
            {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]},
            {"matchExpressions": [{"key": "disk", "operator": "Exists"}]},
        )),
        None,
        "",
    ),
    "all expressions of a term must hold": (
        [node("n", labels={"disk": "hdd"})],
        pod("p", affinity=_needs({"matchExpressions": [
            {"key": "disk", "operator": "Exists"}, {"key": "size", "operator": "Gt", "values": ["3"]},
        ]})),
        NEVER,
        "node(s) didn't match Pod's node affinity/selector",
    ),
    "a full node": (
        [node("n", cpu="1"), pod("old", cpu="800m", on="n")], pod("p", cpu="300m"), NO, "Insufficient cpu",
    ),
    "a node too small at all": ([node("n", cpu="1")], pod("p", cpu="2"), NEVER, "Insufficient cpu"),
    "too small in one resource is hopeless in all": (
        [node("n", cpu="1", memory="1Gi"), pod("old", cpu="1", on="n")],
        pod("p", cpu="1", memory="2Gi"),
        NEVER,
        "Insufficient cpu|Insufficient memory",
    ),
    "no room for one more pod": ([node("n", pods="1"), pod("old", on="n")], pod("p"), NO, "Too many pods"),
    "a resource that the node does not have": (
        [node("n")],
        pod("p", containers=[{"name": "c", "image": "x", "resources": {"limits": {"example.com/gpu": "1"}}}]),
        NEVER,
        "Insufficient example.com/gpu",
    ),
    "an init container larger than the rest": (
        [node("n", cpu="1")],
        pod("p", cpu="500m", initContainers=[{"name": "i", "image": "x", "resources": {"requests": {"cpu": "1100m"}}}]),
        NEVER,
        "Insufficient cpu",
    ),
    "an init container that fits beside nothing": (
        [node("n", cpu="1")],
        pod("p", cpu="500m", initContainers=[{"name": "i", "image": "x", "resources": {"requests": {"cpu": "900m"}}}]),
        None,
        "",
    ),
    "a host port that is taken": (
        [node("n"), pod("old", ports=[80], on="n")],
        pod("p", ports=[80]),
        NO,
        "node(s) didn't have free ports for the requested pod ports",
    ),
    "another host port": ([node("n"), pod("old", ports=[80], on="n")], pod("p", ports=[81]), None, ""),
    "nobody to be near": (
        [node("n")], pod("p", affinity=_near("podAffinity", "db")), NEVER, "node(s) didn't match pod affinity rules",
    ),
    "the first of its own group": (
        [node("n")], pod("p", labels=WEB, affinity=_near("podAffinity", "web")), None, "",
    ),
    "somebody to be near": (
        [node("n"), pod("db", labels={"app": "db"}, on="n")], pod("p", affinity=_near("podAffinity", "db")), None, "",
    ),
    "somebody to stay away from": (
        [node("n"), pod("old", labels=WEB, on="n")],
        pod("p", affinity=_near("podAntiAffinity", "web")),
        NO,
        "node(s) didn't match pod anti-affinity rules",
    ),
    "somebody who wants to be left alone": (
        [node("n"), pod("shy", affinity=_near("podAntiAffinity", "web"), on="n")],
        pod("p", labels=WEB),
        NO,
        "node(s) didn't satisfy existing pods anti-affinity rules",
    ),
    "pods of other namespaces are not meant": (
        [node("n"), pod("old", labels=WEB, on="n")],
        pod("p", affinity=_near("podAntiAffinity", "web", namespaces=["other"])),
        None,
        "",
    ),
    "an empty namespace selector means all namespaces": (
        [node("n"), pod("old", labels=WEB, on="n")],
        pod("p", affinity=_near("podAntiAffinity", "web", namespaceSelector={})),
        NO,
        "node(s) didn't match pod anti-affinity rules",
    ),
    "a node outside the topology": (
        [node("n")],
        pod("p", labels=WEB, topologySpreadConstraints=_spread()),
        NEVER,
        "node(s) didn't match pod topology spread constraints (missing required label)",
    ),
    "a domain that is full": (
        [node("n", labels={"zone": "a"}), node("m", labels={"zone": "b"}, unschedulable=True),
         pod("w", labels=WEB, on="n")],
        pod("p", labels=WEB, topologySpreadConstraints=_spread()),
        NO,
        "node(s) didn't match pod topology spread constraints",
    ),
    "tainted domains do not count where taints are honoured": (
        [node("n", labels={"zone": "a"}), node("m", labels={"zone": "b"}, taints=[SPRAY]),
         pod("w", labels=WEB, on="n")],
        pod("p", labels=WEB, topologySpreadConstraints=_spread(nodeTaintsPolicy="Honor")),
        None,
        "",
    ),
    "too few domains": (
        [node("n", labels={"zone": "a"}), pod("w", labels=WEB, on="n")],
        pod("p", labels=WEB, topologySpreadConstraints=_spread(minDomains=2)),
        NO,
        "node(s) didn't match pod topology spread constraints",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_node_is_turned_down_with_its_reason(case):
    objects, wanted, code, reasons = case
    result = attempt(objects, wanted)
    status = result.record.diagnosis.nodes.get("n")
    assert (status.code if status else None) == code
    assert "|".join(status.reasons if status else ()) == reasons
    assert (result.node == "n") is (code is None)


def test_a_profile_can_ignore_a_resource():
    gpu = [{"name": "c", "image": "x", "resources": {"limits": {"example.com/gpu": "1"}}}]
    for args in ({"ignoredResources": ["example.com/gpu"]}, {"ignoredResourceGroups": ["example.com"]}):
        profile = config({"pluginConfig": [{"name": "NodeResourcesFit", "args": args}]})
        assert attempt([node("n")], pod("p", containers=gpu), profile).node == "n"


def test_a_profile_can_add_an_affinity_of_its_own():
    term = {"matchExpressions": [{"key": "pool", "operator": "Exists"}]}
    added = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    profile = config({"pluginConfig": [{"name": "NodeAffinity", "args": {"addedAffinity": added}}]})
    result = attempt([node("a"), node("b", labels={"pool": "x"})], pod("p"), profile)
    assert result.node == "b"
    assert result.record.diagnosis.nodes["a"].reasons == ("node(s) didn't match scheduler-enforced node affinity",)


def test_terms_that_name_nodes_contradictorily_end_the_cycle():
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in ("a", "b")]
    result = attempt([node("a"), node("b")], pod("p", affinity=_needs({"matchFields": fields})))
    assert result.record.pre_filter_status.reasons == ("pod affinity terms conflict",)
    assert result.message == "0/2 nodes are available: pod affinity terms conflict. not found"
