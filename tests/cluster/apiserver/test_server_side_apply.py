"""PATCH application/apply-patch+yaml: merging, ownership, conflicts, and what is refused."""

from __future__ import annotations

import copy
import json

import pytest

from app.apimachinery import clock
from app.cluster.apiserver import dispatch
from app.cluster.cluster import Cluster
from tests.cluster.apiserver.making import named, pod, workload
from tests.cluster.apiserver.test_managed_fields import entries, fields, patched, served
from tests.kubeapi.asking import NOW, Server, loaded, request

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
APPLY = "application/apply-patch+yaml"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def config_map(**data):
    return named("v1", "ConfigMap", "cm", data=data)


def deployment(*, image="nginx:1.27", **spec):
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": image}]}}
    return named(
        "apps/v1", "Deployment", "web", spec={"selector": {"matchLabels": labels}, "template": template, **spec}
    )


def applied(server, url, body, manager="me", code=200, **options):
    query = "&".join(f"{name}={value}" for name, value in {"fieldManager": manager, **options}.items())
    sent = body.encode() if isinstance(body, str) else body
    return loaded(server.ask("PATCH", f"{url}?{query}", sent, content_type=APPLY), code)


def test_applying_what_is_not_there_creates_it():
    server = Server()
    made = applied(server, f"{DEPLOYMENTS}/web", deployment(), code=201)
    assert made["spec"]["replicas"] == 1
    assert entries(made).keys() == {("me", "Apply", "")}
    owned = fields(made, "me", "Apply")["f:spec"]
    assert owned["f:template"]["f:spec"] == {
        "f:containers": {'k:{"name":"c"}': {".": {}, "f:image": {}, "f:name": {}}},
    }
    assert "f:replicas" not in owned


def test_applying_what_is_there_is_200_and_merges():
    server = Server()
    server.ask("POST", f"{MAPS}?fieldManager=other", config_map(a="1"))
    merged = applied(server, f"{MAPS}/cm", config_map(b="2"))
    assert merged["data"] == {"a": "1", "b": "2"}
    assert fields(merged, "me", "Apply") == {"f:data": {"f:b": {}}}
    assert fields(merged, "other") == {"f:data": {".": {}, "f:a": {}}}


def test_a_configuration_may_be_yaml():
    server = Server()
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\ndata:\n  a: '1'\n"
    assert applied(server, f"{MAPS}/cm", text, code=201)["data"] == {"a": "1"}


def test_a_field_that_is_no_longer_applied_goes():
    server = Server()
    applied(server, f"{MAPS}/cm", config_map(a="1", b="2"), code=201)
    assert applied(server, f"{MAPS}/cm", config_map(a="1"))["data"] == {"a": "1"}


def test_a_field_that_another_owns_too_stays():
    server = Server()
    applied(server, f"{MAPS}/cm", config_map(a="1", b="2"), code=201)
    applied(server, f"{MAPS}/cm", config_map(b="2"), manager="other")
    left = applied(server, f"{MAPS}/cm", config_map(a="1"))
    assert left["data"] == {"a": "1", "b": "2"}
    assert fields(left, "me", "Apply") == {"f:data": {"f:a": {}}}
    assert fields(left, "other", "Apply") == {"f:data": {"f:b": {}}}


def test_a_default_comes_back_where_a_field_is_no_longer_applied():
    server = Server()
    applied(server, f"{DEPLOYMENTS}/web", deployment(replicas=3), code=201)
    assert applied(server, f"{DEPLOYMENTS}/web", deployment())["spec"]["replicas"] == 1


def test_a_container_that_is_no_longer_applied_goes():
    server = Server()
    two = deployment()
    two["spec"]["template"]["spec"]["containers"].append({"name": "side", "image": "busybox"})
    applied(server, f"{DEPLOYMENTS}/web", two, code=201)
    left = applied(server, f"{DEPLOYMENTS}/web", deployment())
    assert [item["name"] for item in left["spec"]["template"]["spec"]["containers"]] == ["c"]


def test_applying_the_same_again_writes_nothing():
    server = Server()
    made = applied(server, f"{DEPLOYMENTS}/web", deployment(), code=201)
    server.time.advance_to(NOW + clock.MINUTE)
    assert applied(server, f"{DEPLOYMENTS}/web", deployment()) == made


def test_sharing_a_field_is_a_change_of_the_object():
    server = Server()
    made = applied(server, f"{MAPS}/cm", config_map(a="1"), code=201)
    shared = applied(server, f"{MAPS}/cm", config_map(a="1"), manager="other")
    assert shared["metadata"]["resourceVersion"] != made["metadata"]["resourceVersion"]
    assert entries(shared).keys() == {("me", "Apply", ""), ("other", "Apply", "")}


