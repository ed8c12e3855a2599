"""The real kubectl against a cluster of the lab, over HTTP."""

import json
import subprocess
import threading
import time

import pytest

from app.apimachinery import clock
from app.cluster.cluster import Cluster
from tests.kubeapi.asking import NOW, pod
from tests.kubeapi.binary import OneCluster


@pytest.fixture(scope="module")
def backend():
    cluster = Cluster.new(seed=7, now=NOW)
    cluster.advance_to(NOW + 60 * clock.SECOND)
    return OneCluster(cluster)


@pytest.fixture
def running(backend, kubectl):
    """A pod that runs, and is gone after the test."""
    backend.cluster.client.create(pod("bee"))
    backend.advance(30)
    yield "bee"
    backend.cluster.client.delete("pods", "bee", "default", 0)


def columns(text):
    """Lines of a table as lists of cells; cells are apart by at least two spaces, or one where they are full."""
    return [line.split() for line in text.splitlines()]


def test_the_versions_are_told_without_a_warning(kubectl):
    told = json.loads(kubectl.run("version -o json"))
    assert (told["clientVersion"]["gitVersion"], told["serverVersion"]["gitVersion"]) == ("v1.36.4", "v1.35.7")


def test_nodes_are_listed(kubectl):
    header, *rows = columns(kubectl.run("get nodes"))
    assert header == ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)
    assert {row[1] for row in rows} == {"Ready"}
    assert [row[2] for row in rows].count("control-plane") == 1
    assert {row[4] for row in rows} == {"v1.35.7"}


