import pytest

from app.apimachinery.errors import NotFound
from tests.cluster.builders import (
    MINUTE,
    NOW,
    SECOND,
    command,
    config_map,
    events,
    fresh,
    phase,
    pod,
    state,
    taint,
)


def test_a_bound_pod_is_created_and_then_runs() -> None:
    cluster = fresh()
    cluster.client.create(pod(nodeName="node01"))
    cluster.advance_to(NOW)
    assert (phase(cluster), state(cluster)) == ("Pending", {"waiting": {"reason": "ContainerCreating"}})

    cluster.settle()

    status = cluster.client.get("pods", "bee")["status"]
    assert status["phase"] == "Running"
    assert status["podIP"].startswith("10.244.1.")
    assert status["hostIP"] == "172.30.1.3"
    assert status["qosClass"] == "BestEffort"
    assert {c["type"]: c["status"] for c in status["conditions"]} == {
        "PodReadyToStartContainers": "True",
        "Initialized": "True",
        "Ready": "True",
        "ContainersReady": "True",
        "PodScheduled": "True",
    }
    assert SECOND < cluster.now - NOW < 3 * SECOND
    assert events(cluster, "bee") == [
        ("Pulling", 'Pulling image "nginx"'),
        ("Pulled", 'Successfully pulled image "nginx" in 1.45s (1.45s including waiting). Image size: 72000000 bytes.'),
        ("Created", "Container created"),
        ("Started", "Container started"),
    ]


def test_an_image_that_is_there_is_not_pulled_again() -> None:
    cluster = fresh()
    cluster.client.create(pod("one", image="nginx:1.27", nodeName="node01"))
    cluster.settle()
    assert "docker.io/library/nginx:1.27" in str(cluster.client.get("nodes", "node01")["status"]["images"])

    cluster.client.create(pod("two", image="nginx:1.27", nodeName="node01"))
    cluster.settle()

    assert events(cluster, "two")[0] == (
        "Pulled",
        'Container image "nginx:1.27" already present on machine and can be accessed by the pod',
    )


def test_an_unknown_tag_is_tried_again_with_growing_pauses() -> None:
    cluster = fresh()
    cluster.client.create(pod(image="nginx:1.99-nope", nodeName="node01"))
    cluster.advance_to(NOW + 2 * SECOND)
    assert state(cluster)["waiting"]["reason"] == "ErrImagePull"
    cluster.advance_to(NOW + 5 * SECOND)
    waiting = state(cluster)["waiting"]
    assert waiting["reason"] == "ImagePullBackOff"
    assert waiting["message"].startswith(
        'Back-off pulling image "nginx:1.99-nope": ErrImagePull: rpc error: code = NotFound'
    )
    cluster.settle()
    assert cluster.now < NOW + MINUTE, "retries alone do not keep a cluster from being settled"
    cluster.advance_to(NOW + 20 * MINUTE)
    pulls = [e for e in cluster.client.list("events") if e["reason"] == "Pulling"]
    assert 5 <= pulls[0]["count"] <= 9


