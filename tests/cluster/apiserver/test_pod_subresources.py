"""What pods/ephemeralcontainers, pods/resize and namespaces/finalize take and refuse."""

from __future__ import annotations

import pytest

from app.apimachinery.errors import Conflict, Forbidden, Invalid, NotFound, StatusError
from tests.cluster.apiserver.making import named, pod, server

DEBUGGER = {"name": "debugger", "image": "busybox"}
SIZES = {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "200m", "memory": "128Mi"}}


@pytest.fixture
def client():
    found, _ = server()
    return found


def debug(client, *containers, name="bee"):
    return client.patch(
        "pods", name, "default", {"spec": {"ephemeralContainers": list(containers)}}, "strategic", "ephemeralcontainers"
    )


def resize(client, resources, name="bee", container="c", patch_type="strategic", **more):
    change = {"spec": {"containers": [{"name": container, "resources": resources}]}}
    return client.patch("pods", name, "default", {**change, **more}, patch_type, "resize")


def words(caught):
    return caught.value.message.partition(" is invalid: ")[2]


class TestEphemeralContainers:
    def test_a_container_is_added_with_its_defaults(self, client):
        client.create(pod())
        changed = debug(client, {**DEBUGGER, "targetContainerName": "c"})
        (added,) = changed["spec"]["ephemeralContainers"]
        assert added["targetContainerName"] == "c"
        assert (added["imagePullPolicy"], added["terminationMessagePolicy"]) == ("Always", "File")
        assert changed["metadata"]["generation"] == 2

    def test_nothing_else_of_the_pod_changes_with_it(self, client):
        created = client.create(pod())
        new = {
            **created,
            "metadata": {**created["metadata"], "labels": {"a": "b"}},
            "spec": {**created["spec"], "nodeName": "node02", "ephemeralContainers": [DEBUGGER]},
            "status": {"phase": "Running"},
        }
        changed = client.update(new, subresource="ephemeralcontainers")
        assert "labels" not in changed["metadata"]
        assert "nodeName" not in changed["spec"]
        assert changed["status"] == created["status"]
        assert [item["name"] for item in changed["spec"]["ephemeralContainers"]] == ["debugger"]

    def test_more_may_come_but_those_that_are_there_stay(self, client):
        client.create(pod())
        debug(client, DEBUGGER)
        debug(client, {"name": "second", "image": "busybox"})
        current = client.get("pods", "bee")
        assert [item["name"] for item in current["spec"]["ephemeralContainers"]] == ["second", "debugger"]
        with pytest.raises(Invalid) as caught:
            client.update(
                {**current, "spec": {**current["spec"], "ephemeralContainers": []}}, subresource="ephemeralcontainers"
            )
        assert words(caught) == (
            '[spec.ephemeralContainers: Forbidden: existing ephemeral containers "second" may not be removed\n'
            ', spec.ephemeralContainers: Forbidden: existing ephemeral containers "debugger" may not be removed\n]'
        )
        with pytest.raises(Invalid) as caught:
            debug(client, {"name": "debugger", "image": "nginx"})
        assert words(caught).startswith(
            'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debugger" may not be changed\n'
        )
        assert '- "Image": "busybox",\n+ "Image": "nginx",\n' in words(caught)

    @pytest.mark.parametrize(
        ("container", "told"),
        [
            ({"name": "c", "image": "busybox"}, 'spec.ephemeralContainers[0].name: Duplicate value: "c"'),
            (
                {**DEBUGGER, "targetContainerName": "d"},
                'spec.ephemeralContainers[0].targetContainerName: Not found: "d"',
            ),
            ({"name": "debugger"}, "spec.ephemeralContainers[0].image: Required value"),
            (
                {**DEBUGGER, "ports": [{"containerPort": 80}]},
                "spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container",
            ),
            (
                {**DEBUGGER, "resources": {"requests": {"cpu": "1"}}},
                "spec.ephemeralContainers[0].resources: Forbidden: cannot be set for an Ephemeral Container",
            ),
            (
                {**DEBUGGER, "readinessProbe": {"exec": {"command": ["true"]}}},
                "spec.ephemeralContainers[0].readinessProbe: Forbidden: cannot be set for an Ephemeral Container",
            ),
            (
                {**DEBUGGER, "volumeMounts": [{"name": "v", "mountPath": "/v", "subPath": "s"}]},
                "spec.ephemeralContainers[0].volumeMounts[0].subPath: Forbidden: cannot be set for an Ephemeral Container",
            ),
        ],
    )
    def test_what_an_ephemeral_container_may_not_be(self, client, container, told):
        client.create(pod(volumes=[{"name": "v", "emptyDir": {}}]))
        with pytest.raises(Invalid) as caught:
            debug(client, container)
        assert words(caught) == told

    def test_a_pod_cannot_be_made_with_them_or_get_them_by_an_update(self, client):
        with pytest.raises(Invalid) as caught:
            client.create(pod(ephemeralContainers=[DEBUGGER]))
        assert words(caught) == "spec.ephemeralContainers: Forbidden: cannot be set on create"
        created = client.create(pod())
        with pytest.raises(Invalid) as caught:
            client.update({**created, "spec": {**created["spec"], "ephemeralContainers": [DEBUGGER]}})
        assert words(caught).startswith("spec: Forbidden: pod updates may not change fields other than")

    def test_a_static_pod_takes_none(self, client):
        mirror = pod(nodeName="node01")
        mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
        client.create(mirror)
        with pytest.raises(Invalid, match="static pods do not support ephemeral containers"):
            debug(client, DEBUGGER)

    def test_a_stale_version_is_a_conflict(self, client):
        created = client.create(pod())
        debug(client, DEBUGGER)
        with pytest.raises(Conflict):
            client.update(
                {**created, "spec": {**created["spec"], "ephemeralContainers": [DEBUGGER]}},
                subresource="ephemeralcontainers",
            )


