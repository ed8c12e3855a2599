"""The rows of `kubectl get`: facts of Kubernetes' own printers, as tables of cases."""

import pytest

from app.apimachinery import clock
from app.cluster.apiserver import tables
from app.cluster.apiserver.printers import base, core, pods

NOW = clock.parse("2026-03-01T12:00:00Z")
MINUTE, HOUR, DAY, YEAR = 60, 3600, 86400, 365 * 86400


def metadata(name="web", **more):
    return {"name": name, "creationTimestamp": "2026-03-01T11:58:30Z", **more}


def pod(*containers, phase="Running", spec=None, init=(), conditions=(), **metadata_more):
    status = {"phase": phase, "containerStatuses": list(containers), "conditions": list(conditions)}
    if init:
        status["initContainerStatuses"] = list(init)
    names = [{"name": f"c{index}"} for index, _ in enumerate(containers)] or [{"name": "c0"}]
    return {
        "metadata": metadata(**metadata_more),
        "spec": {"containers": names, **(spec or {})},
        "status": status,
    }


def running(ready=True, **more):
    return {"name": "c0", "ready": ready, "restartCount": 0, "state": {"running": {}}, **more}


def waiting(reason):
    return {"name": "c0", "ready": False, "restartCount": 0, "state": {"waiting": {"reason": reason}}}


def ended(code=0, reason="Completed", **more):
    return {
        "name": "c0",
        "ready": False,
        "restartCount": 0,
        "state": {"terminated": {"exitCode": code, "reason": reason, **more}},
    }


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (150, "2m30s"),
        (599, "9m59s"),
        (600, "10m"),
        (179 * MINUTE + 59, "179m"),
        (3 * HOUR, "3h"),
        (3 * HOUR + 5 * MINUTE, "3h5m"),
        (8 * HOUR + 5 * MINUTE, "8h"),
        (47 * HOUR, "47h"),
        (48 * HOUR, "2d"),
        (50 * HOUR, "2d2h"),
        (8 * DAY + HOUR, "8d"),
        (729 * DAY, "729d"),
        (2 * YEAR, "2y"),
        (2 * YEAR + 3 * DAY, "2y3d"),
        (8 * YEAR + 3 * DAY, "8y"),
    ],
)
def test_a_duration_has_at_most_two_units(seconds, text):
    assert base.human_duration(seconds * clock.SECOND) == text


@pytest.mark.parametrize(
    ("obj", "status"),
    [
        (pod(phase="Pending"), "Pending"),
        (pod(running()), "Running"),
        (pod(running(), deletionTimestamp="2026-03-01T12:00:00Z"), "Terminating"),
        (pod(ended(), phase="Succeeded", deletionTimestamp="2026-03-01T12:00:00Z"), "Completed"),
        (pod(waiting("ContainerCreating"), phase="Pending"), "ContainerCreating"),
        (pod(waiting("CrashLoopBackOff")), "CrashLoopBackOff"),
        (pod(ended(1, "Error"), phase="Failed"), "Error"),
        (pod(ended(137, "", signal=9), phase="Failed"), "Signal:9"),
        (pod(ended(3, ""), phase="Failed"), "ExitCode:3"),
        (pod(waiting("ImagePullBackOff"), waiting("CrashLoopBackOff")), "ImagePullBackOff"),
        (pod(ended(), running()), "NotReady"),
        (pod(ended(), running(), conditions=[{"type": "Ready", "status": "True"}]), "Running"),
        (
            pod(
                phase="Pending",
                conditions=[{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}],
            ),
            "SchedulingGated",
        ),
        (
            pod(
                waiting("PodInitializing"),
                phase="Pending",
                spec={"initContainers": [{"name": "c0"}, {"name": "i1"}]},
                init=[ended(), {"name": "i1", "state": {}}],
            ),
            "Init:1/2",
        ),
        (
            pod(phase="Pending", spec={"initContainers": [{"name": "c0"}]}, init=[ended(2, "")]),
            "Init:ExitCode:2",
        ),
        (
            pod(phase="Pending", spec={"initContainers": [{"name": "c0"}]}, init=[waiting("ImagePullBackOff")]),
            "Init:ImagePullBackOff",
        ),
    ],
)
def test_the_status_of_a_pod_follows_its_containers(obj, status):
    assert pods.status_of(obj) == status


