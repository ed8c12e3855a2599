"""Web and worker processes are killed in mid-request: what was acknowledged is there, nothing is half applied.

Learners work without a pause, two tabs in each lab. Workers are killed at random moments, and again and again the
whole process group. A request is hit where its worker died under it (the answer says that the lab is as it was), or
where the connection broke while the answer was awaited.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from app.lab import history
from app.lab.state import LabState, inflated
from app.progress import labs, results, states
from app.progress.db import Database
from app.progress.models import Lab
from app.settings import ROOT

pytestmark = pytest.mark.slow

EXERCISE = "write-a-toleration"
HITS = 300
LABS = 4
TABS = 2
AT_MOST = 85.0
"""Seconds after which no more processes are killed."""
HITS_A_ROUND = 45
BOTH = (
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {0}-first}}\n---\n"
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {0}-second}}\n"
)
POD = "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {0}}}\nspec: {{containers: [{{name: c, image: nginx}}]}}\n"


@dataclass
class Learner:
    """One lab, and what became of every change that was asked for in it, by name."""

    cookies: dict[str, str] = field(default_factory=dict)
    lab: str = ""
    api: str = ""
    acknowledged: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)


@dataclass
class Round:
    """One life of the application."""

    address: str
    seed: int
    started: int = 0
    hits: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def start(home):
    environment = {**os.environ, "CKA_LAB_HOME": str(home), "DATABASE_URL": "", "CKA_LAB_PORT": "0"}
    process = subprocess.Popen(
        [sys.executable, "-m", "app.main", "serve"],
        cwd=ROOT,
        env={**environment, "CKA_LAB_WORKERS": "2"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # each killed worker leaves a line there
        text=True,
        start_new_session=True,
    )
    for line in process.stdout:
        if found := re.search(r"The lab is at\s+(http\S+)/", line):
            return process, found[1]
    raise AssertionError("the lab did not start")


def kill(process):
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()


def workers(web):
    """The workers: children of the server process that the web process forks them from."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has just ended
    return sorted(pid for pid, parent in parents.items() if parents.get(parent) == web)


def prepare(learner, address):
    """A lab, and the secret of its API; both outlive the processes."""
    with httpx.Client(base_url=address, follow_redirects=True, timeout=20) as browser:
        learner.lab = str(browser.post(f"/learn/{EXERCISE}/start").url.path)
        learner.cookies = dict(browser.cookies)


def secret_of(home, learner, number):
    database = Database(f"sqlite:///{home / 'lab.db'}")
    with database.session() as session:
        labs.set_api_secret(session, learner.lab.rsplit("/", 1)[1], f"secret-{number}")
    database.dispose()
    learner.api = f"/k/secret-{number}/api/v1/namespaces/default/configmaps"


def ask(browser, learner, name, kind):
    if kind == "api":
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{name}-only"}}
        return browser.post(learner.api, json=body)
    text = BOTH.format(name) + (POD.format(name) if kind == "pod" else "")
    action = "apply" if kind == "apply" else "submit"
    return browser.post(f"{learner.lab}/{action}", data={"manifest": text, "mode": "create"})


def work(learner, running, tab, number):
    """One tab: changes one after the other, until the connection breaks."""
    chance = random.Random(f"{running.seed}/{tab}")
    with httpx.Client(base_url=running.address, cookies=learner.cookies, timeout=30) as browser:
        for count in range(10_000):
            name = f"r{number}-t{tab}-n{count}"
            kind = chance.choices(["apply", "submit", "api", "pod"], [4, 3, 4, 1])[0]
            name = f"{name}-{kind}"
            try:
                answer = ask(browser, learner, name, kind)
            except httpx.ConnectError:
                return  # nobody was there to be asked
            except httpx.TransportError:
                learner.unknown.add(name)
                running.hits["web"] += 1
                return
            if answer.status_code in {200, 201}:
                learner.acknowledged.add(name)
            elif answer.status_code == 503 and re.search("more memory or time than|the worker ended", answer.text):
                learner.refused.add(name)
                running.hits["worker"] += 1
            else:
                running.faults.append(f"{name}: {answer.status_code} {answer.text[:500]}")
                return


