"""Impersonation and authorization (apiserver/pkg/endpoints/filters, plugin/pkg/auth/authorizer/rbac)."""

import orjson
import pytest

from app.apimachinery.errors import Forbidden
from app.cluster import users
from app.cluster.apiserver import authorization, dispatch
from app.cluster.apiserver.exchange import ApiRequest
from tests.cluster.builders import fresh, pod

RBAC = "rbac.authorization.k8s.io"


@pytest.fixture(scope="module")
def base():
    cluster = fresh()
    cluster.client.create(role("reader", {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}))
    cluster.client.create(bound("reader", "jane"))
    cluster.client.create(pod("bee"))
    return cluster


@pytest.fixture
def cluster(base):
    return base.fork()


def role(name, *rules, kind="Role"):
    metadata = {"name": name, **({"namespace": "default"} if kind == "Role" else {})}
    return {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": metadata, "rules": list(rules)}


def bound(to, user, kind="RoleBinding", role_kind="Role", name=""):
    metadata = {"name": name or to, **({"namespace": "default"} if kind == "RoleBinding" else {})}
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": kind,
        "metadata": metadata,
        "roleRef": {"apiGroup": RBAC, "kind": role_kind, "name": to},
        "subjects": [{"kind": "User", "apiGroup": RBAC, "name": user}],
    }


