"""States of labs that earlier versions stored are read, go on and are graded."""

from pathlib import Path

import pytest

from app.exercises import grader, loader
from app.lab.state import LabState, StateError, deflated
from tests.cluster.builders import MINUTE, fresh, pod

FOLDER = Path(__file__).parent / "snapshots"
KEPT = sorted(path.stem for path in FOLDER.glob("lab-*.yaml"))
SEED = 3


@pytest.mark.parametrize("name", KEPT)
def test_a_kept_lab_goes_on_and_is_graded(name):
    lab = LabState.load((FOLDER / f"{name}.bin").read_bytes())
    start = LabState.load((FOLDER / f"{name}-start.bin").read_bytes())
    variant = loader.parse((FOLDER / f"{name}.yaml").read_text(), source=name).variant(SEED)
    lab.cluster.advance_to(lab.cluster.now + 60 * MINUTE)
    lab.cluster.client.create(pod("new"))
    lab.cluster.settle()
    assert lab.cluster.client.get("pods", "new", "default")["status"]["phase"] == "Running"
    results = grader.grade(variant, lab.cluster, start.cluster).results
    assert {result.status for result in results} == {"passed"}
    again = LabState.load(lab.dump())
    assert again.shells.keys() == lab.shells.keys() == {"controlplane"}
    assert again.dump() == lab.dump()


@pytest.mark.parametrize("data", [b"", b"nonsense", deflated(b"nonsense"), deflated(b"[1]"), deflated(b"{}")])
def test_what_is_no_state_is_refused(data):
    with pytest.raises(StateError):
        LabState.load(data)
    with pytest.raises(StateError):
        LabState.load(LabState(fresh()).dump()[:-100])