def test_pods_of_all_namespaces_are_listed_wide(kubectl, running):
    text = kubectl.run("get pods -A -o wide")
    assert text.splitlines()[0].split()[:6] == ["NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert "NOMINATED NODE" in text.splitlines()[0]
    row = next(row for row in columns(text) if row[1] == "bee")
    assert row[:5] == ["default", "bee", "1/1", "Running", "0"]
    assert any(row[1] == "kube-scheduler-controlplane" for row in columns(text))


def test_an_empty_namespace_says_so(kubectl):
    done = subprocess.run(
        kubectl.command("get pods -n kube-public"),
        env=kubectl.environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert done.stderr == "No resources found in kube-public namespace.\n"


def test_a_pod_is_printed_as_yaml_and_by_jsonpath(kubectl, running):
    text = kubectl.run("get pod bee -o yaml")
    assert "kind: Pod" in text
    assert "schedulerName: default-scheduler" in text
    assert kubectl.run("get pod bee -o jsonpath={.spec.nodeName}").startswith("node")
    assert kubectl.run("get pods -o name") == "pod/bee\n"


def test_what_is_not_there_is_said_in_the_words_of_kubectl(kubectl):
    assert kubectl.run("get pod nobody", code=1) == 'Error from server (NotFound): pods "nobody" not found\n'
    assert kubectl.run("get podz", code=1) == 'error: the server doesn\'t have a resource type "podz"\n'


def test_a_watch_sees_a_pod_being_bound_and_started(backend, kubectl):
    with kubectl.start("get pods -w") as process:
        lines = []
        reader = threading.Thread(target=lambda: lines.extend(process.stdout), daemon=True)
        reader.start()
        try:
            wait_for_watch(backend)
            body = json.dumps({**pod("wasp"), "spec": {"containers": [{"name": "c", "image": "nginx"}]}})
            kubectl.run("create -f -", stdin=body)
            for _ in range(40):
                backend.advance(1)
                time.sleep(0.05)
                if any("Running" in line for line in lines):
                    break
            backend.cluster.client.delete("pods", "wasp", "default", 0)
            deadline = time.monotonic() + 5
            while len(lines) < 2 and time.monotonic() < deadline:
                time.sleep(0.05)
        finally:
            process.kill()
    reader.join(timeout=5)
    seen = [line.split() for line in lines if line.startswith("wasp")]
    assert lines[0].split() == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert seen[0][:3] == ["wasp", "0/1", "Pending"]
    states = [row[2] for row in seen]
    assert "ContainerCreating" in states
    assert ["wasp", "1/1", "Running"] in [row[:3] for row in seen]
    assert states.index("Pending") < states.index("ContainerCreating") < states.index("Running")


def wait_for_watch(backend):
    """Until kubectl's watch is open: it has listed and waits for more."""
    deadline = time.monotonic() + 10
    seen = threading.Event()
    original = backend.changed

    async def changed(secret, revision, within):
        seen.set()
        await original(secret, revision, within)

    backend.changed = changed
    assert seen.wait(deadline - time.monotonic()), "kubectl opened no watch"
    backend.changed = original


def test_events_tell_how_the_pod_was_placed(kubectl, running):
    header, *rows = columns(kubectl.run("get events"))
    assert header[:5] == ["LAST", "SEEN", "TYPE", "REASON", "OBJECT"]
    assert ["Normal", "Scheduled", "pod/bee"] in [row[1:4] for row in rows]
    assert "default-scheduler" in kubectl.run("get events -o wide --field-selector involvedObject.name=bee")


def test_a_pod_is_described_with_its_events(kubectl, running):
    told = kubectl.run("describe pod bee")
    assert "Successfully assigned default/bee to node" in told
    assert "Service Account:  default" in told


def test_a_node_is_described_with_its_pods_and_lease(kubectl, running, backend):
    node = backend.cluster.client.get("pods", "bee", "default")["spec"]["nodeName"]
    told = kubectl.run(f"describe node {node}")
    assert f"HolderIdentity:  {node}" in told
    assert "bee" in told[told.index("Non-terminated Pods:") :]


def test_logs_are_read(kubectl):
    assert "lease kube-system/kube-scheduler" in kubectl.run("logs -n kube-system kube-scheduler-controlplane")
    told = kubectl.run("logs -n kube-system kube-scheduler-controlplane -c other", code=1)
    assert "container other is not valid for pod kube-scheduler-controlplane" in told
    assert len(kubectl.run("logs -n kube-system kube-scheduler-controlplane --tail=1").splitlines()) == 1


def test_a_deployment_is_scaled(kubectl, backend):
    kubectl.run("scale deployment coredns -n kube-system --replicas=3")
    backend.advance(30)
    assert columns(kubectl.run("get deploy coredns -n kube-system"))[1][:2] == ["coredns", "3/3"]
    kubectl.run("scale deployment coredns -n kube-system --replicas=2")


def test_waiting_ends_when_the_condition_is_met(kubectl, running):
    assert kubectl.run("wait --for=condition=Ready pod/bee --timeout=20s") == "pod/bee condition met\n"


def test_a_pod_is_deleted(backend, kubectl):
    backend.cluster.client.create(pod("fly"))
    backend.advance(30)
    assert kubectl.run("delete pod fly --wait=false").startswith('pod "fly" deleted')
    assert columns(kubectl.run("get pod fly"))[1][2] == "Terminating"
    backend.advance(60)
    assert "NotFound" in kubectl.run("get pod fly", code=1)


def test_a_pod_is_deleted_by_force(kubectl, backend):
    backend.cluster.client.create(pod("fly"))
    backend.advance(30)
    assert 'pod "fly" force deleted' in kubectl.run("delete pod fly --force --grace-period=0")
    assert "NotFound" in kubectl.run("get pod fly", code=1)


def test_manifests_are_created_applied_and_refused(kubectl, backend):
    manifest = json.dumps({**pod("ant"), "metadata": {"name": "ant"}})
    assert kubectl.run("create -f -", stdin=manifest) == "pod/ant created\n"
    assert "AlreadyExists" in kubectl.run("create -f -", stdin=manifest, code=1)
    assert kubectl.run("apply -f -", stdin=manifest).splitlines()[-1] == "pod/ant configured"
    labelled = json.dumps({**pod("ant"), "metadata": {"name": "ant", "labels": {"a": "b"}}})
    assert kubectl.run("apply -f -", stdin=labelled) == "pod/ant configured\n"
    assert kubectl.run("get pods -l a=b -o name") == "pod/ant\n"
    backend.cluster.client.delete("pods", "ant", "default", 0)


def test_an_unknown_field_is_refused_in_the_words_of_the_server(kubectl):
    manifest = json.dumps(pod("ant", continers=[]))
    told = kubectl.run("create -f -", stdin=manifest, code=1)
    assert 'unknown field "spec.continers"' in told
    assert "NotFound" in kubectl.run("get pod ant", code=1)


def test_an_unknown_kind_is_refused_by_kubectl_itself(kubectl):
    told = kubectl.run(
        "create -f -", stdin=json.dumps({"apiVersion": "v2", "kind": "Podd", "metadata": {"name": "x"}}), code=1
    )
    assert 'no matches for kind "Podd" in version "v2"' in told


def test_nodes_are_tainted_labelled_and_cordoned(kubectl, backend):
    kubectl.run("taint nodes node01 spray=mortein:NoSchedule")
    kubectl.run("label node node01 disk=ssd")
    assert kubectl.run("cordon node01") == "node/node01 cordoned\n"
    node = backend.cluster.client.get("nodes", "node01")
    assert {"key": "spray", "value": "mortein", "effect": "NoSchedule"} in node["spec"]["taints"]
    assert node["metadata"]["labels"]["disk"] == "ssd"
    assert columns(kubectl.run("get node node01"))[1][1] == "Ready,SchedulingDisabled"
    kubectl.run("uncordon node01")
    kubectl.run("taint nodes node01 spray-")
    kubectl.run("label node node01 disk-")


def test_all_resources_and_kinds_can_be_named(kubectl):
    table = kubectl.run("api-resources")
    assert "deployments" in table
    assert "po" in next(row for row in columns(table) if row[0] == "pods")
    assert kubectl.run("get deploy,rs,ds,cm,sa,pc,ns -A").startswith("NAMESPACE")