def test_an_evicted_pod_shows_the_reason_of_its_status():
    evicted = pod(phase="Failed")
    evicted["status"]["reason"] = "Evicted"
    assert pods.status_of(evicted) == "Evicted"


def cells(resource, obj):
    printed = tables.table(tables.printer_for(resource), [obj], NOW)
    names = [column["name"] for column in printed["columnDefinitions"]]
    return dict(zip(names, printed["rows"][0]["cells"], strict=True))


def test_a_pod_row_counts_ready_containers_and_restarts():
    obj = pod(
        running(restartCount=2, lastState={"terminated": {"finishedAt": "2026-03-01T11:58:00Z"}}),
        waiting("CrashLoopBackOff"),
    )
    obj["spec"]["nodeName"] = "node01"
    obj["status"]["podIPs"] = [{"ip": "10.244.1.5"}]
    assert cells("pods", obj) == {
        "Name": "web",
        "Ready": "1/2",
        "Status": "CrashLoopBackOff",
        "Restarts": "2 (2m ago)",
        "Age": "90s",
        "IP": "10.244.1.5",
        "Node": "node01",
        "Nominated Node": "<none>",
        "Readiness Gates": "<none>",
    }


def test_a_restartable_init_container_counts_as_a_container():
    sidecar = {"name": "log", "ready": True, "started": True, "restartCount": 1, "state": {"running": {}}}
    obj = pod(running(), spec={"initContainers": [{"name": "log", "restartPolicy": "Always"}]}, init=[sidecar])
    row = cells("pods", obj)
    assert (row["Ready"], row["Status"], row["Restarts"]) == ("2/2", "Running", "1")


def test_readiness_gates_count_conditions_that_are_true():
    obj = pod(
        running(),
        spec={"readinessGates": [{"conditionType": "a"}, {"conditionType": "b"}]},
        conditions=[{"type": "a", "status": "True"}],
    )
    assert cells("pods", obj)["Readiness Gates"] == "1/2"


@pytest.mark.parametrize(("phase", "reason"), [("Succeeded", "Succeeded"), ("Failed", "Failed"), ("Running", None)])
def test_a_finished_pod_carries_a_completed_condition(phase, reason):
    row = tables.table(tables.printer_for("pods"), [pod(running(), phase=phase)], NOW)["rows"][0]
    assert [c["reason"] for c in row.get("conditions", [])] == ([reason] if reason else [])


@pytest.mark.parametrize(
    ("status", "spec", "text"),
    [
        ("True", {}, "Ready"),
        ("False", {}, "NotReady"),
        ("Unknown", {"unschedulable": True}, "NotReady,SchedulingDisabled"),
        ("True", {"unschedulable": True}, "Ready,SchedulingDisabled"),
    ],
)
def test_the_status_of_a_node_says_whether_it_is_cordoned(status, spec, text):
    node = {
        "metadata": metadata(),
        "spec": spec,
        "status": {"conditions": [{"type": "Ready", "status": status}]},
    }
    assert core.node_status(node) == text


def test_a_node_without_conditions_is_unknown():
    assert cells("nodes", {"metadata": metadata()})["Status"] == "Unknown"


def test_node_roles_come_from_labels():
    labels = {
        "node-role.kubernetes.io/control-plane": "",
        "kubernetes.io/role": "edge",
        "node-role.kubernetes.io/": "",
    }
    assert core.node_roles({"metadata": {"labels": labels}}) == "control-plane,edge"
    assert core.node_roles({"metadata": {}}) == "<none>"


def test_an_event_of_the_new_kind_shows_its_series():
    event = {
        "metadata": metadata("bee.1"),
        "type": "Warning",
        "reason": "FailedScheduling",
        "involvedObject": {"kind": "Pod", "name": "bee"},
        "message": " 0/3 nodes are available \n",
        "eventTime": "2026-03-01T11:50:00.000000Z",
        "series": {"count": 4, "lastObservedTime": "2026-03-01T11:59:00.000000Z"},
        "reportingComponent": "default-scheduler",
        "reportingInstance": "default-scheduler-controlplane",
    }
    assert cells("events", event) == {
        "Last Seen": "60s",
        "Type": "Warning",
        "Reason": "FailedScheduling",
        "Object": "pod/bee",
        "Subobject": "",
        "Source": "default-scheduler, default-scheduler-controlplane",
        "Message": "0/3 nodes are available",
        "First Seen": "10m",
        "Count": 4,
        "Name": "bee.1",
    }


