"""Scheduler processes: the default one, and those that pods and Deployments run."""

from __future__ import annotations

import time
import zlib

import pytest

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from tests.cluster.builders import MINUTE, NOW, SECOND, events, fresh, phase, pod, state, taint, workload
from tests.cluster.schedulers import CONFIG, SYSTEM, account, binding, bindings, config, scheduler_pod, scheduler_spec

DEFAULT = "default-scheduler"


def given(*objects: Object) -> Cluster:
    cluster = fresh()
    for obj in (account(), *bindings(), *objects):
        cluster.client.create(obj)
    cluster.settle()
    return cluster


def mine(name: str = "bee") -> Object:
    return pod(name, schedulerName="my-scheduler")


def scheduled(cluster: Cluster, name: str = "bee") -> tuple[str, str]:
    """Who placed the pod, and where."""
    (event,) = [
        e
        for e in cluster.client.list("events", "default")
        if e["reason"] == "Scheduled" and e["involvedObject"]["name"] == name
    ]
    return event["reportingComponent"], cluster.client.get("pods", name)["spec"]["nodeName"]


def test_the_default_scheduler_places_a_pod_and_says_so() -> None:
    cluster = fresh()
    cluster.client.create(pod())
    cluster.advance_to(NOW)
    controller, node = scheduled(cluster)
    assert controller == DEFAULT
    assert node in {"node01", "node02"}
    (event,) = cluster.client.list("events", "default", field_selector="reason=Scheduled")
    assert event["message"] == f"Successfully assigned default/bee to {node}"
    assert (event["action"], event["source"], event["reportingInstance"]) == (
        "Binding",
        {},
        "default-scheduler-controlplane",
    )
    cluster.settle()
    assert phase(cluster) == "Running"


def test_a_second_scheduler_places_the_pods_that_name_it() -> None:
    cluster = given(config(), scheduler_pod())
    assert cluster.has_scheduler("my-scheduler")
    cluster.client.create(mine())
    cluster.client.create(pod("other"))
    cluster.settle()
    assert scheduled(cluster)[0] == "my-scheduler"
    assert scheduled(cluster, "other")[0] == DEFAULT
    assert phase(cluster) == "Running"


def test_a_deployment_may_run_the_second_scheduler() -> None:
    deployment = workload("Deployment", "my-scheduler", replicas=1)
    deployment["metadata"]["namespace"] = SYSTEM
    deployment["spec"]["template"]["spec"] = scheduler_spec()
    cluster = given(config(), deployment)
    cluster.client.create(mine())
    cluster.settle()
    assert scheduled(cluster)[0] == "my-scheduler"


def test_a_pod_whose_scheduler_nobody_runs_waits_without_an_event() -> None:
    cluster = fresh()
    cluster.client.create(mine())
    cluster.advance_to(NOW + 10 * MINUTE)
    assert phase(cluster) == "Pending"
    assert events(cluster) == []
    assert cluster.attempts("default", "bee") == []
    assert not cluster.has_scheduler("my-scheduler")


def test_a_scheduler_that_starts_later_finds_the_pods_that_wait() -> None:
    cluster = fresh()
    cluster.client.create(mine())
    cluster.settle()
    for obj in (account(), *bindings(), config(), scheduler_pod()):
        cluster.client.create(obj)
    cluster.settle()
    assert scheduled(cluster)[0] == "my-scheduler"


def test_without_its_config_map_the_scheduler_is_not_created() -> None:
    cluster = given(scheduler_pod())
    status = cluster.client.get("pods", "my-scheduler", SYSTEM)["status"]["containerStatuses"][0]
    assert status["state"]["waiting"]["reason"] == "ContainerCreating"
    assert any(
        reason == "FailedMount" and 'configmap "my-scheduler-config" not found' in message
        for reason, message in events(cluster, "my-scheduler")
    )
    cluster.client.create(config())
    cluster.client.create(mine())
    cluster.settle()
    assert scheduled(cluster)[0] == "my-scheduler"