def test_a_pod_whose_command_ends_completes() -> None:
    cluster = fresh()
    cluster.client.create(command("sleep", "30", nodeName="node01", restartPolicy="Never"))
    cluster.advance_to(NOW + 20 * SECOND)
    assert phase(cluster) == "Running"
    cluster.settle()
    assert phase(cluster) == "Succeeded"
    ended = state(cluster)["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (0, "Completed")


@pytest.mark.parametrize(
    ("policy", "argv", "expected"),
    [
        ("Never", ("false",), "Failed"),
        ("OnFailure", ("true",), "Succeeded"),
        ("OnFailure", ("false",), "Running"),
        ("Always", ("true",), "Running"),
    ],
)
def test_the_restart_policy_decides_what_becomes_of_a_pod(policy: str, argv: tuple[str, ...], expected: str) -> None:
    cluster = fresh()
    cluster.client.create(command(*argv, nodeName="node01", restartPolicy=policy))
    cluster.advance_to(NOW + MINUTE)
    assert phase(cluster) == expected


def test_a_crashing_container_is_restarted_at_once_and_then_backs_off() -> None:
    cluster = fresh()
    cluster.client.create(command("sh", "-c", "echo oh no; exit 3", nodeName="node01"))
    cluster.advance_to(NOW + 10 * SECOND)
    status = cluster.client.get("pods", "bee")["status"]["containerStatuses"][0]
    assert status["restartCount"] == 1
    assert status["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert status["state"]["waiting"]["message"].startswith(
        "back-off 10s restarting failed container=c pod=bee_default("
    )
    assert status["lastState"]["terminated"]["exitCode"] == 3
    assert cluster.logs("default", "bee") == ["oh no"]

    cluster.advance_to(NOW + 30 * MINUTE)
    restarts = cluster.client.get("pods", "bee")["status"]["containerStatuses"][0]["restartCount"]
    assert 8 <= restarts <= 12, "pauses grow to five minutes"
    assert any(reason == "BackOff" for reason, _ in events(cluster, "bee"))


def test_an_unknown_command_cannot_be_started() -> None:
    cluster = fresh()
    cluster.client.create(command("slep", "30", nodeName="node01", restartPolicy="Never"))
    cluster.settle()
    ended = state(cluster)["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (128, "StartError")
    assert 'exec: "slep": executable file not found in $PATH' in ended["message"]


def test_a_missing_config_map_holds_a_pod_up_until_it_is_there() -> None:
    cluster = fresh()
    volume = {"name": "conf", "configMap": {"name": "settings"}}
    mount = {"volumeMounts": [{"name": "conf", "mountPath": "/etc/conf"}]}
    cluster.client.create(pod(container=mount, volumes=[volume], nodeName="node01"))
    cluster.settle()
    assert state(cluster) == {"waiting": {"reason": "ContainerCreating"}}
    assert ("FailedMount", 'MountVolume.SetUp failed for volume "conf" : configmap "settings" not found') in events(
        cluster, "bee"
    )

    cluster.client.create(config_map("settings", a="b"))
    cluster.settle()

    assert phase(cluster) == "Running"


def test_a_missing_key_for_the_environment_is_a_config_error_until_it_is_there() -> None:
    cluster = fresh()
    variable = {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "a"}}}
    cluster.client.create(pod(container={"env": [variable]}, nodeName="node01"))
    cluster.settle()
    assert state(cluster)["waiting"] == {
        "reason": "CreateContainerConfigError",
        "message": 'configmap "settings" not found',
    }
    cluster.client.create(config_map("settings", a="b"))
    cluster.settle()
    assert phase(cluster) == "Running"


def test_init_containers_run_one_by_one_before_the_others() -> None:
    cluster = fresh()
    inits = [{"name": f"init{n}", "image": "busybox", "command": ["sleep", "5"]} for n in (1, 2)]
    cluster.client.create(pod(nodeName="node01", initContainers=inits))
    cluster.advance_to(NOW + 4 * SECOND)
    first = cluster.client.get("pods", "bee")["status"]
    assert "running" in first["initContainerStatuses"][0]["state"]
    assert first["initContainerStatuses"][1]["state"] == {"waiting": {"reason": "PodInitializing"}}
    assert first["phase"] == "Pending"
    cluster.settle()
    assert phase(cluster) == "Running"
    assert cluster.now > NOW + 10 * SECOND


def test_a_failing_init_container_keeps_the_pod_pending_or_fails_it() -> None:
    cluster = fresh()
    inits = [{"name": "init", "image": "busybox", "command": ["false"]}]
    cluster.client.create(pod("patient", nodeName="node01", initContainers=inits))
    cluster.client.create(pod("final", nodeName="node01", initContainers=inits, restartPolicy="Never"))
    cluster.advance_to(NOW + MINUTE)
    assert phase(cluster, "patient") == "Pending"
    assert phase(cluster, "final") == "Failed"


