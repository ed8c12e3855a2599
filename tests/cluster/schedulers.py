"""A second scheduler and what it needs: account, rights, configuration, pod."""

from __future__ import annotations

from app.apimachinery.meta import Object
from tests.cluster.builders import config_map

CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: my-scheduler
leaderElection:
  leaderElect: false
"""
SYSTEM = "kube-system"
RBAC = "rbac.authorization.k8s.io"


def binding(role: str) -> Object:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"my-scheduler-{role.rpartition(':')[2]}"},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": "my-scheduler", "namespace": SYSTEM}],
    }


def bindings() -> list[Object]:
    return [binding("system:kube-scheduler"), binding("system:volume-scheduler")]


def account() -> Object:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "my-scheduler", "namespace": SYSTEM}}


def scheduler_spec(**container: object) -> Object:
    one = {
        "name": "scheduler",
        "image": "registry.k8s.io/kube-scheduler:v1.35.7",
        "command": ["kube-scheduler", "--config=/etc/kubernetes/my-scheduler/my-scheduler-config.yaml"],
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": 10259, "scheme": "HTTPS"}, "initialDelaySeconds": 15},
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": 10259, "scheme": "HTTPS"}},
        "volumeMounts": [{"name": "config", "mountPath": "/etc/kubernetes/my-scheduler"}],
        **container,
    }
    return {
        "serviceAccountName": "my-scheduler",
        "containers": [one],
        "volumes": [{"name": "config", "configMap": {"name": "my-scheduler-config"}}],
    }


def scheduler_pod(**container: object) -> Object:
    metadata = {"name": "my-scheduler", "namespace": SYSTEM}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": scheduler_spec(**container)}


def config(text: str = CONFIG) -> Object:
    return config_map("my-scheduler-config", SYSTEM, **{"my-scheduler-config.yaml": text})
