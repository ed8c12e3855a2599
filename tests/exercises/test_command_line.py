"""`cka-lab prove` and `cka-lab new`, as a person types them."""

import pytest

from app.main import main
from tests.exercises import making


def test_a_new_exercise_is_proven_as_it_stands(tmp_path, capsys):
    assert main(["new", "my-first", "--chapter", "resources", "--folder", str(tmp_path)]) == 0
    assert "my-first.yaml written" in capsys.readouterr().out
    assert main(["prove", str(tmp_path / "my-first.yaml")]) == 0
    assert capsys.readouterr().out.splitlines() == ["proven  my-first (2 variants, 8 answers)", "1 of 1 proven"]


def test_a_new_exercise_never_replaces_a_file(tmp_path, capsys):
    (tmp_path / "mine.yaml").write_text("precious")
    assert main(["new", "mine", "--folder", str(tmp_path)]) == 1
    assert (tmp_path / "mine.yaml").read_text() == "precious"
    assert "is there already" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../x", "A", "x" * 64, "", "a b"])
def test_a_new_exercise_needs_a_proper_name(name, tmp_path, capsys):
    assert main(["new", name, "--folder", str(tmp_path)]) == 1
    assert "lower-case letters" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_proven_is_told_and_counts_as_failure(tmp_path, capsys):
    good, bad, broken = tmp_path / "good.yaml", tmp_path / "bad.yaml", tmp_path / "broken.yaml"
    good.write_text(making.text())
    bad.write_text(making.text(spec__about=["NodePorts"]))
    broken.write_text(making.text(spec__level=9))
    assert main(["prove", str(good), str(bad), str(broken), "no-such-exercise"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{broken}:8:3: “level” is too large: the most is 5.",
        "no-such-exercise: no exercise has this name, and there is no such file",
        "proven  place-bee (1 variant, 4 answers)",
        "NOT PROVEN  place-bee (1 variant, 4 answers)",
        "  - the exercise says that it is about NodePorts, but all is judged alike without that plugin",
        "1 of 4 proven",
    ]


def test_an_exercise_of_the_folder_is_proven_by_its_name(capsys):
    assert main(["prove", "tell-static-pods"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 of 1 proven"


def test_the_schema_is_printed(capsys):
    assert main(["new", "--schema"]) == 0
    assert capsys.readouterr().out == (making.ROOT / "docs" / "exercise.schema.json").read_text()
