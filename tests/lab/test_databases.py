"""The use cases over both databases that are promised."""

import threading

import pytest

from app.exercises import loader
from app.lab.views import Mode
from app.progress import accounts, gradebook, labs, results
from app.progress.exporters import csv_scores
from app.settings import ROOT

EXERCISE = "write-a-toleration"


def test_a_learner_goes_all_the_way(service):
    database = service._database
    with database.session() as session:
        user = accounts.upgrade_guest(session, accounts.create_guest(session).id, "bora", "correct horse battery")
    lab = service.start(user, EXERCISE, seed=3)
    variant = loader.load_folder(ROOT / "exercises").exercises[EXERCISE].variant(3)
    wrong, right = variant.spec.wrong[0], variant.spec.solution
    assert not service.submit(user, lab, wrong.manifests, Mode(wrong.mode), "en").verdict.full
    service.reset(user, lab, "en")
    outcome = service.submit(user, lab, right.manifests, Mode(right.mode), "en")
    assert outcome.verdict.full
    assert service.start(user, EXERCISE) == lab, "an open lab is gone on with"
    with database.session() as session:
        scores = results.scores(session, user.id, EXERCISE)
        assert (scores.attempts, scores.first.full, scores.best.full) == (2, False, True)
        kept = [command.kind.value for command in labs.commands(session, lab)]
        assert kept == ["submit", "reset", "submit"]
        rows = list(gradebook.table(session, gradebook.Filter()))
        text = b"".join(csv_scores.export(rows)).decode("utf-8-sig")
    assert "bora" in text
    assert EXERCISE in text


def test_two_tabs_at_once_are_ordered(service):
    database = service._database
    with database.session() as session:
        user = accounts.create_guest(session)
    lab = service.start(user, EXERCISE)
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: bee-%d}\nspec: {containers: [{name: bee, image: nginx}]}\n"
    outcomes = {}

    def submit(number):
        outcomes[number] = service.submit(user, lab, pod % number, Mode.CREATE, "en").ok

    threads = [threading.Thread(target=submit, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == {0: True, 1: True, 2: True}
    names = {pod.name for pod in service.view(user, lab, "en").pods}
    assert {"bee-0", "bee-1", "bee-2"} <= names
    with database.session() as session:
        assert [command.seq for command in labs.commands(session, lab)] == [1, 2, 3]


def test_a_cluster_that_is_left_alone_falls_asleep(service, monkeypatch):
    from app.lab import service as module

    with service._database.session() as session:
        user = accounts.create_guest(session)
    lab = service.start(user, EXERCISE)
    now = module._wall()
    began = service.view(user, lab, "en").now
    monkeypatch.setattr(module, "_wall", lambda: now + 7 * 24 * 60 * module.MINUTE)
    slept = service.view(user, lab, "en").now
    assert (slept - began).total_seconds() == pytest.approx(module.AWAKE / module.SECOND, abs=2)
