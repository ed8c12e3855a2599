"""The workbench: what is saved and what is refused, who may, and that nothing typed is ever lost."""

import html
import itertools
import re

import pytest
from starlette.testclient import TestClient

from app.progress.models import Role
from app.web.templating import TEMPLATES
from tests.web.conftest import make_site

SKELETON = (TEMPLATES / "author" / "skeleton.yaml").read_text()
_numbers = itertools.count()
HTMX = {"hx-request": "true"}


def text_of(name, title="Put a pod on a node"):
    return SKELETON.replace("name: my-exercise ", f"name: {name} ").replace(
        "title: Put a pod on a node", f"title: {title}"
    )


@pytest.fixture
def name():
    """An exercise's name of this test's own: the application is shared."""
    return f"authored-{next(_numbers)}"


@pytest.fixture
def saved(instructor, name):
    """The name of an exercise that was saved once."""
    answer = instructor.post("/author/new", {"text": text_of(name)})
    assert answer.status_code == 303, answer.text
    return name


def typed(page):
    """What stands in the editor."""
    return html.unescape(re.search(r"<textarea[^>]*>\n(.*?)</textarea>", page, re.DOTALL)[1])


def base(page):
    """The digest that the editor's text began from."""
    return re.search(r'name="base" value="(\w*)"', page)[1]


# Who may


@pytest.mark.parametrize("path", ["/author", "/author/new", "/author/taint-a-node", "/author/taint-a-node/download"])
@pytest.mark.parametrize(("role", "status"), [("learner", 403), ("grader", 403), (None, 401)])
def test_learners_graders_and_strangers_see_no_authors_page(site, path, role, status):
    person = site.person(Role(role)) if role else site.visitor()
    answer = person.get(path)
    assert answer.status_code == status
    assert "kind: Exercise" not in answer.text


@pytest.mark.parametrize("path", ["new", "validate", "prove", "preview", "upload", "{saved}", "{saved}/hide"])
@pytest.mark.parametrize(("role", "status"), [("learner", 403), ("grader", 403), (None, 401)])
def test_nor_do_they_change_anything(site, instructor, saved, path, role, status):
    person = site.person(Role(role)) if role else site.visitor()
    answer = person.post(f"/author/{path.format(saved=saved)}", {"text": text_of(saved, "Theirs")})
    assert answer.status_code == status
    assert "Theirs" not in instructor.get("/author").text


@pytest.mark.parametrize("path", ["new", "validate", "{saved}", "{saved}/hide", "{saved}/restore"])
def test_a_forged_form_is_not_carried_out(instructor, saved, path):
    answer = instructor.post(
        f"/author/{path.format(saved=saved)}",
        {"text": text_of(saved, "Forged")},
        headers={"sec-fetch-site": "cross-site"},
    )
    assert answer.status_code == 403
    assert "Forged" not in instructor.get("/author").text


# Saving


def test_the_text_to_start_from_is_a_valid_exercise(instructor):
    page = instructor.get("/author/new").text
    assert typed(page) == SKELETON.rstrip("\n") or typed(page) == SKELETON
    assert "The text is valid" in instructor.post("/author/validate", {"text": typed(page)}, headers=HTMX).text


def test_a_new_exercise_is_published_and_learners_find_it(site, instructor, name):
    answer = instructor.post("/author/new", {"text": text_of(name, "A brand-new task").replace("\n", "\r\n")})
    assert (answer.status_code, answer.headers["location"]) == (303, f"/author/{name}")
    page = instructor.get(f"/author/{name}").text
    assert f"Saved and published: {name}, version 1." in page
    assert typed(page).rstrip("\n") == text_of(name, "A brand-new task").rstrip("\n")
    assert "A brand-new task" in site.visitor().get("/learn").text


def test_a_text_with_mistakes_is_refused_with_place_and_advice_and_kept(instructor, name):
    wrong = text_of(name).replace("    points: 4", "    pionts: 4")
    line = wrong.splitlines().index("    pionts: 4") + 1
    answer = instructor.post("/author/new", {"text": wrong})
    assert answer.status_code == 422
    assert f'data-line="{line}"' in answer.text
    assert f"exercise.yaml:{line}:5" in answer.text
    assert "points" in re.search(r'class="problems">(.*?)</ul>', answer.text, re.DOTALL)[1]
    assert "This text is not saved" in answer.text
    assert typed(answer.text).rstrip("\n") == wrong.rstrip("\n")
    assert instructor.get(f"/author/{name}").status_code == 404


def test_the_name_of_another_exercise_is_not_taken_over(instructor, saved):
    answer = instructor.post("/author/new", {"text": text_of(saved, "Taken over")})
    assert answer.status_code == 422
    assert f"There is an exercise {saved} already." in answer.text
    assert "Taken over" in typed(answer.text)
    assert "Taken over" not in instructor.get("/author").text


