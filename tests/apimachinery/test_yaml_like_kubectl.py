"""Scalars as the real kubectl reads them: one document with all of them, printed by it as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.apimachinery import manifests
from app.apimachinery.manifests import ManifestError

KUBECTL = Path(sys.executable).parent / "kubectl"
HEAD = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x}\n"

SCALARS = [
    *("y", "n", "Y", "N", "yes", "No", "on", "OFF", "true", "FALSE", "tRue", "~", "null", "Null", "nuLL", ""),
    *("0", "-0", "+1", "-12", "00", "017", "08", "0o17", "0O7", "0o9", "0x1F", "0X1f", "0x_1", "0b11", "0B1", "0b2"),
    *("1_000", "1__0", "_1", "1_", "--1", "1-2", "12a", "1:30", "190:20:30", "0.1.2", "1.0", "1.", ".5", "+.5", "-.5"),
    *("1.5", "1e3", "1e+3", "1E-3", "1e400", "1e", "e3", ".", "+", "-1e3", "1_0.5", "9007199254740993.0", "0x1.8p3"),
    *("9223372036854775807", "-9223372036854775808", "-9223372036854775809", "18446744073709551615"),
    *("18446744073709551616", "1" + "0" * 300, "1" + "0" * 399, "1" + "0" * 5000),
    *("2026-01-01", "2001-13-45", "2026-01-01T00:00:00Z", "100m", "1Gi", "=", "<<", "a: b"[:1], "v1.35.7"),
    *('"yes"', "'1'", '"1\\n2"', "!!str 1", "!!str yes", "!!int '3'", "!!float 3", "!!bool yes", "!!null ''", "! 1"),
]


def read_by_kubectl(text: str, folder: Path) -> dict:
    (folder / "thing.yaml").write_text(text)
    done = subprocess.run(
        [KUBECTL, "label", "--local", "-f", "thing.yaml", "read=yes", "-o", "json"],
        cwd=folder,
        env={"HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    return json.loads(done.stdout)


def test_every_scalar_means_what_kubectl_takes_it_for(tmp_path):
    text = HEAD + "values:\n" + "".join(f"- {scalar}\n" for scalar in SCALARS)
    expected = read_by_kubectl(text, tmp_path)["values"]
    found = manifests.parse(text)[0].object["values"]
    assert len(found) == len(SCALARS)
    for scalar, ours, theirs in zip(SCALARS, found, expected, strict=True):
        assert kind_of(ours) == kind_of(theirs), scalar
        assert (float(ours) == float(theirs)) if kind_of(ours) == "number" else (ours == theirs), scalar


def kind_of(value: object) -> str:
    """JSON knows one kind of number, and kubectl prints long ones rounded."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return "number" if is_number else type(value).__name__


def test_keys_texts_aliases_and_merges_mean_what_kubectl_takes_them_for(tmp_path):
    text = HEAD + (
        "1: a\nyes: b\n2.5: c\n'on': d\nlong: >-\n  folded\n  text\n\n  more\nblock: |\n  kept\n   as it is\n\n"
        "plain: several\n  lines\nbase: &b {a: 1, c: 2}\nx: {<<: *b, a: 9}\nw: {<<: [{d: 4}, *b], d: 5}\nz: *b\n"
        'quoted: "a\\tb\\u00e9"\nempty: {}\nnone: []\nseq:\n- - 1\n  - 2\n- {k: [v]}\n'
    )
    expected = read_by_kubectl(text, tmp_path)
    del expected["metadata"]
    found = dict(manifests.parse(text)[0].object)
    del found["metadata"]
    assert found == expected


@pytest.mark.parametrize(
    "scalar", [".inf", "-.inf", ".NaN", '"\\ud800"', "*nowhere", "@x", "`x`", "%x", "{a", "a: b: c"]
)
def test_what_kubectl_cannot_read_is_refused(scalar, tmp_path):
    text = f"{HEAD}value: {scalar}\n"
    with pytest.raises(subprocess.CalledProcessError):
        read_by_kubectl(text, tmp_path)
    with pytest.raises(ManifestError):
        manifests.parse(text)
