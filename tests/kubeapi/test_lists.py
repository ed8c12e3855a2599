"""Lists by the letter: chunks, revisions, field selectors, options that do not fit together."""

import pytest

from app.cluster.store import LOG_LIMIT
from tests.kubeapi.asking import Server, events, loaded, node, pod

PODS = "/api/v1/namespaces/default/pods"
ALL = "/api/v1/pods"
FORBIDDEN = "resourceVersionMatch: Forbidden: resourceVersionMatch"


@pytest.fixture
def server():
    made = Server()
    for name in "abcd":
        made.client.create(pod(name))
    made.client.create(node("node01"))
    return made


def names(body):
    return [item["metadata"]["name"] for item in body["items"]]


def churn(server):
    for _ in range(LOG_LIMIT // 2 + 1):
        server.client.create(pod("x"))
        server.client.delete("pods", "x", "default", 0)


class TestChunks:
    def test_later_chunks_show_the_state_of_the_first(self, server):
        first = server.get(f"{PODS}?limit=2")
        server.client.delete("pods", "c", "default", 0)
        server.client.create(pod("bb"))
        server.client.bind("default", "d", "node01")
        second = server.get(f"{PODS}?limit=2&continue={first['metadata']['continue']}")
        assert names(first) + names(second) == ["a", "b", "c", "d"]
        assert "nodeName" not in second["items"][1]["spec"]
        assert second["metadata"] == {"resourceVersion": first["metadata"]["resourceVersion"]}

    def test_a_token_of_a_compacted_revision_is_answered_with_one_that_goes_on(self, server):
        first = server.get(f"{PODS}?limit=2")
        churn(server)
        server.client.create(pod("cc"))
        status = loaded(server.ask("GET", f"{PODS}?limit=5&continue={first['metadata']['continue']}"), 410)
        assert status["reason"] == "Expired"
        assert status["message"].startswith("The provided continue parameter is too old to display a consistent list")
        rest = server.get(f"{PODS}?limit=5&continue={status['metadata']['continue']}")
        assert names(rest) == ["c", "cc", "d"]
        assert rest["metadata"]["resourceVersion"] == str(server.client.revision)

    def test_what_remains_is_not_counted_where_selectors_choose(self, server):
        assert server.get(f"{PODS}?limit=1")["metadata"]["remainingItemCount"] == 3
        chosen = server.get(f"{PODS}?limit=1&fieldSelector=status.phase=Pending")["metadata"]
        assert "remainingItemCount" not in chosen
        assert chosen["continue"]

    def test_a_revision_beside_a_token_is_refused(self, server):
        token = server.get(f"{PODS}?limit=2")["metadata"]["continue"]
        status = loaded(server.ask("GET", f"{PODS}?continue={token}&resourceVersion=5"), 400)
        assert status["message"] == "specifying resource version is not allowed when using continue"


class TestRevisions:
    def test_an_exact_revision_shows_what_was_there(self, server):
        then = server.client.revision
        server.client.delete("pods", "a", "default", 0)
        body = server.get(f"{PODS}?resourceVersion={then}&resourceVersionMatch=Exact")
        assert names(body) == ["a", "b", "c", "d"]
        assert body["metadata"]["resourceVersion"] == str(then)

    def test_an_exact_revision_that_is_gone_has_expired(self, server):
        then = server.client.revision
        churn(server)
        status = loaded(server.ask("GET", f"{ALL}?resourceVersion={then}&resourceVersionMatch=Exact"), 410)
        assert status["message"] == "The resourceVersion for the provided list is too old."

    def test_a_list_not_older_than_a_revision_is_the_newest(self, server):
        then = server.client.revision
        server.client.create(pod("e"))
        body = server.get(f"{PODS}?resourceVersion={then}&resourceVersionMatch=NotOlderThan")
        assert names(body)[-1] == "e"
        assert body["metadata"]["resourceVersion"] == str(server.client.revision)

    @pytest.mark.parametrize("path", [PODS, f"{PODS}/a"])
    def test_a_revision_that_is_not_reached_yet_is_too_large(self, server, path):
        newest = server.client.revision
        status = loaded(server.ask("GET", f"{path}?resourceVersion={newest + 5}"), 504)
        assert status["reason"] == "Timeout"
        assert status["message"] == f"Timeout: Too large resource version: {newest + 5}, current: {newest}"
        assert status["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"

    @pytest.mark.parametrize(
        ("query", "says"),
        [
            (
                "resourceVersionMatch=Exact",
                "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
            ),
            (
                "resourceVersion=1&resourceVersionMatch=Newest",
                'resourceVersionMatch: Unsupported value: "Newest": supported values: "Exact", "NotOlderThan", ""',
            ),
            (
                "resourceVersion=0&resourceVersionMatch=Exact",
                'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
            ),
            ("sendInitialEvents=true", "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"),
            (
                "watch=true&resourceVersionMatch=NotOlderThan",
                f"{FORBIDDEN} is forbidden for watch unless sendInitialEvents is provided",
            ),
        ],
    )
    def test_options_that_do_not_fit_together_are_invalid(self, server, query, says):
        status = loaded(server.ask("GET", f"{PODS}?{query}"), 422)
        assert status["message"] == f'ListOptions.meta.k8s.io "" is invalid: {says}'
        assert status["details"]["kind"] == "ListOptions"


class TestFieldSelectors:
    @pytest.mark.parametrize(
        ("path", "field", "says"),
        [
            (PODS, "spec.foo", "field label not supported: spec.foo"),
            ("/api/v1/nodes", "metadata.namespace", "field label not supported: metadata.namespace"),
            ("/apis/batch/v1/jobs", "status.active", 'field label "status.active" not supported for batchv1.Job'),
            (
                "/apis/apps/v1/deployments",
                "status.replicas",
                '"status.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"',
            ),
            (
                "/apis/resource.k8s.io/v1/resourceslices",
                "spec.pool.name",
                "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.pool.name",
            ),
        ],
    )
    def test_a_field_that_cannot_be_selected_by_is_refused_even_where_nothing_is(self, server, path, field, says):
        status = loaded(server.ask("GET", f"{path}?fieldSelector={field}=x"), 400)
        assert status["message"] == says

    def test_services_are_selected_by_type(self, server):
        for name, kind in (("a", "ClusterIP"), ("b", "NodePort")):
            spec = {"type": kind, "ports": [{"port": 80}], "selector": {"app": "x"}}
            server.client.create({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec})
        assert names(server.get("/api/v1/services?fieldSelector=spec.type=NodePort")) == ["b"]

    def test_jobs_are_selected_by_how_many_succeeded(self, server):
        template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox"}]}}
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": template}}
        server.client.create(job)
        assert names(server.get("/apis/batch/v1/jobs?fieldSelector=status.successful=0")) == ["j"]
        assert names(server.get("/apis/batch/v1/jobs?fieldSelector=status.successful!=0")) == []

    def test_a_collection_is_not_deleted_by_a_field_that_is_refused(self, server):
        assert server.ask("DELETE", f"{PODS}?fieldSelector=spec.foo=1").code == 400
        assert len(server.get(PODS)["items"]) == 4


def test_a_watch_from_a_state_that_was_stepped_back_from_has_ended(server):
    beyond = server.client.revision + 7
    lines, reached = events(server.ask("GET", f"{PODS}?watch=true&resourceVersion={beyond}"))
    assert reached == -1
    assert (lines[0]["type"], lines[0]["object"]["code"]) == ("ERROR", 410)
    assert lines[0]["object"]["message"] == f"too old resource version: {beyond} ({beyond - 7})"
