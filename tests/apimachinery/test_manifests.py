"""Manifests: what is read, what is refused, and where things stand."""

from __future__ import annotations

import time

import pytest

from app.apimachinery import manifests
from app.apimachinery.manifests import ManifestError

POD = "apiVersion: v1\nkind: Pod\n"


def refused(text: str | bytes) -> ManifestError:
    with pytest.raises(ManifestError) as caught:
        manifests.parse(text)
    return caught.value


def values(yaml: str) -> dict:
    return manifests.parse(POD + yaml)[0].object


@pytest.mark.parametrize(
    ("text", "line", "column", "problem", "advice"),
    [
        (
            POD + 'spec:\n  tolerations:\n  - key: app\n    effect:"NoSchedule"\n',
            6,
            11,
            "no space after the colon",
            "“effect: ” with a space",
        ),
        ("apiVersion:v1\nkind: Pod\n", 1, 11, "no space after the colon", "“apiVersion: ” with a space"),
        ("apiVersion:v1\nkind:Pod\n", 1, 11, "no space after the colon", "“apiVersion: ” with a space"),
        (POD + "metadata:\n\tname: x\n", 4, 1, "tab", "spaces"),
        (POD + "metadata:\n  name: x\n  \tlabels: {}\n", 5, 3, "tab", "spaces"),
        (POD + "metadata:\n  name: x\n  name: y\n", 5, 3, "“name” stands here twice: first on line 4", "Keep one"),
        ("", 1, 1, "no manifest", "Begin with"),
        ("# nothing\n---\n", 1, 1, "no manifest", "Begin with"),
        ("Kind: pod\napiVersion: v1\n", 1, 1, "“kind” is missing", "“kind” instead of “Kind”"),
        ("apiVersion: v1\n---\nkind: Pod\n", 1, 1, "“kind” is missing", "“---” begins a new manifest"),
        ("kind: Pod\nmetadata: {name: x}\n", 1, 1, "“apiVersion” is missing", "apiVersion: v1"),
        (POD.replace("Pod", "3"), 2, 1, "“kind” must be a word", None),
        ("- a\n- b\n", 1, 1, "not a manifest", "“apiVersion:”"),
        (POD + "metadata: {name: a\0b}\n", 3, 19, "U+0000", "Delete it"),
        (b"apiVersion: v1\nkind: \xff\n", 2, 7, "not text in UTF-8", "UTF-8"),
        (POD + 'metadata: {name: "x}\n', 3, 18, "quote is opened", "Close it"),
        (POD + "spec: {a: [1, 2\n", 3, 11, "bracket", "[ and {"),
        (POD + "metadata:\n  name: x\n labels: {}\n", 5, 2, "indentation", "same column"),
        (POD + "spec:\n  a: b: c\n", 4, 7, "colon", "indentation"),
        (POD + "spec:\n  a: @b\n", 4, 6, "cannot begin", "quotes"),
        (POD + "x: *y\n", 3, 4, "alias", "quotes"),
        (POD + "x: !!python/object:os.system y\n", 3, 4, "tag", "quotes"),
        (POD + "x: !vault y\n", 3, 4, "tag", "quotes"),
        (POD + "? [a]\n: b\n", 3, 3, "field's name is due", "quotes"),
        (POD + "x: {~: b}\n", 3, 5, "no name before its colon", "before the colon"),
        (POD + "x: .inf\n", 3, 4, "not a number", "quotes"),
        (POD + "...\nx: y\n", 4, 1, "another one follows", "---"),
    ],
)
def test_it_says_what_is_wrong_where_and_what_to_write(text, line, column, problem, advice):
    error = refused(text)
    assert (error.line, error.column) == (line, column)
    assert problem in str(error.problem)
    assert (advice in str(error.advice)) if advice else error.advice is None


def test_an_error_keeps_its_template_and_facts_for_translation():
    error = refused("a: 1\na: 2\n")
    assert error.template == "“{field}” stands here twice: first on line {line}."
    assert error.facts == {"field": "a", "line": 1}
    assert str(error).startswith("line 2, column 1: “a” stands here twice")


def test_it_reads_windows_line_ends_and_a_byte_order_mark():
    data = b"\xef\xbb\xbf" + (POD + "metadata:\n  name: x\n").replace("\n", "\r\n").encode()
    document = manifests.parse(data)[0]
    assert document.object == {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}}
    assert document.where("metadata.name") == (4, 3)


def test_it_reads_utf_16_and_json():
    assert manifests.parse((POD + "a: 가\n").encode("utf-16"))[0].object["a"] == "가"
    assert manifests.parse('{"apiVersion": "v1", "kind": "Pod", "n": 1}')[0].object["n"] == 1


def test_it_passes_over_stray_separators():
    documents = manifests.parse(f"---\n---\n{POD}---\n# nothing\n---\n{POD}---\n")
    assert [document.line for document in documents] == [3, 8]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("yes", True),
        ("on", True),
        ("y", True),
        ("No", False),
        ("off", False),
        ("True", True),
        ("tRue", "tRue"),
        ("~", None),
        ("", None),
        ("null", None),
        ("0", 0),
        ("-12", -12),
        ("1_000", 1000),
        ("0x1F", 31),
        ("0b11", 3),
        ("0o17", 15),
        ("017", 15),
        ("08", 8),
        ("1.0", 1),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000),
        ("1:30", "1:30"),
        ("2026-01-01", "2026-01-01"),
        ("2001-13-45", "2001-13-45"),
        ("100m", "100m"),
        ("1.2.3", "1.2.3"),
        ('"yes"', "yes"),
        ("'1'", "1"),
        ("!!str 1", "1"),
        ("18446744073709551615", 18446744073709551615),
        ("18446744073709551616", 18446744073709551616.0),
    ],
)
def test_scalars_mean_what_kubernetes_takes_them_for(written, meant):
    value = values(f"x: {written}\n")["x"]
    assert value == meant
    assert type(value) is type(meant)


