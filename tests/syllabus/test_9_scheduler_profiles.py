"""Chapter 9: scheduler profiles."""

from tests.cluster.builders import nodes_of, phase, pod, workload
from tests.cluster.schedulers import CONFIG, account, bindings, config, scheduler_pod
from tests.syllabus.steps import WORKERS, change, lab, label, node_of, put, reasons, said, taint_node

NAMED = "- schedulerName: my-scheduler"


def with_scheduler(configuration):
    return lab(account(), *bindings(), config(configuration), scheduler_pod())


def priority_class(name, value, **more):
    metadata = {"name": name}
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": metadata, "value": value, **more}


def asking(name, cpu, **spec):
    return pod(name, container={"resources": {"requests": {"cpu": cpu}}}, **spec)


def beside(key, value, topology="kubernetes.io/hostname", kind="podAffinity"):
    term = {"labelSelector": {"matchLabels": {key: value}}, "topologyKey": topology}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def test_the_queue_is_ordered_by_priority():
    cluster = lab(priority_class("high", 1000), priority_class("low", 1))
    for name in WORKERS:
        change(cluster, "nodes", name, {"unschedulable": True}, "")
    put(cluster, asking("low", "1500m", priorityClassName="low"), asking("high", "1500m", priorityClassName="high"))
    assert (phase(cluster, "low"), phase(cluster, "high")) == ("Pending", "Pending")
    change(cluster, "nodes", "node01", {"unschedulable": False}, "")
    cluster.settle()
    assert (phase(cluster, "high"), phase(cluster, "low")) == ("Running", "Pending")


def test_plugins_are_disabled_and_weighed_by_a_profile():
    plugins = "  plugins: {multiPoint: {disabled: [{name: TaintToleration}]}}"
    cluster = with_scheduler(CONFIG.replace(NAMED, f"{NAMED}\n{plugins}"))
    for name in WORKERS:
        taint_node(cluster, name, "a=b:NoSchedule")
    put(cluster, pod(schedulerName="my-scheduler"), pod("plain"))
    assert (phase(cluster), phase(cluster, "plain")) == ("Running", "Pending")


def test_all_scores_disabled_leave_the_choice_to_chance_and_one_enabled_decides():
    plugins = "  plugins: {score: {disabled: [{name: '*'}], enabled: [{name: NodeAffinity, weight: 5}]}}"
    cluster = with_scheduler(CONFIG.replace(NAMED, f"{NAMED}\n{plugins}"))
    label(cluster, "nodes", "node02", "", disk="ssd")
    preference = {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}
    term = {"weight": 1, "preference": preference}
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    put(cluster, *(pod(f"bee-{n}", schedulerName="my-scheduler", affinity=affinity) for n in range(5)))
    assert {node_of(cluster, f"bee-{n}") for n in range(5)} == {"node02"}
    (attempt,) = cluster.attempts("default", "bee-0")
    assert {row["plugin"] for row in attempt["scores"]} == {"NodeAffinity"}


def test_several_profiles_live_in_one_process():
    cluster = with_scheduler(CONFIG.replace(NAMED, f"{NAMED}\n- schedulerName: packed"))
    put(cluster, pod(schedulerName="my-scheduler"), pod("box", schedulerName="packed"))
    reporters = {
        event["involvedObject"]["name"]: event["reportingComponent"]
        for event in cluster.client.list("events", "default", field_selector="reason=Scheduled")
    }
    assert reporters == {"bee": "my-scheduler", "box": "packed"}


def test_an_important_pod_preempts_a_less_important_one():
    cluster = lab(priority_class("high", 1000), asking("low-1", "1500m"), asking("low-2", "1500m"))
    put(cluster, asking("urgent", "1500m", priorityClassName="high"))
    assert phase(cluster, "urgent") == "Running"
    gone = [name for name in ("low-1", "low-2") if cluster.client.find("pods", name) is None]
    assert len(gone) == 1
    assert "Preempted" in reasons(cluster, gone[0])


def test_a_class_that_never_preempts_waits():
    never = priority_class("never", 1000, preemptionPolicy="Never")
    cluster = lab(never, asking("low-1", "1500m"), asking("low-2", "1500m"))
    put(cluster, asking("urgent", "1500m", priorityClassName="never"))
    assert phase(cluster, "urgent") == "Pending"
    assert "not eligible due to preemptionPolicy=Never" in said(cluster, "urgent", "FailedScheduling")


def test_a_gated_pod_waits_without_an_event_until_its_gates_are_gone():
    cluster = lab(pod(schedulingGates=[{"name": "example.com/wait"}]))
    assert reasons(cluster, "bee") == []
    (condition,) = cluster.client.get("pods", "bee")["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == ("PodScheduled", "False", "SchedulingGated")
    change(cluster, "pods", "bee", {"schedulingGates": []})
    cluster.settle()
    assert phase(cluster) == "Running"


def test_topology_spread_keeps_pods_even():
    constraint = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "nodeTaintsPolicy": "Honor",
    }
    cluster = lab(workload("Deployment", spec={"topologySpreadConstraints": [constraint]}, replicas=6))
    assert nodes_of(cluster, "web") == ["node01"] * 3 + ["node02"] * 3


def test_pod_affinity_draws_together_and_anti_affinity_apart():
    friend = {**pod("friend", nodeName="node02"), "metadata": {"name": "friend", "labels": {"app": "db"}}}
    cluster = lab(friend)
    apart = beside("app", "db", kind="podAntiAffinity")
    put(cluster, pod("near", affinity=beside("app", "db")), pod("far", affinity=apart))
    assert (node_of(cluster, "near"), node_of(cluster, "far")) == ("node02", "node01")
    put(cluster, pod("lonely", affinity=beside("app", "nobody")))
    assert "2 node(s) didn't match pod affinity rules" in said(cluster, "lonely", "FailedScheduling")


def test_a_volume_pins_a_pod_to_its_node():
    terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["node02"]}]}]
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "disk"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "manual",
            "local": {"path": "/mnt/disk"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
        },
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "manual",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    mounted = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    cluster = lab(volume, claim, pod(volumes=mounted))
    assert (phase(cluster), node_of(cluster)) == ("Running", "node02")
    put(cluster, pod("torn", volumes=mounted, nodeSelector={"kubernetes.io/hostname": "node01"}))
    assert phase(cluster, "torn") == "Pending"


def test_every_phase_of_a_decision_is_kept_for_the_learner():
    cluster = lab()
    taint_node(cluster, "node01", "a=b:NoSchedule")
    put(cluster, pod())
    (attempt,) = cluster.attempts("default", "bee")
    text = str(attempt)
    for part in ("TaintToleration", "NodeResourcesFit", "node01", "node02"):
        assert part in text
    assert node_of(cluster) == "node02"