def test_a_field_of_another_s_is_a_conflict():
    server = Server()
    server.ask("POST", f"{DEPLOYMENTS}?fieldManager=kubectl-client-side-apply", deployment(replicas=2))
    refused = applied(server, f"{DEPLOYMENTS}/web", deployment(replicas=3), code=409)
    assert refused["message"] == (
        'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using apps/v1: .spec.replicas'
    )
    assert refused["reason"] == "Conflict"
    assert refused["details"]["causes"] == [
        {
            "reason": "FieldManagerConflict",
            "message": 'conflict with "kubectl-client-side-apply" using apps/v1',
            "field": ".spec.replicas",
        }
    ]


def test_several_conflicts_are_listed_by_manager():
    server = Server()
    server.ask("POST", f"{DEPLOYMENTS}?fieldManager=one", deployment(replicas=2))
    applied(server, f"{DEPLOYMENTS}/web", named("apps/v1", "Deployment", "web", spec={"paused": True}), manager="two")
    changed = deployment(replicas=3, paused=False, image="nginx:1.28")
    assert applied(server, f"{DEPLOYMENTS}/web", changed, code=409)["message"].splitlines() == [
        'Apply failed with 3 conflicts: conflicts with "one" using apps/v1:',
        "- .spec.replicas",
        '- .spec.template.spec.containers[name="c"].image',
        'conflicts with "two":',
        "- .spec.paused",
    ]


