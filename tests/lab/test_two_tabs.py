"""One learner works in several tabs at once, over HTTP: what was acknowledged is there, in order, nothing is lost."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from app.lab import history
from app.lab.state import LabState, inflated
from app.lab.turns import NoTurn, Turns
from app.progress import labs, results, states
from app.progress.db import Database
from app.progress.models import Lab
from app.settings import Settings
from app.web.app import create_app
from tests.support.serving import serving

MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n"
EXERCISE = "write-a-toleration"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    settings = Settings(home=tmp_path_factory.mktemp("home"), database_url="", workers=2)
    database = Database(settings.database)
    database.migrate()
    with serving(create_app(settings, database=database)) as address:
        yield database, address
    database.dispose()


@pytest.fixture
def learner(site):
    """A browser, and the lab that was started in it."""
    with httpx.Client(base_url=site[1], follow_redirects=True, timeout=30) as browser:
        yield browser, str(browser.post(f"/learn/{EXERCISE}/start").url.path)


def together(*tabs):
    """Everybody at once; what each came to."""
    barrier = threading.Barrier(len(tabs))

    def run(tab):
        barrier.wait()
        return tab()

    with ThreadPoolExecutor(len(tabs)) as people:
        return [future.result() for future in [people.submit(run, tab) for tab in tabs]]


def kept(database, path):
    with database.session() as session:
        row = session.get(Lab, path.rsplit("/", 1)[1])
        return row, labs.commands(session, row.id, limit=10_000)


def maps(state):
    found = LabState.load(bytes(state)).cluster.client.list("configmaps", "default")
    return {obj["metadata"]["name"] for obj in found} - {"kube-root-ca.crt"}


def test_what_two_tabs_send_is_done_in_the_order_of_each(site, learner):
    database, _ = site
    browser, path = learner

    def tab(letter, action):
        def work():
            done = []
            for number in range(12):
                name = f"{letter}{number}"
                answer = browser.post(f"{path}/{action}", data={"manifest": MAP % name, "mode": "create"})
                assert answer.status_code == 200, answer.text[:500]
                done.append(name)
            return done

        return work

    done = together(tab("a", "apply"), tab("b", "submit"))
    row, logged = kept(database, path)
    order = [command.input.split("name: ")[1].split("}")[0] for command in logged]
    for names in done:
        assert [name for name in order if name in names] == names, "each tab's own order is kept"
    assert sorted(order) == sorted(done[0] + done[1])
    assert order not in (done[0] + done[1], done[1] + done[0]), "the tabs did work at once"
    assert [command.seq for command in logged] == list(range(1, 25))
    assert (row.revision, row.commands) == (24, 24)
    assert maps(row.state) == set(order)
    with database.session() as session:
        assert results.count_of_user(session, row.user_id) == 12
        for seq in range(1, 25):
            then = history.applied(*states.find(session, row, seq))
            assert maps(then) == set(order[:seq]), "each command found what the one before it left"
        assert inflated(history.applied(*states.find(session, row, 24))) == inflated(bytes(row.state))
    shown = browser.get(f"{path}?hints=0").text
    assert all(f"default/{name}" in shown for name in order)


def test_a_name_that_two_tabs_want_is_given_once(site, learner):
    database, _ = site
    browser, path = learner

    def tab():
        return [
            browser.post(f"{path}/apply", data={"manifest": MAP % f"m{number}", "mode": "create"}).status_code
            for number in range(8)
        ]

    told = together(tab, tab)
    assert [sorted(pair) for pair in zip(*told, strict=True)] == [[200, 422]] * 8
    row, logged = kept(database, path)
    assert (row.revision, len(logged)) == (8, 16)
    assert maps(row.state) == {f"m{number}" for number in range(8)}


def test_an_editor_a_clock_and_six_clients_of_the_api_are_all_served(site, learner):
    database, address = site
    browser, path = learner
    with database.session() as session:
        labs.set_api_secret(session, path.rsplit("/", 1)[1], "many")
    api = f"{address}/k/many/api/v1/namespaces/default/configmaps"

    def client(number):
        def work():
            for count in range(5):
                body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{number}-{count}"}}
                answer = httpx.post(api, json=body, timeout=30)
                assert answer.status_code == 201, answer.text
                assert httpx.get(f"{api}/c{number}-{count}", timeout=30).status_code == 200, "one's own write is read"

        return work

    def editor():
        for number in range(5):
            data = {"manifest": MAP % f"e{number}", "mode": "create"}
            assert browser.post(f"{path}/apply", data=data).status_code == 200

    def clock():
        for _ in range(5):
            assert browser.post(f"{path}/advance", data={"by": "1m"}).status_code == 200

    together(editor, clock, *(client(number) for number in range(6)))
    row, logged = kept(database, path)
    assert len(logged) == row.revision == 40
    assert maps(row.state) == {f"e{n}" for n in range(5)} | {f"c{m}-{n}" for m in range(6) for n in range(5)}
    assert [command.sim_at for command in logged] == sorted(command.sim_at for command in logged)
    versions = [int(item["metadata"]["resourceVersion"]) for item in json.loads(httpx.get(api).text)["items"]]
    assert len(set(versions)) == len(versions)


def test_a_turn_is_waited_for_and_not_for_ever():
    turns = Turns()
    with turns.turn("one", 1) as waited, turns.turn("other", 1) as waited_for_other:
        assert (waited, waited_for_other) == (False, False)
        with pytest.raises(NoTurn), turns.turn("one", 0.05):
            raise AssertionError("two are in the same lab")
    with turns.turn("one", 1) as waited:
        assert not waited
        told = []

        def next_one():
            with turns.turn("one", 10) as waited:
                told.append(waited)

        following = threading.Thread(target=next_one)
        following.start()
        time.sleep(0.1)
        assert told == []
    following.join()
    assert told == [True]
    assert turns._queues == {}
