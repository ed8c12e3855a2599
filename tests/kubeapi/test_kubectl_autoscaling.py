"""Autoscaling and warnings as the real kubectl shows them."""

import json
import subprocess

import pytest

from app.apimachinery import clock
from app.cluster.cluster import Cluster
from tests.cluster.builders import workload
from tests.kubeapi.asking import NOW, pod
from tests.kubeapi.binary import OneCluster


@pytest.fixture(scope="module")
def backend():
    cluster = Cluster.new(seed=7, now=NOW)
    made = workload("Deployment")
    busy = {"command": ["sh", "-c", "while true; do :; done"], "image": "busybox"}
    amounts = {"requests": {"cpu": "100m"}, "limits": {"cpu": "100m"}}
    made["spec"]["template"]["spec"]["containers"] = [{"name": "c", "resources": amounts, **busy}]
    cluster.client.create(made)
    cluster.advance_to(NOW + 60 * clock.SECOND)
    return OneCluster(cluster)


def columns(text):
    return [line.split() for line in text.splitlines()]


def said(kubectl, line, stdin=""):
    """What kubectl writes beside its answer."""
    done = subprocess.run(
        kubectl.command(line),
        input=stdin,
        env=kubectl.environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    return done.stderr


def test_a_deployment_is_autoscaled(kubectl, backend):
    told = kubectl.run("autoscale deployment web --min=1 --max=3 --cpu-percent=50")
    assert told == "horizontalpodautoscaler.autoscaling/web autoscaled\n"
    header, row = columns(kubectl.run("get hpa"))
    assert header == ["NAME", "REFERENCE", "TARGETS", "MINPODS", "MAXPODS", "REPLICAS", "AGE"]
    assert row == ["web", "Deployment/web", "cpu:", "<unknown>/50%", "1", "3", "0", "0s"]
    backend.advance(400)
    row = columns(kubectl.run("get hpa web"))[1]
    assert row[:7] == ["web", "Deployment/web", "cpu:", "100%/50%", "1", "3", "3"]
    described = kubectl.run("describe hpa web")
    assert "resource cpu on pods  (as a percentage of request):  100% (100m) / 50%" in described
    assert "ScalingLimited  True    TooManyReplicas   the desired replica count is more than" in described
    assert "SuccessfulRescale" in described
    assert kubectl.run("get deploy web -o jsonpath={.spec.replicas}") == "3"


def test_a_warning_stands_before_the_answer(kubectl):
    manifest = json.dumps(pod("warned", nodeSelector={"beta.kubernetes.io/os": "linux"}))
    told = said(kubectl, "create -f - --dry-run=server", manifest)
    assert told == (
        'Warning: spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead\n'
    )


def test_endpoints_are_deprecated(kubectl):
    told = said(kubectl, "get endpoints kubernetes")
    assert told == "Warning: v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice\n"
