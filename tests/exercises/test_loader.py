"""Files: every mistake is told with its place and what to write, and a wrong file hides no other."""

from dataclasses import dataclass

import pytest

from app.exercises import loader
from app.settings import ROOT
from tests.exercises import making

NGINX = making.POD.format(node="node01", image="nginx")

MISTAKES = {
    "a missing field": (
        {"spec__solution": None},
        ["“solution” is missing."],
    ),
    "an unknown field with a near one": (
        {"spec__minuts": 3},
        ["There is no field “minuts” here. Write “minutes” instead of “minuts”."],
    ),
    "an unknown field deep inside": (
        {"spec__checks__0__placement__onNode": ["node01"]},
        ["There is no field “onNode” here. Write “onNodes” instead of “onNode”."],
    ),
    "a language that is not offered": (
        {"spec__text__kr": {"title": "x", "task": "x"}},
        ["There is no field “kr” here. Known here: en, ko."],
    ),
    "a number in quotes": (
        {"metadata__version": "1"},
        ["“version” takes a whole number. Write it without quotes, such as 3."],
    ),
    "true for a number": (
        {"spec__level": True},
        ["“level” takes a whole number. Write it without quotes, such as 3."],
    ),
    "a number for a text": (
        {"spec__text__en__title": 5},
        ["“title” takes text. Put the value in quotes."],
    ),
    "a text for a list": (
        {"spec__hints": "One."},
        ["“hints” is a list. Begin each of its items on a new line with “- ”."],
    ),
    "a list for fields": (
        {"spec__solution": ["x"]},
        ["“solution” takes fields of its own. Write them on the lines below it, indented."],
    ),
    "no points": (
        {"spec__checks__0__points": 0},
        ["“points” is too small: the least is 1."],
    ),
    "too many points": (
        {"spec__checks__0__points": 101},
        ["“points” is too large: the most is 100."],
    ),
    "an empty text": (
        {"spec__hints__0__en": ""},
        ["“en” is empty. Write something, or leave the field out."],
    ),
    "a text that is too long": (
        {"spec__text__en__title": "x" * 81},
        ["“title” is too long. Use at most 80 characters."],
    ),
    "one wrong answer only": (
        {"spec__wrong": making.BASE["spec"]["wrong"][:1]},
        ["“wrong” has 1 entries. Write at least 2."],
    ),
    "too many checks": (
        {"spec__checks": making.BASE["spec"]["checks"] * 11},
        ["“checks” has 22 entries. Use at most 20."],
    ),
    "a name with capitals": (
        {"metadata__name": "Place-Bee"},
        [
            "“name” has characters that may not stand there. Write what fits the pattern ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$."
        ],
    ),
    "an unknown mode": (
        {"spec__solution__mode": "aply"},
        ["“mode” must be 'apply', 'create', 'replace' or 'delete'. Write “apply” instead of “aply”."],
    ),
    "an unknown chapter": (
        {"spec__chapter": "daemonset"},
        ["There is no chapter “daemonset”. Write “daemonsets” instead of “daemonset”."],
    ),
    "an unknown plugin": (
        {"spec__about": ["TaintTolerations"]},
        ["The scheduler has no plugin “TaintTolerations”. Write “TaintToleration” instead of “TaintTolerations”."],
    ),
    "a check's name twice": (
        {"spec__checks__1__name": "on-node01", "spec__wrong__1__fails": ["on-node01"]},
        ["The name “on-node01” is taken already. Give each its own name."],
    ),
    "a wrong answer that fails an unknown check": (
        {"spec__wrong__0__fails": ["on-node02"]},
        ["There is no check “on-node02”. Write “on-node01” instead of “on-node02”."],
    ),
    "a check of no kind": (
        {"spec__checks__1__object": None},
        [
            "Check “image” does not say how to judge. Write exactly one of: object, placement, scheduledBy, event, probe."
        ],
    ),
    "a check of two kinds": (
        {"spec__checks__1__event": {"reason": "Scheduled", "involved": {"kind": "Pod", "name": "bee"}}},
        [
            "Check “image” does not say how to judge. Write exactly one of: object, placement, scheduledBy, event, probe."
        ],
    ),
    "a placeholder in a title": (
        {"spec__text__en__title": "On ${node}", "spec__parameters": {"node": {"choices": ["node01"]}}},
        ["A title may hold no placeholder. Lists show the title before names are drawn: leave the placeholder out."],
    ),
    "an unknown placeholder": (
        {"spec__text__en__task": "bee nginx node01 ${nod}", "spec__parameters": {"node": {"choices": ["node01"]}}},
        ["No parameter is called “nod”. Write “node” instead of “nod”."],
    ),
    "a placeholder without any parameter": (
        {"spec__text__en__task": "bee nginx node01 ${node}"},
        ["No parameter is called “node”. Write $${ where ${ is meant as it stands."],
    ),
    "a placeholder that is not closed": (
        {"spec__text__en__task": "bee nginx node01 ${node"},
        ["No parameter is called “node”. Write $${ where ${ is meant as it stands."],
    ),
    "a choice that could end a string": (
        {"spec__parameters": {"node": {"choices": ['a" || true || "']}}},
        [
            (
                "“choices” has characters that may not stand there. "
                "Write what fits the pattern ^[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?$."
            )
        ],
    ),
    "parameters that cannot differ": (
        {
            "spec__parameters": {
                "node": {"choices": ["node01"]},
                "other": {"choices": ["node01"], "differsFrom": ["node"]},
            }
        },
        ["No choice of values satisfies differsFrom. Give one of them more choices."],
    ),
    "too many variants": (
        {"spec__parameters": {f"p{n}": {"choices": [f"v{m}" for m in range(20)]} for n in range(4)}},
        ["There are 160000 variants; at most 10000 may be."],
    ),
    "an expression with an unknown name": (
        {"spec__checks__1__object__expect": "podz.size() == 1"},
        ["This CEL expression is wrong: undeclared reference to 'podz' (in container '')"],
    ),
    "an expression that is no condition": (
        {"spec__checks__1__object__expect": "size(self.spec.containers)"},
        ["This CEL expression is wrong: the expression gives int, not true or false"],
    ),
    "an object of an unknown kind": (
        {"spec__checks__1__object__kind": "Nod"},
        ["“Nod” is not a kind that this cluster knows. Write a kind such as Pod, Node or Deployment."],
    ),
    "an object with nothing to check": (
        {"spec__checks__1__object__expect": None},
        ["It is not clear what is to be checked here. Write either “expect” with a condition, or “absent: true”."],
    ),
    "a placement of nothing": (
        {"spec__checks__0__placement": {"onNodes": ["node01"]}},
        [
            "It is not clear which pods are meant. Write either “pod” with a name, or “selector” with labels such as app=web."
        ],
    ),
    "a placement nowhere": (
        {"spec__checks__0__placement": {"pod": {"name": "bee"}}},
        ["It is not said where the pods must be. Write “onNodes”, “onNodesWith” or “notOnNodes”."],
    ),
    "a selector that cannot be read": (
        {"spec__checks__0__placement": {"selector": "a in (", "onNodes": ["node01"]}},
        ["This selector is wrong: unable to parse requirement: found '', expected: ',', or ')'"],
    ),
    "a placement with a count of one pod": (
        {"spec__checks__0__placement__count": 2},
        ["“count” goes with “selector” only."],
    ),
    "a scheduler and nobody": (
        {
            "spec__checks__0__placement": None,
            "spec__checks__0__scheduledBy": {"pod": {"name": "bee"}, "scheduler": "x", "nobody": True},
        },
        ["It is not clear who must have placed the pod. Write either “scheduler” with a name, or “nobody: true”."],
    ),
    "an event about a kind in lower case": (
        {
            "spec__checks__0__placement": None,
            "spec__checks__0__event": {"reason": "Scheduled", "involved": {"kind": "pod", "name": "bee"}},
        },
        ["“pod” is not a kind: kinds begin with a capital letter."],
    ),
    "a probe without pod and outcome": (
        {"spec__checks__0__placement": None, "spec__checks__0__probe": {"pod": {}}},
        [
            (
                "It is not clear what the trial must show. "
                "Write one of “mustLandOn”, “mustNotLandOn” or “mustStayPending: true”."
            ),
            "It is not clear which pod is to be tried. Write one of “template: plain”, “manifest” or “like”.",
        ],
    ),
    "a probe of two pods": (
        {
            "spec__checks__0__placement": None,
            "spec__checks__0__probe": {
                "pod": {"manifest": f"{NGINX}---\n{NGINX}"},
                "mustStayPending": True,
            },
        },
        ["This must be the manifest of one Pod."],
    ),
    "a solution that the API server would refuse": (
        {"spec__solution__manifests": "apiVersion: v1\nkind: Pod\nmetadata: {name: bee}\nspec: {continers: []}\n"},
        ['The API server refuses this: unknown field "spec.continers"'],
    ),
    "a cluster of an unknown kind": (
        {"spec__cluster": {"manifests": "apiVersion: v1\nkind: Podd\nmetadata: {name: x}\n"}},
        ['The API server refuses this: no matches for kind "Podd" in version "v1"'],
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_it_tells_what_is_wrong(name):
    changes, expected = MISTAKES[name]
    found = making.problems(making.text(**changes))
    told = [problem.partition(": ")[2] for problem in found]
    assert sorted(told) == sorted(expected)
    assert all(problem.startswith("a.yaml:") for problem in found)


def test_it_tells_all_mistakes_at_once_in_the_order_of_the_file():
    source = making.text(metadata__version="1", spec__level=9, spec__checks__0__points=0, spec__wrong=[])
    told = making.problems(source)
    assert [problem.split(": ")[1].split("”")[0] for problem in told] == ["“version", "“level", "“points", "“wrong"]


FILE = """\
apiVersion: lab/v1
kind: Exercise
metadata: {name: x, version: 1}
spec:
  chapter: resources
  level: 9
  minutes: 5
  text:
    en: {title: T, task: "Hello ${x}"}
  checks:
  - name: a
    points: 1
    text: {en: x}
    object:
      kind: Pod
      name: bee
      expect: self.x == podz
  - name: b
    points: 1
    text: {en: x}
    object:
      kind: Pod
      name: bee
      expect: |
        self.x == 1
        && podz
  solution:
    manifests: |
      apiVersion: v1
      kind: Pod
      metadata: {name: bee}
      spec:
         containers: [}
    why: {en: x}
  wrong: [{name: a, manifests: x, fails: [a]}, {name: b, manifests: x, fails: [b]}]
"""


def test_it_tells_where_a_mistake_stands():
    assert making.problems(FILE) == ["a.yaml:6:3: “level” is too large: the most is 5."]
    places = [problem.split(": ")[0] for problem in making.problems(FILE.replace("level: 9", "level: 1"))]
    assert places == ["a.yaml:9:33", "a.yaml:17:25", "a.yaml:26:12", "a.yaml:33:23"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", "a.yaml:1:1: There is no manifest in here: the text is empty or holds only comments."),
        ("a: [", "a.yaml:2:1"),
        ("apiVersion: lab/v1\n\tkind: x", "a.yaml:2:1"),
        ("apiVersion: lab/v1\nkind: Exercise\nkind: Exercise\n", "a.yaml:3:1"),
        (
            making.text() + "---\napiVersion: v1\nkind: Pod\n",
            ":1: A file holds one exercise; here begins another document.",
        ),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: x, version: 1}\nspec: {}\n", "“apiVersion” must be 'lab/v1'."),
        ("#" * (loader.MAX_BYTES + 1), "a.yaml:1:1: This is too large"),
        ("a: " + "[" * 5000, "a.yaml:1:"),
        ("a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(f"b{n}: [*a,*a,*a,*a,*a,*a]\n" for n in range(9)), "a.yaml:"),
        ("apiVersion: lab/v1\x00", "a.yaml:1:19"),
    ],
)
def test_it_refuses_what_is_no_exercise(source, expected):
    found = making.problems(source)
    assert found
    assert any(expected in problem for problem in found)


def test_a_right_file_becomes_an_exercise():
    found = making.exercise()
    assert (found.name, found.version, found.chapter.number, found.level, found.possible) == ("place-bee", 1, 4, 1, 10)
    assert found.languages == ("en", "ko")
    assert found.text("ko").title == "bee 배치하기"
    assert found.text("fr").title == "Place bee"
    assert not found.varies
    assert len(found.digest) == 64


def test_a_missing_translation_falls_back_to_english():
    found = making.exercise(spec__text__ko=None)
    assert found.languages == ("en",)
    assert found.text("ko").title == "Place bee"
    assert found.variant(1).checks[0].text.get("ko") == "bee is on node01"


def test_a_wrong_file_hides_no_other(tmp_path):
    (tmp_path / "a.yaml").write_text(making.text(spec__level=9))
    (tmp_path / "b.yaml").write_text(making.text(metadata__name="bees", spec__chapter="resources"))
    (tmp_path / "c.yml").write_text(making.text())
    (tmp_path / "d.yaml").write_text(making.text())
    (tmp_path / "e.yaml").write_bytes(b"\xff\xfe\xff")
    (tmp_path / "readme.txt").write_text("no exercise")
    catalogue = loader.load_folder(tmp_path)
    assert list(catalogue.exercises) == ["place-bee", "bees"]
    assert [(problem.file, problem.line) for problem in catalogue.problems] == [
        ("a.yaml", 8),
        ("d.yaml", 1),
        ("e.yaml", 1),
    ]


def test_a_folder_that_is_not_there_is_empty(tmp_path):
    assert loader.load_folder(tmp_path / "nowhere").exercises == {}


@dataclass
class Row:
    name: str
    source: str | None
    hidden: bool = False


def test_what_instructors_publish_stands_before_the_folder(tmp_path):
    (tmp_path / "a.yaml").write_text(making.text())
    (tmp_path / "b.yaml").write_text(making.text(metadata__name="second"))
    (tmp_path / "c.yaml").write_text(making.text(metadata__name="third"))
    catalogue = loader.overlay(
        loader.load_folder(tmp_path),
        [
            Row("place-bee", making.text(metadata__version=2)),
            Row("second", None, hidden=True),
            Row("third", "no: exercise"),
            Row("new", making.text(metadata__name="new", spec__chapter="resources")),
        ],
    )
    assert {name: found.version for name, found in catalogue.exercises.items()} == {"place-bee": 2, "new": 1}
    assert list(catalogue.hidden) == ["second"]
    assert [problem.file for problem in catalogue.problems] == ["third.yaml"]


def test_every_chapter_has_an_exercise_in_both_languages():
    catalogue = loader.load_folder(ROOT / "exercises")
    assert catalogue.problems == ()
    assert [found.chapter.number for found in catalogue.exercises.values()] == list(range(1, 10))
    for name, found in catalogue.exercises.items():
        assert found.file == f"{name}.yaml"
        assert found.languages == ("en", "ko")
        assert all(check.text.ko for check in found.spec.checks)
        assert all(hint.ko for hint in found.spec.hints)
        assert len(found.spec.hints) >= 2
        assert found.spec.solution.why.ko
        assert found.spec.solution.read