def ask(cluster, method, path, body=None, query=(), **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    sent = b"" if body is None else orjson.dumps(body)
    request = ApiRequest(method, path, query, {"content-type": "application/json", **named}, sent)
    response = dispatch.handle(cluster, request)
    answer = response.body
    return response.code, orjson.loads(answer) if answer.startswith(b"{") else answer.decode()


def jane(cluster, method, path, body=None, **more):
    return ask(cluster, method, path, body, impersonate_user="jane", **more)


PODS = "/api/v1/namespaces/default/pods"


def test_somebody_with_a_role_may_what_its_rules_say_and_no_more(cluster):
    assert jane(cluster, "GET", PODS)[0] == 200
    assert jane(cluster, "GET", f"{PODS}/bee")[0] == 200
    code, status = jane(cluster, "DELETE", f"{PODS}/bee")
    assert (code, status["reason"]) == (403, "Forbidden")
    assert status["message"] == (
        'pods "bee" is forbidden: User "jane" cannot delete resource "pods" in API group "" in the namespace "default"'
    )
    assert status["details"] == {"name": "bee", "kind": "pods"}


@pytest.mark.parametrize(
    ("method", "path", "query", "words"),
    [
        (
            "GET",
            "/api/v1/pods",
            (),
            'pods is forbidden: User "jane" cannot list resource "pods" in API group "" at the cluster scope',
        ),
        (
            "GET",
            PODS,
            [["watch", "1"]],
            'pods is forbidden: User "jane" cannot watch resource "pods" in API group "" in the namespace "default"',
        ),
        (
            "GET",
            f"{PODS}/bee/log",
            (),
            (
                'pods "bee" is forbidden: User "jane" cannot get resource "pods/log" in API group "" '
                'in the namespace "default"'
            ),
        ),
        (
            "DELETE",
            "/apis/apps/v1/namespaces/default/deployments",
            (),
            (
                'deployments.apps is forbidden: User "jane" cannot deletecollection resource "deployments" '
                'in API group "apps" in the namespace "default"'
            ),
        ),
        (
            "GET",
            "/api/v1/namespaces/default",
            (),
            (
                'namespaces "default" is forbidden: User "jane" cannot get resource "namespaces" in API group "" '
                'in the namespace "default"'
            ),
        ),
        ("GET", "/metrics", (), 'forbidden: User "jane" cannot get path "/metrics"'),
    ],
)
def test_a_refusal_names_user_verb_resource_and_scope(cluster, method, path, query, words):
    code, status = jane(cluster, method, path, query=query)
    assert (code, status["message"]) == (403, words)


def test_a_role_that_is_missing_is_named_in_the_refusal(cluster):
    cluster.client.create(bound("gone", "jane", role_kind="ClusterRole"))
    status = jane(cluster, "DELETE", f"{PODS}/bee")[1]
    assert status["message"].endswith(': RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found')


def test_to_act_as_somebody_takes_the_verb_impersonate(cluster):
    jane = users.named("jane")
    headers = {"impersonate-user": "bob", "impersonate-group": "system:masters"}
    request = ApiRequest("GET", PODS, (), headers)
    with pytest.raises(Forbidden) as caught:
        authorization.acting_as(cluster, request, jane)
    assert caught.value.message == (
        'users "bob" is forbidden: User "jane" cannot impersonate resource "users" in API group "" at the cluster scope'
    )
    rule = {"apiGroups": [""], "resources": ["users"], "verbs": ["impersonate"], "resourceNames": ["bob"]}
    cluster.client.create(role("may-act", rule, kind="ClusterRole"))
    cluster.client.create(bound("may-act", "jane", kind="ClusterRoleBinding", role_kind="ClusterRole"))
    with pytest.raises(Forbidden, match='groups "system:masters" is forbidden: User "jane" cannot impersonate'):
        authorization.acting_as(cluster, request, jane)
    alone = ApiRequest("GET", PODS, (), {"impersonate-user": "bob"})
    assert authorization.acting_as(cluster, alone, jane).name == "bob"


def test_a_service_account_that_is_acted_as_has_its_groups(cluster):
    name = "system:serviceaccount:default:default"
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    code, review = ask(cluster, "POST", path, {}, impersonate_user=name)
    assert code == 201
    assert review["status"]["userInfo"] == {
        "username": name,
        "groups": ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
    }


def test_the_learner_is_the_administrator_that_kubeadm_makes(cluster):
    review = ask(cluster, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {})[1]
    info = review["status"]["userInfo"]
    assert (info["username"], info["groups"]) == (
        "kubernetes-admin",
        ["kubeadm:cluster-admins", "system:authenticated"],
    )


def access(verb, **more):
    kind = "SelfSubjectAccessReview"
    spec = {"resourceAttributes": {"verb": verb, "namespace": "default", **more}}
    return {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec}


ACCESS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


def test_an_access_review_says_by_which_binding(cluster):
    status = jane(cluster, "POST", ACCESS, access("list", resource="pods"))[1]["status"]
    assert status == {
        "allowed": True,
        "reason": 'RBAC: allowed by RoleBinding "reader/default" of Role "reader" to User "jane"',
    }
    assert jane(cluster, "POST", ACCESS, access("delete", resource="pods"))[1]["status"] == {"allowed": False}


def test_an_access_review_of_somebody_else_is_for_those_who_may_create_it(cluster):
    path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    spec = {"user": "jane", "resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "default"}}
    body = {"spec": spec}
    assert ask(cluster, "POST", path, body)[1]["status"]["allowed"] is True
    assert jane(cluster, "POST", path, body)[0] == 403


def test_an_access_review_without_attributes_is_invalid(cluster):
    code, status = ask(cluster, "POST", ACCESS, {"spec": {}})
    assert code == 422
    assert "exactly one of nonResourceAttributes or resourceAttributes must be specified" in status["message"]


def test_a_local_review_asks_about_its_own_namespace(cluster):
    path = "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews"
    spec = {"user": "jane", "resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "other"}}
    code, status = ask(cluster, "POST", path, {"spec": spec})
    assert (code, status["message"]) == (400, "spec.resourceAttributes.namespace must match namespace: default")


def test_my_rules_are_listed(cluster):
    path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
    status = jane(cluster, "POST", path, {"spec": {"namespace": "default"}})[1]["status"]
    assert {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]} in status["resourceRules"]
    assert status["incomplete"] is False


ROLES = f"/apis/{RBAC}/v1/namespaces/default/roles"
BINDINGS = f"/apis/{RBAC}/v1/namespaces/default/rolebindings"


def manager(cluster, *verbs):
    rule = {"apiGroups": [RBAC], "resources": ["roles", "rolebindings"], "verbs": ["create", *verbs]}
    cluster.client.create(role("manager", rule))
    cluster.client.create(bound("manager", "jane"))


def test_nobody_grants_rights_that_they_do_not_hold(cluster):
    manager(cluster)
    assert (
        jane(cluster, "POST", ROLES, role("less", {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}))[0]
        == 201
    )
    rule = {"apiGroups": [""], "resources": ["pods", "secrets"], "verbs": ["get", "delete"]}
    code, status = jane(cluster, "POST", ROLES, role("more", rule))
    assert code == 403
    assert status["message"] == (
        'roles.rbac.authorization.k8s.io "more" is forbidden: user "jane" (groups=["system:authenticated"]) is '
        "attempting to grant RBAC permissions not currently held:\n"
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}\n'
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}'
    )