def test_a_conflict_names_the_subresource():
    server = Server()
    server.ask("POST", f"{DEPLOYMENTS}?fieldManager=one", deployment(replicas=2))
    patched(server, f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": 4}}, manager="kubectl")
    refused = applied(server, f"{DEPLOYMENTS}/web", deployment(replicas=3), code=409)
    assert refused["message"] == (
        'Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas'
    )


def test_the_same_value_is_no_conflict():
    server = Server()
    server.ask("POST", f"{DEPLOYMENTS}?fieldManager=one", deployment(replicas=2))
    shared = applied(server, f"{DEPLOYMENTS}/web", deployment(replicas=2))
    assert "f:replicas" in fields(shared, "one")["f:spec"]
    assert "f:replicas" in fields(shared, "me", "Apply")["f:spec"]


def test_force_takes_the_field():
    server = Server()
    server.ask("POST", f"{DEPLOYMENTS}?fieldManager=one", deployment(replicas=2))
    taken = applied(server, f"{DEPLOYMENTS}/web", deployment(replicas=3), force="true")
    assert taken["spec"]["replicas"] == 3
    assert "f:replicas" not in fields(taken, "one")["f:spec"]
    assert "f:replicas" in fields(taken, "me", "Apply")["f:spec"]


def test_the_own_field_is_no_conflict():
    server = Server()
    applied(server, f"{DEPLOYMENTS}/web", deployment(replicas=2), code=201)
    assert applied(server, f"{DEPLOYMENTS}/web", deployment(replicas=3))["spec"]["replicas"] == 3


def test_an_update_by_the_applier_s_name_is_another_manager():
    server = Server()
    applied(server, f"{DEPLOYMENTS}/web", deployment(replicas=2), code=201)
    patched(server, f"{DEPLOYMENTS}/web", {"spec": {"replicas": 5}}, manager="me")
    assert "conflict with" in applied(server, f"{DEPLOYMENTS}/web", deployment(replicas=2), code=409)["message"]


def test_giving_a_field_up_leaves_it_to_who_took_it():
    server = Server()
    applied(server, f"{DEPLOYMENTS}/web", deployment(replicas=2), code=201)
    patched(server, f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": 5}}, manager="autoscaler")
    assert applied(server, f"{DEPLOYMENTS}/web", deployment())["spec"]["replicas"] == 5


def test_a_dry_run_changes_nothing():
    server = Server()
    assert applied(server, f"{MAPS}/cm", config_map(a="1"), code=201, dryRun="All")["data"] == {"a": "1"}
    assert server.ask("GET", f"{MAPS}/cm").code == 404
    applied(server, f"{MAPS}/cm", config_map(a="1"), code=201)
    assert applied(server, f"{MAPS}/cm", config_map(a="2"), dryRun="All")["data"] == {"a": "2"}
    assert server.get(f"{MAPS}/cm")["data"] == {"a": "1"}


def test_who_was_there_before_the_first_apply_owns_the_rest():
    server = Server()
    obj = config_map(a="1", b="2")
    server.ask("POST", MAPS, obj)
    cleared = copy.deepcopy(obj)
    cleared["metadata"]["managedFields"] = [{}]
    server.ask("PUT", f"{MAPS}/cm", cleared)
    refused = applied(server, f"{MAPS}/cm", config_map(a="3"), code=409)
    assert refused["message"] == 'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a'
    taken = applied(server, f"{MAPS}/cm", config_map(a="3"), force="true")
    assert fields(taken, "before-first-apply") == {"f:data": {".": {}, "f:b": {}}}


def test_a_status_is_applied_by_its_own_door():
    server = Server()
    server.ask("POST", f"{DEPLOYMENTS}?fieldManager=one", deployment(replicas=2))
    body = named("apps/v1", "Deployment", "web", spec={"replicas": 9}, status={"replicas": 2})
    changed = applied(server, f"{DEPLOYMENTS}/web/status", body)
    assert (changed["spec"]["replicas"], changed["status"]["replicas"]) == (2, 2)
    assert fields(changed, "me", "Apply", "status") == {"f:status": {"f:replicas": {}}}


def test_a_status_in_a_configuration_of_the_object_is_left_out():
    server = Server()
    made = applied(server, f"{PODS}/bee", {**pod(), "status": {"phase": "Running"}}, code=201)
    assert made["status"]["phase"] == "Pending"
    assert "f:status" not in fields(made, "me", "Apply")


def test_the_status_of_what_is_not_there_is_not_found():
    assert applied(Server(), f"{DEPLOYMENTS}/web/status", deployment(), code=404)["reason"] == "NotFound"


@pytest.mark.parametrize(
    ("body", "code", "text"),
    [
        ([], 400, "error decoding YAML"),
        (named("v1", "ConfigMap", "web"), 400, "invalid object type: /v1, Kind=ConfigMap"),
        ({"metadata": {"name": "web"}}, 400, "invalid object type: /, Kind="),
        (
            {**deployment(), "metadata": {"name": "web", "managedFields": []}},
            400,
            "metadata.managedFields must be nil",
        ),
        (
            deployment(replicaz=1),
            500,
            (
                "failed to create typed patch object (/web; apps/v1, Kind=Deployment): "
                ".spec.replicaz: field not declared in schema"
            ),
        ),
        ({**deployment(), "metadata": {"name": "bee"}}, 400, "does not match the name on the URL (web)"),
        (
            {**deployment(), "metadata": {}},
            400,
            "the name of the object (web based on URL) was undeterminable: name must be provided",
        ),
        (
            {**deployment(), "metadata": {"name": "web", "uid": "x"}},
            409,
            (
                'Operation cannot be fulfilled on deployments.apps "web": uid mismatch: the provided object specified uid x, '
                "and no existing object was found"
            ),
        ),
        (
            {**deployment(), "metadata": {"name": "web", "namespace": "other"}},
            400,
            "the namespace of the provided object",
        ),
        (deployment(replicas=-1), 422, "spec.replicas: Invalid value: -1"),
        ("a: [", 400, "error decoding YAML: error converting YAML to JSON: yaml: line "),
        ("just text", 400, "error"),
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(body, code, text):
    server = Server()
    sent = json.dumps(body) if not isinstance(body, str) else body
    assert text in applied(server, f"{DEPLOYMENTS}/web", sent, code=code)["message"]
    assert server.ask("GET", f"{DEPLOYMENTS}/web").code == 404


def test_a_fault_of_types_has_no_reason():
    refused = applied(Server(), f"{DEPLOYMENTS}/web", deployment(replicas="lots"), code=500)
    assert "reason" not in refused
    assert refused["message"].endswith(".spec.replicas: expected numeric (int or float), got string")


def test_an_apply_must_name_its_manager():
    refused = loaded(Server().ask("PATCH", f"{MAPS}/cm", config_map(), content_type=APPLY), 422)
    assert refused["message"] == (
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'
    )


def test_force_is_for_applies_only():
    server = Server()
    server.ask("POST", MAPS, config_map())
    refused = patched(server, f"{MAPS}/cm?force=true", {}, code=422)
    assert refused["message"] == (
        'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch'
    )


def client_side(server, obj):
    """What kubectl's client-side apply leaves: the object with the annotation."""
    last = json.dumps(obj, sort_keys=True, separators=(",", ":"))
    marked = {**obj, "metadata": {**obj["metadata"], "annotations": {LAST_APPLIED: last}}}
    return loaded(server.ask("POST", f"{DEPLOYMENTS}?fieldManager=kubectl-client-side-apply", marked), 201)


def test_kubectl_may_change_what_it_applied_from_the_client_s_side():
    server = Server()
    client_side(server, deployment(replicas=2))
    changed = applied(server, f"{DEPLOYMENTS}/web", deployment(replicas=3), manager="kubectl")
    assert changed["spec"]["replicas"] == 3
    last = json.loads(changed["metadata"]["annotations"][LAST_APPLIED])
    assert last["spec"]["replicas"] == 3


def test_kubectl_may_not_change_what_another_has_changed_since():
    server = Server()
    client_side(server, deployment(replicas=2))
    patched(server, f"{DEPLOYMENTS}/web", {"spec": {"replicas": 7}}, manager="other")
    refused = applied(
        server, f"{DEPLOYMENTS}/web", deployment(replicas=3, image="nginx:2"), manager="kubectl", code=409
    )
    assert refused["message"] == ('Apply failed with 1 conflict: conflict with "other" using apps/v1: .spec.replicas')


def test_other_managers_have_no_such_excuse():
    server = Server()
    client_side(server, deployment(replicas=2))
    assert applied(server, f"{DEPLOYMENTS}/web", deployment(replicas=3), code=409)["reason"] == "Conflict"


def test_an_apply_sends_a_watch_event_with_owners():
    server = Server()
    applied(server, f"{MAPS}/cm", config_map(a="1"), code=201)
    since = server.client.revision
    applied(server, f"{MAPS}/cm", config_map(a="1"), manager="other")
    (event,), _ = server.watch(MAPS, since)
    assert event["type"] == "MODIFIED"
    assert len(event["object"]["metadata"]["managedFields"]) == 2


def test_a_controller_s_change_of_an_applied_field_is_the_controller_s():
    cluster = Cluster.new(seed=7, now=NOW)
    cluster.client.patch("deploy", "web", "default", deployment(replicas=1), "apply", field_manager="me")
    cluster.settle()
    (replicas,) = cluster.client.list("rs", "default")
    name = replicas["metadata"]["name"]
    body = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name}, "spec": {"replicas": 2}}
    cluster.client.patch("rs", name, "default", body, "apply", field_manager="me", force=True)
    cluster.settle()
    assert cluster.client.get("rs", name, "default")["spec"]["replicas"] == 1
    shown = served(cluster, f"/apis/apps/v1/namespaces/default/replicasets/{name}")
    assert ("me", "Apply", "") not in entries(shown)
    assert "f:replicas" in fields(shown, "kube-controller-manager")["f:spec"]


@pytest.mark.parametrize("path", sorted(["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"]))
def test_every_workload_can_be_applied_twice(path):
    server = Server()
    plural = path.lower() + "s"
    url = f"/apis/apps/v1/namespaces/default/{plural}/web"
    made = applied(server, url, workload(path), code=201)
    assert applied(server, url, workload(path)) == made


def test_an_apply_that_creates_needs_the_right_to_create():
    server = Server()
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["patch"]}]
    server.client.create(named("rbac.authorization.k8s.io/v1", "ClusterRole", "patcher", rules=rules))
    binding = named(
        "rbac.authorization.k8s.io/v1",
        "ClusterRoleBinding",
        "patcher",
        roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "patcher"},
        subjects=[{"kind": "User", "name": "jane", "apiGroup": "rbac.authorization.k8s.io"}],
    )
    server.client.create(binding)

    def as_jane():
        asked = request("PATCH", f"{MAPS}/cm?fieldManager=jane", config_map(a="1"), "application/json", APPLY)
        asked.headers["impersonate-user"] = "jane"
        return dispatch.handle(server, asked)

    refused = loaded(as_jane(), 403)
    assert 'User "jane" cannot create resource "configmaps"' in refused["message"]
    server.client.create(config_map())
    assert loaded(as_jane())["data"] == {"a": "1"}


