"""metadata.managedFields: who owns which field after creates, updates and patches."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path

import pytest

from app.apimachinery import clock
from app.apimachinery.errors import Invalid
from app.cluster.apiserver import dispatch
from app.cluster.cluster import Cluster
from tests.cluster.apiserver.making import named, pod, workload
from tests.kubeapi.asking import NOW, Server, loaded, request

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
MAPS = "/api/v1/namespaces/default/configmaps"


def config_map(**data):
    return named("v1", "ConfigMap", "cm", data=data)


def entries(obj):
    """The entries by (manager, operation, subresource)."""
    found = obj["metadata"].get("managedFields", [])
    return {(one["manager"], one["operation"], one.get("subresource", "")): one for one in found}


def fields(obj, manager, operation="Update", subresource=""):
    return entries(obj)[manager, operation, subresource]["fieldsV1"]


def patched(server, url, changes, kind="merge", manager="", code=200):
    query = f"?fieldManager={manager}" if manager else ""
    return loaded(server.ask("PATCH", url + query, changes, content_type=f"application/{kind}-patch+json"), code)


def test_a_create_owns_what_was_sent_and_what_was_defaulted():
    server = Server()
    made = loaded(server.ask("POST", f"{DEPLOYMENTS}?fieldManager=kubectl-create", workload("Deployment")), 201)
    (entry,) = made["metadata"]["managedFields"]
    assert {key: value for key, value in entry.items() if key != "fieldsV1"} == {
        "manager": "kubectl-create",
        "operation": "Update",
        "apiVersion": "apps/v1",
        "time": clock.rfc3339(NOW),
        "fieldsType": "FieldsV1",
    }
    spec = entry["fieldsV1"]["f:spec"]
    assert spec["f:strategy"] == {
        "f:rollingUpdate": {".": {}, "f:maxSurge": {}, "f:maxUnavailable": {}},
        "f:type": {},
    }
    assert (spec["f:replicas"], spec["f:selector"]) == ({}, {})
    assert spec["f:template"]["f:metadata"] == {"f:labels": {".": {}, "f:app": {}}}
    container = spec["f:template"]["f:spec"]["f:containers"]['k:{"name":"c"}']
    assert container["."] == {}
    assert container["f:terminationMessagePolicy"] == {}


def test_admission_and_the_server_own_nothing():
    server = Server()
    made = loaded(server.ask("POST", "/api/v1/namespaces/default/pods", pod()), 201)
    owned = fields(made, "unknown")
    assert "f:metadata" not in owned
    assert "f:status" not in owned
    assert not owned["f:spec"].keys() & {"f:tolerations", "f:serviceAccountName", "f:volumes", "f:priority"}
    assert "serviceAccountName" in made["spec"]


def test_without_a_field_manager_the_user_agent_names_it():
    server = Server()
    asked = request("POST", MAPS, config_map(a="1"), "application/json", "application/json")
    asked.headers["user-agent"] = "curl/8.5.0"
    assert list(entries(loaded(dispatch.handle(server, asked), 201))) == [("curl", "Update", "")]


def test_who_changes_a_field_takes_it():
    server = Server()
    server.ask("POST", f"{MAPS}?fieldManager=one", config_map(a="1", b="2"))
    server.time.advance_to(NOW + clock.MINUTE)
    changed = patched(server, f"{MAPS}/cm", {"data": {"b": "3", "c": "4"}}, manager="two")
    assert fields(changed, "one") == {"f:data": {".": {}, "f:a": {}}}
    assert fields(changed, "two") == {"f:data": {"f:b": {}, "f:c": {}}}
    times = [entry["time"] for entry in changed["metadata"]["managedFields"]]
    assert times == [clock.rfc3339(NOW), clock.rfc3339(NOW + clock.MINUTE)]


def test_who_changes_again_has_one_entry():
    server = Server()
    server.ask("POST", f"{MAPS}?fieldManager=one", config_map(a="1"))
    patched(server, f"{MAPS}/cm", {"data": {"b": "1"}}, manager="two")
    changed = patched(server, f"{MAPS}/cm", {"data": {"c": "1"}}, manager="two")
    assert fields(changed, "two") == {"f:data": {"f:b": {}, "f:c": {}}}


def test_a_field_that_is_removed_has_no_owner():
    server = Server()
    server.ask("POST", f"{MAPS}?fieldManager=one", config_map(a="1", b="2"))
    changed = patched(server, f"{MAPS}/cm", {"data": {"a": None}}, manager="two")
    assert list(entries(changed)) == [("one", "Update", "")]
    assert fields(changed, "one") == {"f:data": {".": {}, "f:b": {}}}


def test_a_change_of_nothing_writes_nothing():
    server = Server()
    made = loaded(server.ask("POST", f"{MAPS}?fieldManager=one", config_map(a="1")), 201)
    server.time.advance_to(NOW + clock.MINUTE)
    assert patched(server, f"{MAPS}/cm", {"data": {"a": "1"}}, manager="two") == made


def test_an_update_without_managed_fields_keeps_them():
    server = Server()
    made = loaded(server.ask("POST", f"{MAPS}?fieldManager=one", config_map(a="1")), 201)
    changed = loaded(server.ask("PUT", f"{MAPS}/cm?fieldManager=two", config_map(a="1", b="2")))
    assert fields(changed, "one") == fields(made, "one")
    assert fields(changed, "two") == {"f:data": {"f:b": {}}}


@pytest.mark.parametrize("reset", [[], [{}]])
def test_empty_managed_fields_forget_all_owners(reset):
    server = Server()
    server.ask("POST", f"{MAPS}?fieldManager=one", config_map(a="1"))
    obj = config_map(a="1")
    obj["metadata"]["managedFields"] = reset
    cleared = loaded(server.ask("PUT", f"{MAPS}/cm?fieldManager=two", obj))
    assert "managedFields" not in cleared["metadata"]
    assert "managedFields" not in patched(server, f"{MAPS}/cm", {"data": {"b": "1"}})["metadata"]


def test_managed_fields_may_be_written_directly():
    server = Server()
    made = loaded(server.ask("POST", f"{MAPS}?fieldManager=one", config_map(a="1")), 201)
    other = [{**made["metadata"]["managedFields"][0], "manager": "other"}]
    steps = [{"op": "replace", "path": "/metadata/managedFields", "value": other}]
    assert patched(server, f"{MAPS}/cm", steps, "json")["metadata"]["managedFields"] == other


def test_managed_fields_that_make_no_sense_change_nothing():
    server = Server()
    made = loaded(server.ask("POST", f"{MAPS}?fieldManager=one", config_map(a="1")), 201)
    for nonsense in ([{"manager": "x"}], [{**made["metadata"]["managedFields"][0], "fieldsV1": {"a": 1}}]):
        obj = config_map(a="1")
        obj["metadata"]["managedFields"] = nonsense
        assert loaded(server.ask("PUT", f"{MAPS}/cm", obj)) == made


def test_a_status_has_an_entry_of_its_own():
    server = Server()
    server.ask("POST", f"{DEPLOYMENTS}?fieldManager=one", workload("Deployment"))
    changed = patched(server, f"{DEPLOYMENTS}/web/status", {"status": {"replicas": 3}}, manager="two")
    assert fields(changed, "two", subresource="status") == {"f:status": {"f:replicas": {}}}
    assert fields(changed, "one")["f:spec"]["f:replicas"] == {}


def test_the_scale_has_an_entry_of_its_own():
    server = Server()
    server.ask("POST", f"{DEPLOYMENTS}?fieldManager=one", workload("Deployment"))
    patched(server, f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": 3}}, manager="kubectl")
    changed = server.get(f"{DEPLOYMENTS}/web")
    assert fields(changed, "kubectl", subresource="scale") == {"f:spec": {"f:replicas": {}}}
    assert "f:replicas" not in fields(changed, "one")["f:spec"]


def test_the_oldest_of_more_than_ten_updaters_become_one():
    server = Server()
    server.ask("POST", f"{MAPS}?fieldManager=first", config_map(a="1"))
    for number in range(11):
        server.time.advance_to(NOW + (number + 1) * clock.SECOND)
        changed = patched(server, f"{MAPS}/cm", {"data": {f"k{number:02}": "1"}}, manager=f"m{number:02}")
    assert len(changed["metadata"]["managedFields"]) == 10
    assert fields(changed, "ancient-changes") == {"f:data": {".": {}, "f:a": {}, "f:k00": {}, "f:k01": {}}}


def test_a_dry_run_shows_owners_and_keeps_none():
    server = Server()
    server.ask("POST", f"{MAPS}?fieldManager=one", config_map(a="1"))
    shown = patched(server, f"{MAPS}/cm?dryRun=All", {"data": {"b": "1"}})
    assert len(shown["metadata"]["managedFields"]) == 2
    assert len(server.get(f"{MAPS}/cm")["metadata"]["managedFields"]) == 1


@pytest.mark.parametrize(
    ("manager", "text"),
    [
        ("x" * 129, "fieldManager: Too long: may not be more than 128 bytes"),
        ("a\tb", 'fieldManager: Invalid value: "a\\tb": invalid character U+0009 (at position 1)'),
    ],
)
def test_a_field_manager_must_be_short_and_printable(manager, text):
    server = Server()
    refused = loaded(server.ask("POST", f"{MAPS}?fieldManager={manager}", config_map()), 422)
    assert refused["message"] == f'CreateOptions.meta.k8s.io "" is invalid: {text}'


def test_owners_are_no_part_of_what_views_and_checks_see():
    cluster = Cluster.new(seed=7, now=NOW)
    made = cluster.client.create(config_map(a="1"), field_manager="one")
    assert "managedFields" not in json.dumps(made)
    assert "managedFields" not in json.dumps(cluster.client.get("cm", "cm", "default"))


def test_owners_survive_a_snapshot():
    cluster = Cluster.new(seed=7, now=NOW)
    cluster.client.create(config_map(a="1"), field_manager="one")
    cluster.client.patch("cm", "cm", "default", {"data": {"b": "1"}}, "merge", field_manager="two")
    shown = served(cluster, f"{MAPS}/cm")
    data = cluster.dump()
    again = Cluster.load(data)
    assert served(again, f"{MAPS}/cm") == shown
    assert again.dump() == data
    assert list(entries(shown)) == [("one", "Update", ""), ("two", "Update", "")]


def served(cluster, url):
    return loaded(dispatch.handle(cluster, request("GET", url, None, "application/json", "")))


@pytest.fixture(scope="module")
def settled():
    cluster = Cluster.new(seed=7, now=NOW)
    cluster.client.create(workload("Deployment"), field_manager="kubectl-create")
    cluster.settle()
    return cluster


def test_controllers_and_kubelets_own_what_they_write(settled):
    (live,) = served(settled, "/api/v1/namespaces/default/pods")["items"]
    assert sorted(entries(live)) == [("kube-controller-manager", "Update", ""), ("kubelet", "Update", "status")]
    made = fields(live, "kube-controller-manager")
    uid = live["metadata"]["ownerReferences"][0]["uid"]
    assert made["f:metadata"]["f:ownerReferences"] == {".": {}, f'k:{{"uid":"{uid}"}}': {}}
    assert made["f:metadata"]["f:generateName"] == {}
    assert not made["f:spec"].keys() & {"f:nodeName", "f:tolerations", "f:volumes", "f:serviceAccountName"}
    status = fields(live, "kubelet", subresource="status")["f:status"]
    assert 'k:{"type":"PodScheduled"}' not in status["f:conditions"]
    assert status["f:conditions"]['k:{"type":"Ready"}']["f:status"] == {}
    assert "f:qosClass" not in status


def test_a_workload_has_its_creator_and_its_controller(settled):
    live = served(settled, f"{DEPLOYMENTS}/web")
    assert ("kubectl-create", "Update", "") in entries(live)
    reported = fields(live, "kube-controller-manager", subresource="status")
    assert reported["f:status"]["f:conditions"]['k:{"type":"Available"}']["."] == {}


def test_nodes_show_kubeadm_the_kubelet_and_the_controllers(settled):
    live = served(settled, "/api/v1/nodes/controlplane")
    assert {entry[0] for entry in entries(live)} == {"kubeadm", "kubelet", "kube-controller-manager"}
    assert ("kubelet", "Update", "status") in entries(live)


def test_a_user_s_change_of_a_controller_s_pod_is_told_apart(settled):
    cluster = settled.fork()
    (live,) = cluster.client.list("pods", "default")
    name = live["metadata"]["name"]
    cluster.client.patch("pods", name, "default", {"metadata": {"labels": {"mine": "1"}}}, "merge", field_manager="me")
    shown = served(cluster, f"/api/v1/namespaces/default/pods/{name}")
    assert fields(shown, "me") == {"f:metadata": {"f:labels": {"f:mine": {}}}}
    assert len(entries(shown)) == 3


def test_owners_of_a_forked_cluster_are_its_own(settled):
    cluster = settled.fork()
    cluster.client.patch("deploy", "web", "default", {"spec": {"replicas": 2}}, "merge", field_manager="me")
    assert ("me", "Update", "") not in entries(served(settled, f"{DEPLOYMENTS}/web"))


def test_a_generated_name_is_drawn_again_where_it_is_taken(monkeypatch):
    server = Server()
    drawn = iter(["aaaaa", "aaaaa", "bbbbb"])
    monkeypatch.setattr(type(server.client._registry.store), "draw_suffix", lambda _: next(drawn))
    body = named("v1", "ConfigMap", "")
    body["metadata"] = {"generateName": "cm-"}
    names = [loaded(server.ask("POST", MAPS, body), 201)["metadata"]["name"] for _ in range(2)]
    assert names == ["cm-aaaaa", "cm-bbbbb"]


def test_after_eight_draws_a_generated_name_is_given_up(monkeypatch):
    server = Server()
    drawn = []
    monkeypatch.setattr(type(server.client._registry.store), "draw_suffix", lambda _: drawn.append(1) or "aaaaa")
    body = named("v1", "ConfigMap", "")
    body["metadata"] = {"generateName": "cm-"}
    server.ask("POST", MAPS, body)
    drawn.clear()
    refused = loaded(server.ask("POST", MAPS, body), 409)
    assert len(drawn) == 8
    assert refused["reason"] == "AlreadyExists"
    assert refused["message"] == (
        'configmaps "cm-aaaaa" already exists, the server was not able to generate a unique name for the object'
    )


def test_a_delete_holds_to_its_preconditions():
    server = Server()
    made = loaded(server.ask("POST", MAPS, config_map(a="1")), 201)["metadata"]
    wrong = {"preconditions": {"uid": made["uid"], "resourceVersion": "1"}}
    refused = loaded(server.ask("DELETE", f"{MAPS}/cm", wrong), 409)
    assert refused["message"] == (
        'Operation cannot be fulfilled on configmaps "cm": Precondition failed: ResourceVersion in precondition: 1, '
        f"ResourceVersion in object meta: {made['resourceVersion']}"
    )
    right = {"preconditions": {"uid": made["uid"], "resourceVersion": made["resourceVersion"]}}
    assert loaded(server.ask("DELETE", f"{MAPS}/cm", right))["status"] == "Success"


def test_a_patch_with_a_stale_version_is_a_conflict():
    server = Server()
    server.ask("POST", MAPS, config_map(a="1"))
    stale = {"metadata": {"resourceVersion": "1"}, "data": {"a": "2"}}
    refused = patched(server, f"{MAPS}/cm", stale, code=409)
    assert "the object has been modified" in refused["message"]


def test_a_client_without_a_server_refuses_too():
    server = Server()
    with pytest.raises(Invalid):
        server.client.create(named("v1", "ConfigMap", "Not A Name"))


def usual_lab():
    """Three nodes and thirty pods, those of seven workloads among them that somebody has changed since."""
    cluster = Cluster.new(seed=7, now=NOW)
    for number in range(7):
        body = workload("Deployment", f"web{number}", replicas=3)
        cluster.client.create(body, field_manager="kubectl-client-side-apply")
    cluster.advance_to(NOW + clock.MINUTE)
    for number in range(7):
        change = {"metadata": {"labels": {"tier": "front"}}}
        cluster.client.patch("deploy", f"web{number}", "default", change, "merge", field_manager="kubectl-label")
    cluster.advance_to(NOW + 2 * clock.MINUTE)
    return cluster


def test_a_usual_lab_s_snapshot_stays_small():
    cluster = usual_lab()
    assert (len(cluster.client.list("nodes")), len(cluster.client.list("pods"))) == (3, 30)
    document = json.loads(cluster.dump())
    owners = zlib.compress(json.dumps(document["store"]["owners"]).encode())
    assert len(owners) < 1_000
    assert len(zlib.compress(json.dumps(document, separators=(",", ":")).encode())) < 40_000


def test_a_snapshot_from_before_owners_were_kept_shows_whom_it_can():
    kept = Path(__file__).parents[1] / "snapshots" / "format-1.json.gz"
    again = Cluster.load(gzip.decompress(kept.read_bytes()))
    shown = served(again, "/apis/apps/v1/namespaces/kube-system/deployments/coredns")
    assert entries(shown).keys() == {("kubeadm", "Update", ""), ("kube-controller-manager", "Update", "status")}


def test_the_watch_log_knows_who_owned_what():
    cluster = Cluster.new(seed=7, now=NOW)
    since = cluster.client.revision
    cluster.client.create(config_map(a="1"), field_manager="one")
    cluster.client.patch("cm", "cm", "default", {"data": {"b": "1"}}, "merge", field_manager="two")
    cluster.client.delete("cm", "cm", "default")
    cluster.client.create(config_map(a="2"), field_manager="three")

    def seen(live):
        asked = request("GET", MAPS, None, "application/json", "")
        lines, _ = dispatch.watch(live, asked, since)
        return [sorted(one[0] for one in entries(json.loads(line)["object"])) for line in lines]

    assert seen(cluster) == [["one"], ["one", "two"], ["one", "two"], ["three"]]
    again = Cluster.load(cluster.dump())
    assert seen(again) == seen(cluster)
    assert again.dump() == cluster.dump()


def test_a_deployment_s_revision_is_written_with_its_status(settled):
    owned = fields(served(settled, f"{DEPLOYMENTS}/web"), "kube-controller-manager", subresource="status")
    assert owned["f:metadata"] == {"f:annotations": {".": {}, "f:deployment.kubernetes.io/revision": {}}}


def test_managed_fields_must_name_possible_managers():
    server = Server()
    made = loaded(server.ask("POST", f"{MAPS}?fieldManager=one", config_map(a="1")), 201)
    entry = made["metadata"]["managedFields"][0]
    obj = config_map(a="1")
    obj["metadata"]["managedFields"] = [{**entry, "manager": "x" * 129, "subresource": "s" * 257}]
    refused = loaded(server.ask("PUT", f"{MAPS}/cm", obj), 422)
    assert refused["message"] == (
        'ConfigMap "cm" is invalid: [metadata.managedFields[0].manager: Too long: may not be more than 128 bytes, '
        "metadata.managedFields[0].subresource: Too long: may not be more than 256 bytes]"
    )


def test_a_subresource_of_a_pod_has_an_entry_of_its_own(settled):
    cluster = settled.fork()
    (live,) = cluster.client.list("pods", "default")
    name = live["metadata"]["name"]
    added = {"spec": {"ephemeralContainers": [{"name": "debug", "image": "busybox:1.36"}]}}
    place = ("pods", name, "default")
    cluster.client.patch(*place, added, "strategic", "ephemeralcontainers", field_manager="kubectl-debug")
    owned = fields(
        served(cluster, f"/api/v1/namespaces/default/pods/{name}"), "kubectl-debug", "Update", "ephemeralcontainers"
    )
    containers = owned["f:spec"]["f:ephemeralContainers"]
    assert containers["."] == {}
    assert containers['k:{"name":"debug"}']["f:image"] == {}


def test_what_the_system_brought_has_the_owners_that_it_has_everywhere(settled):
    def owners(url):
        return {(one[0], one[1]): one[2] for one in owned_by(served(settled, url))}

    def owned_by(obj):
        return [(one["manager"], one["operation"], one["fieldsV1"]) for one in obj["metadata"]["managedFields"]]

    assert owners("/api/v1/namespaces/default") == {
        ("kube-apiserver", "Update"): {"f:metadata": {"f:labels": {".": {}, "f:kubernetes.io/metadata.name": {}}}}
    }
    view = owners("/apis/rbac.authorization.k8s.io/v1/clusterroles/view")
    assert view[("clusterrole-aggregation-controller", "Apply")] == {"f:rules": {}}
    assert "f:rules" not in view[("kube-apiserver", "Update")]
    static = owners("/api/v1/namespaces/kube-system/pods/etcd-controlplane")
    assert static.keys() == {("kubelet", "Update")}


def test_an_aggregated_role_is_applied_by_its_controller(settled):
    cluster = settled.fork()
    role = named("rbac.authorization.k8s.io/v1", "ClusterRole", "more")
    role["metadata"]["labels"] = {"rbac.authorization.k8s.io/aggregate-to-view": "true"}
    role["rules"] = [{"apiGroups": ["x.io"], "resources": ["xs"], "verbs": ["get"]}]
    cluster.client.create(role)
    cluster.settle()
    view = served(cluster, "/apis/rbac.authorization.k8s.io/v1/clusterroles/view")
    assert fields(view, "clusterrole-aggregation-controller", "Apply") == {"f:rules": {}}
    assert any(rule["apiGroups"] == ["x.io"] for rule in view["rules"])


def test_a_daemon_set_s_maker_owns_the_annotation_that_conversion_adds():
    server = Server()
    url = "/apis/apps/v1/namespaces/default/daemonsets?fieldManager=one"
    made = loaded(server.ask("POST", url, workload("DaemonSet")), 201)
    annotations = {".": {}, "f:deprecated.daemonset.template.generation": {}}
    assert fields(made, "one")["f:metadata"] == {"f:annotations": annotations}
