"""The real kubectl's `rollout` on Deployments, DaemonSets and StatefulSets."""

import json
import time

import pytest

from app.apimachinery import clock
from app.cluster.cluster import Cluster
from tests.cluster.builders import workload
from tests.kubeapi.asking import NOW
from tests.kubeapi.binary import OneCluster

KINDS = {"deployment": "Deployment", "daemonset": "DaemonSet", "statefulset": "StatefulSet"}

COMPLETE = {
    "deployment": 'deployment "deploy" successfully rolled out',
    "daemonset": 'daemon set "daemon" successfully rolled out',
    "statefulset": "partitioned roll out complete: 2 new pods have been updated...",
}


@pytest.fixture(scope="module")
def backend():
    cluster = Cluster.new(seed=7, now=NOW)
    for kind in KINDS.values():
        more = {} if kind == "DaemonSet" else {"replicas": 2}
        cluster.client.create(workload(kind, kind.lower()[:6], **more))
    cluster.advance_to(NOW + 120 * clock.SECOND)
    return OneCluster(cluster)


@pytest.fixture(params=list(KINDS))
def target(request):
    """`deployment/deploy` and its like."""
    return f"{request.param}/{request.param[:6]}"


def image(kubectl, target):
    return kubectl.run(f"get {target} -o jsonpath={{.spec.template.spec.containers[0].image}}")


def group(target):
    kind, name = target.split("/")
    return f"{kind}.apps/{name}"


def test_a_rollout_is_followed_to_its_end_undone_and_looked_up(backend, kubectl, target):
    assert kubectl.run(f"set image {target} c=nginx:1.28") == f"{group(target)} image updated\n"
    kubectl.run(f"annotate {target} kubernetes.io/change-cause=newer")
    with kubectl.start(f"rollout status {target} --timeout=20s") as process:
        for _ in range(60):
            backend.advance(2)
            time.sleep(0.05)
            if process.poll() is not None:
                break
        output, error = process.communicate(timeout=25)
    assert (process.returncode, error) == (0, "")
    assert output.splitlines()[-1].startswith(COMPLETE[target.split("/")[0]])
    history = kubectl.run(f"rollout history {target}")
    assert history.splitlines()[:2] == [group(target) + " ", "REVISION  CHANGE-CAUSE"]
    assert [line.split()[0] for line in history.splitlines()[2:] if line] == ["1", "2"]
    old = kubectl.run(f"rollout history {target} --revision=1")
    assert "Image:" in old
    assert "nginx:1.27" in old
    assert kubectl.run(f"rollout undo {target}") == f"{group(target)} rolled back\n"
    assert image(kubectl, target) == "nginx:1.27"
    backend.advance(120)
    history = kubectl.run(f"rollout history {target}")
    assert [line.split()[0] for line in history.splitlines()[2:] if line] == ["2", "3"]
    assert kubectl.run(f"rollout undo {target} --to-revision=2") == f"{group(target)} rolled back\n"
    assert image(kubectl, target) == "nginx:1.28"
    backend.advance(120)


def test_a_restart_replaces_every_pod(backend, kubectl, target):
    label = f"-l app={target.split('/')[1]} -o jsonpath={{.items[*].metadata.uid}}"
    before = set(kubectl.run(f"get pods {label}").split())
    assert kubectl.run(f"rollout restart {target}") == f"{group(target)} restarted\n"
    backend.advance(180)
    after = set(kubectl.run(f"get pods {label}").split())
    assert len(after) == 2
    assert not before & after
    assert kubectl.run(f"rollout status {target} --timeout=5s").strip() != ""


def test_undoing_to_a_revision_that_is_not_there_is_refused(kubectl, target):
    done = kubectl.run(f"rollout undo {target} --to-revision=99", code=1)
    assert done == "error: unable to find specified revision 99 in history\n"


def test_revisions_are_listed_with_their_owner(kubectl):
    header, *rows = [line.split() for line in kubectl.run("get controllerrevisions").splitlines()]
    assert header == ["NAME", "CONTROLLER", "REVISION", "AGE"]
    assert {row[1] for row in rows} == {"daemonset.apps/daemon", "statefulset.apps/statef"}


def test_a_stateful_set_says_what_may_change(kubectl):
    done = kubectl.run('patch statefulset statef -p {"spec":{"serviceName":"other"}}', code=1)
    assert done == (
        'The StatefulSet "statef" is invalid: spec: Forbidden: updates to statefulset spec for fields other than '
        "'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
        "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden\n"
    )


def test_a_daemon_set_shows_its_templates_generation(kubectl):
    def generation():
        found = json.loads(kubectl.run("get daemonset daemon -o json"))
        return int(found["metadata"]["annotations"]["deprecated.daemonset.template.generation"])

    before = generation()
    kubectl.run("set env daemonset/daemon COLOUR=red")
    kubectl.run("label daemonset/daemon colour=red")
    assert generation() == before + 1
