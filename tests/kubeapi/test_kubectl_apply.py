"""`kubectl apply --server-side` and what it does with objects of the client's side, by the real kubectl."""

import json
import subprocess

import pytest
import yaml

from app.apimachinery import clock
from app.cluster.cluster import Cluster
from tests.kubeapi.asking import NOW
from tests.kubeapi.binary import OneCluster

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


@pytest.fixture(scope="module")
def backend():
    cluster = Cluster.new(seed=7, now=NOW)
    cluster.advance_to(NOW + 60 * clock.SECOND)
    return OneCluster(cluster)


@pytest.fixture(autouse=True)
def cleared(backend):
    yield
    for obj in backend.cluster.client.list("deployments", "default"):
        backend.cluster.client.delete("deployments", obj["metadata"]["name"], "default")
    backend.advance(60)


def manifest(replicas=2, image="nginx:1.27", labels=None):
    app = {"app": "web"}
    return yaml.safe_dump(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "labels": labels or {}},
            "spec": {
                **({"replicas": replicas} if replicas else {}),
                "selector": {"matchLabels": app},
                "template": {
                    "metadata": {"labels": app},
                    "spec": {"containers": [{"name": "c", "image": image}]},
                },
            },
        }
    )


def told(kubectl, line, stdin="", code=0):
    """Both outputs of a command."""
    done = subprocess.run(
        kubectl.command(line),
        input=stdin,
        env=kubectl.environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout, done.stderr


def managers(kubectl, name="deploy/web"):
    entries = json.loads(kubectl.run(f"get {name} -o json --show-managed-fields"))["metadata"]["managedFields"]
    return {(one["manager"], one["operation"], one.get("subresource", "")) for one in entries}


def test_server_side_apply_says_so(kubectl):
    assert kubectl.run("apply --server-side -f -", manifest()) == "deployment.apps/web serverside-applied\n"
    assert kubectl.run("apply --server-side -f -", manifest()) == "deployment.apps/web serverside-applied\n"
    assert ("kubectl", "Apply", "") in managers(kubectl)


def test_managed_fields_are_shown_where_asked_for(kubectl):
    kubectl.run("apply --server-side -f -", manifest())
    assert "managedFields" not in kubectl.run("get deploy web -o yaml")
    shown = kubectl.run("get deploy web -o yaml --show-managed-fields")
    assert 'k:{"name":"c"}:' in shown
    assert "manager: kubectl\n" in shown


def test_a_conflict_is_told_with_the_way_out(kubectl):
    kubectl.run("apply -f -", manifest())
    error = kubectl.run("apply --server-side --field-manager=ci -f -", manifest(3), code=1)
    assert error.startswith(
        'error: Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using apps/v1: .spec.replicas\n'
    )
    assert "--force-conflicts" in error


def test_conflicts_can_be_forced(kubectl):
    kubectl.run("apply -f -", manifest())
    kubectl.run("apply --server-side --field-manager=ci --force-conflicts -f -", manifest(3))
    assert kubectl.run("get deploy web -o jsonpath={.spec.replicas}") == "3"
    assert ("ci", "Apply", "") in managers(kubectl)


def test_client_side_apply_is_taken_over(kubectl):
    kubectl.run("apply -f -", manifest(labels={"old": "1"}))
    assert ("kubectl-client-side-apply", "Update", "") in managers(kubectl)
    kubectl.run("apply --server-side -f -", manifest(3))
    assert kubectl.run("get deploy web -o jsonpath={.spec.replicas}") == "3"
    left = managers(kubectl)
    assert ("kubectl", "Apply", "") in left
    assert ("kubectl-client-side-apply", "Update", "") not in left
    assert "labels" not in json.loads(kubectl.run("get deploy web -o json"))["metadata"]


def test_the_annotation_follows_server_side_apply(kubectl):
    kubectl.run("apply -f -", manifest())
    kubectl.run("apply --server-side -f -", manifest(3))
    annotations = json.loads(kubectl.run("get deploy web -o json"))["metadata"]["annotations"]
    assert json.loads(annotations[LAST_APPLIED])["spec"]["replicas"] == 3
    assert kubectl.run("apply -f -", manifest(4)) == "deployment.apps/web configured\n"


def test_a_server_side_dry_run_changes_nothing(kubectl):
    kubectl.run("apply --server-side -f -", manifest())
    line = "apply --server-side --dry-run=server -f -"
    assert kubectl.run(line, manifest(5)) == "deployment.apps/web serverside-applied (server dry run)\n"
    assert kubectl.run("get deploy web -o jsonpath={.spec.replicas}") == "2"


def test_an_unknown_field_is_refused(kubectl):
    wrong = manifest().replace("replicas:", "replicaz:")
    error = kubectl.run("apply --server-side --validate=false -f -", wrong, code=1)
    assert error == (
        "Error from server: failed to create typed patch object (default/web; apps/v1, Kind=Deployment): "
        ".spec.replicaz: field not declared in schema\n"
    )


def test_diff_asks_the_server(kubectl):
    kubectl.run("apply --server-side -f -", manifest())
    out, _ = told(kubectl, "diff --server-side -f -", manifest(5), code=1)
    assert "-  replicas: 2\n+  replicas: 5\n" in out
    assert told(kubectl, "diff --server-side -f -", manifest()) == ("", "")


def test_each_command_is_its_own_manager(kubectl):
    kubectl.run("create deployment web --image=nginx:1.27")
    kubectl.run("label deploy web tier=front")
    kubectl.run("scale deploy web --replicas=2")
    kubectl.run("set image deploy/web nginx=nginx:1.28")
    found = managers(kubectl)
    assert ("kubectl-create", "Update", "") in found
    assert ("kubectl-label", "Update", "") in found
    assert ("kubectl", "Update", "scale") in found
    assert ("kubectl-set", "Update", "") in found


def test_the_controller_s_report_has_its_own_entry(kubectl, backend):
    kubectl.run("apply --server-side -f -", manifest())
    backend.advance(30)
    assert ("kube-controller-manager", "Update", "status") in managers(kubectl)


def test_edit_keeps_the_owners(kubectl):
    kubectl.run("apply --server-side -f -", manifest())
    kubectl.environment["KUBE_EDITOR"] = "sed -i s/nginx:1.27/nginx:1.28/"
    assert kubectl.run("edit deploy web") == "deployment.apps/web edited\n"
    assert {("kubectl", "Apply", ""), ("kubectl-edit", "Update", "")} <= managers(kubectl)


def test_a_json_patch_that_does_not_fit_is_an_invalid_request(kubectl):
    kubectl.run("apply --server-side -f -", manifest())
    line = 'patch deploy web --type=json -p [{"op":"remove","path":"/spec/nowhere"}]'
    assert kubectl.run(line, code=1) == (
        "The request is invalid: the server rejected our request due to an error in our request\n"
    )
    line = 'patch deploy web --type=json -p [{"op":"replace","path":"/spec/replicas","value":3,"why":"so"}]'
    out, err = told(kubectl, line)
    assert out == "deployment.apps/web patched\n"
    assert err == 'Warning: json patch unknown field "[0].why"\n'


def test_an_apply_of_several_objects_names_each(kubectl, backend):
    maps = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "1"}}
        for name in ("one", "two")
    ]
    text = yaml.safe_dump_all([*maps, yaml.safe_load(manifest())])
    line = "apply --server-side --field-manager=ci -f -"
    assert kubectl.run(line, text).splitlines() == [
        "configmap/one serverside-applied",
        "configmap/two serverside-applied",
        "deployment.apps/web serverside-applied",
    ]
    other = text.replace("a: '1'", "a: '2'")
    error = kubectl.run("apply --server-side --field-manager=cd -f -", other, code=1)
    assert error.count('Apply failed with 1 conflict: conflict with "ci": .data.a') == 2
    for name in ("one", "two"):
        backend.cluster.client.delete("configmaps", name, "default")


def test_client_and_server_side_apply_can_take_turns(kubectl):
    kubectl.run("apply -f -", manifest(2))
    kubectl.run("apply --server-side -f -", manifest(3))
    kubectl.run("apply -f -", manifest(4))
    assert kubectl.run("apply --server-side --force-conflicts -f -", manifest(5)) == (
        "deployment.apps/web serverside-applied\n"
    )
    assert kubectl.run("get deploy web -o jsonpath={.spec.replicas}") == "5"


def test_replace_keeps_the_owners_of_what_it_leaves(kubectl):
    kubectl.run("apply --server-side --field-manager=ci -f -", manifest(2))
    kubectl.run("replace -f -", manifest(2, image="nginx:1.28"))
    found = managers(kubectl)
    assert {("ci", "Apply", ""), ("kubectl-replace", "Update", "")} <= found
