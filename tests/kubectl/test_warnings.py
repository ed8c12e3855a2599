"""What kubectl's commands print of the server's warnings."""

from app.kubectl import resource_builder
from app.kubectl.commands import apply, create, replace
from tests.cluster.builders import fresh

OLD = """
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  nodeSelector: {beta.kubernetes.io/os: linux}
  containers: [{name: c, image: nginx}]
"""
TOLD = 'Warning: spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead\n'


def run(command, text, cluster):
    return command.run(cluster.client, resource_builder.documents(text))


def test_create_apply_and_replace_print_them():
    for command in (create, apply):
        result = run(command, OLD, fresh())
        assert (result.stderr, result.code) == (TOLD, 0)
    cluster = fresh()
    endpoints = "apiVersion: v1\nkind: Endpoints\nmetadata: {name: e}\n"
    old = "Warning: v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice\n"
    assert run(create, endpoints, cluster).stderr == old
    assert run(replace, endpoints, cluster).stderr == old


def test_one_that_comes_twice_is_printed_once():
    result = run(create, OLD + "---" + OLD.replace("name: a", "name: b"), fresh())
    assert result.stderr == TOLD
    assert result.stdout == "pod/a created\npod/b created\n"
