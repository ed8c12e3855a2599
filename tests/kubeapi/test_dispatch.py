"""Requests and answers of the API, asked in process on a store without controllers."""

import json

import pytest

from app.cluster.apiserver import discovery, dispatch
from tests.kubeapi.asking import AGGREGATED, TABLE, Server, events, loaded, node, pod, request

PODS = "/api/v1/namespaces/default/pods"
MERGE = "application/merge-patch+json"


@pytest.fixture
def server():
    return Server()


@pytest.fixture
def filled(server):
    for name, labels in (("a", {"app": "web"}), ("b", {"app": "web"}), ("c", {"app": "db"})):
        server.client.create(pod(name, labels=labels))
    server.client.create(pod("d", "kube-system"))
    server.client.create(node("node01", disk="ssd"))
    return server


@pytest.mark.parametrize(
    ("path", "text"), [("/healthz", "ok"), ("/readyz", "ok"), ("/livez", "ok"), ("/livez/ping", "ok")]
)
def test_health_is_ok(server, path, text):
    assert server.ask("GET", path).body.decode() == text


def test_the_version_is_the_one_of_the_exam(server):
    version = server.get("/version/")
    assert (version["gitVersion"], version["major"], version["minor"]) == ("v1.35.7", "1", "35")


def test_the_openapi_document_that_kubectl_asks_for_is_28_bytes(server):
    answer = server.ask("GET", "/openapi/v2", accept="application/com.github.proto-openapi.spec.v2@v1.0+protobuf")
    assert (answer.code, len(answer.body)) == (200, 28)


@pytest.mark.parametrize(
    "path", ["/nothing", "/openapi/v3/api/v2", "/apis/apps/v2", "/apis/nothing.io/v1/things", "/api", "/apis", ""]
)
def test_an_unknown_path_is_not_found(server, path):
    assert server.ask("POST", path).code == 404
    if path not in ("/api", "/apis", ""):
        assert server.ask("GET", path).code == 404


class TestDiscovery:
    def test_both_forms_name_the_same_resources(self, server):
        aggregated = set()
        for root in ("/api", "/apis"):
            for group in server.get(root, accept=AGGREGATED)["items"]:
                for version in group["versions"]:
                    for resource in version["resources"]:
                        names = [
                            resource["resource"],
                            *(f"{resource['resource']}/{s['subresource']}" for s in resource.get("subresources", [])),
                        ]
                        aggregated |= {(group["metadata"].get("name", ""), version["version"], name) for name in names}
        older = {("", "v1", r["name"]) for r in server.get("/api/v1")["resources"]}
        for group in server.get("/apis")["groups"]:
            for version in group["versions"]:
                resources = server.get(f"/apis/{version['groupVersion']}")["resources"]
                older |= {(group["name"], version["version"], r["name"]) for r in resources}
        assert aggregated == older
        assert ("apps", "v1", "deployments/scale") in older
        assert ("", "v1", "pods/binding") in older

    def test_the_aggregated_form_says_what_it_is(self, server):
        answer = server.ask("GET", "/apis", accept=AGGREGATED)
        assert answer.headers["content-type"] == "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
        assert answer.headers["vary"] == "Accept"
        plain = server.ask("GET", "/apis")
        assert plain.headers["content-type"] == "application/json"
        assert answer.headers["etag"] != plain.headers["etag"]
        assert answer.headers["etag"] == server.ask("GET", "/apis", accept=AGGREGATED).headers["etag"]

    def test_short_names_and_categories_are_told(self, server):
        pods = next(r for r in server.get("/api/v1")["resources"] if r["name"] == "pods")
        assert pods["shortNames"] == ["po"]
        assert pods["categories"] == ["all"]
        assert pods["singularName"] == "pod"
        assert "watch" in pods["verbs"]

    def test_groups_come_in_the_order_of_a_real_server(self):
        groups = [group for group, _ in discovery.group_versions()]
        assert groups[:2] == ["", "apps"]
        assert groups.index("apps") < groups.index("batch") < groups.index("scheduling.k8s.io")

    def test_every_path_that_discovery_names_can_be_listed(self, server):
        for group, version in discovery.group_versions():
            prefix = f"/apis/{group}/{version}" if group else f"/api/{version}"
            for info in discovery.kinds_of(group, version):
                if discovery.verbs_of(info) == ["create"]:
                    continue
                listed = server.get(f"{prefix}/{info.plural}")
                assert listed["kind"] == f"{info.kind}List"
                assert server.get(f"{prefix}/{info.plural}", accept=TABLE)["kind"] == "Table"


