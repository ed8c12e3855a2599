"""The CSV of scores."""

import csv
import io
from datetime import UTC, datetime

import pytest

from app.progress import accounts, gradebook, groups
from app.progress.exporters import csv_scores
from app.progress.gradebook import Row
from app.progress.models import ResultKind
from app.progress.results import Score, Scores
from app.settings import ROOT
from tests.progress.conftest import graded, lab_of, person

AT = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def read(rows):
    return list(csv.DictReader(io.StringIO(b"".join(csv_scores.export(rows)).decode("utf-8-sig"), newline="")))


def learner(name="ada", display_name=None, in_groups=()):
    score = Score(1, 2, 3, AT, ResultKind.CHECK, 1, 7, "1.35.0")
    return Row(5, name, display_name, in_groups, {"one": Scores("one", 1, score, score, score)})


def test_a_line_has_everything_about_a_learner_and_an_exercise(session, clock):
    ada = person(session, "Ada")
    for name in ("Monday", "Extra"):
        groups.join(session, ada.id, groups.create(session, name).join_code)
    lab = lab_of(session, ada)
    for points in (1, 3, 2):
        graded(session, lab, points)
        clock.forward(minutes=1)
    (line,) = read(gradebook.table(session))
    assert line == {
        "name": "Ada",
        "display_name": "",
        "groups": "Extra; Monday",
        "exercise": "taint-a-node",
        "points": "3",
        "possible": "3",
        "attempts": "3",
        "first_points": "1",
        "first_possible": "3",
        "first_at": "2026-03-01T09:00:00Z",
        "last_points": "2",
        "last_possible": "3",
        "last_at": "2026-03-01T09:02:00Z",
        "best_at": "2026-03-01T09:01:00Z",
        "exercise_version": "1",
        "seed": "7",
        "engine_version": "1.35.0",
        "learner": str(ada.id),
    }


def test_the_file_is_rfc_4180_with_a_mark_that_it_is_utf_8():
    data = b"".join(csv_scores.export([learner('a,"b', "김철수")]))
    assert data.startswith(b"\xef\xbb\xbfname,display_name,")
    assert '\r\n"a,""b",김철수,,one,2,3,'.encode() in data
    assert data.endswith(b"\r\n")
    assert data.count(b"\n") == data.count(b"\r\n") == 2


def test_without_results_there_is_the_header_alone():
    assert b"".join(csv_scores.export([])).decode("utf-8-sig") == ",".join(csv_scores.COLUMNS) + "\r\n"
    assert read([Row(5, "ada", None, ())]) == []


@pytest.mark.parametrize(
    "cell",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", '=HYPERLINK("http://x";"y")'],
)
def test_no_cell_starts_a_formula(cell):
    (line,) = read([learner(cell, cell, (cell,))])
    assert line["name"] == line["display_name"] == line["groups"] == "'" + cell


def test_lines_come_as_they_are_made():
    made = []

    def rows():
        for number in range(3):
            made.append(number)
            yield learner(f"u{number}")

    pieces = csv_scores.export(rows())
    next(pieces)
    assert made == []
    next(pieces)
    assert made == [0]
    assert len(list(pieces)) == 2


def test_a_guests_name_is_empty(session):
    guest = accounts.create_guest(session)
    groups.join(session, guest.id, groups.create(session, "Monday").join_code)
    graded(session, lab_of(session, guest), 1)
    (line,) = read(gradebook.table(session))
    assert (line["name"], line["groups"], line["learner"]) == ("", "Monday", str(guest.id))


def test_every_column_is_documented():
    page = (ROOT / "docs" / "data.md").read_text()
    assert [name for name in csv_scores.COLUMNS if f"| `{name}` |" not in page] == []
