"""The spike that stays: real kubectl, the lab's web server, a worker process, and state in the database."""

import queue
import threading

import pytest

from app.progress import accounts
from app.progress.db import Database
from app.settings import Settings
from app.web.app import create_app
from tests.kubeapi.binary import Kubectl
from tests.support.serving import serving

POD = (
    '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"bee"},"spec":{"containers":[{"name":"bee","image":"nginx"}]}}'
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    settings = Settings(home=tmp_path_factory.mktemp("home"), database_url="", workers=2)
    database = Database(settings.database)
    database.migrate()
    app = create_app(settings, database=database)
    service = app.state.service
    with database.session() as session:
        user = accounts.create_guest(session)
    lab_id = service.start(user, "taint-a-node", seed=1)
    secret = service.new_api_secret(user, lab_id)
    with serving(app) as address:
        yield service, user, lab_id, f"{address}/k/{secret}"


@pytest.fixture
def kubectl(lab, tmp_path):
    return Kubectl(tmp_path, lab[3])


def test_get_pods_w_sees_a_pod_being_bound(lab, kubectl):
    service, user, lab_id, _ = lab
    watching = kubectl.start("get pods -w -o wide")
    lines = queue.Queue()
    reader = threading.Thread(target=lambda: [lines.put(line) for line in watching.stdout], daemon=True)
    reader.start()
    try:
        seen = [lines.get(timeout=20)]  # the header: from then on kubectl watches
        kubectl.run("create --validate=false -f -", POD)
        while not (seen[-1].startswith("bee ") and "Running" in seen[-1]):
            seen.append(lines.get(timeout=20))
    finally:
        watching.kill()
        watching.wait()
        reader.join()
        watching.stdout.close()
        watching.stderr.close()
    mine = [line.split() for line in seen if line.startswith("bee")]
    assert mine[0][2] == "Pending"
    assert mine[0][6] == "<none>", "the first line shows the pod before it was bound"
    assert mine[-1][2] == "Running"
    assert mine[-1][6].startswith("node0")
    pods = {pod.name: pod for pod in service.view(user, lab_id, "en").pods}
    assert pods["bee"].node == mine[-1][6], "the page shows what kubectl saw"


def test_reads_never_write(lab, kubectl):
    service, _, lab_id, _ = lab
    before = service.revision(lab_id)
    kubectl.run("get pods,nodes -A")
    assert service.revision(lab_id) == before


def test_a_node_is_drained_while_the_labs_own_clock_goes_on(kubectl):
    drained = kubectl.run("drain node01 node02 --ignore-daemonsets --force --grace-period=1").splitlines()
    assert [line for line in drained if line.endswith("drained")] == ["node/node01 drained", "node/node02 drained"]
    assert kubectl.run("get pods -o name") == ""
    assert kubectl.run("uncordon node01 node02") == "node/node01 uncordoned\nnode/node02 uncordoned\n"


def test_an_unknown_secret_opens_nothing(lab, tmp_path):
    kubectl = Kubectl(tmp_path, lab[3][:-3] + "xyz")
    assert "Unauthorized" in kubectl.run("get pods", code=1) or "logged in" in kubectl.run("get pods", code=1)