@pytest.mark.parametrize(
    ("text", "container", "words"),
    [
        (CONFIG.replace("/v1", "/v1beta2"), {}, 'is registered for version \\"kubescheduler.config.k8s.io/v1beta2\\"'),
        ("profiles: [", {}, "couldn't get version/kind"),
        (CONFIG, {"command": ["kube-scheduler", "--config=/etc/wrong.yaml"]}, "open /etc/wrong.yaml: no such file or directory"),
        (CONFIG, {"command": ["kube-scheduler", "--no-such-flag"]}, "unknown flag: --no-such-flag"),
        (CONFIG, {"command": ["kube-scheduler", "--kubeconfig=/etc/kubernetes/scheduler.conf"]}, "stat /etc/kubernetes/scheduler.conf"),
    ],
)  # fmt: skip
def test_a_wrong_start_crashes_and_says_why(text: str, container: Object, words: str) -> None:
    cluster = given(config(text), scheduler_pod(**container))
    cluster.advance_to(cluster.now + 20 * SECOND)
    status = cluster.client.get("pods", "my-scheduler", SYSTEM)["status"]["containerStatuses"][0]
    assert status["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert status["lastState"]["terminated"]["exitCode"] == 1
    (line,) = cluster.logs(SYSTEM, "my-scheduler")
    assert line.startswith("E0301 09:00:")
    assert words in line
    assert not cluster.has_scheduler("my-scheduler")


def test_a_mended_configuration_is_read_at_the_next_start() -> None:
    cluster = given(config("profiles: ["), scheduler_pod())
    cluster.client.create(mine())
    cluster.client.update(config())
    cluster.settle()
    assert scheduled(cluster)[0] == "my-scheduler"


def test_a_changed_configuration_does_not_reach_a_running_process() -> None:
    cluster = given(config(), scheduler_pod())
    cluster.client.update(config(CONFIG.replace("my-scheduler", "another")))
    cluster.settle()
    assert cluster.has_scheduler("my-scheduler")
    assert not cluster.has_scheduler("another")


def test_without_its_rights_a_scheduler_runs_and_places_nothing() -> None:
    cluster = fresh()
    for obj in (account(), config(), scheduler_pod(), mine()):
        cluster.client.create(obj)
    cluster.settle()
    assert phase(cluster, "my-scheduler", SYSTEM) == "Running"
    assert (phase(cluster), events(cluster, "bee")) == ("Pending", [])
    assert any(
        'nodes is forbidden: User \\"system:serviceaccount:kube-system:my-scheduler\\"' in line
        for line in cluster.logs(SYSTEM, "my-scheduler")
    )

    first, second = bindings()
    cluster.client.create(first)
    cluster.settle()
    assert phase(cluster) == "Pending"
    assert "storageclasses.storage.k8s.io is forbidden" in cluster.logs(SYSTEM, "my-scheduler")[-1]

    cluster.client.create(second)
    cluster.settle()

    assert scheduled(cluster)[0] == "my-scheduler"


def test_a_scheduler_that_loses_its_rights_stops_placing() -> None:
    cluster = given(config(), scheduler_pod())
    for role in ("kube-scheduler", "volume-scheduler"):
        cluster.client.delete("clusterrolebindings", f"my-scheduler-{role}")
    cluster.client.create(mine())
    cluster.settle()
    assert phase(cluster) == "Pending"


def test_a_scheduler_that_wants_the_default_ones_lease_never_leads() -> None:
    cluster = given(config(CONFIG.replace("false", "true")), scheduler_pod(), mine())
    cluster.advance_to(cluster.now + 5 * MINUTE)
    assert phase(cluster) == "Pending"
    assert not cluster.has_scheduler("my-scheduler")
    assert any(
        "attempting to acquire leader lease kube-system/kube-scheduler..." in line
        for line in cluster.logs(SYSTEM, "my-scheduler")
    )
    lease = cluster.client.get("leases", "kube-scheduler", SYSTEM)
    assert lease["spec"]["holderIdentity"].startswith("controlplane_")


def test_another_process_takes_the_lease_over_when_its_holder_is_gone() -> None:
    cluster = given(config(CONFIG.replace("my-scheduler", DEFAULT).replace("false", "true")), scheduler_pod())
    cluster.remove_static_pod("kube-scheduler-controlplane")
    start = cluster.now
    cluster.client.create(pod())
    cluster.settle()
    assert phase(cluster) == "Running"
    assert cluster.now > start + 15 * SECOND
    lease = cluster.client.get("leases", "kube-scheduler", SYSTEM)
    assert lease["spec"]["holderIdentity"].startswith("my-scheduler_")
    assert lease["spec"]["leaseTransitions"] == 1


def test_a_lease_of_its_own_needs_rights_of_its_own() -> None:
    named = CONFIG.replace("leaderElect: false", "leaderElect: true\n  resourceName: my-scheduler")
    cluster = given(config(named), scheduler_pod(), mine())
    assert phase(cluster) == "Pending"
    assert any(
        'leases.coordination.k8s.io "my-scheduler" is forbidden' in line
        for line in cluster.logs(SYSTEM, "my-scheduler")
    )
    cluster.client.create({**binding("cluster-admin"), "metadata": {"name": "all"}})
    cluster.settle()
    assert scheduled(cluster)[0] == "my-scheduler"


def test_a_probe_on_the_old_port_restarts_the_scheduler() -> None:
    probe = {"httpGet": {"path": "/healthz", "port": 10251}, "initialDelaySeconds": 15}
    cluster = given(config(), scheduler_pod(livenessProbe=probe))
    cluster.advance_to(cluster.now + 3 * MINUTE)
    status = cluster.client.get("pods", "my-scheduler", SYSTEM)["status"]["containerStatuses"][0]
    assert status["restartCount"] >= 1
    assert any(
        reason == "Unhealthy" and ":10251/healthz" in message for reason, message in events(cluster, "my-scheduler")
    )


def test_without_a_scheduler_pods_wait_without_an_event() -> None:
    cluster = fresh()
    cluster.remove_static_pod("kube-scheduler-controlplane")
    cluster.settle()
    cluster.client.create(pod())
    cluster.settle()
    assert (phase(cluster), events(cluster, "bee")) == ("Pending", [])
    assert "nodeName" not in cluster.client.get("pods", "bee")["spec"]


def test_deleting_the_mirror_pod_does_not_stop_the_scheduler() -> None:
    cluster = fresh()
    for grace in (None, 0):
        cluster.client.delete("pods", "kube-scheduler-controlplane", SYSTEM, grace_seconds=grace)
        cluster.advance_to(cluster.now)
        assert cluster.has_scheduler(DEFAULT)


def test_a_pod_that_fits_nowhere_says_why_and_is_tried_again_when_something_changes() -> None:
    cluster = fresh()
    for node in ("node01", "node02"):
        taint(cluster, node, {"key": "spray", "value": "mortein", "effect": "NoSchedule"})
    cluster.client.create(pod())
    cluster.settle()
    condition = next(
        c for c in cluster.client.get("pods", "bee")["status"]["conditions"] if c["type"] == "PodScheduled"
    )
    assert (condition["status"], condition["reason"]) == ("False", "Unschedulable")
    assert condition["message"].startswith("0/3 nodes are available: ")
    assert "had untolerated taint" in condition["message"]
    ((reason, message),) = events(cluster)
    assert (reason, message) == ("FailedScheduling", condition["message"])
    (event,) = cluster.client.list("events", "default")
    assert (event["action"], event["reportingComponent"], event["type"]) == ("Scheduling", DEFAULT, "Warning")
    assert cluster.attempts("default", "bee")

    taint(cluster, "node02")
    cluster.settle()

    assert scheduled(cluster)[1] == "node02"
    assert phase(cluster) == "Running"


def test_a_new_toleration_wakes_the_pod() -> None:
    cluster = fresh()
    for node in ("node01", "node02"):
        taint(cluster, node, {"key": "spray", "value": "mortein", "effect": "NoSchedule"})
    cluster.client.create(pod())
    cluster.settle()
    stored = cluster.client.get("pods", "bee")
    tolerations = [*stored["spec"]["tolerations"], {"key": "spray", "operator": "Exists"}]
    cluster.client.update({**stored, "spec": {**stored["spec"], "tolerations": tolerations}})
    cluster.settle()
    assert phase(cluster) == "Running"


def test_room_that_a_deleted_pod_leaves_is_used() -> None:
    cluster = fresh()
    cpu = {"resources": {"requests": {"cpu": "1500m"}}}
    for name in ("one", "two", "three"):
        cluster.client.create(pod(name, container=cpu))
    cluster.settle()
    waiting = [n for n in ("one", "two", "three") if phase(cluster, n) == "Pending"]
    assert waiting == ["three"]
    assert "Insufficient cpu" in events(cluster, "three")[0][1]
    cluster.client.delete("pods", "one", "default")
    cluster.settle()
    assert phase(cluster, "three") == "Running"


def test_a_pod_that_never_fits_is_not_tried_without_end() -> None:
    cluster = fresh()
    cluster.client.create(pod(container={"resources": {"requests": {"cpu": "64"}}}))
    cluster.advance_to(NOW + 60 * MINUTE)
    assert len(cluster.attempts("default", "bee")) <= 10
    total = sum((e.get("series") or {}).get("count", 1) for e in cluster.client.list("events", "default"))
    assert total <= 30


def test_attempts_are_kept_until_the_pod_is_gone() -> None:
    cluster = fresh()
    cluster.client.create(pod())
    cluster.settle()
    (attempt,) = cluster.attempts("default", "bee")
    node = cluster.client.get("pods", "bee")["spec"]["nodeName"]
    assert attempt["node"] == node
    assert node in attempt["best"]
    assert Cluster.load(cluster.dump()).attempts("default", "bee") == [attempt]
    cluster.client.delete("pods", "bee", "default", grace_seconds=0)
    cluster.settle()
    assert cluster.attempts("default", "bee") == []


def test_ties_are_broken_by_the_seed() -> None:
    chosen = set()
    for seed in range(12):
        cluster = fresh(seed)
        cluster.client.create(pod())
        cluster.settle()
        assert len(cluster.attempts("default", "bee")[0]["best"]) >= 1
        chosen.add(cluster.client.get("pods", "bee")["spec"]["nodeName"])
    assert chosen == {"node01", "node02"}


def test_priority_decides_who_is_tried_first() -> None:
    cluster = fresh()
    cluster.remove_static_pod("kube-scheduler-controlplane")
    cluster.client.create(priority_class("high", 1000))
    cluster.settle()
    cpu = {"resources": {"requests": {"cpu": "1500m"}}}
    for name in ("low1", "low2"):
        cluster.client.create(pod(name, container=cpu))
    cluster.client.create(pod("urgent", container=cpu, priorityClassName="high"))
    for obj in (
        account(),
        *bindings(),
        config(CONFIG.replace("my-scheduler", DEFAULT)),
        {**scheduler_pod(), "spec": {**scheduler_spec(), "nodeName": "controlplane"}},
    ):
        cluster.client.create(obj)
    cluster.settle()
    assert phase(cluster, "urgent") == "Running"
    assert sorted(phase(cluster, name) for name in ("low1", "low2")) == ["Pending", "Running"]


def test_profiles_of_one_process_serve_several_names() -> None:
    two = CONFIG.replace("- schedulerName: my-scheduler", "- schedulerName: my-scheduler\n- schedulerName: packed")
    cluster = given(config(two), scheduler_pod())
    cluster.client.create(mine())
    cluster.client.create(pod("box", schedulerName="packed"))
    cluster.settle()
    assert scheduled(cluster)[0] == "my-scheduler"
    assert scheduled(cluster, "box")[0] == "packed"


def test_a_profile_without_taint_toleration_ignores_taints() -> None:
    blind = CONFIG.replace(
        "- schedulerName: my-scheduler",
        "- schedulerName: my-scheduler\n  plugins: {multiPoint: {disabled: [{name: TaintToleration}]}}",
    )
    cluster = given(config(blind), scheduler_pod())
    for node in ("node01", "node02"):
        taint(cluster, node, {"key": "closed", "effect": "NoSchedule"})
    cluster.client.create(mine())
    cluster.client.create(pod("sighted"))
    cluster.settle()
    assert phase(cluster) == "Running"
    assert phase(cluster, "sighted") == "Pending"


def test_a_cordoned_node_is_left_out() -> None:
    cluster = fresh()
    cluster.client.patch("nodes", "node01", "", {"spec": {"unschedulable": True}})
    cluster.client.create(workload("Deployment", replicas=3))
    cluster.settle()
    placed = {p["spec"]["nodeName"] for p in cluster.client.list("pods", "default")}
    assert placed == {"node02"}


def test_draining_moves_a_deployments_pods() -> None:
    cluster = fresh()
    cluster.client.create(workload("Deployment", replicas=4))
    cluster.settle()
    cluster.client.patch("nodes", "node01", "", {"spec": {"unschedulable": True}})
    for one in cluster.client.list("pods", "default"):
        if one["spec"]["nodeName"] == "node01":
            cluster.client.delete("pods", meta.name_of(one), "default")
    cluster.settle()
    pods = cluster.client.list("pods", "default")
    assert [p["spec"]["nodeName"] for p in pods] == ["node02"] * 4
    assert {p["status"]["phase"] for p in pods} == {"Running"}


def test_a_gated_pod_is_not_tried_until_its_gates_are_gone() -> None:
    cluster = fresh()
    cluster.client.create(pod(schedulingGates=[{"name": "example.com/wait"}]))
    cluster.settle()
    assert events(cluster) == []
    assert "nodeName" not in cluster.client.get("pods", "bee")["spec"]
    stored = cluster.client.get("pods", "bee")
    spec = {key: value for key, value in stored["spec"].items() if key != "schedulingGates"}
    cluster.client.update({**stored, "spec": spec})
    cluster.settle()
    assert phase(cluster) == "Running"
    assert "running" in state(cluster)


def priority_class(name: str, value: int) -> Object:
    metadata = {"name": name}
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": metadata, "value": value}


def test_an_important_pod_takes_the_place_of_a_less_important_one() -> None:
    cluster = fresh()
    cluster.client.create(priority_class("high", 1000))
    cpu = {"resources": {"requests": {"cpu": "1500m"}}}
    for name in ("low1", "low2"):
        cluster.client.create(pod(name, container=cpu))
    cluster.settle()
    cluster.client.create(pod("urgent", container=cpu, priorityClassName="high"))
    cluster.advance_to(cluster.now)
    waiting = cluster.client.get("pods", "urgent")
    node = waiting["status"]["nominatedNodeName"]
    (victim,) = [p for p in cluster.client.list("pods", "default") if p["metadata"].get("deletionTimestamp")]
    assert victim["spec"]["nodeName"] == node
    uid = waiting["metadata"]["uid"]
    assert ("Preempted", f"Preempted by pod {uid} on node {node}") in events(cluster, meta.name_of(victim))

    cluster.settle()

    assert phase(cluster, "urgent") == "Running"
    assert cluster.client.get("pods", "urgent")["spec"]["nodeName"] == node
    assert cluster.client.find("pods", meta.name_of(victim), "default") is None


def test_two_schedulers_share_the_nodes_without_overfilling_them() -> None:
    cluster = given(config(), scheduler_pod())
    cpu = {"resources": {"requests": {"cpu": "900m"}}}
    for number in range(4):
        name = "default-scheduler" if number % 2 else "my-scheduler"
        cluster.client.create(pod(f"p{number}", container=cpu, schedulerName=name))
    cluster.settle()
    assert [phase(cluster, f"p{number}") for number in range(4)] == ["Running"] * 4


def test_a_usual_lab_fits_into_forty_kilobytes() -> None:
    cluster = given(config(), scheduler_pod())
    cluster.client.create(mine())
    cluster.client.create(workload("Deployment", replicas=3))
    cluster.client.create(workload("DaemonSet", "agent"))
    cluster.client.create(pod("huge", container={"resources": {"requests": {"cpu": "64"}}}))
    cluster.settle()
    assert len(zlib.compress(cluster.dump(), 3)) < 40_000


def test_a_cluster_is_made_in_no_time() -> None:
    def one(seed: int) -> float:
        begun = time.perf_counter()
        fresh(seed)
        return time.perf_counter() - begun

    assert min(one(seed) for seed in range(5)) < 0.1


def test_a_talkative_scheduler_logs_what_it_binds() -> None:
    command = ["kube-scheduler", "--config=/etc/kubernetes/my-scheduler/my-scheduler-config.yaml", "--v=2"]
    cluster = given(config(), scheduler_pod(command=command))
    cluster.client.create(mine())
    cluster.client.create(pod("huge", schedulerName="my-scheduler", nodeSelector={"disk": "ssd"}))
    cluster.settle()
    lines = cluster.logs(SYSTEM, "my-scheduler")
    node = cluster.client.get("pods", "bee")["spec"]["nodeName"]
    assert any(f'"Successfully bound pod to node" pod="default/bee" node="{node}"' in line for line in lines)
    assert any('"Unable to schedule pod; no fit; waiting" pod="default/huge" err="0/3 nodes' in line for line in lines)