def play(home, learners, running, process, number, ends_at):
    """Everybody works; workers are killed at random moments, in the end everything."""
    chance = random.Random(running.seed)
    tabs = [
        threading.Thread(target=work, args=(learner, running, f"{place}-{tab}", number))
        for place, learner in enumerate(learners)
        for tab in range(TABS)
    ]
    for tab in tabs:
        tab.start()
    while running.hits["worker"] < HITS_A_ROUND and time.monotonic() < ends_at and not running.faults:
        time.sleep(chance.uniform(0.005, 0.06))
        if found := workers(process.pid):
            try:
                os.kill(chance.choice(found), signal.SIGKILL)
            except ProcessLookupError:
                continue  # it has just been replaced
    time.sleep(chance.uniform(0.1, 0.6))
    kill(process)
    for tab in tabs:
        tab.join(timeout=40)
    assert not any(tab.is_alive() for tab in tabs)


@pytest.mark.timeout(200)
def test_what_was_acknowledged_survives_sigkill(tmp_path):
    seed = random.SystemRandom().randrange(10**6)
    sys.stdout.write(f"seed {seed}\n")  # shown where the test fails
    learners = [Learner() for _ in range(LABS)]
    hits = Counter()
    ends_at = time.monotonic() + AT_MOST
    number = 0
    while hits.total() < HITS and time.monotonic() < ends_at:
        process, address = start(tmp_path)
        running = Round(address, seed + number)
        try:
            for place, learner in enumerate(learners if number == 0 else ()):
                prepare(learner, address)
                secret_of(tmp_path, learner, place)
            play(tmp_path, learners, running, process, number, ends_at)
        finally:
            if process.poll() is None:
                kill(process)
        assert running.faults == []
        hits += running.hits
        number += 1
    sys.stdout.write(f"{number} rounds, hits {dict(hits)}\n")
    assert hits.total() >= HITS, hits
    assert hits["web"] >= number
    database = Database(f"sqlite:///{tmp_path / 'lab.db'}")
    for learner in learners:
        check(database, learner)
    database.dispose()


def check(database, learner):
    """The log, the results, the state and the history of one lab agree with what its learner was told."""
    assert learner.acknowledged, "no request was answered between the kills"
    with database.session() as session:
        row = session.get(Lab, learner.lab.rsplit("/", 1)[1])
        logged = labs.commands(session, row.id, limit=100_000)
        assert [command.seq for command in logged] == list(range(1, len(logged) + 1))
        assert row.revision == row.commands == len(logged)
        assert all(command.ok for command in logged)
        judged = [command for command in logged if command.kind == "submit"]
        assert results.count_of_user(session, row.user_id) == len(judged)
        last = contents(bytes(row.state))
        done = changes(logged) | {name.removesuffix("-only") for name in last if name.endswith("-only")}
        assert len(done) == len(logged), "a change was carried out twice, or in part"
        assert last == objects(done)
        assert learner.acknowledged <= done
        assert not learner.refused & done, "a change is there although its learner was told that it is not"
        assert done <= learner.acknowledged | learner.unknown
        for seq in {len(logged), *range(1, len(logged), 23)}:
            then = contents(history.applied(*states.find(session, row, seq)))
            by_manifest = {name for name in then if not name.endswith("-only")}
            assert by_manifest == objects(changes(logged[:seq]))
            assert then <= last
            assert len(then) == len(by_manifest) + sum(command.kind == "api" for command in logged[:seq])
        assert inflated(history.applied(*states.find(session, row, len(logged)))) == inflated(bytes(row.state))


def changes(logged):
    """The changes that manifests made, by name; a request of the API is logged without its body."""
    return {re.search(r"name: (r\d+-\S+)-first", command.input)[1] for command in logged if command.kind != "api"}


def objects(done):
    """The objects that changes made: an API request one, a manifest two."""
    return {f"{name}-{part}" for name in done for part in (("only",) if name.endswith("-api") else ("first", "second"))}


def contents(state):
    found = {obj["metadata"]["name"] for obj in LabState.load(state).cluster.client.list("configmaps", "default")}
    return {name for name in found if name.startswith("r")}