SCALE = f"{DEPLOYMENTS}/web/scale"


def scale(replicas):
    return {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "web"},
        "spec": {"replicas": replicas},
    }


def test_a_scale_can_be_applied():
    server = Server()
    server.ask("POST", f"{DEPLOYMENTS}?fieldManager=one", deployment())
    assert applied(server, SCALE, scale(4), force="true")["spec"]["replicas"] == 4
    live = server.get(f"{DEPLOYMENTS}/web")
    assert fields(live, "me", "Apply", "scale") == {"f:spec": {"f:replicas": {}}}
    assert "f:replicas" not in fields(live, "one")["f:spec"]


def test_a_conflict_over_a_scale_is_told_in_the_scale_s_version():
    server = Server()
    server.ask("POST", f"{DEPLOYMENTS}?fieldManager=one", deployment(replicas=2))
    refused = applied(server, SCALE, scale(4), code=409)
    assert refused["message"] == (
        'Apply failed with 1 conflict: conflict with "one" using autoscaling/v1: .spec.replicas'
    )
    assert applied(server, SCALE, deployment(), code=400)["message"] == "invalid object type: apps/v1, Kind=Deployment"
    assert applied(server, SCALE, scale("four"), code=500)["message"].endswith("got string")


def test_a_scale_takes_a_json_patch():
    server = Server()
    server.ask("POST", f"{DEPLOYMENTS}?fieldManager=one", deployment())
    steps = [{"op": "replace", "path": "/spec/replicas", "value": 4}]
    assert patched(server, SCALE, steps, "json")["spec"]["replicas"] == 4


