"""A scheduler process runs the plugins, reads the configuration and speaks the words of its image's release."""

import pytest

from app.exercises import ablation
from tests.cluster.builders import events, fresh, pod, taint
from tests.cluster.schedulers import CONFIG, SYSTEM, account, bindings, config, scheduler_pod

KEPT_OUT = [{"key": "team", "value": "ml", "effect": "NoSchedule"}]


def cluster_with(image, text=CONFIG):
    cluster = fresh()
    for obj in (account(), *bindings(), config(text), scheduler_pod(image=f"registry.k8s.io/kube-scheduler:{image}")):
        cluster.client.create(obj)
    cluster.settle()
    return cluster


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        ("v1.34.1", "2 node(s) had untolerated taint {team: ml}."),
        ("v1.35.7", "3 node(s) had untolerated taint(s)."),
    ],
)
def test_the_event_has_the_words_of_the_release(image, reason):
    cluster = cluster_with(image)
    for name in ("node01", "node02"):
        taint(cluster, name, *KEPT_OUT)
    cluster.client.create(pod("bee", schedulerName="my-scheduler"))
    cluster.settle()
    (event,) = [message for kind, message in events(cluster, "bee") if kind == "FailedScheduling"]
    assert reason in event


def test_the_log_names_the_release():
    (line,) = [line for line in cluster_with("v1.34.1").logs(SYSTEM, "my-scheduler") if "Starting Kubernetes" in line]
    assert 'version="v1.34.1"' in line


OLD = CONFIG.replace("k8s.io/v1", "k8s.io/v1beta2")


def test_an_old_scheduler_runs_an_old_configuration_and_a_new_one_dies_of_it():
    cluster = cluster_with("v1.27.16", OLD)
    cluster.client.create(pod("bee", schedulerName="my-scheduler"))
    cluster.settle()
    assert cluster.client.get("pods", "bee")["spec"]["nodeName"] in {"node01", "node02"}
    (line,) = cluster_with("v1.35.7", OLD).logs(SYSTEM, "my-scheduler")[-1:]
    assert 'no kind \\"KubeSchedulerConfiguration\\" is registered for version' in line
    assert "kubescheduler.config.k8s.io/v1beta2" in line


@pytest.mark.parametrize(("plugin", "placed"), [("NodeAffinity", True), ("NodePorts", False)])
def test_a_plugin_can_be_taken_from_a_scheduler_with_an_old_configuration(plugin, placed):
    cluster = ablation.disabled(cluster_with("v1.27.16", OLD), plugin)
    cluster.client.create(pod("bee", schedulerName="my-scheduler", nodeSelector={"no": "where"}))
    cluster.settle()
    assert ("nodeName" in cluster.client.get("pods", "bee")["spec"]) == placed


def test_a_snapshot_from_before_versions_were_kept_still_schedules():
    cluster = fresh()
    for process in cluster._memory["kube-scheduler"]["processes"].values():
        del process["version"]
    cluster.client.create(pod("bee"))
    cluster.settle()
    assert cluster.client.get("pods", "bee")["spec"]["nodeName"]