def test_an_edited_text_becomes_the_newest_version_and_the_older_one_stays(instructor, saved):
    page = instructor.get(f"/author/{saved}").text
    data = {"text": text_of(saved, "Second try"), "base": base(page)}
    assert instructor.post(f"/author/{saved}", data).status_code == 303
    page = instructor.get(f"/author/{saved}").text
    assert "Second try" in typed(page)
    digests = set(re.findall(rf"/author/{saved}/versions/(\w+)", page))
    assert len(digests) == 2
    (older,) = digests - {base(page)}
    assert "Second try" not in instructor.get(f"/author/{saved}/versions/{older}").text


def test_an_author_who_does_not_raise_the_version_is_reminded(instructor, saved):
    text = text_of(saved, "Second try")
    for changed, reminder in ((text, True), (text.replace("version: 1 ", "version: 2 "), False)):
        present = base(instructor.get(f"/author/{saved}").text)
        assert instructor.post(f"/author/{saved}", {"text": changed, "base": present}).status_code == 303
        assert ("It still states version 1" in instructor.get(f"/author/{saved}").text) is reminder


def test_an_older_version_can_be_used_again(instructor, saved):
    first = base(instructor.get(f"/author/{saved}").text)
    instructor.post(f"/author/{saved}", {"text": text_of(saved, "Second try"), "base": first})
    second = base(instructor.get(f"/author/{saved}").text)
    assert instructor.post(f"/author/{saved}/restore", {"digest": first, "base": second}).status_code == 303
    page = instructor.get(f"/author/{saved}").text
    assert "This version is in use again." in page
    assert base(page) == first


def test_a_version_of_another_exercise_is_not_restored(instructor, saved):
    present = base(instructor.get(f"/author/{saved}").text)
    other = f"{saved}-other"
    instructor.post("/author/new", {"text": text_of(other)})
    foreign = base(instructor.get(f"/author/{other}").text)
    instructor.post(f"/author/{saved}/restore", {"digest": foreign, "base": present})
    page = instructor.get(f"/author/{saved}").text
    assert base(page) == present
    assert "There is no version" in page


def test_two_authors_at_once_lose_nothing(site, instructor, saved):
    colleague = site.person(Role.INSTRUCTOR)
    opened = base(instructor.get(f"/author/{saved}").text)
    colleague.post(f"/author/{saved}", {"text": text_of(saved, "Theirs <b>"), "base": opened})
    answer = instructor.post(f"/author/{saved}", {"text": text_of(saved, "Mine"), "base": opened})
    assert answer.status_code == 409
    assert "Nothing was overwritten." in answer.text
    assert "Mine" in typed(answer.text)
    assert "title: Theirs &lt;b&gt;" in answer.text
    assert re.search(r'class="taken">-\s*title: Theirs', answer.text)
    assert re.search(r'class="added">\+\s*title: Mine', answer.text)
    again = {"text": text_of(saved, "Mine"), "base": base(answer.text)}
    assert instructor.post(f"/author/{saved}", again).status_code == 303
    assert len(set(re.findall(rf"/author/{saved}/versions/(\w+)", instructor.get(f"/author/{saved}").text))) == 3


def test_a_text_under_another_name_is_not_saved_here(instructor, saved):
    data = {"text": text_of(f"{saved}-renamed"), "base": base(instructor.get(f"/author/{saved}").text)}
    answer = instructor.post(f"/author/{saved}", data)
    assert answer.status_code == 422
    assert f"This text is named {saved}-renamed" in answer.text


@pytest.mark.parametrize("size", [256 * 1024 + 1, 2 * 1024 * 1024])
def test_a_text_that_is_too_large_says_so_and_is_kept(instructor, name, size):
    large = text_of(name) + "#" * (size - len(text_of(name)))
    answer = instructor.post("/author/new", {"text": large})
    assert answer.status_code == 413
    assert "an exercise may have 256" in answer.text
    assert typed(answer.text) == large
    assert instructor.post("/author/validate", {"text": large}, headers=HTMX).status_code == 413


@pytest.mark.parametrize(
    "hostile", ["\x00", "a: &a [*a]", "[" * 5000, "a: " + "1" * 5000, "&a " * 2000, "- " * 3000, "💣" * 9000]
)
def test_a_hostile_text_is_a_problem_and_no_fault(instructor, hostile):
    answer = instructor.post("/author/validate", {"text": hostile}, headers=HTMX)
    assert answer.status_code == 200
    assert 'class="problems"' in answer.text
    assert instructor.post("/author/new", {"text": hostile}).status_code == 422


# Files


def upload(person, content, filename="exercise.yaml"):
    return person.client.post("/author/upload", files={"file": (filename, content, "application/yaml")})