def test_a_request_goes_through_json_and_back():
    asked = request("POST", "/api/v1/pods?watch=1&a=b", {"x": 1}, TABLE, "application/json")
    again = dispatch.ApiRequest(**json.loads(json.dumps(asked.head())), body=asked.body)
    assert (again.head(), again.body, again.is_watch) == (asked.head(), asked.body, asked.is_watch)


class TestReading:
    def test_a_list_has_its_items_without_their_type(self, filled):
        listed = filled.get(PODS)
        assert (listed["kind"], listed["apiVersion"]) == ("PodList", "v1")
        assert [item["metadata"]["name"] for item in listed["items"]] == ["a", "b", "c"]
        assert "kind" not in listed["items"][0]
        assert listed["metadata"] == {"resourceVersion": str(filled.client.revision)}

    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ("", ["a", "b", "c", "d"]),
            ("labelSelector=app=web", ["a", "b"]),
            ("labelSelector=app in (db)", ["c"]),
            ("fieldSelector=metadata.name=b", ["b"]),
            ("fieldSelector=metadata.namespace!=default", ["d"]),
            ("fieldSelector=spec.nodeName=,status.phase=Pending&labelSelector=app", ["a", "b", "c"]),
            ("fieldSelector=spec.nodeName=node01", []),
        ],
    )
    def test_selectors_choose(self, filled, query, names):
        listed = filled.get(f"/api/v1/pods?{query}")
        assert [item["metadata"]["name"] for item in listed["items"]] == names

    @pytest.mark.parametrize(
        ("query", "says"),
        [
            ("fieldSelector=spec.foo=1", "field label not supported: spec.foo"),
            ("labelSelector=a in", "unable to parse requirement"),
            ("limit=many", "invalid syntax"),
            ("continue=xx", "continue key is not valid"),
            ("watch=perhaps&timeoutSeconds=soon", "invalid syntax"),
        ],
    )
    def test_a_query_that_makes_no_sense_is_a_bad_request(self, filled, query, says):
        status = loaded(filled.ask("GET", f"{PODS}?{query}"), 400)
        assert status["reason"] == "BadRequest"
        assert says in status["message"]

    def test_a_list_comes_in_chunks(self, filled):
        first = filled.get("/api/v1/pods?limit=3")
        assert len(first["items"]) == 3
        assert first["metadata"]["remainingItemCount"] == 1
        second = filled.get(f"/api/v1/pods?limit=3&continue={first['metadata']['continue']}")
        assert [item["metadata"]["name"] for item in second["items"]] == ["d"]
        assert "continue" not in second["metadata"]

    def test_one_object_comes_whole(self, filled):
        obj = filled.get(f"{PODS}/a")
        assert (obj["kind"], obj["apiVersion"], obj["metadata"]["name"]) == ("Pod", "v1", "a")
        del obj["metadata"]["managedFields"]
        assert obj == filled.client.get("pods", "a", "default")

    def test_a_table_is_made_where_it_is_asked_for(self, filled):
        table = filled.get(PODS, accept=TABLE)
        assert table["kind"] == "Table"
        assert [row["cells"][:4] for row in table["rows"]] == [[n, "0/1", "Pending", "0"] for n in "abc"]
        assert table["metadata"]["resourceVersion"] == str(filled.client.revision)
        row = filled.get("/api/v1/nodes/node01", accept=TABLE)["rows"][0]
        assert row["object"]["kind"] == "PartialObjectMetadata"
        whole = filled.get("/api/v1/nodes?includeObject=Object", accept=TABLE)["rows"][0]["object"]
        assert whole == filled.client.get("nodes", "node01")

    def test_metadata_alone_is_given_where_it_is_asked_for(self, filled):
        accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
        listed = filled.get(PODS, accept=accept)
        assert listed["kind"] == "PartialObjectMetadataList"
        assert all(set(item) == {"kind", "apiVersion", "metadata"} for item in listed["items"])

    @pytest.mark.parametrize("accept", ["application/vnd.kubernetes.protobuf", "text/html", "application/yaml"])
    def test_a_form_that_cannot_be_written_is_not_acceptable(self, filled, accept):
        assert filled.ask("GET", PODS, accept=accept).code == 406

    def test_json_is_written_for_whoever_takes_anything(self, filled):
        for accept in ("application/vnd.kubernetes.protobuf, */*", "", "application/json, */*"):
            assert filled.get(PODS, accept=accept)["kind"] == "PodList"

    @pytest.mark.parametrize(
        ("path", "says"),
        [
            (f"{PODS}/x", 'pods "x" not found'),
            ("/api/v1/nodes/x", 'nodes "x" not found'),
            ("/apis/apps/v1/namespaces/default/deployments/x", 'deployments.apps "x" not found'),
            ("/api/v1/namespaces/default/podds", "the server could not find the requested resource"),
            (f"{PODS}/a/nothing", "the server could not find the requested resource"),
            ("/api/v1/namespaces/default/nodes", "the server could not find the requested resource"),
            ("/api/v1/pods/a", "the server could not find the requested resource"),
            (f"{PODS}/a/b/c/d", "the server could not find the requested resource"),
            ("/api/v1/namespaces//pods", "the server could not find the requested resource"),
            ("/api/v1/" + "x" * 5000, "the server could not find the requested resource"),
        ],
    )
    def test_what_is_not_there_is_not_found(self, filled, path, says):
        status = loaded(filled.ask("GET", path), 404)
        assert (status["reason"], status["message"]) == ("NotFound", says)


