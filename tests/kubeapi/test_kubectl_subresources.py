"""The real kubectl on subresources: debugging, resizing, finalizing."""

import json

import httpx
import pytest

from app.apimachinery import clock
from app.cluster.cluster import Cluster
from tests.kubeapi.asking import NOW, pod
from tests.kubeapi.binary import OneCluster


@pytest.fixture(scope="module")
def backend():
    cluster = Cluster.new(seed=7, now=NOW)
    sized = pod("bee")
    sized["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100m", "memory": "64Mi"}}
    cluster.client.create(sized)
    cluster.advance_to(NOW + 60 * clock.SECOND)
    return OneCluster(cluster)


def test_kubectl_debug_adds_an_ephemeral_container(kubectl, backend):
    told = kubectl.run("debug bee --image=busybox --target=c -c look -- sleep 1000")
    assert 'Targeting container "c"' in told or told == ""
    backend.advance(10)
    found = json.loads(kubectl.run("get pod bee -o json"))["status"]["ephemeralContainerStatuses"]
    assert [(item["name"], "running" in item["state"]) for item in found] == [("look", True)]
    described = kubectl.run("describe pod bee")
    assert "Ephemeral Containers:\n  look:" in described
    assert "Started    kubelet" in described or "Started" in described


def test_a_pod_is_resized_by_a_patch_of_the_subresource(kubectl, backend):
    patch = '{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"150m"}}}]}}'
    told = kubectl.run(f"patch pod bee --subresource resize --patch {patch}")
    assert told == "pod/bee patched\n"
    backend.advance(5)
    read = kubectl.run("get pod bee -o jsonpath={.status.containerStatuses[0].resources.requests.cpu}")
    assert read == "150m"
    refused = kubectl.run(f"patch pod bee --patch {patch.replace('150m', '160m')}", code=1)
    assert "pod updates may not change fields other than" in refused
    assert "PodResizePending" not in kubectl.run("describe pod bee")


def test_a_refused_resize_is_told_in_the_words_of_the_server(kubectl):
    patch = '{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":null}}}]}}'
    told = kubectl.run(f"patch pod bee --subresource resize --patch {patch}", code=1)
    assert told == (
        'The Pod "bee" is invalid: spec.containers[0].resources.requests: Forbidden: '
        "resource requests cannot be removed\n"
    )


def test_the_subresources_are_announced(kubectl):
    found = json.loads(kubectl.run("get --raw /api/v1"))["resources"]
    named = {item["name"]: (item["kind"], item["verbs"]) for item in found}
    for name in ("pods/ephemeralcontainers", "pods/resize"):
        assert named[name] == ("Pod", ["get", "patch", "update"])
    assert named["namespaces/finalize"] == ("Namespace", ["update"])
    assert json.loads(kubectl.run("get pod bee --subresource=resize -o json"))["kind"] == "Pod"


def test_a_namespace_that_hangs_is_finalized_by_hand(kubectl, backend):
    kubectl.run("create ns away")
    namespace = json.loads(kubectl.run("get ns away -o json"))
    namespace["spec"] = {"finalizers": ["example.com/mine"]}
    path = "/api/v1/namespaces/away/finalize"
    assert "example.com/mine" in kubectl.run(f"replace --raw {path} -f -", stdin=json.dumps(namespace))
    kubectl.run("delete ns away --wait=false")
    backend.advance(60)
    hanging = json.loads(kubectl.run("get ns away -o json"))
    assert hanging["status"]["phase"] == "Terminating"
    hanging["spec"] = {}
    kubectl.run(f"replace --raw {path} -f -", stdin=json.dumps(hanging))
    assert "NotFound" in kubectl.run("get ns away", code=1)


def test_a_token_is_created_and_used(kubectl, backend):
    token = kubectl.run("create token default --duration=20m").strip()
    assert token.count(".") == 2
    told = kubectl.run("create token default --duration=1m", code=1)
    assert "spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes" in told
    bound = json.loads(kubectl.run("create token default --bound-object-kind=Pod --bound-object-name=bee -o json"))
    assert bound["spec"]["boundObjectRef"]["name"] == "bee"
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
    told = kubectl.run("create -f - -o json", stdin=json.dumps(review))
    assert json.loads(told)["status"]["user"]["username"] == "system:serviceaccount:default:default"
    address = kubectl.run("config view -o jsonpath={.clusters[0].cluster.server}")
    refused = httpx.get(f"{address}/api/v1/nodes", headers={"authorization": f"Bearer {token}"})
    assert refused.status_code == 403
    assert 'User "system:serviceaccount:default:default" cannot list resource "nodes"' in refused.json()["message"]


def test_a_lasting_token_stands_in_a_secret(kubectl, backend):
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "lasting", "annotations": {"kubernetes.io/service-account.name": "default"}},
        "type": "kubernetes.io/service-account-token",
    }
    kubectl.run("apply -f -", stdin=json.dumps(secret))
    backend.advance(1)
    token = kubectl.run("get secret lasting -o go-template={{.data.token|base64decode}}")
    address = kubectl.run("config view -o jsonpath={.clusters[0].cluster.server}")
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    who = httpx.post(f"{address}{path}", headers={"authorization": f"Bearer {token}"}, json={})
    assert who.json()["status"]["userInfo"]["username"] == "system:serviceaccount:default:default"