def test_a_file_is_uploaded_and_downloaded_again(instructor, name):
    content = text_of(name).encode()
    answer = upload(instructor, b"\xef\xbb\xbf" + content)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/author/{name}")
    answer = instructor.get(f"/author/{name}/download")
    assert answer.content == content
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}.yaml"'


@pytest.mark.parametrize(
    ("content", "status", "message"),
    [
        (b"\xff\xfe\x00", 422, "This file is not text in UTF-8."),
        (b"x" * (256 * 1024 + 1), 413, "an exercise may have 256"),
        (b"", 422, "This text is not saved"),
        (b"kind: [", 422, "This text is not saved"),
    ],
)
def test_a_file_that_is_no_exercise_is_refused(instructor, content, status, message):
    answer = upload(instructor, content, "../../etc/passwd")
    assert answer.status_code == status
    assert message in answer.text
    assert "etc/passwd" not in answer.text


def test_no_file_at_all_is_told_at_the_field(instructor):
    answer = instructor.post("/author/upload")
    assert answer.status_code == 422
    assert "Choose a file first." in answer.text


def test_a_wrong_file_in_the_folder_hides_no_other(tmp_path):
    folder = tmp_path / "exercises"
    folder.mkdir()
    (folder / "good.yaml").write_text(text_of("good-one"))
    (folder / "bad.yaml").write_text(text_of("bad-one").replace("level: 1", "level: 9"))
    made = make_site(tmp_path, folder)
    with TestClient(made.app):
        page = made.person(Role.INSTRUCTOR).get("/author").text
    assert "good-one" in page
    assert re.search(r"bad\.yaml:\d+:\d+", page)
    assert "1 problem in the files" in page


# Looking


def test_validation_while_typing_answers_with_the_panel_alone(instructor):
    answer = instructor.post("/author/validate", {"text": "kind: Exercise\n"}, headers=HTMX)
    assert answer.text.lstrip().startswith('<div id="panel"')
    assert "data-message=" in answer.text


def test_without_javascript_it_is_the_whole_page_with_the_text(instructor, saved):
    data = {"text": "kind: Exercise\n", "name": saved, "base": "anything"}
    answer = instructor.post("/author/validate", data)
    assert "<!doctype html>" in answer.text
    assert typed(answer.text).strip() == "kind: Exercise"
    assert 'class="problems"' in answer.text


def test_a_preview_shows_one_variant_as_a_learner_sees_it(instructor, name):
    data = {"text": text_of(name), "seed": "3", "language": "ko"}
    answer = instructor.post("/author/preview", data, headers=HTMX)
    assert "Variant of seed 3" in answer.text
    assert re.search(r"<code>node0[12]</code>", answer.text)
    assert "4 points" in answer.text
    assert "${node}" not in answer.text


def test_markup_in_a_text_is_shown_and_not_carried_out(instructor, name):
    hostile = text_of(name, "<script>alert(1)</script>").replace(
        "no scheduler may have decided so.", "<img src=x onerror=alert(1)> [x](javascript:alert(1))"
    )
    answer = instructor.post("/author/preview", {"text": hostile}, headers=HTMX)
    for part in ("<script>alert", "<img", 'href="javascript'):
        assert part not in answer.text
    instructor.post("/author/new", {"text": hostile})
    assert "<script>alert" not in instructor.get("/author").text


def test_a_proof_says_that_the_exercise_holds(instructor, name):
    answer = instructor.post("/author/prove", {"text": text_of(name)}, headers=HTMX)
    assert "Proven" in answer.text
    assert "Not proven" not in answer.text


def test_a_proof_says_what_does_not_hold(instructor, name):
    unsolved = text_of(name).replace("metadata: {name: bee}", "metadata: {name: bumblebee}", 1)
    answer = instructor.post("/author/prove", {"text": unsolved}, headers=HTMX)
    assert "Not proven" in answer.text
    assert "What does not hold" in answer.text


def test_hiding_takes_it_off_the_list_for_learners_alone(site, instructor, saved):
    visitor = site.visitor()
    assert f"/learn/{saved}" in visitor.get("/learn").text
    assert instructor.post(f"/author/{saved}/hide").status_code == 303
    assert f"/learn/{saved}" not in visitor.get("/learn").text
    assert visitor.get(f"/learn/{saved}").status_code == 404
    assert instructor.get(f"/author/{saved}").status_code == 200
    instructor.post(f"/author/{saved}/show")
    assert f"/learn/{saved}" in visitor.get("/learn").text


@pytest.mark.parametrize("path", ["", "/download", "/versions/abc"])
def test_an_exercise_that_does_not_exist_is_not_found(instructor, path):
    assert instructor.get(f"/author/no-such-exercise{path}").status_code == 404
    assert instructor.get(f"/author/..%2f..%2fetc{path}").status_code == 404