def test_a_sidecar_runs_beside_the_containers() -> None:
    cluster = fresh()
    sidecar = {"name": "side", "image": "nginx", "restartPolicy": "Always"}
    cluster.client.create(pod(nodeName="node01", initContainers=[sidecar]))
    cluster.settle()
    status = cluster.client.get("pods", "bee")["status"]
    assert status["phase"] == "Running"
    assert "running" in status["initContainerStatuses"][0]["state"]


def test_a_pod_turns_ready_when_its_probe_first_succeeds() -> None:
    cluster = fresh()
    probe = {"readinessProbe": {"httpGet": {"port": 80}, "initialDelaySeconds": 15}}
    cluster.client.create(pod(container=probe, nodeName="node01"))
    cluster.advance_to(NOW + 10 * SECOND)
    assert not cluster.client.get("pods", "bee")["status"]["containerStatuses"][0]["ready"]
    cluster.settle()
    assert cluster.client.get("pods", "bee")["status"]["containerStatuses"][0]["ready"]


def test_a_wrong_liveness_probe_restarts_the_container_again_and_again() -> None:
    cluster = fresh()
    probe = {"livenessProbe": {"httpGet": {"port": 8080}, "periodSeconds": 5}}
    cluster.client.create(pod(container=probe, nodeName="node01"))
    cluster.advance_to(NOW + 3 * MINUTE)
    assert cluster.client.get("pods", "bee")["status"]["containerStatuses"][0]["restartCount"] >= 2
    reasons = dict(events(cluster, "bee"))
    assert reasons["Unhealthy"].startswith('Liveness probe failed: Get "http://10.244.1.')
    assert reasons["Unhealthy"].endswith(":8080: connect: connection refused")
    assert reasons["Killing"] == "Container c failed liveness probe, will be restarted"


def test_a_deleted_pod_ends_within_its_grace_period() -> None:
    cluster = fresh()
    cluster.client.create(pod(nodeName="node01"))
    cluster.client.create(command("sleep", "3600", name="deaf", nodeName="node01"))
    cluster.settle()
    start = cluster.now
    for name in ("bee", "deaf"):
        cluster.client.delete("pods", name, "default")
    cluster.advance_to(start + 5 * SECOND)
    with pytest.raises(NotFound):
        cluster.client.get("pods", "bee")
    assert cluster.client.get("pods", "deaf")["metadata"]["deletionTimestamp"], "sleep ignores SIGTERM"
    cluster.advance_to(start + 35 * SECOND)
    assert cluster.client.list("pods", "default") == []
    assert ("Killing", "Stopping container c") in events(cluster, "bee")


def test_a_force_deleted_pod_is_gone_at_once_and_its_timers_too() -> None:
    cluster = fresh()
    cluster.client.create(command("sleep", "60", nodeName="node01"))
    cluster.settle(SECOND)
    cluster.client.delete("pods", "bee", "default", grace_seconds=0)
    cluster.advance_to(cluster.now)
    assert cluster.client.list("pods", "default") == []
    cluster.settle()
    assert cluster._timers.next_busy() is None


@pytest.mark.parametrize(
    ("spec", "reason", "message"),
    [
        (
            {"container": {"resources": {"requests": {"cpu": "3"}}}},
            "OutOfcpu",
            "Pod was rejected: Node didn't have enough resource: cpu, requested: 3000, used: 0, capacity: 2000",
        ),
        (
            {"container": {"resources": {"requests": {"memory": "8Gi"}}}},
            "OutOfmemory",
            "Pod was rejected: Node didn't have enough resource: memory, requested: 8589934592, used: 0, capacity: 4294967296",
        ),
        (
            {"nodeSelector": {"disk": "ssd"}},
            "NodeAffinity",
            "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
        ),
    ],
)
def test_the_kubelet_refuses_what_does_not_fit(spec: dict[str, object], reason: str, message: str) -> None:
    cluster = fresh()
    cluster.client.create(pod(nodeName="node02", **spec))
    node_pods = [p for p in cluster.client.list("pods") if p["spec"].get("nodeName") == "node02"]
    for other in node_pods:
        if other["metadata"]["name"].startswith("coredns"):
            pytest.fail("the table counts on node02 being empty")
    cluster.settle()
    status = cluster.client.get("pods", "bee")["status"]
    assert (status["phase"], status["reason"], status["message"]) == ("Failed", reason, message)
    assert events(cluster, "bee") == [(reason, message.removeprefix("Pod was rejected: "))]


