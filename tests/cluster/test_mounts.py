import base64

from app.cluster import mounts
from tests.cluster.builders import config_map, fresh, pod


def test_files_stand_where_the_volume_is_mounted() -> None:
    cluster = fresh()
    cluster.client.create(config_map("c", **{"a.yaml": "x: 1", "b": "two"}))
    secret = {"a": base64.b64encode(b"hidden").decode()}
    cluster.client.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": secret})
    container = {
        "volumeMounts": [
            {"name": "all", "mountPath": "/etc/all"},
            {"name": "one", "mountPath": "/etc/one"},
            {"name": "all", "mountPath": "/etc/single.yaml", "subPath": "a.yaml"},
            {"name": "hidden", "mountPath": "/run/secret/"},
            {"name": "mixed", "mountPath": "/mixed"},
        ]
    }
    given = pod(
        automountServiceAccountToken=False,
        container=container,
        volumes=[
            {"name": "all", "configMap": {"name": "c"}},
            {"name": "one", "configMap": {"name": "c", "items": [{"key": "b", "path": "deep/b.txt"}]}},
            {"name": "hidden", "secret": {"secretName": "s"}},
            {"name": "mixed", "projected": {"sources": [{"configMap": {"name": "c"}}, {"secret": {"name": "s"}}]}},
        ],
    )
    stored = cluster.client.create(given)
    assert mounts.files_of(cluster.client, stored, stored["spec"]["containers"][0]) == {
        "/etc/all/a.yaml": "x: 1",
        "/etc/all/b": "two",
        "/etc/one/deep/b.txt": "two",
        "/etc/single.yaml": "x: 1",
        "/run/secret/a": "hidden",
        "/mixed/a.yaml": "x: 1",
        "/mixed/b": "two",
        "/mixed/a": "hidden",
    }


def test_optional_sources_may_be_missing() -> None:
    cluster = fresh()
    stored = cluster.client.create(pod(volumes=[{"name": "v", "configMap": {"name": "c", "optional": True}}]))
    assert mounts.mount_problem(cluster.client, stored) is None


def test_a_missing_key_is_named() -> None:
    cluster = fresh()
    cluster.client.create(config_map("c", a="b"))
    items = [{"key": "nope", "path": "nope"}]
    stored = cluster.client.create(pod(volumes=[{"name": "v", "configMap": {"name": "c", "items": items}}]))
    assert mounts.mount_problem(cluster.client, stored) == (
        "v",
        'MountVolume.SetUp failed for volume "v" : configmap references non-existent config key: nope',
    )
