"""What the admission of service accounts adds to pods, and what it refuses."""

from __future__ import annotations

import pytest

from app.apimachinery.errors import Forbidden
from app.cluster.cluster import Cluster
from tests.cluster.apiserver.making import named, pod, server
from tests.cluster.builders import SECOND, events, fresh

PATH = "/var/run/secrets/kubernetes.io/serviceaccount"


@pytest.fixture
def client():
    found, _ = server()
    return found


def account(client, name="robot", **fields):
    return client.create(named("v1", "ServiceAccount", name, namespace="default", **fields))


def mounts(container):
    return [mount for mount in container.get("volumeMounts") or [] if mount["mountPath"] == PATH]


class TestToken:
    def test_every_container_mounts_the_token_certificate_and_namespace(self, client):
        made = client.create(pod(initContainers=[{"name": "i", "image": "busybox"}]))["spec"]
        (volume,) = made["volumes"]
        assert volume["name"].startswith("kube-api-access-")
        assert len(volume["name"]) == len("kube-api-access-") + 5
        assert volume["projected"] == {
            "defaultMode": 420,
            "sources": [
                {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                {
                    "downwardAPI": {
                        "items": [
                            {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
                        ]
                    }
                },
            ],
        }
        for container in (*made["initContainers"], *made["containers"]):
            assert mounts(container) == [{"name": volume["name"], "mountPath": PATH, "readOnly": True}]

    def test_each_pod_has_its_own_volume_and_the_seed_decides_how_it_is_called(self, client):
        first, second = (client.create(pod(name))["spec"]["volumes"][0]["name"] for name in ("a", "b"))
        assert first != second
        again, _ = server()
        assert again.create(pod("a"))["spec"]["volumes"][0]["name"] == first

    def test_the_pod_or_else_the_account_may_do_without(self, client):
        account(client, automountServiceAccountToken=False)
        assert "volumes" not in client.create(pod("a", serviceAccountName="robot"))["spec"]
        assert "volumes" not in client.create(pod("b", automountServiceAccountToken=False))["spec"]
        asked = client.create(pod("c", serviceAccountName="robot", automountServiceAccountToken=True))
        assert mounts(asked["spec"]["containers"][0])

    def test_what_is_already_mounted_there_stays(self, client):
        own = {"volumeMounts": [{"name": "own", "mountPath": PATH}]}
        made = client.create(pod(container=own, volumes=[{"name": "own", "emptyDir": {}}]))["spec"]
        assert mounts(made["containers"][0]) == own["volumeMounts"]
        assert [volume["name"] for volume in made["volumes"]] == ["own"]

    def test_a_volume_of_that_name_that_is_there_is_used(self, client):
        volume = {
            "name": "kube-api-access-mine",
            "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]},
        }
        made = client.create(pod(volumes=[volume]))["spec"]
        assert [item["name"] for item in made["volumes"]] == ["kube-api-access-mine"]
        assert mounts(made["containers"][0])[0]["name"] == "kube-api-access-mine"

    def test_a_manifest_without_the_volume_no_longer_replaces_the_pod(self, client):
        client.create(pod())
        with pytest.raises(Exception, match="pod updates may not change fields other than"):
            client.update(pod())

    def test_templates_stay_as_they_are(self, client):
        template = {"metadata": {"labels": {"a": "b"}}, "spec": pod()["spec"]}
        spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
        made = client.create(named("apps/v1", "Deployment", "web", spec=spec))
        assert "volumes" not in made["spec"]["template"]["spec"]


class TestAccounts:
    def test_pull_secrets_come_from_the_account_where_the_pod_has_none(self, client):
        account(client, imagePullSecrets=[{"name": "registry"}])
        assert client.create(pod("a", serviceAccountName="robot"))["spec"]["imagePullSecrets"] == [{"name": "registry"}]
        own = client.create(pod("b", serviceAccountName="robot", imagePullSecrets=[{"name": "own"}]))
        assert own["spec"]["imagePullSecrets"] == [{"name": "own"}]

    def test_an_unknown_account_is_refused(self, client):
        with pytest.raises(Forbidden) as caught:
            client.create(pod(serviceAccountName="eve"))
        assert caught.value.message == (
            'pods "bee" is forbidden: error looking up service account default/eve: serviceaccount "eve" not found'
        )

    def test_an_account_may_be_held_to_its_secrets(self, client):
        account(client, secrets=[{"name": "mine"}])
        current = client.get("serviceaccounts", "robot")
        marked = {**current["metadata"], "annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}
        client.update({**current, "metadata": marked})

        def told(**spec):
            with pytest.raises(Forbidden) as caught:
                client.create(pod(serviceAccountName="robot", **spec))
            return caught.value.message

        after = "is not allowed because service account robot does not reference that secret"
        volume = {"name": "v", "secret": {"secretName": "other"}}
        assert told(volumes=[volume]) == f'pods "bee" is forbidden: volume with secret.secretName="other" {after}'
        variable = {"name": "A", "valueFrom": {"secretKeyRef": {"name": "other", "key": "k"}}}
        assert told(container={"env": [variable]}) == (
            f'pods "bee" is forbidden: container c with envVar A referencing secret.secretName="other" {after}'
        )
        assert told(imagePullSecrets=[{"name": "other"}]) == (
            'pods "bee" is forbidden: imagePullSecrets[0].name="other" is not allowed because service account robot '
            "does not reference that imagePullSecret"
        )
        allowed = {"name": "v", "secret": {"secretName": "mine"}}
        assert client.create(pod(serviceAccountName="robot", volumes=[allowed]))

    @pytest.mark.parametrize(
        ("spec", "problem"),
        [
            ({"serviceAccountName": "default"}, "a mirror pod may not reference service accounts"),
            ({"imagePullSecrets": [{"name": "s"}]}, "a mirror pod may not reference secrets"),
            ({"volumes": [{"name": "v", "secret": {"secretName": "s"}}]}, "a mirror pod may not reference secrets"),
            (
                {"volumes": [{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]},
                "a mirror pod may not use ServiceAccountToken volume projections",
            ),
        ],
    )
    def test_mirror_pods_refer_to_nothing_of_the_kind(self, client, spec, problem):
        mirror = pod(nodeName="node01", **spec)
        mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
        with pytest.raises(Forbidden) as caught:
            client.create(mirror)
        assert caught.value.message == f'pods "bee" is forbidden: {problem}'

    def test_a_mirror_pod_is_given_no_token(self, client):
        mirror = pod(nodeName="node01")
        mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
        assert "volumes" not in client.create(mirror)["spec"]


class TestInACluster:
    def test_system_pods_have_it_but_static_ones(self):
        cluster = fresh()
        with_token = {
            item["metadata"]["name"].partition("-")[0]
            for item in cluster.client.list("pods", "kube-system")
            if any(volume["name"].startswith("kube-api-access-") for volume in item["spec"]["volumes"])
        }
        assert with_token == {"coredns", "kube"}
        static = cluster.client.get("pods", "kube-scheduler-controlplane", "kube-system")
        assert not mounts(static["spec"]["containers"][0])

    def test_a_pod_waits_for_the_certificate_of_its_namespace(self):
        cluster = fresh()
        volume = {"name": "v", "projected": {"sources": [{"configMap": {"name": "later"}}]}}
        cluster.client.create(pod(volumes=[volume]))
        cluster.advance_to(cluster.now + 5 * SECOND)
        failed = ("FailedMount", 'MountVolume.SetUp failed for volume "v" : configmap "later" not found')
        assert failed in events(cluster, "bee")
        cluster.client.create(named("v1", "ConfigMap", "later", namespace="default", data={"a": "b"}))
        loaded = Cluster.load(cluster.dump())
        loaded.settle()
        assert loaded.client.get("pods", "bee", "default")["status"]["phase"] == "Running"