def test_an_event_of_the_old_kind_shows_its_last_time_and_count():
    event = {
        "metadata": metadata("web.1"),
        "involvedObject": {"kind": "ReplicaSet", "name": "web", "fieldPath": "spec"},
        "firstTimestamp": "2026-03-01T11:00:00Z",
        "lastTimestamp": "2026-03-01T11:59:30Z",
        "count": 3,
        "source": {"component": "replicaset-controller"},
    }
    row = cells("events", event)
    assert (row["Last Seen"], row["First Seen"], row["Count"]) == ("30s", "60m", 3)
    assert (row["Source"], row["Subobject"]) == ("replicaset-controller", "spec")


TEMPLATE = {
    "spec": {
        "nodeSelector": {"disk": "ssd", "a": "b"},
        "containers": [{"name": "c", "image": "nginx"}, {"name": "d", "image": "redis:7"}],
    }
}
SELECTOR = {
    "matchLabels": {"tier": "fe", "app": "web"},
    "matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["b", "a"]}],
}


@pytest.mark.parametrize(
    ("resource", "obj", "expected"),
    [
        (
            "deployments.apps",
            {
                "spec": {"replicas": 3, "template": TEMPLATE, "selector": SELECTOR},
                "status": {"readyReplicas": 2, "updatedReplicas": 3, "availableReplicas": 2},
            },
            ["web", "2/3", 3, 2, "90s", "c,d", "nginx,redis:7", "app=web,env notin (a,b),tier=fe"],
        ),
        (
            "replicasets.apps",
            {"spec": {"replicas": 3, "template": TEMPLATE, "selector": {}}, "status": {"replicas": 3}},
            ["web", 3, 3, 0, "90s", "c,d", "nginx,redis:7", "<none>"],
        ),
        (
            "daemonsets.apps",
            {
                "spec": {"template": TEMPLATE, "selector": SELECTOR},
                "status": {"desiredNumberScheduled": 2, "currentNumberScheduled": 2, "numberReady": 1},
            },
            [
                "web",
                2,
                2,
                1,
                0,
                0,
                "a=b,disk=ssd",
                "90s",
                "c,d",
                "nginx,redis:7",
                "app=web,env notin (a,b),tier=fe",
            ],
        ),
        ("configmaps", {"data": {"a": "1", "b": "2"}, "binaryData": {"c": "="}}, ["web", 3, "90s"]),
        ("secrets", {"type": "Opaque", "data": {"a": ""}}, ["web", "Opaque", 1, "90s"]),
        ("serviceaccounts", {}, ["web", 0, "90s"]),
        ("namespaces", {"status": {"phase": "Active"}}, ["web", "Active", "90s"]),
        (
            "priorityclasses.scheduling.k8s.io",
            {"value": 1000, "preemptionPolicy": "Never"},
            ["web", 1000, False, "90s", "Never"],
        ),
        ("roles.rbac.authorization.k8s.io", {}, ["web", "2026-03-01T11:58:30Z"]),
        (
            "clusterrolebindings.rbac.authorization.k8s.io",
            {
                "roleRef": {"kind": "ClusterRole", "name": "view"},
                "subjects": [
                    {"kind": "User", "name": "ann"},
                    {"kind": "ServiceAccount", "name": "s", "namespace": "kube-system"},
                ],
            },
            ["web", "ClusterRole/view", "90s", "ann", "", "kube-system/s"],
        ),
        ("poddisruptionbudgets.policy", {"spec": {"minAvailable": 2}}, ["web", "2", "N/A", 0, "90s"]),
        (
            "services",
            {
                "spec": {
                    "type": "NodePort",
                    "clusterIPs": ["10.96.0.9"],
                    "ports": [{"port": 80, "nodePort": 30080, "protocol": "TCP"}],
                    "selector": {"a": "b"},
                }
            },
            ["web", "NodePort", "10.96.0.9", "<none>", "80:30080/TCP", "90s", "a=b"],
        ),
        (
            "resourcequotas",
            {"status": {"hard": {"pods": "4", "limits.cpu": "2", "cpu": "1"}, "used": {"pods": "3", "cpu": "500m"}}},
            ["web", "cpu: 500m/1, pods: 3/4", "limits.cpu: 0/2", "90s"],
        ),
        (
            "persistentvolumes",
            {
                "spec": {
                    "capacity": {"storage": "1Gi"},
                    "accessModes": ["ReadWriteMany", "ReadWriteOnce"],
                    "persistentVolumeReclaimPolicy": "Retain",
                    "claimRef": {"namespace": "default", "name": "data"},
                    "volumeMode": "Filesystem",
                },
                "status": {"phase": "Bound"},
            },
            ["web", "1Gi", "RWO,RWX", "Retain", "Bound", "default/data", "", "<unset>", "", "90s", "Filesystem"],
        ),
        (
            "persistentvolumeclaims",
            {"spec": {"storageClassName": "fast"}, "status": {"phase": "Pending"}},
            ["web", "Pending", "", "", "", "fast", "<unset>", "90s", "<unset>"],
        ),
        (
            "storageclasses.storage.k8s.io",
            {"provisioner": "local", "volumeBindingMode": "WaitForFirstConsumer"},
            ["web", "local", "Delete", "WaitForFirstConsumer", False, "90s"],
        ),
        (
            "endpoints",
            {"subsets": [{"addresses": [{"ip": f"10.0.0.{n}"} for n in range(5)], "ports": [{"port": 80}]}]},
            ["web", "10.0.0.0:80,10.0.0.1:80,10.0.0.2:80 + 2 more...", "90s"],
        ),
        ("endpointslices.discovery.k8s.io", {"addressType": "IPv4"}, ["web", "IPv4", "<unset>", "<unset>", "90s"]),
        (
            "ingresses.networking.k8s.io",
            {"spec": {"rules": [{"host": "a"}], "tls": [{}]}},
            ["web", "<none>", "a", "", "80, 443", "90s"],
        ),
        (
            "horizontalpodautoscalers.autoscaling",
            {
                "spec": {
                    "scaleTargetRef": {"kind": "Deployment", "name": "web"},
                    "minReplicas": 1,
                    "maxReplicas": 4,
                    "metrics": [
                        {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 80}}}
                    ],
                }
            },
            ["web", "Deployment/web", "cpu: <unknown>/80%", "1", 4, 0, "90s"],
        ),
        (
            "cronjobs.batch",
            {"spec": {"schedule": "* * * * *"}},
            ["web", "* * * * *", "<none>", "False", 0, "<none>", "90s", "", "", "<none>"],
        ),
        (
            "resourceclaims.resource.k8s.io",
            {"status": {"allocation": {"x": 1}, "reservedFor": [{}]}},
            ["web", "allocated,reserved", "90s"],
        ),
        (
            "jobs.batch",
            {"spec": {"completions": 3}, "status": {"succeeded": 1, "startTime": "2026-03-01T11:59:00Z"}},
            ["web", "Running", "1/3", "60s", "90s", "", "", "<none>"],
        ),
    ],
)
def test_each_kind_has_its_row(resource, obj, expected):
    assert list(cells(resource, {"metadata": metadata(), **obj}).values()) == expected