class TestWriting:
    def test_a_pod_is_created(self, server):
        obj = loaded(server.ask("POST", PODS, pod("bee")), 201)
        assert obj["metadata"]["uid"]
        assert obj["spec"]["schedulerName"] == "default-scheduler"
        assert server.get(f"{PODS}/bee") == obj

    def test_kind_and_namespace_may_be_left_to_the_path(self, server):
        body = {"metadata": {"name": "bee"}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}
        obj = loaded(server.ask("POST", "/api/v1/namespaces/kube-system/pods", body), 201)
        assert (obj["kind"], obj["metadata"]["namespace"]) == ("Pod", "kube-system")

    def test_a_dry_run_leaves_no_trace(self, server):
        before = server.client.revision
        assert loaded(server.ask("POST", f"{PODS}?dryRun=All", pod("bee")), 201)["metadata"]["name"] == "bee"
        assert server.client.revision == before
        assert server.ask("POST", f"{PODS}?dryRun=Some", pod("bee")).code == 422

    @pytest.mark.parametrize(
        ("body", "code", "says"),
        [
            (b"", 400, "json parse error"),
            (b"{", 400, "json parse error"),
            (b"[]", 400, "must be a JSON object"),
            (b"[" * 500 + b"]" * 500, 400, "nested more than 100 levels"),
            ({**pod("x"), "kind": "Node"}, 400, 'Node in version "v1" cannot be handled as a Pod'),
            ({**pod("x"), "apiVersion": "apps/v1"}, 400, "does not match the expected API version (v1)"),
            ({**pod("x"), "metadata": []}, 400, "cannot unmarshal array into Go struct field Pod.metadata"),
            ({**pod("x"), "metadata": None}, 422, "name or generateName is required"),
            ({**pod("x"), "metadata": "x"}, 400, "cannot unmarshal string into Go struct field Pod.metadata"),
            (pod("x", "kube-system"), 400, "namespace of the provided object does not match the namespace sent"),
            (pod("Not_A_Name"), 422, 'metadata.name: Invalid value: "Not_A_Name"'),
        ],
    )
    def test_a_body_that_is_no_such_object_is_refused(self, server, body, code, says):
        before = server.client.revision
        status = loaded(server.ask("POST", PODS, body), code)
        assert says in status["message"]
        assert server.client.revision == before

    def test_a_body_may_be_yaml(self, server):
        text = b"apiVersion: v1\nkind: Pod\nmetadata:\n  name: bee\nspec:\n  containers:\n  - {name: c, image: nginx}\n"
        assert loaded(server.ask("POST", PODS, text, content_type="application/yaml"), 201)["metadata"]["name"] == "bee"
        for wrong in (b"a: [", b"a: 1\n---\nb: 2\n", b""):
            assert server.ask("POST", PODS, wrong, content_type="application/yaml").code == 400

    @pytest.mark.parametrize(("validation", "code"), [("Strict", 400), ("Ignore", 201), ("Sometimes", 422)])
    def test_unknown_fields_are_refused_where_the_client_wants_that(self, server, validation, code):
        body = pod("bee", tolerationz=[])
        answer = loaded(server.ask("POST", f"{PODS}?fieldValidation={validation}", body), code)
        if validation == "Strict":
            assert 'strict decoding error: unknown field "spec.tolerationz"' in answer["message"]
        if code == 201:
            assert "tolerationz" not in answer["spec"]

    def test_an_unknown_field_is_a_warning_where_the_client_says_nothing(self, server):
        answer = server.ask("POST", PODS, pod("bee", tolerationz=[]))
        assert answer.code == 201
        assert answer.headers["warning"] == '299 - "unknown field \\"spec.tolerationz\\""'
        assert "warning" not in server.ask("POST", PODS, pod("wasp")).headers

    def test_another_form_of_body_is_an_unsupported_media_type(self, server):
        status = loaded(server.ask("POST", PODS, b"...", content_type="text/plain"), 415)
        assert status["reason"] == "UnsupportedMediaType"
        assert "accepted media types include: application/json" in status["message"]

    @pytest.mark.parametrize(
        ("body", "code", "says"),
        [
            (b"...", 400, "does not appear to be a protobuf message, expected prefix [107 56 115 0]"),
            (b"k8s\0\x0a\xff", 400, "unexpected EOF"),
            (b"k8s\0\x0a\x08\x0a\x02v1\x12\x02Oh", 415, "does not read Oh in version 'v1' as Kubernetes protobuf"),
        ],
    )
    def test_a_body_that_is_no_protobuf_of_a_known_kind_is_refused(self, server, body, code, says):
        status = loaded(server.ask("POST", PODS, body, content_type="application/vnd.kubernetes.protobuf"), code)
        assert says in status["message"]

    def test_an_object_is_replaced_under_its_version(self, filled):
        obj = filled.get(f"{PODS}/a")
        labelled = {**obj, "metadata": {**obj["metadata"], "labels": {"app": "other"}}}
        assert loaded(filled.ask("PUT", f"{PODS}/a", labelled))["metadata"]["labels"] == {"app": "other"}
        stale = loaded(filled.ask("PUT", f"{PODS}/a", labelled), 409)
        assert (stale["reason"], stale["details"]["name"]) == ("Conflict", "a")
        assert (
            "does not match the name on the URL (b)" in loaded(filled.ask("PUT", f"{PODS}/b", labelled), 400)["message"]
        )

    @pytest.mark.parametrize(
        ("content_type", "patch"),
        [
            (MERGE, {"metadata": {"labels": {"x": "1"}}}),
            ("application/strategic-merge-patch+json", {"metadata": {"labels": {"x": "1"}}}),
            ("application/json-patch+json", [{"op": "add", "path": "/metadata/labels/x", "value": "1"}]),
        ],
    )
    def test_an_object_is_patched(self, filled, content_type, patch):
        obj = loaded(filled.ask("PATCH", f"{PODS}/a", patch, content_type=content_type))
        assert obj["metadata"]["labels"] == {"app": "web", "x": "1"}

    @pytest.mark.parametrize("content_type", ["application/apply-patch+cbor", "application/json", ""])
    def test_a_patch_of_an_unknown_type_is_refused(self, filled, content_type):
        assert filled.ask("PATCH", f"{PODS}/a", {}, content_type=content_type).code == 415

    def test_the_status_is_a_part_of_its_own(self, filled):
        obj = loaded(
            filled.ask(
                "PATCH",
                f"{PODS}/a/status",
                {"status": {"phase": "Running"}, "spec": {"nodeName": "x"}},
                content_type=MERGE,
            )
        )
        assert obj["status"]["phase"] == "Running"
        assert "nodeName" not in obj["spec"]
        assert filled.get(f"{PODS}/a/status") == obj
        plain = loaded(filled.ask("PATCH", f"{PODS}/a", {"status": {"phase": "Failed"}}, content_type=MERGE))
        assert plain["status"]["phase"] == "Running"

    def test_a_pending_pod_is_gone_at_once_and_comes_back_in_the_answer(self, filled):
        options = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
        assert loaded(filled.ask("DELETE", f"{PODS}/a", options))["metadata"]["name"] == "a"
        assert filled.ask("GET", f"{PODS}/a").code == 404

    def test_other_kinds_answer_a_delete_with_success(self, filled):
        uid = filled.client.get("nodes", "node01")["metadata"]["uid"]
        status = loaded(filled.ask("DELETE", "/api/v1/nodes/node01"))
        assert (status["kind"], status["status"]) == ("Status", "Success")
        assert status["details"] == {"name": "node01", "kind": "nodes", "uid": uid}

    @pytest.mark.parametrize(
        "options",
        [
            {"gracePeriodSeconds": "soon"},
            {"propagationPolicy": 1},
            {"orphanDependents": "yes"},
            {"preconditions": []},
            {"dryRun": [[]]},
            [],
        ],
    )
    def test_delete_options_that_make_no_sense_delete_nothing(self, filled, options):
        assert filled.ask("DELETE", f"{PODS}/a", options).code == 400
        assert filled.ask("GET", f"{PODS}/a").code == 200

    def test_a_delete_for_another_uid_is_a_conflict(self, filled):
        assert filled.ask("DELETE", f"{PODS}/a", {"preconditions": {"uid": "other"}}).code == 409

    def test_a_collection_is_deleted_by_its_selector(self, filled):
        listed = loaded(filled.ask("DELETE", f"{PODS}?labelSelector=app=web"))
        assert [item["metadata"]["name"] for item in listed["items"]] == ["a", "b"]
        assert [item["metadata"]["name"] for item in filled.get("/api/v1/pods")["items"]] == ["c", "d"]

    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("PUT", PODS),
            ("PATCH", PODS),
            ("POST", f"{PODS}/a"),
            ("POST", "/api/v1/pods"),
            ("DELETE", f"{PODS}/a/binding"),
            ("GET", f"{PODS}/a/binding"),
            ("GET", "/api/v1/namespaces/default/bindings"),
        ],
    )
    def test_a_verb_that_does_not_fit_is_not_allowed(self, filled, method, path):
        assert loaded(filled.ask(method, path, {}), 405)["reason"] == "MethodNotAllowed"


