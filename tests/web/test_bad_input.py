"""What learners really send: each gets a message that a beginner understands, 422, and changes nothing."""

import html
import re
import threading

import pytest

from app.progress import labs, results

EXERCISE = "write-a-toleration"

POD = """apiVersion: v1
kind: Pod
metadata:
  name: bee
spec:
  containers:
  - name: bee
    image: nginx
"""

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(9)
)

MISTAKES = [
    pytest.param(POD.replace("kind: Pod", "kind:Pod"), ["line 2"], id="no space after kind"),
    pytest.param(POD.replace("apiVersion: v1", "apiVersion:v1"), ["line 1"], id="no space after apiVersion"),
    pytest.param(
        POD + '  tolerations:\n  - key: a\n    effect:"NoSchedule"\n', ["line 11"], id="no space after effect"
    ),
    pytest.param(POD.replace("containers", "continers"), ["spec.continers", "containers"], id="unknown field"),
    pytest.param(POD + "tolerations:\n- operator: Exists\n", ["tolerations", "spec"], id="tolerations beside spec"),
    pytest.param(POD.replace("  name: bee\n", "\tname: bee\n", 1), ["line 4", "tab"], id="a tab"),
    pytest.param(
        POD + "  restartPolicy: Always\n  restartPolicy: Never\n", ["restartPolicy", "line 10"], id="duplicate key"
    ),
    pytest.param(POD + "    resources: {requests: {cpu: 1vCPU}}\n", ["cpu"], id="cpu 1vCPU"),
    pytest.param(POD + "    resources: {requests: {memory: 1gb}}\n", ["memory"], id="memory 1gb"),
    pytest.param(POD + "    env: [{name: A, value: true}]\n", ["value"], id="a boolean where text is due"),
    pytest.param(
        POD.replace("  name: bee\n", "  name: bee\n  labels: {tier: 1}\n", 1), ["labels"], id="a number as label"
    ),
    pytest.param("", ["empty"], id="empty"),
    pytest.param("---\n", ["empty"], id="nothing but a separator"),
    pytest.param("# only a comment\n", ["empty"], id="only a comment"),
    pytest.param(POD.replace("kind: Pod", "kind: pod"), ["Pod"], id="kind in lower case"),
    pytest.param("apiVersion: v1\nkind: Deployment\nmetadata: {name: web}\n", ["apps/v1"], id="wrong apiVersion"),
    pytest.param("Kind: Pod\napiVersion: v1\nmetadata: {name: x}\n", ["kind"], id="Kind with a capital"),
    pytest.param(POD.replace("name: bee", "name: Bee", 1), ["Bee", "lower case"], id="a name with capitals"),
    pytest.param("x" * (5 * 1024 * 1024), ["too large"], id="5 MB"),
    pytest.param("a: " + "x" * (1024 * 1024) + "\n", ["large"], id="1 MiB of YAML"),
    pytest.param(BOMB, ["alias"], id="alias bomb"),
    pytest.param("[" * 5000, ["deep"], id="deep nesting"),
    pytest.param(POD + "\0", ["U+0000"], id="NUL"),
    pytest.param("a: " + "1" * 5000, [], id="a number of 5000 digits"),
    pytest.param("just words\n", [], id="no mapping"),
    pytest.param("- a\n- b\n", [], id="a list"),
    pytest.param(POD + "    ports: [{containerPort: 99999}]\n", ["65535"], id="port out of range"),
    pytest.param(POD.replace("image: nginx", "image:"), ["image"], id="no image"),
    pytest.param(
        POD + "  tolerations:\n  - {key: a, effect: NoScheduled}\n",
        ["NoSchedule", "Unsupported value"],
        id="unknown effect",
    ),
    pytest.param(POD + "  tolerations:\n  - {key: a, operator: Equals}\n", ["operator"], id="unknown operator"),
]


@pytest.fixture
def learner(site):
    person = site.guest()
    person.lab = person.post(f"/learn/{EXERCISE}/start").headers["location"]
    person.lab_id = person.lab.rsplit("/", 1)[1]
    return person


def shown(answer):
    """The page's text without markup."""
    return html.unescape(re.sub(r"<[^>]+>", " ", answer.text))


def state_of(site, learner):
    with site.database.session() as session:
        lab = labs.get(session, learner.lab_id, learner.id)
        return lab.revision, bytes(lab.state)


@pytest.mark.parametrize("action", ["apply", "submit"])
@pytest.mark.parametrize(("text", "says"), MISTAKES)
def test_a_mistake_is_explained_and_changes_nothing(site, learner, text, says, action):
    before = state_of(site, learner)
    answer = learner.post(f"{learner.lab}/{action}", {"manifest": text, "mode": "apply"})
    assert answer.status_code == 422
    page = shown(answer)
    for words in says:
        assert words in page, page[:3000]
    assert "Traceback" not in page
    assert state_of(site, learner) == before
    if len(text) < 10_000 and "\0" not in text and text.strip():
        assert text.strip() in html.unescape(answer.text), "what was typed is still there"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(POD.replace("\n", "\r\n"), id="Windows line ends"),
        pytest.param("\ufeff" + POD, id="BOM"),
        pytest.param("---\n" + POD + "---\n", id="a stray separator"),
        pytest.param(POD + "...\n", id="document end"),
    ],
)
def test_what_is_harmless_is_accepted(learner, text):
    answer = learner.post(f"{learner.lab}/apply", {"manifest": text, "mode": "apply"})
    assert answer.status_code == 200
    assert "pod/bee created" in shown(answer)


@pytest.mark.parametrize("action", ["apply", "check", "submit", "reset"])
def test_other_peoples_labs_are_not_found(site, learner, action):
    stranger = site.guest()
    before = state_of(site, learner)
    assert stranger.post(f"{learner.lab}/{action}", {"manifest": POD}).status_code == 404
    assert stranger.get(learner.lab).status_code == 404
    assert state_of(site, learner) == before


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
def test_a_forged_form_is_refused(site, learner, headers):
    before = state_of(site, learner)
    answer = learner.post(f"{learner.lab}/apply", {"manifest": POD, "mode": "apply"}, headers=headers)
    assert answer.status_code == 403
    assert state_of(site, learner) == before


def test_an_unknown_mode_is_refused(site, learner):
    before = state_of(site, learner)
    answer = learner.post(f"{learner.lab}/apply", {"manifest": POD, "mode": "destroy"})
    assert answer.status_code == 422
    assert state_of(site, learner) == before


def test_a_body_beyond_the_limit_is_refused_unread(learner):
    answer = learner.post(f"{learner.lab}/apply", {"manifest": "x" * (17 * 1024 * 1024), "mode": "apply"})
    assert answer.status_code == 413


def test_two_submissions_at_once_are_ordered_and_none_is_lost(site, learner):
    answers = []

    def submit(number):
        text = POD.replace("name: bee\n", f"name: bee-{number}\n", 1)
        answers.append(learner.post(f"{learner.lab}/submit", {"manifest": text, "mode": "create"}).status_code)

    threads = [threading.Thread(target=submit, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [200] * 4
    page = shown(learner.get(learner.lab))
    assert all(f"bee-{number}" in page for number in range(4))
    with site.database.session() as session:
        assert results.count_of_user(session, learner.id) == 4
        assert [command.seq for command in labs.commands(session, learner.lab_id)] == [1, 2, 3, 4]