@pytest.mark.parametrize("resource", sorted(tables.PRINTERS))
def test_every_printer_fills_all_its_columns_even_for_an_empty_object(resource):
    printed = tables.table(tables.printer_for(resource), [{"metadata": {"name": "x"}}], NOW)
    assert len(printed["rows"][0]["cells"]) == len(printed["columnDefinitions"])


@pytest.mark.parametrize(
    ("include", "expected"),
    [
        ("None", None),
        ("Object", {"kind": "Pod", "metadata": {"name": "x"}, "spec": {}}),
        (
            "Metadata",
            {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "x"}},
        ),
    ],
)
def test_a_row_carries_what_the_client_asks_for(include, expected):
    obj = {"kind": "Pod", "metadata": {"name": "x"}, "spec": {}}
    assert tables.table(tables.printer_for("pods"), [obj], NOW, include_object=include)["rows"][0]["object"] == expected


@pytest.mark.parametrize("prefix", ["storageclass.kubernetes.io", "storageclass.beta.kubernetes.io"])
def test_the_default_storage_class_says_so_by_either_annotation(prefix):
    obj = {"metadata": {"name": "x", "annotations": {f"{prefix}/is-default-class": "true"}}}
    assert cells("storageclasses.storage.k8s.io", obj)["Name"] == "x (default)"