def binding(name, target):
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name},
        "target": {"apiVersion": "v1", "kind": "Node", "name": target},
    }


class TestBinding:
    @pytest.mark.parametrize("path", [f"{PODS}/a/binding", f"{PODS}/a/binding/", "/api/v1/namespaces/default/bindings"])
    def test_a_pod_is_bound_by_hand(self, filled, path):
        status = loaded(filled.ask("POST", path, binding("a", "node01")), 201)
        assert (status["kind"], status["status"]) == ("Status", "Success")
        assert filled.get(f"{PODS}/a")["spec"]["nodeName"] == "node01"

    def test_a_bound_pod_is_not_bound_again(self, filled):
        filled.ask("POST", f"{PODS}/a/binding", binding("a", "node01"))
        status = loaded(filled.ask("POST", f"{PODS}/a/binding", binding("a", "node02")), 409)
        assert 'pod a is already assigned to node "node01"' in status["message"]

    def test_the_binding_names_the_pod_of_the_path(self, filled):
        assert filled.ask("POST", f"{PODS}/a/binding", binding("b", "node01")).code == 400
        assert filled.ask("POST", f"{PODS}/x/binding", binding("x", "node01")).code == 404


class TestScale:
    DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"

    @pytest.fixture
    def scaled(self, server):
        template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}
        spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template}
        server.client.create({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec})
        return server

    def test_the_scale_tells_replicas_and_selector(self, scaled):
        scale = scaled.get(f"{self.DEPLOYMENTS}/web/scale")
        assert (scale["kind"], scale["spec"], scale["status"]) == (
            "Scale",
            {"replicas": 2},
            {"replicas": 0, "selector": "app=web"},
        )

    def test_a_patch_of_the_scale_changes_the_deployment(self, scaled):
        loaded(scaled.ask("PATCH", f"{self.DEPLOYMENTS}/web/scale", {"spec": {"replicas": 5}}, content_type=MERGE))
        assert scaled.get(f"{self.DEPLOYMENTS}/web")["spec"]["replicas"] == 5

    def test_an_update_of_the_scale_under_a_stale_version_is_a_conflict(self, scaled):
        scale = scaled.get(f"{self.DEPLOYMENTS}/web/scale")
        scale["spec"]["replicas"] = 3
        assert loaded(scaled.ask("PUT", f"{self.DEPLOYMENTS}/web/scale", scale))["spec"]["replicas"] == 3
        assert scaled.ask("PUT", f"{self.DEPLOYMENTS}/web/scale", scale).code in (200, 409)
        scale["spec"]["replicas"] = 4
        assert scaled.ask("PUT", f"{self.DEPLOYMENTS}/web/scale", scale).code == 409

    @pytest.mark.parametrize("replicas", ["two", True, -1, None, [1]])
    def test_replicas_that_are_no_number_are_refused(self, scaled, replicas):
        answer = scaled.ask(
            "PATCH", f"{self.DEPLOYMENTS}/web/scale", {"spec": {"replicas": replicas}}, content_type=MERGE
        )
        assert answer.code in ((200,) if replicas is None else (400, 422))


