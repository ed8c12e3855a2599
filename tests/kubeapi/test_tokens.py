"""Tokens of service accounts: asked for, reviewed, and borne."""

import base64
import json

import pytest

from app.apimachinery import clock
from app.cluster.apiserver import dispatch
from app.cluster.apiserver.exchange import ApiRequest
from app.cluster.cluster import Cluster
from tests.kubeapi.asking import NOW, loaded, pod

TOKEN = "/api/v1/namespaces/default/serviceaccounts/default/token"
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
ISSUER = "https://kubernetes.default.svc.cluster.local"


@pytest.fixture(scope="module")
def base():
    cluster = Cluster.new(seed=7, now=NOW)
    cluster.client.create(pod("bee"))
    cluster.advance_to(NOW + 60 * clock.SECOND)
    return cluster


@pytest.fixture
def cluster(base):
    return base.fork()


def post(cluster, url, body, code=201, **headers):
    encoded = json.dumps(body).encode()
    request = ApiRequest("POST", url, (), {"content-type": "application/json", **headers}, encoded)
    return loaded(dispatch.handle(cluster, request), code)


def asked(cluster, url=TOKEN, **spec):
    return post(cluster, url, {"spec": spec})


def token(cluster, **spec):
    return asked(cluster, **spec)["status"]["token"]


def review(cluster, token, *audiences):
    return post(cluster, REVIEWS, {"spec": {"token": token, "audiences": list(audiences)}})["status"]


def bearing(cluster, token, path="/api/v1/namespaces/default/pods", **headers):
    return dispatch.handle(cluster, ApiRequest("GET", path, (), {"authorization": f"Bearer {token}", **headers}))


def parts(token):
    return [json.loads(base64.urlsafe_b64decode(part + "==")) for part in token.split(".")[:2]]


def bound_to(cluster, kind="pods", name="bee", namespace="default", **more):
    found = cluster.client.get(kind, name, namespace)
    return {"kind": found["kind"], "apiVersion": "v1", "name": name, "uid": found["metadata"]["uid"], **more}


