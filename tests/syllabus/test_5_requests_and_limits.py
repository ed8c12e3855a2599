"""Chapter 5: requests, limits, LimitRange, ResourceQuota."""

import pytest

from app.cluster import usage
from tests.cluster.builders import MINUTE, events, phase, pod, pods_of, workload
from tests.syllabus.steps import call, lab, node_of, put, refused, said

STRESS = {"command": ["stress"], "args": ["--vm", "1", "--vm-bytes", "250M", "--vm-hang", "1"]}


def sized(name="bee", requests=None, limits=None, **spec):
    resources = {**({"requests": requests} if requests else {}), **({"limits": limits} if limits else {})}
    return pod(name, container={"resources": resources}, **spec)


def limit_range(**limits):
    spec = {"limits": [{"type": "Container", **limits}]}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "limits"}, "spec": spec}


def quota(**hard):
    spec = {"hard": {key.replace("__", "."): value for key, value in hard.items()}}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "rq"}, "spec": spec}


def test_requests_decide_placement():
    cluster = lab(sized("big", {"cpu": "1500m"}, nodeName="node01"))
    put(cluster, sized(requests={"cpu": "1"}), sized("huge", {"cpu": "64"}))
    assert node_of(cluster) == "node02"
    assert said(cluster, "huge", "FailedScheduling").startswith(
        "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu."
    )


def test_a_tenth_of_a_cpu_is_100m():
    cluster = lab(sized(requests={"cpu": "0.1"}))
    (container,) = cluster.client.get("pods", "bee")["spec"]["containers"]
    assert container["resources"]["requests"]["cpu"] == "100m"


def test_cpu_over_its_limit_is_throttled():
    burner = {"command": ["stress"], "args": ["--cpu", "2"], "resources": {"limits": {"cpu": "500m"}}}
    cluster = lab(pod(image="polinux/stress", container=burner))
    cluster.advance_to(cluster.now + MINUTE)
    found = cluster.client.get("pods", "bee")
    assert usage.of_pod(found)["c"]["cpu"] == 500
    assert found["status"]["containerStatuses"][0]["restartCount"] == 0


def test_memory_over_its_limit_is_oom_killed_and_the_restarts_back_off():
    limits = {"resources": {"limits": {"memory": "100Mi"}}}
    cluster = lab(pod(image="polinux/stress", container={**STRESS, **limits}), settle=False)
    seen, counts = set(), []
    for _ in range(60):
        cluster.advance_to(cluster.now + MINUTE // 6)
        (status,) = cluster.client.get("pods", "bee")["status"]["containerStatuses"]
        counts.append(status["restartCount"])
        for state in (status["state"], status["lastState"]):
            seen |= {state[part]["reason"] for part in ("waiting", "terminated") if part in state}
    assert {"OOMKilled", "CrashLoopBackOff"} <= seen
    assert counts[-1] >= 4
    assert counts == sorted(counts)


def test_a_limit_range_fills_in_defaults():
    cluster = lab(limit_range(default={"cpu": "500m"}, defaultRequest={"cpu": "200m"}))
    put(cluster, pod())
    (container,) = cluster.client.get("pods", "bee")["spec"]["containers"]
    assert container["resources"] == {"limits": {"cpu": "500m"}, "requests": {"cpu": "200m"}}


@pytest.mark.parametrize(
    ("limits", "asked", "words"),
    [
        ({"max": {"cpu": "1"}}, {"limits": {"cpu": "2"}}, "maximum cpu usage per Container is 1, but limit is 2"),
        (
            {"min": {"cpu": "200m"}},
            {"requests": {"cpu": "100m"}, "limits": {"cpu": "1"}},
            "minimum cpu usage per Container is 200m, but request is 100m",
        ),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}},
            {"requests": {"cpu": "100m"}, "limits": {"cpu": "500m"}},
            "cpu max limit to request ratio per Container is 2, but provided ratio is 5.000000",
        ),
    ],
)
def test_a_limit_range_refuses_in_the_apis_words(limits, asked, words):
    cluster = lab(limit_range(**limits))
    assert refused(cluster, sized(**asked)) == f'pods "bee" is forbidden: {words}'


def test_a_quota_counts_requests_and_limits_and_refuses_what_goes_beyond():
    cluster = lab(quota(pods="2", requests__cpu="1", limits__cpu="2"))
    put(cluster, sized("first", {"cpu": "600m"}, {"cpu": "1"}))
    assert cluster.client.get("resourcequotas", "rq")["status"]["used"] == {
        "limits.cpu": "1",
        "pods": "1",
        "requests.cpu": "600m",
    }
    assert refused(cluster, sized(requests={"cpu": "500m"}, limits={"cpu": "1"})) == (
        'pods "bee" is forbidden: exceeded quota: rq, requested: requests.cpu=500m, used: requests.cpu=600m, '
        "limited: requests.cpu=1"
    )


def test_a_deployment_under_a_quota_has_no_pods_and_the_reason_is_a_replica_set_event():
    cluster = lab(quota(requests__cpu="1"), workload("Deployment", replicas=3))
    deployment = cluster.client.get("deployments", "web")
    assert (deployment["spec"]["replicas"], deployment["status"].get("readyReplicas", 0)) == (3, 0)
    assert pods_of(cluster, "web") == []
    (owned,) = cluster.client.list("replicasets", "default")
    messages = [message for reason, message in events(cluster, owned["metadata"]["name"]) if reason == "FailedCreate"]
    assert "is forbidden: failed quota: rq: must specify requests.cpu for: c" in messages[0]


def test_top_shows_what_nodes_and_pods_use():
    cluster = lab(pod(nodeName="node01"))
    cluster.advance_to(cluster.now + MINUTE)
    assert phase(cluster) == "Running"
    code, pods = call(cluster, "GET", "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods")
    assert code == 200
    assert [item["metadata"]["name"] for item in pods["items"]] == ["bee"]
    code, nodes = call(cluster, "GET", "/apis/metrics.k8s.io/v1beta1/nodes")
    assert {item["metadata"]["name"] for item in nodes["items"]} == {"controlplane", "node01", "node02"}
    assert all(item["usage"].keys() == {"cpu", "memory"} for item in nodes["items"])
