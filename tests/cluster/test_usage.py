"""Simulated usage: what the autoscaler and `kubectl top` read."""

import pytest

from app.cluster import usage
from tests.cluster.builders import NOW, SECOND, command, fresh, pod

MI = 1 << 20


def running(given, since="2026-03-01T09:00:00Z"):
    names = [one["name"] for one in given["spec"]["containers"]]
    state = {"running": {"startedAt": since}}
    return {**given, "status": {"containerStatuses": [{"name": name, "state": state} for name in names]}}


def used(container):
    return usage.of_pod(running(pod(container=container)))["c"]


def test_a_container_that_does_not_run_uses_nothing():
    assert usage.of_pod(pod()) == {}


def test_nginx_at_rest_uses_little():
    assert used({"image": "docker.io/library/nginx:1.27"}) == {"cpu": 1, "memory": 8 * MI}


def test_pause_uses_nothing():
    assert used({"image": "registry.k8s.io/pause:3.10"}) == {"cpu": 0, "memory": 0}


@pytest.mark.parametrize(
    ("image", "argv", "cpu", "memory"),
    [
        ("polinux/stress", {"command": ["stress"], "args": ["--cpu", "2"]}, 2000, MI),
        (
            "polinux/stress",
            {"command": ["stress"], "args": ["--vm", "1", "--vm-bytes", "150M", "--vm-hang", "1"]},
            1,
            151 * MI,
        ),
        ("vish/stress", {"args": ["-cpus", "2", "-mem-total", "950Mi"]}, 2000, 951 * MI),
        ("vish/stress", {"args": ["-cpus=1"]}, 1000, MI),
        ("busybox", {"command": ["sh", "-c", "while true; do :; done"]}, 1000, MI),
        ("busybox", {"command": ["sh", "-c", "while true; do date; sleep 5; done"]}, 1, MI),
        ("busybox", {"command": ["sleep", "3600"]}, 0, MI),
        ("busybox", {"args": ["dd", "if=/dev/zero", "of=/dev/null"]}, 1000, MI),
        ("nginx", {"command": ["nginx", "-g", "daemon off;"]}, 1, 8 * MI),
    ],
)
def test_the_command_tells_what_is_used(image, argv, cpu, memory):
    assert used({"image": image, **argv}) == {"cpu": cpu, "memory": memory}


def test_limits_cap_what_is_used():
    limits = {"limits": {"cpu": "250m", "memory": "64Mi"}}
    container = {"image": "polinux/stress", "args": ["stress", "--cpu", "4", "--vm-bytes", "1G"], "resources": limits}
    assert used(container) == {"cpu": 250, "memory": 64 * MI}


def test_a_pod_is_measured_once_it_has_been_seen_twice():
    given = running(pod())
    assert usage.of_pod(given, NOW + 29 * SECOND) == {}
    assert usage.of_pod(given, NOW + 30 * SECOND) == usage.of_pod(given)


def test_a_node_uses_what_its_pods_use_and_a_little_more():
    cluster = fresh()
    node = cluster.client.get("nodes", "node01")
    empty = usage.of_node(node, [])
    busy = usage.of_node(node, [running(pod(image="polinux/stress", container={"args": ["stress", "-c", "1"]}))])
    assert empty["cpu"] > 0
    assert busy["cpu"] - empty["cpu"] == 1000


def test_a_node_never_uses_more_than_it_has():
    node = {"status": {"capacity": {"cpu": "2", "memory": "1Gi"}}}
    hogs = [running(pod(image="polinux/stress", container={"args": ["stress", "-c", "9", "--vm-bytes", "9G"]}))]
    assert usage.of_node(node, hogs) == {"cpu": 2000, "memory": 1 << 30}


def test_a_real_cluster_s_pods_have_usage():
    cluster = fresh()
    cluster.client.create(command("sleep", "3600"))
    cluster.advance_to(NOW + 60 * SECOND)
    assert usage.of_pod(cluster.client.get("pods", "bee"), cluster.now) == {"c": {"cpu": 0, "memory": MI}}