def test_a_stale_version_in_a_configuration_is_a_conflict():
    server = Server()
    made = applied(server, f"{MAPS}/cm", config_map(a="1"), code=201)
    stale = config_map(a="2")
    stale["metadata"]["resourceVersion"] = str(int(made["metadata"]["resourceVersion"]) - 1)
    assert "the object has been modified" in applied(server, f"{MAPS}/cm", stale, code=409)["message"]
    stale["metadata"]["resourceVersion"] = made["metadata"]["resourceVersion"]
    assert applied(server, f"{MAPS}/cm", stale)["data"] == {"a": "2"}


def test_owners_cannot_outgrow_the_object():
    server = Server()
    many = {f"k{number:05}": "1" for number in range(40_000)}
    made = applied(server, f"{MAPS}/cm", config_map(**many), code=201)
    assert len(entries(made)) == 1
    refused = applied(server, f"{MAPS}/cm", config_map(**many), manager="other", code=413)
    assert refused["message"] == "etcdserver: request is too large"
    entry = {**made["metadata"]["managedFields"][0], "operation": "Update"}
    body = config_map(**many)
    body["metadata"]["managedFields"] = [{**entry, "manager": f"m{number}"} for number in range(2)]
    assert "managedFields" not in loaded(server.ask("PUT", f"{MAPS}/cm", body))["metadata"]


GIVEN_BY_THE_SERVER = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields")


@pytest.fixture(scope="module")
def everything():
    """A cluster in which something of every workload runs."""
    cluster = Cluster.new(seed=7, now=NOW)
    for kind in ("Deployment", "StatefulSet", "DaemonSet"):
        cluster.client.create(workload(kind, kind.lower()))
    cluster.settle()
    return cluster


def test_whatever_is_in_a_cluster_can_be_applied_and_applied_again(everything):
    cluster = everything.fork()
    seen = set()
    for resource in sorted(cluster.store.resources()):
        for obj in cluster.store.list(resource)[:3]:
            metadata = {key: value for key, value in obj["metadata"].items() if key not in GIVEN_BY_THE_SERVER}
            wanted = {key: value for key, value in {**obj, "metadata": metadata}.items() if key != "status"}
            where = (resource, metadata["name"], metadata.get("namespace", ""))
            options = {"field_manager": "again", "force": True}
            once = cluster.client.patch(*where, wanted, "apply", **options)
            assert cluster.client.patch(*where, wanted, "apply", **options) is once, where
            changed = {key: value for key, value in once.items() if key != "metadata"}
            assert changed == {key: value for key, value in obj.items() if key != "metadata"}, where
            seen.add(resource)
    assert len(seen) > 15


@pytest.mark.parametrize(
    ("replicas", "text"),
    [
        (
            -1,
            'Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
        ),
        ("x", "json: cannot unmarshal string into Go struct field Scale.spec.replicas of type int32"),
        (2**31, "json: cannot unmarshal number 2147483648 into Go struct field Scale.spec.replicas of type int32"),
    ],
)
def test_an_impossible_scale_is_refused(replicas, text):
    server = Server()
    server.ask("POST", f"{DEPLOYMENTS}?fieldManager=one", deployment())
    assert text in patched(server, SCALE, {"spec": {"replicas": replicas}}, code=422)["message"]
    code = 422 if replicas == -1 else 400
    assert text in loaded(server.ask("PUT", SCALE, scale(replicas)), code)["message"]


def test_a_patch_that_breaks_the_metadata_is_refused():
    server = Server()
    server.ask("POST", f"{MAPS}?fieldManager=one", config_map(a="1"))
    refused = patched(server, f"{MAPS}/cm", {"metadata": []}, code=422)
    assert "cannot unmarshal array into Go struct field ConfigMap.metadata of type v1.ObjectMeta" in refused["message"]
    assert patched(server, f"{MAPS}/cm/scale", {"metadata": []}, code=404)["reason"] == "NotFound"
