"""A lab that is set back or reset begins a new epoch: whoever watches it is told to look again."""

import json
import queue
import threading

import httpx
import pytest

from app.apimachinery.errors import Expired
from app.cluster.apiserver import dispatch
from app.cluster.cluster import Cluster
from app.lab import interactions, wire
from app.lab.state import LabState
from app.lab.views import Mode
from app.progress import accounts, labs
from app.progress.db import Database
from app.settings import Settings
from app.web.app import create_app
from tests.cluster.builders import MINUTE, NOW, config_map, fresh
from tests.support.serving import serving

EXERCISE = "write-a-toleration"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: bee-%d}\nspec: {containers: [{name: bee, image: nginx}]}\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    settings = Settings(home=tmp_path_factory.mktemp("home"), database_url="", workers=2)
    database = Database(settings.database)
    database.migrate()
    app = create_app(settings, database=database)
    with serving(app) as address:
        yield app.state.service, address
    database.dispose()


def set_back(service, user, lab):
    service.step_back(user, lab, 1, "en")


def reset(service, user, lab):
    service.reset(user, lab, "en")


@pytest.mark.parametrize("go_back", [set_back, reset])
def test_an_open_watch_ends_with_410(site, go_back):
    service, address = site
    with service._database.session() as session:
        user = accounts.create_guest(session)
    lab = service.start(user, EXERCISE)
    for number in (1, 2):
        service.apply(user, lab, POD % number, Mode.CREATE, "en")
    pods = f"{address}/k/{service.new_api_secret(user, lab)}/api/v1/namespaces/default/pods"
    since = httpx.get(pods).json()["metadata"]["resourceVersion"]
    lines = queue.Queue()

    def watch():
        query = {"watch": "1", "resourceVersion": since}
        with httpx.stream("GET", pods, params=query, timeout=30) as stream:
            for line in stream.iter_lines():
                lines.put(json.loads(line))
        lines.put(None)

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    service.apply(user, lab, POD % 3, Mode.CREATE, "en")
    seen = [lines.get(timeout=20)]
    assert (seen[0]["type"], seen[0]["object"]["metadata"]["name"]) == ("ADDED", "bee-3"), "the stream is open"
    go_back(service, user, lab)
    while seen[-1] is not None:
        seen.append(lines.get(timeout=20))
    watching.join(timeout=20)
    assert seen[-2]["type"] == "ERROR"
    status = seen[-2]["object"]
    assert (status["kind"], status["code"], status["reason"]) == ("Status", 410, "Expired")
    assert status["message"].startswith("too old resource version: ")
    listed = httpx.get(pods).json()
    assert int(listed["metadata"]["resourceVersion"]) > max(
        int(event["object"]["metadata"]["resourceVersion"]) for event in seen[:-2]
    )
    assert [pod["metadata"]["name"] for pod in listed["items"]] == (["bee-1"] if go_back is set_back else [])


def test_a_reset_can_be_gone_back_behind(service, user):
    lab = service.start(user, EXERCISE)
    service.apply(user, lab, POD % 1, Mode.CREATE, "en")
    before = LabState.load(service.find(user, lab).state).cluster
    outcome = service.reset(user, lab, "en")
    assert not {pod.name for pod in outcome.view.pods if not pod.system}
    assert (outcome.view.commands, outcome.view.revision) == (0, 2)
    assert outcome.view.changes == ()
    after = LabState.load(service.find(user, lab).state).cluster
    assert after.client.revision > before.client.revision
    back = service.step_back(user, lab, 1, "en")
    assert {pod.name for pod in back.view.pods if not pod.system} == {"bee-1"}
    with service._database.session() as session:
        assert [command.kind.value for command in labs.commands(session, lab)] == ["create", "reset", "back"]


def asked(state, start):
    params = {"operation": "reset", "now": NOW}
    header, (after, difference) = wire.unpack(interactions.handle(wire.pack(params, state, start)))
    assert "fault" not in header, header
    return LabState.load(after).cluster, difference


def test_a_reset_does_not_wait_for_what_it_leaves_behind(monkeypatch):
    start = LabState(fresh()).dump()

    def advance_to(_self, _instant):
        raise AssertionError("the abandoned cluster was caught up")

    monkeypatch.setattr(Cluster, "advance_to", advance_to)
    cluster, difference = asked(start, start)
    assert difference
    assert cluster.client.revision > fresh().client.revision + interactions.UNSEEN


def test_what_was_seen_after_the_stored_state_is_too_old_after_a_reset():
    lab = LabState(fresh())
    start = lab.dump()
    lab.cluster.client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "later"}})
    lab.cluster.advance_to(lab.cluster.now)
    cluster, _ = asked(start, start)
    request = dispatch.ApiRequest("GET", "/api/v1/namespaces", (("watch", "1"),), {}, b"")
    lines, ended = dispatch.watch(cluster, request, lab.cluster.client.revision)
    assert ended == dispatch.ENDED
    assert json.loads(lines[0])["object"]["code"] == 410
    stale = lab.cluster.client.get("namespaces", "default")
    assert int(cluster.client.get("namespaces", "default")["metadata"]["resourceVersion"]) > int(
        stale["metadata"]["resourceVersion"]
    )
    drawn = {obj["metadata"]["uid"] for obj in lab.cluster.client.list("namespaces")}
    made = cluster.client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}})
    assert made["metadata"]["uid"] not in drawn


def test_a_state_that_cannot_be_read_can_be_reset():
    start = LabState(fresh()).dump()
    cluster, difference = asked(b"damaged", start)
    assert difference == b"", "the state after it is kept whole"
    assert cluster.client.find("nodes", "node01") is not None


def test_events_that_watches_have_long_seen_are_let_go():
    lab = LabState(fresh())
    for number in range(150):
        lab.cluster.client.create(config_map(f"map-{number}"))
    lab.cluster.advance_to(NOW + 30 * MINUTE)
    state = lab.dump()
    since = lab.cluster.client.revision - 120
    params = {"now": NOW + 31 * MINUTE, "source": "", "seed": 1}
    watched = interactions.Request({**params, "operation": "watch"}, state).watched().cluster
    assert len(watched.client.events_since(since)) == 120, "a watch is still told"
    changed = interactions.Request({**params, "operation": "apply"}, state).lab().cluster
    with pytest.raises(Expired):
        changed.client.events_since(since)
    assert len(changed.client.events_since(since + 20)) == 100
