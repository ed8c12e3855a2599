"""The whole process group is killed in mid-request: what was acknowledged is there, nothing is half applied."""

import os
import random
import re
import signal
import subprocess
import sys
import threading

import httpx
import pytest

from app.lab.state import LabState
from app.progress import labs, results
from app.progress.db import Database
from app.progress.models import Command, Lab
from app.settings import ROOT

pytestmark = pytest.mark.slow

POD = (
    "apiVersion: v1\nkind: Pod\nmetadata: {{name: bee-{number}}}\nspec: {{containers: [{{name: bee, image: nginx}}]}}\n"
)
ROUNDS = 4


def start(home):
    environment = {**os.environ, "CKA_LAB_HOME": str(home), "DATABASE_URL": "", "CKA_LAB_PORT": "0"}
    process = subprocess.Popen(
        [sys.executable, "-m", "app.main", "serve"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
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


@pytest.mark.timeout(120)
def test_what_was_acknowledged_survives_sigkill(tmp_path):
    seed = random.SystemRandom().randrange(10**6)
    sys.stdout.write(f"seed {seed}\n")  # shown where the test fails
    chance = random.Random(seed)
    cookies, lab, acknowledged, number = None, "", [], 0
    for _ in range(ROUNDS):
        process, address = start(tmp_path)
        try:
            with httpx.Client(base_url=address, follow_redirects=True, cookies=cookies, timeout=20) as learner:
                if not lab:
                    lab = str(learner.post("/learn/write-a-toleration/start").url.path)
                    cookies = dict(learner.cookies)
                learner.get(lab)  # the workers are up
                timer = threading.Timer(chance.uniform(0.2, 1.5), kill, [process])
                timer.start()
                try:
                    while True:
                        number += 1
                        form = {"manifest": POD.format(number=number), "mode": "create"}
                        answer = learner.post(f"{lab}/submit", data=form)
                        assert answer.status_code == 200, answer.text[:2000]
                        acknowledged.append(number)
                except httpx.TransportError:
                    pass  # killed in mid-request
                timer.join()
        finally:
            if process.poll() is None:
                kill(process)
    database = Database(f"sqlite:///{tmp_path / 'lab.db'}")
    lab_id = lab.rsplit("/", 1)[1]
    with database.session() as session:
        row = session.get(Lab, lab_id)
        logged = labs.commands(session, lab_id)
        done = {int(re.search(r"bee-(\d+)", command.input)[1]) for command in logged}
        assert acknowledged, "no request was answered between the kills"
        assert set(acknowledged) <= done
        assert row.revision == row.commands == len(logged) == results.count_of_user(session, row.user_id)
        assert [command.seq for command in logged] == list(range(1, len(logged) + 1))
        assert all(isinstance(command, Command) and command.ok for command in logged)
        state = bytes(row.state)
    database.dispose()

    pods = {pod["metadata"]["name"] for pod in LabState.load(state).cluster.client.list("pods", "default")}
    assert {f"bee-{n}" for n in done} <= pods
