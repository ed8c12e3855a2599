"""events.k8s.io/v1: the second view of the events that are stored once."""

import json

import pytest

from tests.kubeapi.asking import TABLE, Server, events, loaded

NEW = "/apis/events.k8s.io/v1"
HERE = f"{NEW}/namespaces/default/events"
OLD = "/api/v1/namespaces/default/events"


@pytest.fixture
def server():
    return Server()


def old_event(name="bee.1", **fields):
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": "default"},
        "involvedObject": {"kind": "Pod", "name": "bee", "namespace": "default", "apiVersion": "v1"},
        "reason": "Pulled",
        "message": "Container image is here",
        "source": {"component": "kubelet", "host": "node01"},
        "firstTimestamp": "2026-03-01T11:00:00Z",
        "lastTimestamp": "2026-03-01T11:30:00Z",
        "count": 3,
        "type": "Normal",
        **fields,
    }


def new_event(name="bee.2", **fields):
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": "default"},
        "eventTime": "2026-03-01T11:45:00.000000Z",
        "regarding": {"kind": "Pod", "name": "bee", "namespace": "default", "apiVersion": "v1"},
        "reason": "Scheduled",
        "action": "Binding",
        "note": "Successfully assigned default/bee to node01",
        "reportingController": "default-scheduler",
        "reportingInstance": "default-scheduler-controlplane",
        "type": "Normal",
        **fields,
    }


def refused(server, event, url=HERE, method="POST"):
    body = loaded(server.ask(method, url, event), 422)
    return body["message"]


class TestBothViews:
    def test_an_older_event_shows_its_fields_under_their_newer_names(self, server):
        server.client.create(old_event())
        seen = server.get(f"{HERE}/bee.1")
        assert (seen["apiVersion"], seen["kind"]) == ("events.k8s.io/v1", "Event")
        assert seen["note"] == "Container image is here"
        assert seen["regarding"]["name"] == "bee"
        assert seen["deprecatedSource"] == {"component": "kubelet", "host": "node01"}
        assert seen["deprecatedFirstTimestamp"] == "2026-03-01T11:00:00Z"
        assert seen["deprecatedLastTimestamp"] == "2026-03-01T11:30:00Z"
        assert seen["deprecatedCount"] == 3
        assert seen["eventTime"] is None
        assert not {"message", "involvedObject", "source", "count", "reportingComponent"} & seen.keys()

    def test_a_newer_event_is_stored_as_an_older_one(self, server):
        created = loaded(server.ask("POST", HERE, new_event()), 201)
        assert created["note"] == "Successfully assigned default/bee to node01"
        assert created["apiVersion"] == "events.k8s.io/v1"
        seen = server.get(f"{OLD}/bee.2")
        assert seen["apiVersion"] == "v1"
        assert seen["message"] == "Successfully assigned default/bee to node01"
        assert seen["involvedObject"]["kind"] == "Pod"
        assert seen["reportingComponent"] == "default-scheduler"
        assert (seen["source"], seen["firstTimestamp"], seen["lastTimestamp"]) == ({}, None, None)
        assert "count" not in seen

    def test_an_event_survives_the_way_there_and_back(self, server):
        server.client.create(old_event())
        seen = server.get(f"{HERE}/bee.1")
        series = {"count": 2, "lastObservedTime": "2026-03-01T11:50:00.000000Z"}
        changed = loaded(server.ask("PUT", f"{HERE}/bee.1", {**seen, "series": series}))
        assert changed["series"] == series
        after = server.get(f"{OLD}/bee.1")
        assert {key: after[key] for key in old_event() if key != "metadata"} == {
            key: value for key, value in old_event().items() if key != "metadata"
        }

    def test_lists_hold_both_kinds_of_events(self, server):
        server.client.create(old_event())
        server.client.create(new_event())
        body = server.get(f"{NEW}/events")
        assert (body["kind"], body["apiVersion"]) == ("EventList", "events.k8s.io/v1")
        assert [item["reason"] for item in body["items"]] == ["Pulled", "Scheduled"]
        assert all("note" in item and "message" not in item for item in body["items"])
        assert len(server.get(OLD)["items"]) == 2

    def test_a_watch_sees_events_that_are_written_through_the_other_view(self, server):
        _, revision = events(server.ask("GET", f"{HERE}?watch=1"))
        server.client.create(old_event())
        (seen,), _ = server.watch(f"{HERE}?watch=1", revision)
        assert (seen["type"], seen["object"]["apiVersion"]) == ("ADDED", "events.k8s.io/v1")
        assert seen["object"]["note"] == "Container image is here"

    def test_an_event_is_patched_and_deleted(self, server):
        server.client.create(old_event())
        patch = {"metadata": {"labels": {"seen": "yes"}}}
        patched = loaded(
            server.ask("PATCH", f"{HERE}/bee.1", patch, content_type="application/strategic-merge-patch+json")
        )
        assert (patched["metadata"]["labels"], patched["note"]) == ({"seen": "yes"}, "Container image is here")
        assert loaded(server.ask("DELETE", f"{HERE}/bee.1"))["details"]["group"] == "events.k8s.io"
        assert loaded(server.ask("GET", f"{OLD}/bee.1"), 404)["message"] == 'events "bee.1" not found'
        assert loaded(server.ask("GET", f"{HERE}/bee.1"), 404)["message"] == 'events.events.k8s.io "bee.1" not found'

    def test_a_collection_is_deleted_by_its_own_fields(self, server):
        server.client.create(old_event())
        server.client.create(new_event())
        gone = loaded(server.ask("DELETE", f"{HERE}?fieldSelector=reason=Pulled"))
        assert [item["note"] for item in gone["items"]] == ["Container image is here"]
        assert [item["reason"] for item in server.get(OLD)["items"]] == ["Scheduled"]

    def test_tables_are_those_of_older_events(self, server):
        server.client.create(old_event())
        old, new = (server.get(url, accept=TABLE) for url in (OLD, f"{HERE}?includeObject=Object"))
        assert [column["name"] for column in new["columnDefinitions"]] == [
            column["name"] for column in old["columnDefinitions"]
        ]
        assert new["rows"][0]["cells"] == old["rows"][0]["cells"]
        assert new["rows"][0]["object"]["note"] == "Container image is here"


