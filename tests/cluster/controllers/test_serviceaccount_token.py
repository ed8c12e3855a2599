"""Secrets for a lasting token: filled for accounts that are there, removed with them."""

from __future__ import annotations

import base64

import pytest

from app.apimachinery.errors import NotFound
from app.cluster.cluster import Cluster
from tests.cluster.builders import SECOND, fresh

NAME, UID = "kubernetes.io/service-account.name", "kubernetes.io/service-account.uid"


@pytest.fixture(scope="module")
def base():
    cluster = fresh()
    metadata = {"name": "robot", "namespace": "default"}
    cluster.client.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    return cluster


@pytest.fixture
def cluster(base):
    return base.fork()


def holder(account="robot", name="robot-token", kind="kubernetes.io/service-account-token", **fields):
    metadata = {"name": name, "namespace": "default", "annotations": {NAME: account}}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": kind, **fields}


def step(cluster, seconds=1):
    cluster.advance_to(cluster.now + seconds * SECOND)


def data(cluster, name="robot-token"):
    found = cluster.client.get("secrets", name, "default").get("data") or {}
    return {key: base64.b64decode(value).decode() for key, value in found.items()}


def test_a_secret_gets_token_certificate_and_namespace(cluster):
    cluster.client.create(holder())
    step(cluster)
    filled = data(cluster)
    assert set(filled) == {"token", "ca.crt", "namespace"}
    assert filled["namespace"] == "default"
    assert filled["ca.crt"].startswith("-----BEGIN CERTIFICATE-----")
    account = cluster.client.get("serviceaccounts", "robot", "default")
    found = cluster.client.get("secrets", "robot-token", "default")
    assert found["metadata"]["annotations"][UID] == account["metadata"]["uid"]


def test_its_token_is_the_accounts_for_as_long_as_the_secret_is_there(cluster):
    cluster.client.create(holder())
    step(cluster)
    token = data(cluster)["token"]
    step(cluster, 400 * 24 * 3600)
    user = cluster.client.bearer(token).user
    assert user.name == "system:serviceaccount:default:robot"
    assert user.groups == ("system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated")
    cluster.client.delete("secrets", "robot-token", "default")
    assert cluster.client.bearer(token).error == "service account token has been invalidated"
    cluster.client.create(holder(stringData={"token": "x"}))
    step(cluster)
    assert data(cluster)["token"] == "x"
    assert cluster.client.bearer(token).error == "service account token does not match server's copy"


def test_a_secret_goes_with_its_account(cluster):
    cluster.client.create(holder())
    step(cluster)
    cluster.client.delete("serviceaccounts", "robot", "default")
    step(cluster)
    with pytest.raises(NotFound):
        cluster.client.get("secrets", "robot-token", "default")


def test_a_secret_for_nobody_is_removed(cluster):
    cluster.client.create(holder("eve"))
    step(cluster)
    assert cluster.client.find("secrets", "robot-token", "default") is None


def test_other_secrets_are_left_alone(cluster):
    cluster.client.create(holder(kind="Opaque"))
    step(cluster)
    assert data(cluster) == {}


def test_what_was_taken_out_comes_back_and_rest_costs_nothing(cluster):
    cluster.client.create(holder())
    step(cluster)
    found = cluster.client.get("secrets", "robot-token", "default")
    cluster.client.update({**found, "data": {}})
    loaded = Cluster.load(cluster.dump())
    step(loaded)
    assert data(loaded)["token"] == base64.b64decode(found["data"]["token"]).decode()
    before = loaded.client.revision
    step(loaded, 600)
    assert loaded.client.revision == before


def test_an_immutable_one_stays_as_it_is(cluster):
    cluster.client.create(holder(immutable=True))
    step(cluster, 10)
    assert data(cluster) == {}
