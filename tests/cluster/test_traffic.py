"""What it costs to be called: the load that a learner makes with a pod that asks again and again."""

import json

import pytest

from app.cluster import traffic
from app.cluster.apiserver import dispatch
from app.cluster.apiserver.dispatch import ApiRequest
from tests.cluster.builders import MINUTE, command, events, fresh, workload

LOOP = "while sleep 0.01; do wget -q -O- http://php-apache; done"
REQUESTS = {"requests": {"cpu": "200m"}, "limits": {"cpu": "500m"}}


def service(name="php-apache", **spec):
    given = {"selector": {"app": "web"}, "ports": [{"port": 80}], **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": given}


def php(replicas=1):
    made = workload("Deployment", replicas=replicas)
    container = {"name": "c", "image": "registry.k8s.io/hpa-example", "resources": REQUESTS}
    made["spec"]["template"]["spec"]["containers"] = [container]
    return made


def autoscaler():
    target = {"type": "Utilization", "averageUtilization": 50}
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    metrics = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    spec = {"scaleTargetRef": reference, "minReplicas": 1, "maxReplicas": 10, "metrics": metrics}
    metadata = {"name": "web"}
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": metadata, "spec": spec}


def given(*objects, minutes=2):
    cluster = fresh()
    for obj in objects:
        cluster.client.create(obj)
    cluster.advance_to(cluster.now + minutes * MINUTE)
    return cluster


def load(cluster):
    served = traffic.served(cluster.client.list("pods"), cluster.client.list("services"))
    return sorted(served.values())


def replicas(cluster):
    return cluster.client.get("deployments", "web")["spec"]["replicas"]


@pytest.mark.parametrize(
    ("script", "cost"),
    [
        (LOOP, [600]),
        (
            "while true; do curl -s http://php-apache.default.svc.cluster.local/index.php > /dev/null; sleep 1; done",
            [9],
        ),
        ("while true; do wget -qO- php-apache; done", [1800]),
        ("while true; do wget -q -O - php-apache:80 >/dev/null 2>&1; sleep 0.1; done", [86]),
        ("while true; do curl -s -o /dev/null php-apache.default; done", [1800]),
        ("wget -q -O- http://php-apache", []),
        ("while true; do wget -q -O- http://other; done", []),
        ("while true; do wget -q -O- http://php-apache.elsewhere; done", []),
        ("until wget -q -O- http://php-apache; do sleep 1; done", []),
        ("while true; do date; sleep 1; done", []),
        ("while true; do wget; done", []),
    ],
)
def test_a_loop_of_calls_costs_the_one_who_answers(script, cost):
    assert load(given(php(), service(), command("sh", "-c", script))) == cost


def test_the_pods_behind_a_service_share_what_there_is_to_do():
    assert load(given(php(3), service(), command("sh", "-c", LOOP))) == [200, 200, 200]


def test_several_callers_ask_for_more():
    callers = [command("sh", "-c", LOOP, name=f"bee-{index}") for index in range(3)]
    assert load(given(php(), service(), *callers)) == [1800]


def test_a_caller_may_know_the_address_alone():
    cluster = given(
        php(), service(clusterIP="10.96.0.77"), command("sh", "-c", LOOP.replace("php-apache", "10.96.0.77"))
    )
    assert load(cluster) == [600]


def test_a_service_without_ready_pods_costs_nobody_anything():
    assert load(given(service(), command("sh", "-c", LOOP))) == []
    assert load(given(php(), service(selector=None), command("sh", "-c", LOOP))) == []


def test_more_pods_are_made_until_each_has_half_of_what_it_requests_to_do():
    cluster = given(php(), service(), autoscaler())
    assert replicas(cluster) == 1
    cluster.client.create(command("sh", "-c", LOOP))
    cluster.advance_to(cluster.now + 15 * MINUTE)
    assert replicas(cluster) == 6
    (metric,) = cluster.client.get("hpa", "web")["status"]["currentMetrics"]
    assert metric["resource"]["current"]["averageUtilization"] == 50
    cluster.client.delete("pods", "bee", "default", 0)
    cluster.advance_to(cluster.now + 8 * MINUTE)
    assert replicas(cluster) == 1
    sizes = [message for reason, message in events(cluster, "web") if reason == "SuccessfulRescale"]
    assert sizes[-1] == "New size: 1; reason: All metrics below target"


def test_top_shows_the_same_figures():
    cluster = given(php(), service(), command("sh", "-c", LOOP))
    path = "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods"
    items = json.loads(dispatch.handle(cluster, ApiRequest("GET", path)).body)["items"]
    used = {item["metadata"]["name"][:3]: item["containers"][0]["usage"]["cpu"] for item in items}
    assert used["web"] == "500000000n"


@pytest.mark.parametrize(
    "text", ["while " * 100_000, "while wget " + "http://" * 50_000, "while wget " + "-O " * 50_000]
)
def test_long_scripts_are_read_at_once(text):
    pod = command("sh", "-c", text)
    pod["metadata"]["namespace"] = "default"
    pod["status"] = {"containerStatuses": [{"name": "c", "state": {"running": {}}}]}
    assert traffic.served([pod], [service()]) == {}
