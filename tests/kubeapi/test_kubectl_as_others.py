"""The real kubectl as other people: --as, --as-group, --as-uid."""

import json

import pytest

from app.apimachinery import clock
from app.cluster.cluster import Cluster
from tests.kubeapi.asking import NOW, pod
from tests.kubeapi.binary import OneCluster


@pytest.fixture(scope="module")
def backend():
    cluster = Cluster.new(seed=7, now=NOW)
    cluster.client.create(pod("bee"))
    cluster.advance_to(NOW + 30 * clock.SECOND)
    return OneCluster(cluster)


def whoami(kubectl, flags):
    return json.loads(kubectl.run(f"auth whoami -o json {flags}"))["status"]["userInfo"]


def test_without_flags_it_is_the_administrator(kubectl):
    found = whoami(kubectl, "")
    assert found["username"] == "kubernetes-admin"
    assert found["groups"] == ["kubeadm:cluster-admins", "system:authenticated"]


def test_others_have_their_own_names_groups_and_uids(kubectl):
    assert whoami(kubectl, "--as jane --as-uid 4711 --as-group devs --as-group ops") == {
        "username": "jane",
        "uid": "4711",
        "groups": ["devs", "ops", "system:authenticated"],
    }
    assert whoami(kubectl, "--as system:serviceaccount:default:robot")["groups"] == [
        "system:serviceaccounts",
        "system:serviceaccounts:default",
        "system:authenticated",
    ]


def test_whoever_has_no_role_is_refused_by_name(kubectl):
    assert kubectl.run("get pods --as jane", code=1) == (
        'Error from server (Forbidden): pods is forbidden: User "jane" cannot list resource "pods" in API group "" '
        'in the namespace "default"\n'
    )
    told = kubectl.run("drain node01 --ignore-daemonsets --as jane", code=1)
    assert 'nodes "node01" is forbidden: User "jane" cannot get resource "nodes" in API group ""' in told


def test_a_role_is_given_to_a_user_and_to_a_group(kubectl):
    kubectl.run("create role reader --verb=get,list --resource=pods")
    kubectl.run("create rolebinding reads --role=reader --user=jane")
    assert kubectl.run("get pods --as jane -o name") == "pod/bee\n"
    assert kubectl.run("auth can-i list pods --as jane") == "yes\n"
    assert kubectl.run("auth can-i delete pods --as jane", code=1) == ""
    kubectl.run("create clusterrolebinding looks --clusterrole=view --group=devs")
    assert kubectl.run("get pods -A --as joe --as-group devs -o name")
    assert "Forbidden" in kubectl.run("get pods -A --as joe", code=1)
    assert "Forbidden" in kubectl.run("delete pod bee --as jane", code=1)


def test_the_masters_may_do_all(kubectl):
    assert kubectl.run("get secrets -A --as anybody --as-group system:masters") == ""


def test_groups_and_uids_need_a_user(kubectl):
    told = kubectl.run("get pods --as-group devs", code=1)
    assert "without impersonating a user" in told