class TestRequests:
    def test_a_token_is_a_jwt_for_the_api_server_that_lives_an_hour(self, cluster):
        answer = asked(cluster)
        assert (answer["kind"], answer["apiVersion"]) == ("TokenRequest", "authentication.k8s.io/v1")
        assert answer["metadata"] == {
            "name": "default",
            "namespace": "default",
            "creationTimestamp": "2026-03-01T12:01:00Z",
        }
        assert answer["spec"] == {"audiences": [ISSUER], "expirationSeconds": 3600, "boundObjectRef": None}
        assert answer["status"]["expirationTimestamp"] == "2026-03-01T13:01:00Z"
        header, claims = parts(answer["status"]["token"])
        now = cluster.now // clock.SECOND
        account = cluster.client.get("serviceaccounts", "default", "default")
        assert header["alg"] == "RS256"
        assert claims.pop("jti")
        assert claims == {
            "aud": [ISSUER],
            "exp": now + 3600,
            "iat": now,
            "iss": ISSUER,
            "kubernetes.io": {
                "namespace": "default",
                "serviceaccount": {"name": "default", "uid": account["metadata"]["uid"]},
            },
            "nbf": now,
            "sub": "system:serviceaccount:default:default",
        }
        assert len(base64.urlsafe_b64decode(answer["status"]["token"].rpartition(".")[2] + "==")) == 256

    def test_asking_changes_nothing_and_gives_the_same_token_at_one_instant(self, cluster):
        before = cluster.dump()
        assert token(cluster) == token(cluster)
        assert token(cluster) != token(cluster, expirationSeconds=601)
        assert token(cluster) != token(Cluster.new(seed=8, now=cluster.now))
        assert cluster.dump() == before

    def test_a_token_is_bound_to_a_pod_and_tells_its_node(self, cluster):
        _, claims = parts(token(cluster, boundObjectRef=bound_to(cluster)))
        assert claims["kubernetes.io"]["pod"]["name"] == "bee"
        assert claims["kubernetes.io"]["node"]["name"].startswith("node")
        assert "warnafter" not in claims["kubernetes.io"]

    def test_the_token_that_pods_are_given_lives_on_for_a_year(self, cluster):
        _, claims = parts(token(cluster, boundObjectRef=bound_to(cluster), expirationSeconds=3607))
        assert claims["exp"] - claims["iat"] == 365 * 24 * 3600
        assert claims["kubernetes.io"]["warnafter"] - claims["iat"] == 3607

    @pytest.mark.parametrize(
        ("spec", "code", "words"),
        [
            (
                {"expirationSeconds": 60},
                422,
                (
                    'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 60: '
                    "may not specify a duration less than 10 minutes"
                ),
            ),
            ({"expirationSeconds": 2**33}, 422, "may not specify a duration larger than 2^32 seconds"),
            ({"expirationSeconds": "long"}, 400, "cannot unmarshal string into Go struct field"),
            ({"audiences": "me"}, 400, "cannot unmarshal string into Go struct field"),
            ({"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "fly"}}, 404, 'pods "fly" not found'),
            (
                {"boundObjectRef": {"kind": "ConfigMap", "apiVersion": "v1", "name": "c"}},
                400,
                "cannot bind token to object of type /v1, Kind=ConfigMap",
            ),
            (
                {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "bee", "uid": "other"}},
                409,
                (
                    'Operation cannot be fulfilled on Pod "bee": the UID in the bound object reference (other) does not '
                    "match the UID in record. The object might have been deleted and then recreated"
                ),
            ),
        ],
    )
    def test_refusals(self, cluster, spec, code, words):
        assert words in post(cluster, TOKEN, {"spec": spec}, code)["message"]

    def test_the_account_must_be_there_and_be_the_one_that_is_named(self, cluster):
        url = TOKEN.replace("/default/token", "/nobody/token")
        assert post(cluster, url, {}, 404)["message"] == 'serviceaccounts "nobody" not found'
        told = post(cluster, TOKEN, {"metadata": {"name": "other"}}, 422)["message"]
        assert told.endswith('metadata.name: Invalid value: "other": must match the service account name if specified')

    def test_a_pod_of_another_account_is_refused(self, cluster):
        other = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot", "namespace": "default"}}
        cluster.client.create(other)
        url = TOKEN.replace("/default/token", "/robot/token")
        told = post(cluster, url, {"spec": {"boundObjectRef": bound_to(cluster)}}, 400)["message"]
        assert told == (
            'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.'
        )


class TestReviews:
    def test_the_bearer_is_the_account_with_its_groups(self, cluster):
        account = cluster.client.get("serviceaccounts", "default", "default")
        found = review(cluster, token(cluster, boundObjectRef=bound_to(cluster)))
        extra = found["user"].pop("extra")
        assert found == {
            "authenticated": True,
            "user": {
                "username": "system:serviceaccount:default:default",
                "uid": account["metadata"]["uid"],
                "groups": ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
            },
            "audiences": [ISSUER],
        }
        assert extra["authentication.kubernetes.io/pod-name"] == ["bee"]
        assert extra["authentication.kubernetes.io/credential-id"][0].startswith("JTI=")
        assert "authentication.kubernetes.io/node-name" in extra

    def test_a_token_for_others_is_nothing_to_the_api_server(self, cluster):
        given = token(cluster, audiences=["vault"])
        assert review(cluster, given)["error"] == (
            f'token audiences ["vault"] is invalid for the target audiences ["{ISSUER}"]'
        )
        assert review(cluster, given, "vault", "door")["audiences"] == ["vault"]

    @pytest.mark.parametrize("text", ["x", "a.b.c", "a.b", "..", "é.ü.ö", "x" * 100_000, "eyJ9.eyJpc3MiOjF9.AA"])
    def test_what_is_no_token_is_nobodys(self, cluster, text):
        assert review(cluster, text) == {"user": {}}

    def test_a_changed_token_and_one_of_another_cluster_are_refused(self, cluster):
        given = token(cluster)
        header, body, signature = given.split(".")
        claims = {**parts(given)[1], "sub": "system:serviceaccount:kube-system:default"}
        forged = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
        told = "go-jose/go-jose: error in cryptographic primitive"
        assert review(cluster, f"{header}.{forged}.{signature}") == {"user": {}, "error": told}
        assert review(cluster, f"{header}.{body}.AAAA") == {"user": {}, "error": told}
        assert review(Cluster.new(seed=8, now=cluster.now), given)["error"] == told

    def test_a_token_runs_out_and_ends_with_what_it_is_bound_to(self, cluster):
        given, bound = token(cluster), token(cluster, boundObjectRef=bound_to(cluster))
        cluster.client.delete("pods", "bee", "default", 0)
        assert review(cluster, bound)["error"] == "service account token has been invalidated"
        assert review(cluster, given)["authenticated"]
        cluster.client.delete("serviceaccounts", "default", "default")
        assert review(cluster, given)["error"] == 'serviceaccounts "default" not found'
        cluster.advance_to(cluster.now + clock.SECOND)
        assert "does not match claim" in review(cluster, given)["error"]
        fresh = token(cluster)
        cluster.advance_to(cluster.now + 3600 * clock.SECOND)
        assert review(cluster, fresh)["error"] == "service account token has expired"

    def test_a_review_needs_a_token(self, cluster):
        told = post(cluster, REVIEWS, {"spec": {}}, 400)["message"]
        assert told == "token is required for TokenReview in authentication"


class TestBearers:
    def test_a_bearer_is_judged_as_the_account(self, cluster):
        answer = bearing(cluster, token(cluster))
        assert loaded(answer, 403)["message"] == (
            'pods is forbidden: User "system:serviceaccount:default:default" cannot list resource "pods" '
            'in API group "" in the namespace "default"'
        )
        cluster.client.create(
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "RoleBinding",
                "metadata": {"name": "look", "namespace": "default"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
                "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": "default"}],
            }
        )
        assert [item["metadata"]["name"] for item in loaded(bearing(cluster, token(cluster)))["items"]] == ["bee"]

    def test_a_bearer_may_ask_who_it_is_but_act_as_nobody(self, cluster):
        given = token(cluster)
        path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
        who = post(cluster, path, {}, authorization=f"Bearer {given}")["status"]["userInfo"]
        assert who["username"] == "system:serviceaccount:default:default"
        refused = loaded(bearing(cluster, given, **{"impersonate-user": "jane"}), 403)
        assert 'cannot impersonate resource "users"' in refused["message"]

    def test_whoever_bears_no_good_token_is_not_let_in(self, cluster):
        for text in ("x", token(cluster) + "A", "a.b.c"):
            answer = loaded(bearing(cluster, text), 401)
            assert (answer["message"], answer["reason"]) == ("Unauthorized", "Unauthorized")
        assert bearing(cluster, "").code == 200
        basic = ApiRequest("GET", "/api/v1/nodes", (), {"authorization": "Basic eDp5"})
        assert dispatch.handle(cluster, basic).code == 200