def test_who_may_escalate_grants_anything(cluster):
    manager(cluster, "escalate")
    rule = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
    assert jane(cluster, "POST", ROLES, role("more", rule))[0] == 201


def test_a_binding_needs_the_rights_of_its_role_or_the_verb_bind(cluster):
    manager(cluster)
    more = bound("edit", "jane", role_kind="ClusterRole")
    code, status = jane(cluster, "POST", BINDINGS, more)
    assert code == 403
    assert 'rolebindings.rbac.authorization.k8s.io "edit" is forbidden: user "jane"' in status["message"]
    rule = {"apiGroups": [RBAC], "resources": ["clusterroles"], "verbs": ["bind"], "resourceNames": ["edit"]}
    cluster.client.create(role("binder", rule))
    cluster.client.create(bound("binder", "jane"))
    assert jane(cluster, "POST", BINDINGS, more)[0] == 201


def test_a_binding_to_a_role_that_is_missing_is_not_found_for_who_holds_less_than_all(cluster):
    manager(cluster)
    code, status = jane(cluster, "POST", BINDINGS, bound("gone", "jane"))
    assert (code, status["message"]) == (404, 'role.rbac.authorization.k8s.io "gone" not found')


def test_groups_without_a_user_are_an_error(cluster):
    assert ask(cluster, "GET", PODS, impersonate_group="a")[0] == 500


class TestAdministrators:
    BINDING = "kubeadm:cluster-admins"

    def test_without_their_binding_they_are_refused_as_anybody(self, cluster):
        assert ask(cluster, "DELETE", f"/apis/{RBAC}/v1/clusterrolebindings/{self.BINDING}")[0] == 200
        code, answer = ask(cluster, "GET", "/api/v1/namespaces/default/pods")
        assert (code, answer["message"]) == (
            403,
            (
                'pods is forbidden: User "kubernetes-admin" cannot list resource "pods" in API group "" '
                'in the namespace "default"'
            ),
        )
        code, answer = ask(cluster, "GET", "/api/v1/namespaces/default/pods", impersonate_user="jane")
        assert (code, answer["message"]) == (
            403,
            (
                'users "jane" is forbidden: User "kubernetes-admin" cannot impersonate resource "users" in API group "" '
                "at the cluster scope"
            ),
        )
        assert ask(cluster, "GET", "/api/v1")[0] == 200, "discovery is for everybody"

    def test_the_clusters_own_loops_and_the_lab_go_on(self, cluster):
        cluster.client.delete("clusterrolebindings", self.BINDING)
        cluster.client.create(pod("late"))
        cluster.settle()
        assert cluster.client.get("pods", "late")["status"]["phase"] == "Running"

    def test_they_have_what_other_bindings_and_what_is_left_of_the_role_give(self, cluster):
        cluster.client.create(bound("view", "kubernetes-admin", "ClusterRoleBinding", "ClusterRole"))
        cluster.client.delete("clusterrolebindings", self.BINDING)
        assert ask(cluster, "GET", "/api/v1/pods")[0] == 200
        assert ask(cluster, "GET", "/api/v1/secrets")[0] == 403

    def test_a_binding_that_is_only_labelled_is_the_same(self, cluster):
        labels = {"metadata": {"labels": {"a": "b"}}}
        cluster.client.patch("clusterrolebindings", self.BINDING, "", labels)
        assert ask(cluster, "GET", "/api/v1/secrets")[0] == 200
