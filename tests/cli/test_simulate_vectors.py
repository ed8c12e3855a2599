"""`cka-lab simulate --vectors`, and the simulation itself against recorded decisions."""

import io
import json
import sys
from pathlib import Path

import pytest

from app.cli.simulation.admitting import inventory
from app.cli.simulation.reading import Item
from app.cli.simulation.running import Simulation
from app.main import main
from app.scheduler.profile import build_profiles
from app.scheduler.replay import vectors

VECTORS = Path(__file__).parent.parent / "scheduler" / "vectors"


def read(name):
    return list(vectors.read(VECTORS / name))


def test_results_are_what_the_real_scheduler_decided(capsys):
    files = ["taints.json", "volumes.json"]
    assert main(["simulate", "--vectors", *(str(VECTORS / name) for name in files)]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    expected = [vector for name in files for vector in read(name)]
    assert [line["name"] for line in found] == [vector["name"] for vector in expected]
    for line, vector in zip(found, expected, strict=True):
        assert line.keys() == {"name", "result"}
        assert vectors.comparable(line["result"]) == vectors.comparable(vector["expected"])


def test_json_lines_are_read_and_expected_is_not_needed(tmp_path, capsys):
    (vector,) = read("messages.json")
    expected = vector.pop("expected")
    path = tmp_path / "one.jsonl"
    path.write_text(f"\n{json.dumps(vector)}\n")
    assert main(["simulate", "--vectors", str(path)]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert vectors.comparable(json.loads(line)["result"]) == vectors.comparable(expected)


def test_a_vector_that_cannot_be_replayed_does_not_stop_the_others(tmp_path, capsys):
    good = read("terminating.json")
    path = tmp_path / "mixed.json"
    path.write_text(json.dumps([good[0], {"name": "broken", "objects": [{"kind": "Pod"}], "steps": []}, 7, good[1]]))
    assert main(["simulate", "--vectors", str(path)]) == 1
    out, err = capsys.readouterr()
    assert [json.loads(line)["name"] for line in out.splitlines()] == [vector["name"] for vector in good]
    assert [line.split(":")[0] for line in err.splitlines()] == ["broken", str(path)]
    assert "vector 3: cannot be replayed" in err


@pytest.mark.parametrize(("text", "line"), [("[\n{,", 2), ('{"name": 1}\n{', 2), ("nonsense", 1)])
def test_a_file_that_is_no_json_is_told_with_its_line(tmp_path, capsys, text, line):
    path = tmp_path / "bad.json"
    path.write_text(text)
    assert main(["simulate", "--vectors", str(path), str(VECTORS / "messages.json")]) == 2
    out, err = capsys.readouterr()
    assert err.startswith(f"{path}:{line}: this is not JSON: ")
    assert len(out.splitlines()) == 1


def test_vectors_come_from_standard_input(monkeypatch, capsys):
    text = (VECTORS / "messages.json").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert main(["simulate", "--vectors", "-"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def one_batch(name):
    """Vectors with one step that creates pods, and where nothing hangs on start times of the existing ones."""
    for vector in read(name):
        if len(vector["steps"]) == 1 and vector["steps"][0]["op"] in {"create", "createAll"}:
            yield vector


@pytest.mark.parametrize(
    "name", ["taints.json", "resources.json", "pod-affinity.json", "topology-spread.json", "volumes.json"]
)
def test_a_simulation_ends_as_the_real_scheduler_did(name):
    compared = 0
    for vector in one_batch(name):
        step = vector["steps"][0]
        created = [step["object"]] if step["op"] == "create" else step["objects"]
        if any(obj["kind"] != "Pod" for obj in created):
            continue
        found = inventory([Item(obj, "vector", lambda path: (1, 1)) for obj in [*vector["objects"], *created]])
        simulation = Simulation(found.objects, build_profiles(vector.get("schedulerConfig")), found.wanted)
        nodes = {result.pod.key: result.node for result in simulation.attempts()}
        final = vector["expected"]["final"]
        assert nodes == {key: final[key].get("nodeName", "") for key in nodes}, vector["name"]
        compared += 1
    assert compared >= 5
