"""The real kubectl on events, in both of their views."""

import json

import pytest

from app.apimachinery import clock
from app.cluster.cluster import Cluster
from tests.kubeapi.asking import NOW, pod
from tests.kubeapi.binary import OneCluster
from tests.kubeapi.test_new_events import new_event


@pytest.fixture(scope="module")
def backend():
    cluster = Cluster.new(seed=7, now=NOW)
    cluster.client.create(pod("bee"))
    cluster.advance_to(NOW + 60 * clock.SECOND)
    return OneCluster(cluster)


def rows(text):
    return [line.split() for line in text.splitlines()]


def test_kubectl_events_tells_what_happened_to_a_pod(kubectl):
    header, *found = rows(kubectl.run("events --for pod/bee"))
    assert header == ["LAST", "SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
    assert {row[2] for row in found} >= {"Scheduled", "Pulled", "Started"}
    assert {row[3] for row in found} == {"Pod/bee"}


def test_events_are_listed_through_their_newer_group(kubectl):
    header, *found = rows(kubectl.run("get events.v1.events.k8s.io"))
    assert header == ["LAST", "SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
    assert "Scheduled" in {row[2] for row in found}
    listed = json.loads(kubectl.run("get events.events.k8s.io --field-selector regarding.name=bee -o json"))
    assert {item["apiVersion"] for item in listed["items"]} == {"events.k8s.io/v1"}
    assert {item["regarding"]["kind"] for item in listed["items"]} == {"Pod"}


def test_both_views_are_among_the_resources(kubectl):
    found = [row for row in rows(kubectl.run("api-resources")) if row[0] == "events"]
    assert [row[1:3] for row in found] == [["ev", "v1"], ["ev", "events.k8s.io/v1"]]


def test_a_newer_event_is_applied_explained_and_deleted(kubectl):
    kubectl.run("create -f -", stdin=json.dumps(new_event()))
    assert "Successfully assigned default/bee" in kubectl.run("get events bee.2 -o jsonpath={.message}")
    assert "regarding" in kubectl.run("explain events --api-version=events.k8s.io/v1")
    assert kubectl.run("delete events.events.k8s.io bee.2") == (
        'event.events.k8s.io "bee.2" deleted from default namespace\n'
    )