class TestWatch:
    def seen(self, lines):
        return [(line["type"], line["object"]["metadata"]["name"]) for line in lines]

    @pytest.mark.parametrize("version", ["", "&resourceVersion=0"])
    def test_a_watch_without_a_version_begins_with_what_is_there(self, filled, version):
        lines, revision = events(filled.ask("GET", f"{PODS}?watch=true{version}"))
        assert self.seen(lines) == [("ADDED", "a"), ("ADDED", "b"), ("ADDED", "c")]
        assert revision == filled.client.revision
        assert filled.watch(f"{PODS}?watch=true", revision) == ([], revision)

    def test_a_watch_from_a_version_goes_on_from_there(self, filled):
        version = filled.client.revision
        lines, revision = events(filled.ask("GET", f"{PODS}?watch=1&resourceVersion={version}"))
        assert (lines, revision) == ([], version)
        filled.client.create(pod("e"))
        filled.client.create(pod("f", "kube-system"))
        filled.client.bind("default", "e", "node01")
        filled.client.delete("pods", "c", "default", 0)
        lines, reached = filled.watch(f"{PODS}?watch=1&resourceVersion={version}", revision)
        assert self.seen(lines) == [("ADDED", "e"), ("MODIFIED", "e"), ("DELETED", "c")]
        assert lines[1]["object"]["spec"]["nodeName"] == "node01"
        assert reached == filled.client.revision
        assert lines[2]["object"]["metadata"]["resourceVersion"] == str(reached)
        again, _ = events(filled.ask("GET", f"{PODS}?watch=1&resourceVersion={version}"))
        assert again == lines

    def test_one_object_is_watched_by_its_name(self, filled):
        url = f"{PODS}?watch=true&fieldSelector=metadata.name=a"
        lines, revision = events(filled.ask("GET", url))
        assert self.seen(lines) == [("ADDED", "a")]
        filled.client.bind("default", "b", "node01")
        filled.client.bind("default", "a", "node01")
        assert self.seen(filled.watch(url, revision)[0]) == [("MODIFIED", "a")]

    def test_an_object_that_comes_to_match_is_added_and_one_that_ceases_is_deleted(self, filled):
        url = f"{PODS}?watch=true&labelSelector=app=web"
        _, revision = events(filled.ask("GET", url))
        filled.client.patch("pods", "c", "default", {"metadata": {"labels": {"app": "web"}}}, "merge")
        filled.client.patch("pods", "a", "default", {"metadata": {"labels": {"app": "db"}}}, "merge")
        lines, _ = filled.watch(url, revision)
        assert self.seen(lines) == [("ADDED", "c"), ("DELETED", "a")]
        assert lines[1]["object"]["metadata"]["labels"] == {"app": "web"}

    def test_a_table_watch_sends_one_row_an_event(self, filled):
        url = f"{PODS}?watch=true"
        _, revision = events(filled.ask("GET", url, accept=TABLE))
        filled.client.bind("default", "a", "node01")
        (line,), _ = filled.watch(url, revision, accept=TABLE)
        assert line["object"]["kind"] == "Table"
        assert [row["cells"][6] for row in line["object"]["rows"]] == ["node01"]

    def test_initial_events_end_with_a_bookmark(self, filled):
        url = f"{PODS}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
        lines, revision = events(filled.ask("GET", url))
        assert [line["type"] for line in lines] == ["ADDED", "ADDED", "ADDED", "BOOKMARK"]
        mark = lines[-1]["object"]
        assert mark["kind"] == "Pod"
        assert mark["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        assert mark["metadata"]["resourceVersion"] == str(revision)

    def test_initial_events_need_the_match_rule(self, filled):
        assert filled.ask("GET", f"{PODS}?watch=true&sendInitialEvents=true").code == 422

    def test_no_initial_events_are_sent_where_the_client_has_them(self, filled):
        url = f"{PODS}?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan"
        assert events(filled.ask("GET", url)) == ([], filled.client.revision)

    def test_a_quiet_stream_is_told_how_far_it_has_come_now_and_then(self, filled):
        url = f"/api/v1/nodes?watch=true&allowWatchBookmarks=true&resourceVersion={filled.client.revision}"
        _, revision = events(filled.ask("GET", url))
        for _ in range(60):
            filled.client.create(pod("x"))
            filled.client.delete("pods", "x", "default", 0)
        (line,), reached = filled.watch(url, revision)
        assert (line["type"], line["object"]["metadata"]["resourceVersion"]) == ("BOOKMARK", str(reached))
        assert reached == filled.client.revision
        assert filled.watch(url, reached) == ([], reached)

    def test_a_version_that_is_gone_ends_the_stream_with_an_error(self, filled):
        version = filled.client.revision
        for _ in range(300):
            filled.client.create(pod("x"))
            filled.client.delete("pods", "x", "default", 0)
        url = f"{PODS}?watch=true&resourceVersion={version}"
        (line,), reached = events(filled.ask("GET", url))
        assert reached == dispatch.ENDED
        assert (line["type"], line["object"]["code"], line["object"]["reason"]) == ("ERROR", 410, "Expired")

    @pytest.mark.parametrize("version", ["abc", "-1", "9" * 30, "²"])
    def test_a_version_that_is_no_number_is_refused(self, filled, version):
        assert filled.ask("GET", f"{PODS}?watch=true&resourceVersion={version}").code == 422
