"""OpenAPI v3, health and metrics.k8s.io: asked in process, and by the real kubectl."""

import json

import pytest

from app.apimachinery import clock
from app.apis import scheme
from app.cluster.cluster import Cluster
from tests.kubeapi.asking import NOW, TABLE, Server, loaded, pod
from tests.kubeapi.binary import OneCluster

METRICS = "/apis/metrics.k8s.io/v1beta1"


@pytest.fixture(scope="module")
def backend():
    cluster = Cluster.new(seed=7, now=NOW)
    cluster.client.create(pod("bee", labels={"app": "bee"}))
    cluster.advance_to(NOW + 120 * clock.SECOND)
    return OneCluster(cluster)


@pytest.fixture
def server():
    return Server()


def rows(text):
    return [line.split() for line in text.splitlines()]


class TestOpenApi:
    def test_the_index_names_a_document_for_each_stored_group_version(self, server):
        paths = server.get("/openapi/v3")["paths"]
        stored = {f"{'apis' if info.group else 'api'}/{info.api_version}" for info in scheme.KINDS}
        assert set(paths) == stored
        assert paths["api/v1"]["serverRelativeURL"].startswith("/openapi/v3/api/v1?hash=")

    def test_every_reference_of_a_document_leads_somewhere(self, server):
        for name in server.get("/openapi/v3")["paths"]:
            body = server.ask("GET", f"/openapi/v3/{name}").body.decode()
            schemas = json.loads(body)["components"]["schemas"]
            named = {part.split('"')[0] for part in body.split('"#/components/schemas/')[1:]}
            assert named
            assert named <= set(schemas), name

    def test_patches_take_field_validation(self, server):
        document = server.get("/openapi/v3/apis/apps/v1")
        operation = document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
        assert operation["x-kubernetes-group-version-kind"] == {"group": "apps", "kind": "Deployment", "version": "v1"}
        assert "fieldValidation" in [parameter["name"] for parameter in operation["parameters"]]

    def test_documents_can_be_kept_by_clients(self, server):
        first = server.ask("GET", "/openapi/v3/api/v1")
        assert first.headers["etag"] == server.ask("GET", "/openapi/v3/api/v1").headers["etag"]

    def test_real_kubectl_explains_fields(self, kubectl):
        text = kubectl.run("explain pod.spec")
        assert text.startswith("KIND:       Pod\nVERSION:    v1\n\nFIELD: spec <PodSpec>")
        assert "  containers\t<[]Container> -required-" in text
        nested = kubectl.run("explain deployment.spec.strategy --recursive")
        assert "GROUP:      apps" in nested
        assert "  rollingUpdate\t<RollingUpdateDeployment>" in nested
        assert "    maxSurge\t<IntOrString>" in nested

    def test_real_kubectl_leaves_strict_decoding_to_the_server(self, kubectl):
        body = json.dumps({**pod("wasp"), "spec": {**pod("wasp")["spec"], "tolerationz": []}})
        assert kubectl.run("apply -f -", stdin=body, code=1) == (
            'Error from server (BadRequest): error when creating "STDIN": Pod in version "v1" cannot be handled as a '
            'Pod: strict decoding error: unknown field "spec.tolerationz"\n'
        )

    def test_real_kubectl_does_not_know_a_kind_that_is_not_served(self, kubectl):
        text = kubectl.run("create -f -", stdin='{"apiVersion":"v1","kind":"Podd","metadata":{"name":"x"}}', code=1)
        assert 'no matches for kind "Podd" in version "v1"' in text


class TestHealth:
    @pytest.mark.parametrize("root", ["healthz", "livez", "readyz"])
    def test_each_check_is_told_where_asked_for(self, server, root):
        text = server.ask("GET", f"/{root}?verbose=").body.decode()
        assert text.startswith("[+]ping ok\n[+]log ok\n[+]etcd ok\n")
        assert text.endswith(f"{root} check passed\n")

    def test_one_check_has_its_own_path(self, server):
        assert server.ask("GET", "/livez/etcd").body == b"ok"
        assert server.ask("GET", "/livez/nothing").code == 404


class TestMetrics:
    def test_discovery_names_them(self, server):
        assert f"{METRICS[6:]}" in [v["groupVersion"] for g in server.get("/apis")["groups"] for v in g["versions"]]
        resources = {r["name"]: r for r in server.get(METRICS)["resources"]}
        assert resources["pods"]["verbs"] == ["get", "list"]
        assert not resources["nodes"]["namespaced"]

    def test_a_pod_is_measured_by_container(self, backend):
        body = loaded(ask(backend, f"{METRICS}/namespaces/default/pods/bee"))
        assert body["kind"] == "PodMetrics"
        assert body["containers"] == [{"name": "c", "usage": {"cpu": "1000000n", "memory": "8192Ki"}}]
        assert body["window"] == "15s"

    def test_labels_choose(self, backend):
        assert len(loaded(ask(backend, f"{METRICS}/pods?labelSelector=app=bee"))["items"]) == 1
        assert loaded(ask(backend, f"{METRICS}/pods?labelSelector=app=wasp"))["items"] == []

    def test_what_was_not_measured_is_not_found(self, backend):
        status = loaded(ask(backend, f"{METRICS}/namespaces/default/pods/x"), 404)
        assert status["message"] == 'podmetrics.metrics.k8s.io "default/x" not found'
        status = loaded(ask(backend, f"{METRICS}/nodes/x"), 404)
        assert status["message"] == 'nodemetrics.metrics.k8s.io "x" not found'

    def test_they_cannot_be_written_or_watched(self, backend):
        assert ask(backend, f"{METRICS}/nodes?watch=true").code == 405
        assert ask(backend, f"{METRICS}/nodes", "POST").code == 405

    def test_a_table_shows_sums(self, backend):
        table = loaded(ask(backend, f"{METRICS}/namespaces/default/pods", accept=TABLE))
        assert [row["cells"] for row in table["rows"]] == [["bee", "1000000n", "8192Ki", "15s"]]

    def test_a_pod_that_just_began_has_not_been_measured(self):
        young = OneCluster(Cluster.new(seed=7, now=NOW))
        young.cluster.client.create(pod("bee"))
        young.advance(20)
        assert loaded(ask(young, f"{METRICS}/namespaces/default/pods"))["items"] == []
        young.advance(40)
        assert len(loaded(ask(young, f"{METRICS}/namespaces/default/pods"))["items"]) == 1

    def test_real_kubectl_shows_the_top_nodes(self, kubectl, backend):
        header, *body = rows(kubectl.run("top nodes"))
        assert header == ["NAME", "CPU(cores)", "CPU(%)", "MEMORY(bytes)", "MEMORY(%)"]
        assert [row[0] for row in body] == [node["metadata"]["name"] for node in backend.cluster.client.list("nodes")]

    def test_real_kubectl_shows_the_top_containers(self, kubectl):
        header, *body = rows(kubectl.run("top pods -A --containers"))
        assert header == ["NAMESPACE", "POD", "NAME", "CPU(cores)", "MEMORY(bytes)"]
        assert ["default", "bee", "c", "1m", "8Mi"] in body
        assert any(row[1].startswith("etcd-") for row in body)


def ask(backend, url, method="GET", accept="application/json"):
    return Server.ask(backend.cluster, method, url, accept=accept)
