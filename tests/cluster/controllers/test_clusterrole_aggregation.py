"""Aggregated cluster roles (pkg/controller/clusterroleaggregation), and the roles that are there from the start."""

import hashlib

import orjson

from app.cluster import bootstrap_rbac
from app.cluster.cluster import Cluster
from tests.cluster.apiserver.making import RBAC, named
from tests.cluster.builders import fresh

MORE = {"apiGroups": ["example.com"], "resources": ["widgets"], "verbs": ["get"]}
TABLE = "8caac0ed04c3ce54"


def widgets(into: str) -> dict:
    role = named(f"{RBAC}/v1", "ClusterRole", "widgets", rules=[MORE])
    return {**role, "metadata": {"name": "widgets", "labels": {f"{RBAC}/aggregate-to-{into}": "true"}}}


def rules(cluster, name):
    return cluster.client.get("clusterroles", name)["rules"]


def test_a_role_that_is_marked_for_another_gives_it_its_rules():
    cluster = fresh()
    cluster.client.create(widgets("edit"))
    cluster.settle()
    assert MORE in rules(cluster, "edit")
    assert MORE in rules(cluster, "admin"), "admin selects edit"
    assert MORE not in rules(cluster, "view")


def test_a_role_that_is_gone_takes_its_rules_along():
    cluster = fresh()
    before = rules(cluster, "edit")
    cluster.client.create(widgets("edit"))
    cluster.settle()
    cluster.client.delete("clusterroles", "widgets")
    cluster.settle()
    assert rules(cluster, "edit") == before


def test_roles_as_they_were_made_are_kept_by_name_and_changed_ones_whole():
    cluster = fresh()
    view = cluster.client.get("clusterroles", "system:discovery")
    cluster.client.update({**view, "rules": [MORE]})
    again = Cluster.load(cluster.dump())
    assert again.client.list("clusterroles") == cluster.client.list("clusterroles")
    assert b"system:aggregate-to-view" in cluster.dump()
    assert rules(again, "system:discovery") == [MORE]


def test_the_table_is_the_one_that_snapshots_were_folded_with():
    """When this fails, old snapshots would change: raise FORMAT, and let a migration unfold them with the old table."""
    table = orjson.dumps(bootstrap_rbac.objects(), option=orjson.OPT_SORT_KEYS)
    assert hashlib.sha256(table).hexdigest()[:16] == TABLE
