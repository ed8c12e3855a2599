"""The four commands on manifests, over a real cluster: what they print, change and refuse."""

import orjson
import pytest

from app.apimachinery import meta
from app.cluster.cluster import Cluster
from app.kubectl import resource_builder
from app.kubectl.commands import apply, create, delete, replace
from app.kubectl.result import CommandResult, Ref
from tests.cluster.builders import fresh, taint

POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: bee
spec:
  containers:
  - name: c
    image: nginx
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: nginx}]}
"""
NODE = """\
apiVersion: v1
kind: Node
metadata: {name: node01}
spec:
  taints: [{key: spray, value: mortein, effect: NoSchedule}]
"""


def run(command: object, cluster: Cluster, text: str, **options: object) -> CommandResult:
    result = command.run(cluster.client, resource_builder.documents(text), **options)  # type: ignore[attr-defined]  # a command module
    cluster.advance_to(cluster.now)
    assert isinstance(result, CommandResult)
    return result


def test_create_says_what_it_created() -> None:
    cluster = fresh()
    result = run(create, cluster, f"{POD}---\n{DEPLOYMENT}")
    assert result.stdout == "pod/bee created\ndeployment.apps/web created\n"
    assert (result.stderr, result.code, result.problems) == ("", 0, ())
    assert result.changed == (Ref("v1", "Pod", "default", "bee"), Ref("apps/v1", "Deployment", "default", "web"))


def test_create_uses_the_namespace_that_is_asked_for() -> None:
    cluster = fresh()
    assert run(create, cluster, POD, namespace="kube-public").code == 0
    assert cluster.client.get("pods", "bee", "kube-public")


def test_creating_what_is_there_is_an_error() -> None:
    cluster = fresh()
    run(create, cluster, POD)
    result = run(create, cluster, POD)
    assert result.stderr == (
        'Error from server (AlreadyExists): error when creating "STDIN": pods "bee" already exists\n'
    )
    assert (result.code, result.stdout, result.changed) == (1, "", ())


def test_apply_creates_changes_and_leaves_alone() -> None:
    cluster = fresh()
    assert run(apply, cluster, POD).stdout == "pod/bee created\n"
    assert run(apply, cluster, POD).stdout == "pod/bee unchanged\n"
    assert run(apply, cluster, POD.replace("image: nginx", "image: nginx:1.27")).stdout == "pod/bee configured\n"
    stored = cluster.client.get("pods", "bee")
    assert stored["spec"]["containers"][0]["image"] == "nginx:1.27"
    noted = orjson.loads(meta.annotations_of(stored)[apply.LAST_APPLIED])
    assert noted == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"annotations": {}, "name": "bee", "namespace": "default"},
        "spec": {"containers": [{"image": "nginx:1.27", "name": "c"}]},
    }


def test_apply_removes_what_the_manifest_no_longer_says() -> None:
    cluster = fresh()
    labelled = POD.replace("name: bee", "name: bee\n  labels: {a: one, b: two}")
    run(apply, cluster, labelled)
    cluster.client.patch("pods", "bee", "default", {"metadata": {"labels": {"mine": "kept"}}})
    run(apply, cluster, POD.replace("name: bee", "name: bee\n  labels: {a: one}"))
    assert cluster.client.get("pods", "bee")["metadata"]["labels"] == {"a": "one", "mine": "kept"}


def test_applying_to_an_object_that_was_not_applied_warns_and_keeps_its_other_fields() -> None:
    cluster = fresh()
    before = cluster.client.get("nodes", "node01")
    result = run(apply, cluster, NODE)
    assert result.stdout == "node/node01 configured\n"
    assert result.stderr.startswith(
        "Warning: resource nodes/node01 is missing the kubectl.kubernetes.io/last-applied-configuration annotation"
    )
    assert result.code == 0
    after = cluster.client.get("nodes", "node01")
    assert after["metadata"]["labels"] == before["metadata"]["labels"]
    assert after["spec"]["taints"] == [{"key": "spray", "value": "mortein", "effect": "NoSchedule"}]
    assert run(apply, cluster, NODE.replace("[{key: spray, value: mortein, effect: NoSchedule}]", "[]")).code == 0
    assert not cluster.client.get("nodes", "node01")["spec"].get("taints")


def test_a_binding_is_created_and_cannot_be_applied() -> None:
    cluster = fresh()
    for node in ("node01", "node02"):
        taint(cluster, node, {"key": "closed", "effect": "NoSchedule"})
    run(create, cluster, POD)
    binding = (
        "apiVersion: v1\nkind: Binding\nmetadata: {name: bee}\ntarget: {apiVersion: v1, kind: Node, name: node02}\n"
    )
    refused = run(apply, cluster, binding)
    assert "(MethodNotAllowed)" in refused.stderr
    assert str(refused.problems[0].advice) == "A Binding can only be created: use “create” instead of “apply”."
    assert run(create, cluster, binding).stdout == "binding/bee created\n"
    assert cluster.client.get("pods", "bee")["spec"]["nodeName"] == "node02"
    assert 'pod bee is already assigned to node "node02"' in run(create, cluster, binding).stderr


def test_replace_puts_one_object_in_the_place_of_another() -> None:
    cluster = fresh()
    run(create, cluster, DEPLOYMENT)
    result = run(replace, cluster, DEPLOYMENT.replace("replicas: 1", "replicas: 2"))
    assert result.stdout == "deployment.apps/web replaced\n"
    assert cluster.client.get("deployments", "web")["spec"]["replicas"] == 2


def test_replacing_what_is_not_there_is_an_error_unless_forced() -> None:
    cluster = fresh()
    result = run(replace, cluster, POD)
    assert result.stderr == 'Error from server (NotFound): error when replacing "STDIN": pods "bee" not found\n'
    assert run(replace, cluster, POD, force=True).stdout == "pod/bee replaced\n"


def test_a_forced_replace_makes_a_new_object() -> None:
    cluster = fresh()
    run(create, cluster, POD)
    before = cluster.client.get("pods", "bee")["metadata"]["uid"]
    result = run(replace, cluster, POD + "  nodeName: node02\n", force=True)
    assert result.stdout == 'pod "bee" deleted from default namespace\npod/bee replaced\n'
    after = cluster.client.get("pods", "bee")
    assert after["metadata"]["uid"] != before
    assert after["spec"]["nodeName"] == "node02"


def test_a_live_pods_node_cannot_be_replaced() -> None:
    cluster = fresh()
    run(create, cluster, POD + "  nodeName: node01\n")
    result = run(replace, cluster, POD + "  nodeName: node02\n")
    assert result.stderr.startswith(
        'The Pod "bee" is invalid: spec: Forbidden: pod updates may not change fields other than'
    )


@pytest.mark.parametrize(
    ("text", "options", "stdout"),
    [
        (POD, {}, 'pod "bee" deleted from default namespace\n'),
        (POD, {"grace_seconds": 0}, 'pod "bee" force deleted from default namespace\n'),
        (DEPLOYMENT, {}, 'deployment.apps "web" deleted from default namespace\n'),
        (NODE, {}, 'node "node01" deleted\n'),
    ],
)
def test_delete_says_what_and_where(text: str, options: dict[str, object], stdout: str) -> None:
    cluster = fresh()
    run(apply, cluster, text)
    result = run(delete, cluster, text, **options)
    assert (result.stdout, result.code) == (stdout, 0)
    assert ("Immediate deletion does not wait" in result.stderr) == bool(options)


def test_deleting_what_is_not_there_is_an_error() -> None:
    result = run(delete, fresh(), POD)
    assert result.stderr == 'Error from server (NotFound): error when deleting "STDIN": pods "bee" not found\n'


@pytest.mark.parametrize(
    ("text", "stderr", "line", "column", "advice"),
    [
        (
            POD.replace("containers", "continers"),
            (
                'Error from server (BadRequest): error when creating "STDIN": Pod in version "v1" cannot be handled as a '
                'Pod: strict decoding error: unknown field "spec.continers"\n'
            ),
            6,
            3,
            "Write “containers” instead of “continers”.",
        ),
        (
            POD.replace("kind: Pod", "kind: pod"),
            (
                'error: resource mapping not found for name: "bee" namespace: "" from "STDIN": no matches for kind "pod" '
                'in version "v1"\nensure CRDs are installed first\n'
            ),
            2,
            1,
            "Write “kind: Pod”: capital letters count.",
        ),
        (
            POD + "  tolerations:\n  - key: a\n    operator: Exists\n    effect: NoSchedul\n",
            (
                'The Pod "bee" is invalid: spec.tolerations[0].effect: Unsupported value: "NoSchedul": supported values: '
                '"NoSchedule", "PreferNoSchedule", "NoExecute"\n'
            ),
            12,
            5,
            "Write “NoSchedule” instead of “NoSchedul”.",
        ),
    ],
)
def test_a_refusal_says_where_and_what_to_write(text: str, stderr: str, line: int, column: int, advice: str) -> None:
    result = run(apply, fresh(), text)
    (problem,) = result.problems
    assert result.stderr == stderr
    assert (problem.line, problem.column, str(problem.advice)) == (line, column, advice)
    assert (result.code, result.changed) == (1, ())


def test_several_field_errors_stand_one_below_the_other() -> None:
    text = POD + "  tolerations:\n  - key: a\n    effect: Never\n    operator: Like\n"
    result = run(apply, fresh(), text)
    assert result.stderr.startswith('The Pod "bee" is invalid: \n* spec.tolerations[0].')
    assert len(result.problems) == 2


def test_the_documents_after_a_refused_one_are_still_visited() -> None:
    cluster = fresh()
    result = run(apply, cluster, f"{POD.replace('kind: Pod', 'kind: Pot')}---\n{POD}")
    assert result.stdout == "pod/bee created\n"
    assert result.code == 1


def test_a_change_that_cannot_be_decoded_is_an_invalid_request() -> None:
    cluster = fresh()
    run(apply, cluster, POD)
    result = run(apply, cluster, POD.replace("containers", "continers"))
    assert result.stderr.startswith('The request is invalid: patch: Invalid value: "map[')
    assert result.stderr.rstrip().endswith('strict decoding error: unknown field "spec.continers"')
    assert str(result.problems[0].advice) == "Write “containers” instead of “continers”."


def test_a_refused_change_says_what_was_tried() -> None:
    cluster = fresh()
    run(apply, cluster, POD)
    result = run(apply, cluster, POD.replace("metadata:", "metadata:\n  resourceVersion: '1'"))
    assert result.stderr.startswith("Error from server (Conflict): error when applying patch:\n{")
    assert 'to:\nResource: "/v1, Resource=pods", GroupVersionKind: "/v1, Kind=Pod"\n' in result.stderr
    assert 'for: "STDIN": error when patching "STDIN": ' in result.stderr
