"""Exercises' texts and what instructors publish."""

import threading

import pytest

from app.progress import library
from tests.progress.conftest import Text, person

OLD, NEW, OTHER = Text(), Text(version=2, source="title: Taint two nodes\n"), Text(name="write-a-toleration")


def record(session, *texts, origin="upload", author=None):
    library.record_versions(session, texts, origin=origin, author_id=author)


def test_a_version_is_kept_once_as_it_was_first(session):
    ada = person(session)
    record(session, OLD, author=ada.id)
    library.record_version(session, OLD, origin="folder")
    (kept,) = library.history(session, OLD.name)
    assert (kept.digest, kept.version, kept.source, kept.origin, kept.author_id) == (
        OLD.digest,
        1,
        OLD.source,
        "upload",
        ada.id,
    )
    assert library.get_source(session, OLD.digest) == OLD.source
    assert library.get_source(session, "\x00") is None


def test_history_is_newest_first_and_of_one_exercise(session, clock):
    record(session, OLD, OTHER)
    clock.forward(seconds=1)
    record(session, NEW)
    assert [version.version for version in library.history(session, OLD.name)] == [2, 1]


def test_nothing_is_published_until_somebody_does(session):
    record(session, OLD, origin="folder")
    assert library.current(session) == []
    assert library.stamp(session) == ()


def test_publishing_follows_the_text_that_the_author_had_before_them(session):
    record(session, OLD, NEW)
    library.publish(session, OLD.name, OLD.digest, base=None)
    library.publish(session, OLD.name, NEW.digest, base=OLD.digest)
    for stale in (None, OLD.digest):
        with pytest.raises(library.StaleVersion):
            library.publish(session, OLD.name, OLD.digest, base=stale)
    (published,) = library.current(session)
    assert (published.name, published.version, published.source, published.hidden) == (
        OLD.name,
        2,
        NEW.source,
        False,
    )
    library.publish(session, OLD.name, OLD.digest, base=NEW.digest)
    assert library.current(session)[0].digest == OLD.digest


def test_only_a_kept_version_of_the_exercise_is_published(session):
    record(session, OLD, OTHER)
    for digest in (NEW.digest, OTHER.digest, ""):
        with pytest.raises(library.UnknownVersion):
            library.publish(session, OLD.name, digest, base=None)
    assert library.current(session) == []


def test_of_two_who_publish_at_once_one_is_told(database):
    with database.session() as session:
        record(session, OLD, NEW)
    outcomes, together = [], threading.Barrier(2)

    def publish(text):
        together.wait()
        try:
            with database.session() as session:
                library.publish(session, text.name, text.digest, base=None)
            outcomes.append("published")
        except library.StaleVersion:
            outcomes.append("stale")

    threads = [threading.Thread(target=publish, args=[text]) for text in (OLD, NEW)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["published", "stale"]


def test_an_exercise_of_the_folder_is_hidden_and_shown_without_a_text(session):
    library.hide(session, "from-the-folder")
    (published,) = library.current(session)
    assert (published.hidden, published.digest, published.source) == (True, None, None)
    library.hide(session, "from-the-folder", hidden=False)
    assert not library.current(session)[0].hidden


def test_hiding_keeps_the_published_text_and_publishing_keeps_it_hidden(session):
    record(session, OLD, NEW)
    library.publish(session, OLD.name, OLD.digest, base=None)
    library.hide(session, OLD.name)
    library.publish(session, OLD.name, NEW.digest, base=OLD.digest)
    (published,) = library.current(session)
    assert (published.hidden, published.digest) == (True, NEW.digest)


def test_a_withdrawn_text_makes_room_for_the_folders(session):
    record(session, OLD)
    library.publish(session, OLD.name, OLD.digest, base=None)
    with pytest.raises(library.StaleVersion):
        library.withdraw(session, OLD.name, base=NEW.digest)
    library.withdraw(session, OLD.name, base=OLD.digest)
    assert library.current(session)[0].digest is None
    assert library.get_source(session, OLD.digest) == OLD.source


def test_the_stamp_differs_whenever_what_is_published_does(session):
    record(session, OLD, NEW)
    stamps = [library.stamp(session)]
    for change in (
        lambda: library.publish(session, OLD.name, OLD.digest, base=None),
        lambda: library.publish(session, OLD.name, NEW.digest, base=OLD.digest),
        lambda: library.hide(session, OLD.name),
        lambda: library.hide(session, "other"),
    ):
        change()
        stamps.append(library.stamp(session))
    assert len(set(stamps)) == len(stamps)
    record(session, OTHER)
    assert library.stamp(session) == stamps[-1]
    assert {row.name: row.hidden for row in library.list_published(session)} == {OLD.name: True, "other": True}
