"""The mistakes that the course's readers really make: each gets a place in the text and what to write instead.

The text goes the way of an answer: parsed as manifests, then created through the API.
"""

from __future__ import annotations

import pytest

from app.apimachinery import manifests
from app.apimachinery.errors import StatusError
from app.apimachinery.manifests import ManifestError
from tests.cluster.apiserver.making import server

GOOD = """\
apiVersion: v1
kind: Pod
metadata:
  name: bee
  labels:
    app: bee
spec:
  containers:
  - name: bee
    image: nginx
    resources:
      requests:
        cpu: 100m
        memory: 64Mi
  tolerations:
  - key: spray
    operator: Equal
    value: mortein
    effect: NoSchedule
"""

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: nginx}]}
"""


def answer(text: str | bytes) -> list[tuple[int, int, str, str]]:
    """(line, column, what is wrong, what to write) of each problem; empty where the answer is taken."""
    client, store = server()
    before = store.state()
    try:
        documents = manifests.parse(text)
    except ManifestError as error:
        return [(error.line, error.column, str(error.problem), str(error.advice or ""))]
    for document in documents:
        try:
            client.create(document.object)
        except StatusError as error:
            assert store.state() == before
            return [(*document.where(hint.path), error.message, str(hint.advice or "")) for hint in error.hints]
    return []


def edited(old: str, new: str, text: str = GOOD) -> str:
    assert old in text
    return text.replace(old, new, 1)


def test_the_answer_without_a_mistake_is_taken():
    assert answer(GOOD) == answer(DEPLOYMENT) == []


@pytest.mark.parametrize(
    ("text", "line", "column", "wrong", "write"),
    [
        (
            edited("effect: NoSchedule", 'effect:"NoSchedule"'),
            19,
            11,
            "no space after the colon",
            "“effect: ” with a space",
        ),
        (edited("apiVersion: v1", "apiVersion:v1"), 1, 11, "no space after the colon", "“apiVersion: ” with a space"),
        (
            edited("containers:", "continers:"),
            8,
            3,
            'unknown field "spec.continers"',
            "“containers” instead of “continers”",
        ),
        (
            edited("  tolerations:\n  - key: spray\n    operator", "tolerations:\n- key: spray\n    operator").replace(
                "\n    operator: Equal\n    value: mortein\n    effect",
                "\n  operator: Equal\n  value: mortein\n  effect",
            ),
            15,
            1,
            'unknown field "tolerations"',
            "belongs inside “spec”",
        ),
        (edited("  name: bee", "\tname: bee"), 4, 1, "tab", "spaces"),
        (edited("  - key: spray", "\t- key: spray"), 16, 1, "tab", "spaces"),
        (edited("    image: nginx", "    image: nginx\n    image: redis"), 11, 5, "stands here twice", "Keep one"),
        (
            edited("cpu: 100m", "cpu: 1vCPU"),
            13,
            9,
            "quantities must match the regular expression",
            "“1” instead of “1vCPU”",
        ),
        (
            edited("memory: 64Mi", "memory: 1gb"),
            14,
            9,
            "quantities must match the regular expr",
            "“1Gi” instead of “1gb”",
        ),
        (
            edited("value: mortein", "value: true"),
            18,
            5,
            "cannot unmarshal bool into Go struct field Toleration.spec.tolerations.value of type string",
            'Write "true", in quotes',
        ),
        (
            edited("app: bee", "app: 1"),
            6,
            5,
            "cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
            'Write "1", in quotes',
        ),
        ("", 1, 1, "no manifest", "Begin with"),
        ("---\n# later\n---\n", 1, 1, "no manifest", "Begin with"),
        (edited("spec:", "---\nspec:"), 8, 1, "“apiVersion” is missing", "“---” begins a new manifest: remove it"),
        (edited("kind: Pod", "Kind: pod"), 2, 1, "“kind” is missing", "“kind” instead of “Kind”"),
        (edited("kind: Pod", "kind: pod"), 2, 1, 'no matches for kind "pod" in version "v1"', "kind: Pod"),
        (
            edited("apiVersion: apps/v1", "apiVersion: v1", DEPLOYMENT),
            1,
            1,
            'no matches for kind "Deployment" in version "v1"',
            "“apiVersion: apps/v1”",
        ),
        (
            edited("apiVersion: apps/v1", "apiVersion: extensions/v1beta1", DEPLOYMENT),
            1,
            1,
            'no matches for kind "Deployment" in version "extensions/v1beta1"',
            "“apiVersion: apps/v1”",
        ),
        (GOOD + "#" * 5_000_000, 1, 1, "too large", "only the manifests"),
        (
            GOOD + "x: &a [1, 1]\n" + "".join(f"x{n}: [*a, *a]\n" for n in range(30)),
            31,
            7,
            "more than 20 aliases",
            "Write the values out",
        ),
        (edited("name: bee", "name: Bee"), 4, 3, "a lowercase RFC 1123 subdomain must consist", "“name: bee”"),
        (edited("name: bee", "name: worker_bee"), 4, 3, "a lowercase RFC 1123 subdomain", "“name: worker-bee”"),
        (
            edited("NoSchedule", "NoSchedul"),
            19,
            5,
            'Unsupported value: "NoSchedul"',
            "“NoSchedule” instead of “NoSchedul”",
        ),
        (edited("    image: nginx\n", ""), 9, 5, "spec.containers[0].image: Required value", "image: nginx"),
    ],
)
def test_a_mistake_gets_its_place_and_what_to_write(text, line, column, wrong, write):
    (found_line, found_column, message, advice), *more = answer(text)
    assert wrong in message
    assert write in advice
    assert (found_line, found_column) == (line, column)
    assert more == []


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("\n", "\r\n"),
        "\ufeff" + GOOD,
        (b"\xef\xbb\xbf" + GOOD.encode()).replace(b"\n", b"\r\n"),
        GOOD.encode("utf-16"),
        f"---\n---\n{GOOD}---\n",
        edited("app: bee", "app: 2026-01-01"),
        edited("cpu: 100m", "cpu: 0.1"),
    ],
    ids=["windows", "mark", "both", "utf-16", "separators", "date", "decimal"],
)
def test_what_is_no_mistake_for_kubernetes_is_taken(text):
    assert answer(text) == []


@pytest.mark.parametrize("text", ["\0", "a: \ud800", '"\\ud800": 1', "apiVersion: v1\nkind: Pod\nx: \x07"])
def test_characters_that_no_text_holds_are_refused(text):
    assert answer(text)[0][2]
