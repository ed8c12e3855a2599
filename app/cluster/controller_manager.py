"""The controllers, in the order in which they run (cmd/kube-controller-manager/app/controllermanager.go).

A new controller is a module in `controllers/` and a line here.
"""

from __future__ import annotations

from functools import cache

from app.cluster import users
from app.cluster.controllers import (
    clusterrole_aggregation,
    cronjob,
    daemonset,
    deployment,
    disruption,
    endpoint,
    endpointslice,
    event_series,
    event_ttl,
    garbage_collector,
    horizontal,
    job,
    namespace,
    node_lifecycle,
    persistent_volume,
    pod_gc,
    pv_protection,
    pvc_protection,
    replicaset,
    replicationcontroller,
    resource_quota,
    root_ca,
    serviceaccount,
    serviceaccount_token,
    statefulset,
    taint_eviction,
    ttl_after_finished,
)
from app.cluster.loops import FunctionLoop, Loop
from app.cluster.users import User

CONTROLLERS: tuple[Loop, ...] = tuple(
    FunctionLoop(name, watches, run)
    for name, watches, run in (
        (namespace.NAME, namespace.WATCHES, namespace.sync),
        (serviceaccount.NAME, serviceaccount.WATCHES, serviceaccount.sync),
        (serviceaccount_token.NAME, serviceaccount_token.WATCHES, serviceaccount_token.sync),
        (resource_quota.NAME, resource_quota.WATCHES, resource_quota.sync),
        (root_ca.NAME, root_ca.WATCHES, root_ca.sync),
        (clusterrole_aggregation.NAME, clusterrole_aggregation.WATCHES, clusterrole_aggregation.sync),
        (node_lifecycle.NAME, node_lifecycle.WATCHES, node_lifecycle.sync),
        (deployment.NAME, deployment.WATCHES, deployment.sync),
        (replicaset.NAME, replicaset.WATCHES, replicaset.sync),
        (replicationcontroller.NAME, replicationcontroller.WATCHES, replicationcontroller.sync),
        (daemonset.NAME, daemonset.WATCHES, daemonset.sync),
        (statefulset.NAME, statefulset.WATCHES, statefulset.sync),
        (horizontal.NAME, horizontal.WATCHES, horizontal.sync),
        (job.NAME, job.WATCHES, job.sync),
        (cronjob.NAME, cronjob.WATCHES, cronjob.sync),
        (ttl_after_finished.NAME, ttl_after_finished.WATCHES, ttl_after_finished.sync),
        (disruption.NAME, disruption.WATCHES, disruption.sync),
        (endpoint.NAME, endpoint.WATCHES, endpoint.sync),
        (endpointslice.NAME, endpointslice.WATCHES, endpointslice.sync),
        (taint_eviction.NAME, taint_eviction.WATCHES, taint_eviction.sync),
        (persistent_volume.NAME, persistent_volume.WATCHES, persistent_volume.sync),
        (pvc_protection.NAME, pvc_protection.WATCHES, pvc_protection.sync),
        (pv_protection.NAME, pv_protection.WATCHES, pv_protection.sync),
        (pod_gc.NAME, pod_gc.WATCHES, pod_gc.sync),
        (garbage_collector.NAME, garbage_collector.WATCHES, garbage_collector.sync),
        (event_series.NAME, event_series.WATCHES, event_series.sync),
        (event_ttl.NAME, event_ttl.WATCHES, event_ttl.sync),
    )
)

_ACCOUNTS = {
    "daemonset-controller": "daemon-set-controller",
    "garbage-collector-controller": "generic-garbage-collector",
    "horizontal-pod-autoscaler-controller": "horizontal-pod-autoscaler",
    persistent_volume.NAME: "persistent-volume-binder",
    "persistentvolume-protection-controller": "pv-protection-controller",
    "persistentvolumeclaim-protection-controller": "pvc-protection-controller",
    "root-ca-certificate-publisher-controller": "root-ca-cert-publisher",
    "taint-eviction-controller": "node-controller",
}
"""Controllers whose service account is called otherwise than they are."""
_CONTROLLERS = frozenset(loop.NAME for loop in CONTROLLERS)


@cache
def user_of(loop: str) -> User:
    """Whom the API server sees in a loop's requests (--use-service-account-credentials, as kubeadm sets it).

    Kubelets and scheduler processes act as themselves wherever they write.
    """
    if loop not in _CONTROLLERS:
        return users.ADMIN
    if loop == serviceaccount_token.NAME:  # it makes the tokens that the others would need
        return users.named("system:kube-controller-manager")
    return users.named(users.account_name("kube-system", _ACCOUNTS.get(loop, loop)))