class TestResize:
    def test_cpu_and_memory_of_a_container_change(self, client):
        client.create(pod(container={"resources": SIZES}))
        changed = resize(client, {"requests": {"cpu": "150m"}, "limits": {"memory": "96Mi"}})
        assert changed["spec"]["containers"][0]["resources"] == {
            "requests": {"cpu": "150m", "memory": "64Mi"},
            "limits": {"cpu": "200m", "memory": "96Mi"},
        }
        assert changed["metadata"]["generation"] == 2

    def test_what_else_is_sent_is_dropped(self, client):
        created = client.create(pod(container={"resources": SIZES}))
        new = {
            **created,
            "metadata": {**created["metadata"], "labels": {"a": "b"}},
            "spec": {
                **created["spec"],
                "terminationGracePeriodSeconds": 5,
                "containers": [{**created["spec"]["containers"][0], "image": "httpd"}],
            },
        }
        changed = client.update(new, subresource="resize")
        assert changed["metadata"]["resourceVersion"] == created["metadata"]["resourceVersion"]
        assert changed["spec"] == created["spec"]

    @pytest.mark.parametrize(
        ("resources", "told"),
        [
            (
                {"requests": {"cpu": "300m"}},
                "must be less than or equal to cpu limit of 200m",
            ),
            (
                {"limits": {"memory": None}},
                "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed",
            ),
            (
                {"requests": {"ephemeral-storage": "1Gi"}},
                "spec: Forbidden: only cpu and memory resources are mutable",
            ),
            (
                {"requests": {"cpu": "200m", "memory": "128Mi"}},
                'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing',
            ),
        ],
    )
    def test_refusals(self, client, resources, told):
        client.create(pod(container={"resources": SIZES}))
        with pytest.raises(Invalid) as caught:
            resize(client, resources)
        assert told in words(caught)

    def test_requests_stay_unless_limits_stand_in_for_them(self, client):
        client.create(pod(container={"resources": SIZES}))
        assert (
            resize(client, {"requests": {"cpu": None}})["spec"]["containers"][0]["resources"]["requests"]["cpu"]
            == "200m"
        )
        client.create(pod("free", container={"resources": {"requests": SIZES["requests"]}}))
        with pytest.raises(Invalid) as caught:
            resize(client, {"requests": {"cpu": None}}, "free")
        assert words(caught) == "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed"

    def test_containers_may_not_be_added_renamed_or_reordered(self, client):
        created = client.create(
            named(
                "v1",
                "Pod",
                "bee",
                spec={"containers": [{"name": name, "image": "nginx", "resources": SIZES} for name in ("a", "b")]},
            )
        )
        first, second = created["spec"]["containers"]
        with pytest.raises(Invalid) as caught:
            client.update({**created, "spec": {**created["spec"], "containers": [second, first]}}, subresource="resize")
        assert words(caught) == (
            "[spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize, "
            "spec.containers[1].name: Forbidden: containers may not be renamed or reordered on resize]"
        )
        with pytest.raises(Invalid) as caught:
            client.update({**created, "spec": {**created["spec"], "containers": [first]}}, subresource="resize")
        assert words(caught) == "spec.containers: Forbidden: containers may not be added or removed on resize"

    def test_only_sidecars_among_init_containers_are_resized(self, client):
        init = {"name": "i", "image": "busybox", "resources": SIZES}
        client.create(
            pod(container={"resources": SIZES}, initContainers=[init, {**init, "name": "s", "restartPolicy": "Always"}])
        )
        change = {"spec": {"initContainers": [{"name": "i", "resources": {"requests": {"cpu": "50m"}}}]}}
        with pytest.raises(Invalid) as caught:
            client.patch("pods", "bee", "default", change, "strategic", "resize")
        assert words(caught) == "spec: Forbidden: resources for non-sidecar init containers are immutable"
        change = {"spec": {"initContainers": [{"name": "s", "resources": {"requests": {"cpu": "50m"}}}]}}
        changed = client.patch("pods", "bee", "default", change, "strategic", "resize")
        assert changed["spec"]["initContainers"][1]["resources"]["requests"]["cpu"] == "50m"

    def test_static_pods_and_pods_with_resources_of_their_own_are_not_resized(self, client):
        mirror = pod("still", nodeName="node01", container={"resources": SIZES})
        mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
        client.create(mirror)
        with pytest.raises(Invalid, match="static pods cannot be resized"):
            resize(client, {"requests": {"cpu": "50m"}}, "still")
        client.create(pod("level", container={"resources": SIZES}, resources={"requests": {"cpu": "1"}}))
        with pytest.raises(Invalid, match="pods with pod-level resources cannot be resized"):
            resize(client, {"requests": {"cpu": "50m"}}, "level")

    def test_the_same_change_without_the_subresource_is_refused(self, client):
        client.create(pod(container={"resources": SIZES}))
        change = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "150m"}}}]}}
        with pytest.raises(Invalid, match="pod updates may not change fields other than"):
            client.patch("pods", "bee", "default", change)

    def test_a_quota_counts_and_a_range_judges_what_a_pod_grows_to(self, client):
        client.create(named("v1", "ResourceQuota", "q", namespace="default", spec={"hard": {"requests.cpu": "200m"}}))
        client.create(pod(container={"resources": {**SIZES, "limits": {"cpu": "1", "memory": "128Mi"}}}))
        resize(client, {"requests": {"cpu": "150m"}})
        assert client.get("resourcequotas", "q")["status"]["used"] == {"requests.cpu": "150m"}
        with pytest.raises(
            Forbidden, match=r"exceeded quota: q, requested: requests\.cpu=150m, used: requests\.cpu=150m"
        ):
            resize(client, {"requests": {"cpu": "300m"}})
        limit = {"type": "Container", "max": {"cpu": "160m"}}
        client.create(named("v1", "LimitRange", "l", namespace="default", spec={"limits": [limit]}))
        with pytest.raises(Forbidden, match="maximum cpu usage per Container is 160m"):
            resize(client, {"requests": {"cpu": "120m"}})

    def test_wrong_types_and_huge_values_are_refused(self, client):
        client.create(pod(container={"resources": SIZES}))
        for amount in ("-1", "lots", ["1"], {"a": "b"}):
            with pytest.raises(StatusError) as caught:
                resize(client, {"requests": {"cpu": amount}})
            assert caught.value.code in {400, 422}
        changed = resize(client, {"requests": {"memory": "1"}, "limits": {"cpu": "9E"}})
        assert changed["spec"]["containers"][0]["resources"]["limits"]["cpu"] == "9E"


