import pytest

from app.apimachinery.meta import Object
from app.cluster import rbac
from tests.cluster.builders import fresh

RBAC = "rbac.authorization.k8s.io"
ME = "system:serviceaccount:kube-system:my-scheduler"
ACCOUNT = {"kind": "ServiceAccount", "name": "my-scheduler", "namespace": "kube-system"}


def binding(role: str, subject: Object, kind: str = "ClusterRoleBinding", role_kind: str = "ClusterRole") -> Object:
    reference = {"apiGroup": RBAC, "kind": role_kind, "name": role}
    metadata = {"name": "b", **({"namespace": "kube-system"} if kind == "RoleBinding" else {})}
    return {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": metadata, "roleRef": reference, "subjects": [subject]}


@pytest.mark.parametrize(
    ("subject", "granted"),
    [
        (ACCOUNT, True),
        ({**ACCOUNT, "namespace": "default"}, False),
        ({**ACCOUNT, "name": "other"}, False),
        ({"kind": "User", "apiGroup": RBAC, "name": ME}, True),
        ({"kind": "Group", "apiGroup": RBAC, "name": "system:serviceaccounts"}, True),
        ({"kind": "Group", "apiGroup": RBAC, "name": "system:serviceaccounts:kube-system"}, True),
        ({"kind": "Group", "apiGroup": RBAC, "name": "system:serviceaccounts:default"}, False),
        ({"kind": "Group", "apiGroup": RBAC, "name": "system:authenticated"}, True),
    ],
)
def test_a_binding_grants_its_subjects(subject: Object, granted: bool) -> None:
    cluster = fresh()
    cluster.client.create(binding("system:kube-scheduler", subject))
    assert rbac.allowed(cluster.client, rbac.Request(ME, "list", "nodes")) == granted


@pytest.mark.parametrize(
    ("verb", "resource", "group", "name", "granted"),
    [
        ("create", "pods/binding", "", "", True),
        ("create", "pods", "", "", False),
        ("list", "replicasets", "apps", "", True),
        ("list", "replicasets", "", "", False),
        ("update", "leases", "coordination.k8s.io", "kube-scheduler", True),
        ("update", "leases", "coordination.k8s.io", "my-scheduler", False),
        ("create", "leases", "coordination.k8s.io", "my-scheduler", True),
    ],
)
def test_the_schedulers_role_allows_what_a_scheduler_does(
    verb: str, resource: str, group: str, name: str, granted: bool
) -> None:
    cluster = fresh()
    cluster.client.create(binding("system:kube-scheduler", ACCOUNT))
    request = rbac.Request(ME, verb, resource, group, "kube-system", name)
    assert rbac.allowed(cluster.client, request) == granted


def test_a_role_binding_grants_in_its_own_namespace_only() -> None:
    cluster = fresh()
    cluster.client.create(binding("cluster-admin", {**ACCOUNT, "namespace": ""}, "RoleBinding"), "kube-system")
    assert rbac.allowed(cluster.client, rbac.Request(ME, "get", "pods", "", "kube-system"))
    assert not rbac.allowed(cluster.client, rbac.Request(ME, "get", "pods", "", "default"))
    assert not rbac.allowed(cluster.client, rbac.Request(ME, "get", "pods"))


def test_a_binding_to_a_role_that_is_not_there_grants_nothing() -> None:
    cluster = fresh()
    cluster.client.create(binding("no-such-role", ACCOUNT))
    assert not rbac.allowed(cluster.client, rbac.Request(ME, "list", "nodes"))


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (
            rbac.Request(ME, "list", "nodes"),
            f'nodes is forbidden: User "{ME}" cannot list resource "nodes" in API group "" at the cluster scope',
        ),
        (
            rbac.Request(ME, "get", "leases", "coordination.k8s.io", "kube-system", "x"),
            (
                f'leases.coordination.k8s.io "x" is forbidden: User "{ME}" cannot get resource "leases" '
                'in API group "coordination.k8s.io" in the namespace "kube-system"'
            ),
        ),
    ],
)
def test_a_refusal_has_the_servers_words(request_: rbac.Request, words: str) -> None:
    assert rbac.denial(request_) == words
