"""pods/eviction (pkg/registry/core/pod/storage/eviction.go)."""

import orjson
import pytest

from app.cluster.apiserver import dispatch
from app.cluster.apiserver.exchange import ApiRequest
from tests.cluster.builders import NOW, SECOND, fresh, pods_of, workload

PATH = "/api/v1/namespaces/default/pods/{}/eviction"


def budget(name="web", app="web", status=None, **spec):
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": {"app": app}}, **spec},
    }


def ask(cluster, name, query=(), **more):
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": "default"}, **more}
    request = ApiRequest("POST", PATH.format(name), query, {"content-type": "application/json"}, orjson.dumps(body))
    response = dispatch.handle(cluster, request)
    return response, orjson.loads(response.body)


@pytest.fixture
def cluster():
    cluster = fresh()
    cluster.client.create(workload("Deployment", replicas=2))
    cluster.settle()
    return cluster


def guarded(cluster, *budgets):
    for one in budgets:
        cluster.client.create(one)
    cluster.settle()
    return pods_of(cluster, "web")[0]["metadata"]["name"]


def test_a_pod_without_a_budget_is_evicted_and_marked(cluster):
    name = guarded(cluster)
    response, status = ask(cluster, name)
    assert (response.code, status["status"], status["code"]) == (201, "Success", 201)
    pod = cluster.client.get("pods", name)
    assert pod["metadata"]["deletionTimestamp"]
    condition = next(c for c in pod["status"]["conditions"] if c["type"] == "DisruptionTarget")
    assert (condition["reason"], condition["message"]) == ("EvictionByEvictionAPI", "Eviction API: evicting")


def test_a_budget_without_room_answers_429_with_its_numbers(cluster):
    name = guarded(cluster, budget(minAvailable=2))
    response, status = ask(cluster, name)
    assert response.code == 429
    assert "retry-after" not in response.headers
    assert status["message"] == "Cannot evict pod as it would violate the pod's disruption budget."
    assert status["reason"] == "TooManyRequests"
    assert status["details"]["causes"] == [
        {"reason": "DisruptionBudget", "message": "The disruption budget web needs 2 healthy pods and has 2 currently"}
    ]
    assert "deletionTimestamp" not in cluster.client.get("pods", name)["metadata"]


def test_an_eviction_is_taken_from_the_budget_before_its_controller_looks(cluster):
    name = guarded(cluster, budget(maxUnavailable=1))
    ask(cluster, name)
    status = cluster.client.get("pdb", "web")["status"]
    assert status["disruptionsAllowed"] == 0
    assert list(status["disruptedPods"]) == [name]
    other = next(p["metadata"]["name"] for p in pods_of(cluster, "web") if p["metadata"]["name"] != name)
    assert ask(cluster, other)[0].code == 429


def test_a_budget_that_its_controller_has_not_seen_answers_429_and_when_to_ask_again(cluster):
    name = guarded(cluster, budget(maxUnavailable=1))
    old = cluster.client.get("pdb", "web")
    cluster.store.update("poddisruptionbudgets", {**old, "metadata": {**old["metadata"], "generation": 9}})
    response, status = ask(cluster, name)
    assert (response.code, response.headers["retry-after"]) == (429, "10")
    assert status["details"]["retryAfterSeconds"] == 10
    told = "The disruption budget web is still being processed by the server."
    assert status["details"]["causes"][0]["message"] == told


def test_two_budgets_are_an_error_without_a_reason(cluster):
    name = guarded(cluster, budget(maxUnavailable=1), budget("second", maxUnavailable=1))
    response, status = ask(cluster, name)
    assert response.code == 500
    assert status["message"] == (
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
    )
    assert "reason" not in status


def test_an_unready_pod_goes_freely_where_enough_others_are_healthy_or_always_allowed(cluster):
    cluster.client.create(workload("Deployment", "sick", image="nginx:no-such-tag", replicas=1))
    cluster.client.create(budget("sick", "sick", minAvailable=1))
    cluster.settle()
    pod = pods_of(cluster, "sick")[0]
    cluster.client.update_status({**pod, "status": {**pod["status"], "phase": "Running"}})
    name = pod["metadata"]["name"]
    assert ask(cluster, name)[0].code == 429
    cluster.client.patch("pdb", "sick", "default", {"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}})
    assert ask(cluster, name)[0].code == 201


def test_a_pending_pod_is_evicted_whatever_its_budget_says(cluster):
    spec = {"nodeSelector": {"no": "where"}}
    cluster.client.create(workload("Deployment", "waits", replicas=1, spec=spec))
    cluster.client.create(budget("waits", "waits", minAvailable=1))
    cluster.settle()
    name = pods_of(cluster, "waits")[0]["metadata"]["name"]
    assert ask(cluster, name)[0].code == 201
    assert cluster.client.find("pods", name) is None


@pytest.mark.parametrize(("query", "more"), [([["dryRun", "All"]], {}), ((), {"deleteOptions": {"dryRun": ["All"]}})])
def test_a_dry_run_judges_and_changes_nothing(cluster, query, more):
    name = guarded(cluster, budget(maxUnavailable=1))
    before = cluster.client.revision
    assert ask(cluster, name, query, **more)[0].code == 201
    assert cluster.client.revision == before


def test_the_older_version_of_the_body_is_taken(cluster):
    assert ask(cluster, guarded(cluster), apiVersion="policy/v1beta1")[0].code == 201


def test_the_name_must_be_the_urls(cluster):
    name = guarded(cluster)
    response, status = ask(cluster, name, metadata={"name": "other", "namespace": "default"})
    assert (response.code, status["message"]) == (400, "name in URL does not match name in Eviction object")


def test_an_unknown_pod_is_not_found(cluster):
    response, status = ask(cluster, "nobody")
    assert (response.code, status["message"]) == (404, 'pods "nobody" not found')


def test_its_own_grace_is_the_evictions(cluster):
    name = guarded(cluster)
    ask(cluster, name, deleteOptions={"gracePeriodSeconds": 7})
    assert cluster.client.get("pods", name)["metadata"]["deletionGracePeriodSeconds"] == 7
    cluster.advance_to(NOW + 600 * SECOND)
    assert cluster.client.find("pods", name) is None


def test_a_field_of_another_type_is_refused(cluster):
    response, status = ask(cluster, guarded(cluster), deleteOptions={"gracePeriodSeconds": "soon"})
    assert response.code == 400
    assert status["message"] == (
        'Eviction in version "v1" cannot be handled as a Eviction: json: cannot unmarshal string into Go struct field '
        "Eviction.deleteOptions.gracePeriodSeconds of type int64"
    )


def test_discovery_names_the_group_of_the_body(cluster):
    response = dispatch.handle(cluster, ApiRequest("GET", "/api/v1"))
    found = next(r for r in orjson.loads(response.body)["resources"] if r["name"] == "pods/eviction")
    assert (found["group"], found["version"], found["kind"], found["verbs"]) == ("policy", "v1", "Eviction", ["create"])