class TestSelectors:
    @pytest.mark.parametrize(
        ("selector", "found"),
        [
            ("regarding.name=bee", 2),
            ("regarding.kind=Node", 0),
            ("reportingController=default-scheduler", 1),
            ("reason!=Pulled", 1),
            ("type=Normal,metadata.name=bee.1", 1),
        ],
    )
    def test_events_are_selected_by_the_newer_names(self, server, selector, found):
        server.client.create(old_event())
        server.client.create(new_event())
        assert len(server.get(f"{HERE}?fieldSelector={selector}")["items"]) == found

    @pytest.mark.parametrize("field", ["involvedObject.name", "source", "reportingComponent", "note"])
    def test_the_older_names_are_not_known_there(self, server, field):
        body = loaded(server.ask("GET", f"{HERE}?fieldSelector={field}=x"), 400)
        assert body["message"] == f"field label not supported: {field}"


class TestValidation:
    def test_a_new_event_needs_its_time_reporter_action_and_reason(self, server):
        event = {
            key: value
            for key, value in new_event().items()
            if key not in {"eventTime", "reportingController", "reportingInstance", "action", "reason"}
        }
        assert refused(server, event) == 'Event "bee.2" is invalid: eventTime: Required value'
        told = refused(server, {**event, "eventTime": "2026-03-01T11:45:00.000000Z"})
        for field in ("reportingController", "reportingInstance", "action", "reason"):
            assert f"{field}: Required value" in told

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({"type": "Odd"}, 'type: Invalid value: "": has invalid value: Odd'),
            ({"deprecatedCount": 2}, 'count: Invalid value: "": needs to be unset'),
            (
                {"deprecatedFirstTimestamp": "2026-03-01T11:00:00Z"},
                'firstTimestamp: Invalid value: "": needs to be unset',
            ),
            ({"deprecatedSource": {"host": "node01"}}, 'source: Invalid value: "": needs to be unset'),
            ({"note": "x" * 1025}, 'message: Invalid value: "": can have at most 1024 characters'),
            ({"reportingInstance": "x" * 129}, 'reportingInstance: Invalid value: "": can have at most 128 characters'),
            (
                {"series": {"count": 1, "lastObservedTime": "2026-03-01T11:45:00.000000Z"}},
                'series.count: Invalid value: "": should be at least 2',
            ),
            (
                {"regarding": {"kind": "Node", "name": "node01"}, "metadata": {"name": "bee.2"}},
                None,
            ),
        ],
    )
    def test_the_strict_rules_speak_with_the_stored_names(self, server, fields, words):
        event = {**new_event(), **fields}
        if words is None:
            loaded(server.ask("POST", HERE, event), 201)
        else:
            assert refused(server, event) == f'Event "bee.2" is invalid: {words}'

    def test_the_older_form_is_judged_mildly(self, server):
        loaded(server.ask("POST", OLD, old_event(type="Odd", reason="")), 201)
        elsewhere = {"kind": "Pod", "name": "bee", "namespace": "kube-system"}
        assert refused(server, old_event("bee.9", involvedObject=elsewhere), OLD) == (
            'Event "bee.9" is invalid: involvedObject.namespace: Invalid value: "kube-system": '
            "does not match event.namespace"
        )

    def test_only_the_series_of_a_new_event_goes_on(self, server):
        created = loaded(server.ask("POST", HERE, new_event()), 201)
        told = refused(server, {**created, "note": "other", "reportingController": "me"}, f"{HERE}/bee.2", "PUT")
        assert told == (
            'Event "bee.2" is invalid: [message: Invalid value: "other": field is immutable, '
            'reportingController: Invalid value: "me": field is immutable]'
        )
        told = refused(
            server, {**created, "regarding": {"kind": "Pod", "namespace": "default"}}, f"{HERE}/bee.2", "PUT"
        )
        assert '"Kind":"Pod","Namespace":"default","Name":""' in told

    def test_wrong_types_and_unknown_fields_are_refused(self, server):
        strict = f"{HERE}?fieldValidation=Strict"
        body = loaded(server.ask("POST", strict, new_event(message="old name")), 400)
        assert 'unknown field "message"' in body["message"]
        assert server.ask("POST", HERE, new_event(regarding="bee")).code == 400
        assert server.ask("POST", HERE, {**new_event(), "apiVersion": "v1"}).code == 400


def test_discovery_announces_the_group_and_its_structure(server):
    found = server.get(NEW)["resources"]
    assert [(item["name"], item["shortNames"], item["kind"]) for item in found] == [("events", ["ev"], "Event")]
    assert "watch" in found[0]["verbs"]
    document = json.loads(server.ask("GET", "/openapi/v3/apis/events.k8s.io/v1").body)
    assert "regarding" in document["components"]["schemas"]["io.k8s.api.events.v1.Event"]["properties"]
