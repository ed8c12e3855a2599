"""`cka-lab conformance`."""

import json
from pathlib import Path

import pytest

from app.main import main

VECTORS = Path(__file__).parent / "vectors"
ONE = VECTORS / "messages.json"


def test_it_agrees_with_a_file_of_vectors(capsys):
    assert main(["conformance", str(ONE), str(VECTORS / "terminating.json")]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "3 of 3 agree"


def test_it_reads_json_lines(tmp_path, capsys):
    path = tmp_path / "two.jsonl"
    path.write_text("\n".join(json.dumps(vector) for vector in json.loads(ONE.read_text())) + "\n")
    assert main(["conformance", str(path)]) == 0
    assert capsys.readouterr().out == "1 of 1 agree\n"


def test_it_shows_where_a_result_differs_and_fails(tmp_path, capsys):
    (vector,) = json.loads(ONE.read_text())
    vector["expected"]["final"]["default/p"]["podScheduled"] = "True"
    path = tmp_path / "changed.json"
    path.write_text(json.dumps([vector]))
    assert main(["conformance", str(path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{vector['name']}:",
        '  final.default/p.podScheduled: expected "True", got "False"',
        "0 of 1 agree",
    ]


def test_a_vector_that_cannot_be_replayed_disagrees(tmp_path, capsys):
    path = tmp_path / "broken.json"
    path.write_text(json.dumps([{"name": "broken", "objects": [{"kind": "Pod"}], "steps": [], "expected": {}}]))
    assert main(["conformance", str(path)]) == 1
    assert "the replay ended with" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["[", "{nonsense"])
def test_a_file_that_is_no_json_is_reported(tmp_path, capsys, text):
    path = tmp_path / "bad.json"
    path.write_text(text)
    assert main(["conformance", str(path)]) == 2
    assert str(path) in capsys.readouterr().err


def test_a_missing_file_is_reported(tmp_path, capsys):
    assert main(["conformance", str(tmp_path / "none.json")]) == 2
    assert "none.json" in capsys.readouterr().err
