"""Pods whose node has to wait for a claim, because nobody has bound it."""

import pytest

from tests.cluster.builders import MINUTE, NOW, events, fresh, phase, pod, state

CLAIM = "persistentVolumeClaim"
FAILED = (
    "Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], failed to process volumes=[v]: "
    "error processing PVC default/data: "
)


def claim(**spec: object) -> dict[str, object]:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    metadata = {"name": "data", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": wanted}


def volume() -> dict[str, object]:
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "manual",
        "hostPath": {"path": "/data"},
    }
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"}, "spec": spec}


def waiting(*objects: dict[str, object]):
    cluster = fresh()
    for obj in objects:
        cluster.client.create(obj)
    mounted = {"name": "v", CLAIM: {"claimName": "data"}}
    cluster.client.create(pod(nodeName="node01", volumes=[mounted]))
    cluster.advance_to(NOW + MINUTE)
    return cluster


@pytest.mark.parametrize(
    ("objects", "reason"),
    [
        ((), 'failed to fetch PVC from API server: persistentvolumeclaims "data" not found'),
        ((claim(storageClassName="manual"),), "PVC is not bound"),
    ],
)
def test_a_pod_waits_for_its_claim_and_says_why(objects, reason) -> None:
    cluster = waiting(*objects)
    assert (phase(cluster), state(cluster)) == ("Pending", {"waiting": {"reason": "ContainerCreating"}})
    assert events(cluster, "bee") == [("FailedMount", FAILED + reason)]


def test_it_runs_when_the_claim_is_bound() -> None:
    cluster = waiting(claim(storageClassName="manual"))
    cluster.client.create(volume())
    cluster.settle()
    assert cluster.client.get("persistentvolumeclaims", "data")["status"]["phase"] == "Bound"
    assert phase(cluster) == "Running"
    assert cluster.now < NOW + 10 * MINUTE


def test_a_claim_that_is_bound_already_holds_nothing_up() -> None:
    cluster = waiting(volume(), claim(storageClassName="manual"))
    assert phase(cluster) == "Running"
    assert "FailedMount" not in {reason for reason, _ in events(cluster, "bee")}