def test_the_kubelet_refuses_a_pod_that_does_not_tolerate_no_execute_but_does_not_look_at_no_schedule() -> None:
    cluster = fresh()
    taint(cluster, "node02", {"key": "a", "effect": "NoSchedule"})
    cluster.client.create(pod("kept", nodeName="node02"))
    cluster.settle()
    assert phase(cluster, "kept") == "Running"


def test_host_ports_clash_on_a_node() -> None:
    cluster = fresh()
    ports = {"ports": [{"containerPort": 80, "hostPort": 8080}]}
    cluster.client.create(pod("first", container=ports, nodeName="node01"))
    cluster.client.create(pod("second", container=ports, nodeName="node01"))
    cluster.settle()
    assert phase(cluster, "first") == "Running"
    assert cluster.client.get("pods", "second")["status"]["reason"] == "NodePorts"


def test_a_changed_image_restarts_the_container() -> None:
    cluster = fresh()
    cluster.client.create(pod(image="nginx:1.26", nodeName="node01"))
    cluster.settle()
    patch = {"spec": {"containers": [{"name": "c", "image": "nginx:1.27"}]}}
    cluster.client.patch("pods", "bee", "default", patch)
    cluster.settle()
    status = cluster.client.get("pods", "bee")["status"]["containerStatuses"][0]
    assert (status["image"], status["restartCount"]) == ("docker.io/library/nginx:1.27", 1)
    assert ("Killing", "Container c definition changed, will be restarted") in events(cluster, "bee")


def test_a_mirror_pod_comes_back_and_its_containers_run_on() -> None:
    cluster = fresh()
    name = "etcd-controlplane"
    before = cluster.client.get("pods", name, "kube-system")
    cluster.client.delete("pods", name, "kube-system")
    cluster.settle()
    after = cluster.client.get("pods", name, "kube-system")
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    assert after["status"]["containerStatuses"] == before["status"]["containerStatuses"]


def test_a_mirror_pod_comes_back_after_a_forced_delete() -> None:
    cluster = fresh()
    cluster.client.delete("pods", "etcd-controlplane", "kube-system", grace_seconds=0)
    cluster.settle()
    assert cluster.client.get("pods", "etcd-controlplane", "kube-system")["status"]["phase"] == "Running"


def test_a_static_pod_whose_file_is_gone_stays_away() -> None:
    cluster = fresh()
    cluster.remove_static_pod("kube-scheduler-controlplane")
    cluster.settle()
    assert cluster.client.find("pods", "kube-scheduler-controlplane", "kube-system") is None
    assert not cluster.has_scheduler("default-scheduler")


def test_a_pod_on_a_node_that_is_not_ready_goes_on_when_it_is() -> None:
    cluster = fresh()
    cluster.client.create(pod(nodeName="node01", tolerations=[{"operator": "Exists"}]))
    cluster.advance_to(NOW)
    ready = cluster.client.get("nodes", "node01")
    conditions = [{**c, "status": "False"} if c["type"] == "Ready" else c for c in ready["status"]["conditions"]]
    cluster.client.update_status({**ready, "status": {**ready["status"], "conditions": conditions}})
    cluster.advance_to(NOW + MINUTE)
    assert phase(cluster) == "Pending"
    now = cluster.client.get("nodes", "node01")
    cluster.client.update_status({**now, "status": {**now["status"], "conditions": ready["status"]["conditions"]}})
    cluster.advance_to(NOW + 2 * MINUTE)
    assert phase(cluster) == "Running"