@pytest.mark.parametrize("digits", [399, 5000])
def test_a_number_too_long_for_a_number_stays_text(digits):
    assert values(f"x: 1{'0' * digits}\n")["x"] == "1" + "0" * digits


def test_keys_become_text():
    assert values("1: a\nyes: b\n1.5: c\n")["1"] == "a"
    assert values("yes: b\n")["true"] == "b"


def test_it_follows_aliases_and_merges():
    read = values("base: &b {a: 1, c: 2}\nx: {<<: *b, a: 9}\nother: {<<: [{d: 4}, *b]}\nz: *b\n")
    assert read["x"] == {"a": 9, "c": 2}
    assert read["other"] == {"d": 4, "a": 1, "c": 2}
    assert read["z"] == {"a": 1, "c": 2}


def test_an_anchor_ends_with_its_document():
    assert "alias" in str(refused(f"{POD}a: &x 1\n---\n{POD}b: *x\n").problem)


def test_it_takes_lists_apart():
    items = "".join(f"- apiVersion: v1\n  kind: {kind}\n  metadata: {{name: x}}\n" for kind in ("Pod", "Node"))
    documents = manifests.parse(f"apiVersion: v1\nkind: List\nitems:\n{items}")
    assert [document.object["kind"] for document in documents] == ["Pod", "Node"]
    assert documents[1].where("metadata.name") == (9, 14)
    assert "Each item" in str(refused("apiVersion: v1\nkind: List\nitems:\n- a: b\n").problem)


def test_where_finds_fields_and_the_nearest_place_around_missing_ones():
    text = (
        "# a pod\napiVersion: v1\nkind: Pod\nmetadata:\n  labels:\n    app.kubernetes.io/name: x\n    app: y\n"
        "spec:\n  containers:\n  - name: a\n    image: b\n    resources: {requests: {cpu: 1}}\n  - name: c\n"
    )
    document = manifests.parse(text)[0]
    assert document.line == 2
    for path, place in {
        "": (2, 1),
        "metadata.labels": (5, 3),
        "metadata.labels.app.kubernetes.io/name": (6, 5),
        "metadata.labels.app": (7, 5),
        "spec.containers[0].image": (11, 5),
        "spec.containers[1]": (13, 5),
        "spec.containers[1].name": (13, 5),
        "spec.containers[0].resources.requests[cpu]": (12, 28),
        "spec.containers[7].image": (9, 3),
        "spec.containers[x]": (9, 3),
        "spec.tolerations[0].effect": (8, 1),
        "nowhere": (2, 1),
        "[": (2, 1),
    }.items():
        assert document.where(path) == place, path


def test_load_reads_what_is_no_manifest():
    assert manifests.load("a: 1\n---\n- b\n") == [{"a": 1}, ["b"]]


BOMB = "a: &a [1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{name}: &{name} [{','.join(['*' + before] * 9)}]\n" for before, name in zip("abcdefg", "bcdefgh", strict=True)
)
DOUBLED = (
    "a: &a ["
    + ",".join("1" * 2000)
    + "]\n"
    + "".join(
        f"{name}: &{name} [*{before}, *{before}]\n" for before, name in zip("abcdefghi", "bcdefghij", strict=True)
    )
)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (POD + "# " + "x" * manifests.MAX_BYTES, "too large"),
        ("가" * (manifests.MAX_BYTES // 3 + 1), "too large"),
        ("x" * 5_000_000, "too large"),
        (POD + BOMB, "more than 20 aliases"),
        (POD + DOUBLED, "more than 100000 values"),
        ("- " * 300_000, "nested deeper than 50"),
        (POD + "a: " + "[" * 60 + "]" * 60, "nested deeper than 50"),
        ("[" * 500_000, "nested too deeply"),
        ("{" * 500_000, "nested too deeply"),
        ("? " * 300_000, "field's name is due"),
        ("a: &a b\n" * 50_000, "twice"),
        ("- a\n" * 200_000, "more than 100000 values"),
        ("!" * 300_000, "tag"),
        ("%" * 300_000, "not YAML"),
        ('k: "' + "\\" * 500_000, "quote"),
        ("a" * 900_000 + ": b", "colon"),
        ("a: |\n" + " x\n" * 200_000, "apiVersion"),
    ],
    ids=lambda value: value[:12] if isinstance(value, str) else None,
)
def test_hostile_text_is_refused_soon(text, problem):
    started = time.process_time()
    assert problem in str(refused(text))
    assert time.process_time() - started < 5


def test_a_large_honest_text_is_read_soon():
    started = time.process_time()
    assert len(values("data:\n" + "".join(f"  k{number}: v\n" for number in range(40_000)))["data"]) == 40_000
    assert time.process_time() - started < 5
