"""Why a pod waits, in one sentence: also where no event ever says so."""

import pytest

from app.cluster.cluster import Cluster
from app.lab import waiting

NOW = 1_764_500_000_000_000


def waits(cluster, **spec):
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "bee", "namespace": "default"},
        "spec": {"containers": [{"name": "bee", "image": "nginx"}], **spec},
    }
    cluster.client.create(pod)
    cluster.settle()
    return str(waiting.why(cluster, cluster.client.get("pods", "bee", "default")))


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"schedulerName": "nobody"}, "No scheduler is called nobody"),
        ({"schedulingGates": [{"name": "example.com/later"}]}, "held back by its scheduling gates: example.com/later"),
        ({"nodeSelector": {"color": "blue"}}, "0/3 nodes are available"),
        ({"containers": [{"name": "bee", "image": "nginx:no-such-tag"}]}, "ImagePull"),
    ],
)
def test_a_pod_that_waits_says_why(spec, words):
    assert words in waits(Cluster.new(seed=1, now=NOW), **spec)


def test_a_cluster_without_its_scheduler_says_so():
    cluster = Cluster.new(seed=1, now=NOW)
    cluster.remove_static_pod("kube-scheduler-controlplane")
    cluster.settle()
    assert "No scheduler is called default-scheduler" in waits(cluster)


def test_a_pod_that_runs_has_nothing_to_say():
    assert waits(Cluster.new(seed=1, now=NOW)) == "None"