class TestFinalize:
    def test_the_spec_of_a_namespace_is_written_there_alone(self, client):
        client.create(named("v1", "Namespace", "away"))
        current = client.get("namespaces", "away")
        changed = client.update(
            {**current, "spec": {"finalizers": ["example.com/mine"]}, "status": {}}, subresource="finalize"
        )
        assert changed["spec"]["finalizers"] == ["example.com/mine"]
        assert changed["status"] == {"phase": "Active"}
        assert client.update({**changed, "spec": {}})["spec"]["finalizers"] == ["example.com/mine"]

    def test_a_terminating_namespace_goes_with_its_last_finalizer(self, client):
        client.create(named("v1", "Namespace", "away"))
        terminating = client.delete("namespaces", "away")
        client.update({**terminating, "spec": {}}, subresource="finalize")
        with pytest.raises(NotFound):
            client.get("namespaces", "away")

    def test_finalizers_have_full_names(self, client):
        current = client.get("namespaces", "default")
        with pytest.raises(Invalid) as caught:
            client.update({**current, "spec": {"finalizers": ["mine"]}}, subresource="finalize")
        assert words(caught) == (
            'spec.finalizers[0]: Invalid value: "mine": '
            "name is neither a standard finalizer name nor is it fully qualified"
        )

    def test_other_kinds_have_no_such_part(self, client):
        created = client.create(pod())
        with pytest.raises(NotFound):
            client.update(created, subresource="finalize")
        current = client.get("namespaces", "default")
        with pytest.raises(NotFound):
            client.update(current, subresource="resize")
