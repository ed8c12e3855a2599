"""What holds for any cluster and whatever is done to it: time passes the same way, and a snapshot is the cluster."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings

from app.cluster.cluster import Cluster
from app.settings import ROOT
from tests.cluster import scenarios
from tests.cluster.scenarios import SCENARIOS, Step

_USUAL = 15
EXAMPLES = int(os.environ.get("SCENARIOS", _USUAL))
"""How many clusters are tried; more of them, drawn anew, where the environment says so."""
_MORE = EXAMPLES > _USUAL


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=not _MORE,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(SCENARIOS)
def test_looking_saving_loading_and_copying_change_nothing(scenario: tuple[int, list[Step]]) -> None:
    seed, steps = scenario
    straight, watched = scenarios.fresh(seed), scenarios.fresh(seed)
    for step in steps:
        for cluster in (straight, watched):
            scenarios.play(cluster, step)
        assert straight.dump() == watched.dump()
        straight = scenarios.pass_time(straight, step, looking=False)
        watched = scenarios.pass_time(watched, step, looking=True)
        saved = straight.dump()
        assert saved == watched.dump()
        watched = Cluster.load(saved)
        assert watched.dump() == saved


PROGRAM = """
import hashlib, random
from tests.cluster import scenarios
from tests.cluster.builders import SECOND
draw = random.Random(5)
for seed in range(3):
    cluster = scenarios.fresh(seed)
    for _ in range(14):
        act = draw.choice(sorted(set(scenarios.ACTS) - {"no scheduler", "lose"}))
        name, number, node = draw.choice(scenarios.NAMES), draw.randrange(5), draw.choice(scenarios.NODES)
        step = scenarios.Step(act, name, number, node, draw.randrange(300) * SECOND, ())
        scenarios.play(cluster, step)
        cluster = scenarios.pass_time(cluster, step, looking=False)
    print(hashlib.sha256(cluster.dump()).hexdigest())
"""


@pytest.mark.timeout(120)
def test_the_same_seed_and_inputs_give_the_same_bytes_in_any_process() -> None:
    printed = set()
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, cwd=ROOT, capture_output=True, text=True, check=True
        )
        printed.add(done.stdout)
    assert len(printed) == 1, "an order of sets reaches the snapshot"
    digests = printed.pop().split()
    assert len(set(digests)) == 3, "another seed, other inputs: other bytes"
    assert all(len(digest) == hashlib.sha256().digest_size * 2 for digest in digests)
