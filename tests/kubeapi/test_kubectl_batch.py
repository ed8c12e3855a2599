"""The real kubectl on Jobs and CronJobs."""

import json
import threading
import time

import pytest

from app.apimachinery import clock
from app.cluster.cluster import Cluster
from tests.kubeapi.asking import NOW
from tests.kubeapi.binary import OneCluster


@pytest.fixture(scope="module")
def backend():
    cluster = Cluster.new(seed=7, now=NOW)
    cluster.advance_to(NOW + 60 * clock.SECOND)
    return OneCluster(cluster)


@pytest.fixture(autouse=True)
def swept(backend):
    """No test leaves jobs behind."""
    yield
    for kind in ("cronjobs", "jobs"):
        for obj in backend.cluster.client.list(kind, "default"):
            backend.cluster.client.delete(kind, obj["metadata"]["name"], "default")
    backend.advance(60)


def rows(text):
    return [line.split() for line in text.splitlines()]


def test_a_job_is_created_and_waited_for(backend, kubectl):
    assert kubectl.run("create job one --image=busybox -- sleep 5") == "job.batch/one created\n"
    waiting = kubectl.start("wait --for=condition=complete job/one --timeout=20s")
    for _ in range(20):
        backend.advance(1)
        time.sleep(0.05)
    output, error = waiting.communicate(timeout=25)
    assert (output, error) == ("job.batch/one condition met\n", "")
    header, row = rows(kubectl.run("get job one"))
    assert header == ["NAME", "STATUS", "COMPLETIONS", "DURATION", "AGE"]
    assert row[:3] == ["one", "Complete", "1/1"]


def test_describe_tells_of_pods_and_events(backend, kubectl):
    kubectl.run("create job two --image=busybox -- true")
    backend.advance(20)
    text = kubectl.run("describe job two")
    assert "Pods Statuses:    0 Active (0 Ready) / 1 Succeeded / 0 Failed" in text
    assert "Completed         " in text
    assert "job-controller  Job completed" in text


def test_a_job_that_fails_is_shown_so(backend, kubectl):
    body = json.loads(kubectl.run("create job bad --image=busybox --dry-run=client -o json -- false"))
    body["spec"]["backoffLimit"] = 0
    kubectl.run("create -f -", stdin=json.dumps(body))
    backend.advance(20)
    assert rows(kubectl.run("get job bad"))[1][:3] == ["bad", "Failed", "0/1"]
    text = kubectl.run("get job bad -o jsonpath={.status.conditions[*].reason}")
    assert text == "BackoffLimitExceeded BackoffLimitExceeded"


def test_pods_of_a_job_are_found_by_its_name(backend, kubectl):
    kubectl.run("create job three --image=busybox -- echo hello")
    backend.advance(20)
    (line,) = kubectl.run("get pods -l job-name=three --no-headers").splitlines()
    assert line.split()[1:3] == ["0/1", "Completed"]
    assert kubectl.run("logs job/three") == "hello\n"


def test_deleting_a_job_deletes_its_pods(backend, kubectl):
    kubectl.run("create job four --image=busybox -- sleep 500")
    backend.advance(10)
    assert kubectl.run("delete job four --wait=false").startswith('job.batch "four" deleted')
    backend.advance(60)
    assert kubectl.run("get pods -l job-name=four -o name") == ""


def test_a_job_of_a_pod_that_never_ends_is_refused_in_the_servers_words(kubectl):
    body = json.loads(kubectl.run("create job five --image=busybox --dry-run=client -o json"))
    del body["spec"]["template"]["spec"]["restartPolicy"]
    assert kubectl.run("create -f -", stdin=json.dumps(body), code=1) == (
        'The Job "five" is invalid: spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", '
        '"Never"\n'
    )


def test_a_cron_job_is_created_listed_and_run_by_hand(backend, kubectl):
    done = kubectl.run("create cronjob tick --image=busybox --schedule=0/1 -- true", code=1)
    assert done.startswith('error: failed to create cronjob: CronJob.batch "tick" is invalid: spec.schedule: Invalid')
    body = kubectl.run("create cronjob tick --image=busybox --schedule=@hourly --dry-run=client -o yaml -- true")
    assert kubectl.run("create -f -", stdin=body) == "cronjob.batch/tick created\n"
    header, row = rows(kubectl.run("get cronjobs"))
    assert header == ["NAME", "SCHEDULE", "TIMEZONE", "SUSPEND", "ACTIVE", "LAST", "SCHEDULE", "AGE"]
    assert row[:6] == ["tick", "@hourly", "<none>", "False", "0", "<none>"]
    assert kubectl.run("create job by-hand --from=cronjob/tick") == "job.batch/by-hand created\n"
    backend.advance(20)
    assert rows(kubectl.run("get job by-hand"))[1][:3] == ["by-hand", "Complete", "1/1"]
    made = json.loads(kubectl.run("get job by-hand -o json"))
    assert made["metadata"]["annotations"]["cronjob.kubernetes.io/instantiate"] == "manual"
    assert made["metadata"]["ownerReferences"][0]["name"] == "tick"


def test_a_cron_job_runs_and_may_be_suspended(backend, kubectl):
    body = json.loads(
        kubectl.run("create cronjob tock --image=busybox --schedule=@daily --dry-run=client -o json -- true")
    )
    body["spec"]["schedule"] = "* * * * *"
    kubectl.run("apply -f -", stdin=json.dumps(body))
    backend.advance(130)
    assert len(kubectl.run("get jobs -o name").splitlines()) == 2
    text = kubectl.run("describe cronjob tock")
    assert "Concurrency Policy:            Allow" in text
    assert "SuccessfulCreate" in text
    kubectl.run('patch cronjob tock -p {"spec":{"suspend":true}}')
    backend.advance(300)
    assert len(kubectl.run("get jobs -o name").splitlines()) == 2


def test_a_watch_sees_a_job_complete(backend, kubectl):
    with kubectl.start("get jobs -w") as process:
        lines = []
        reader = threading.Thread(target=lambda: lines.extend(process.stdout), daemon=True)
        reader.start()
        try:
            time.sleep(0.5)
            kubectl.run("create job seen --image=busybox -- sleep 3")
            for _ in range(40):
                backend.advance(1)
                time.sleep(0.05)
                if any("Complete" in line for line in lines):
                    break
        finally:
            process.kill()
    reader.join(timeout=5)
    states = [line.split()[1:3] for line in lines if line.startswith("seen")]
    assert states[0] == ["Running", "0/1"]
    assert states[-1] == ["Complete", "1/1"]
