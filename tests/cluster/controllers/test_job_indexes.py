"""Indexed Jobs, and what their policies say of pods that end."""

from typing import Any

import pytest

from app.apimachinery import meta
from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from tests.cluster.builders import MINUTE, NOW, SECOND, events, fresh, job

INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"
FAILING = ("sh", "-c", "exit 3")


def with_job(*argv: str, minutes: int = 5, **more: Any) -> Cluster:
    cluster = fresh()
    cluster.client.create(job("ix", *argv, **{"completionMode": "Indexed", "completions": 3, "parallelism": 3, **more}))
    cluster.advance_to(NOW + minutes * MINUTE)
    return cluster


def pods(cluster: Cluster) -> list[Object]:
    return cluster.client.list("pods", "default", "job-name=ix")


def status(cluster: Cluster) -> Object:
    return dict(cluster.client.get("jobs", "ix")["status"])


def ends(cluster: Cluster) -> list[tuple[str, str, str]]:
    return [(c["type"], c["reason"], c["message"]) for c in status(cluster).get("conditions", [])]


def finish(cluster: Cluster, index: int, *, code: int = 0, conditions: list[Object] | None = None) -> None:
    """Have the pod of an index end as no program of the lab would, all at the same instant."""
    for pod in pods(cluster):
        if pod["metadata"]["labels"][INDEX] == str(index) and pod["status"]["phase"] == "Running":
            state = {"terminated": {"exitCode": code, "finishedAt": "2026-03-01T09:00:20Z"}}
            found = {**pod["status"], "phase": "Failed" if code else "Succeeded"}
            found["containerStatuses"] = [{**pod["status"]["containerStatuses"][0], "state": state}]
            found["conditions"] = [*pod["status"]["conditions"], *(conditions or [])]
            cluster.stop_kubelet(pod["spec"]["nodeName"])
            cluster.client.update_status({**cluster.client.get("pods", meta.name_of(pod)), "status": found})
    cluster.advance_to(cluster.now)


def running(**more: Any) -> Cluster:
    cluster = fresh()
    cluster.client.create(
        job("ix", "sleep", "9000", **{"completionMode": "Indexed", "completions": 3, "parallelism": 3, **more})
    )
    cluster.advance_to(NOW + 20 * SECOND)
    return cluster


def test_each_pod_knows_its_index() -> None:
    cluster = with_job()
    found = pods(cluster)
    assert [pod["metadata"]["annotations"] for pod in found] == [{INDEX: str(index)} for index in range(3)]
    assert [pod["metadata"]["labels"][INDEX] for pod in found] == ["0", "1", "2"]
    assert [pod["spec"]["hostname"] for pod in found] == ["ix-0", "ix-1", "ix-2"]
    assert all(meta.name_of(pod).startswith(f"ix-{index}-") for index, pod in enumerate(found))
    (variable,) = found[0]["spec"]["containers"][0]["env"]
    assert variable == {
        "name": "JOB_COMPLETION_INDEX",
        "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.labels['{INDEX}']"}},
    }


def test_completed_indexes_are_told_as_ranges() -> None:
    cluster = with_job(completions=12, parallelism=12)
    assert (status(cluster)["completedIndexes"], status(cluster)["succeeded"]) == ("0-11", 12)


def test_an_index_that_is_missing_splits_the_ranges() -> None:
    cluster = running(completions=6, parallelism=6)
    for index in (0, 1, 3, 5):
        finish(cluster, index)
    assert status(cluster)["completedIndexes"] == "0,1,3,5"


def test_a_failed_index_is_tried_again_under_the_same_number() -> None:
    cluster = with_job(*FAILING, completions=1, parallelism=1, backoffLimit=1)
    assert [pod["metadata"]["labels"][INDEX] for pod in pods(cluster)] == ["0", "0"]
    assert "failedIndexes" not in status(cluster)


def test_with_a_limit_for_each_index_the_job_goes_on_and_fails_at_the_end() -> None:
    cluster = with_job(*FAILING, completions=2, parallelism=2, backoffLimitPerIndex=1)
    assert ends(cluster) == [(kind, "FailedIndexes", "Job has failed indexes") for kind in ("FailureTarget", "Failed")]
    assert (status(cluster)["failedIndexes"], status(cluster)["failed"]) == ("0,1", 4)
    counts = sorted(
        (pod["metadata"]["labels"][INDEX], pod["metadata"]["annotations"][FAILURES]) for pod in pods(cluster)
    )
    assert counts == [("0", "0"), ("0", "1"), ("1", "0"), ("1", "1")]
    assert cluster.client.get("jobs", "ix")["spec"]["backoffLimit"] == 2**31 - 1


def test_a_failed_pod_is_held_until_its_index_has_a_new_one() -> None:
    cluster = running(backoffLimitPerIndex=1)
    finish(cluster, 1, code=7)
    (held,) = [pod for pod in pods(cluster) if pod["status"]["phase"] == "Failed"]
    assert "finalizers" in held["metadata"]
    assert "failed" not in status(cluster)
    cluster.advance_to(NOW + 31 * SECOND)
    assert "finalizers" not in cluster.client.get("pods", meta.name_of(held))["metadata"]
    assert status(cluster)["failed"] == 1


def test_too_many_failed_indexes_end_the_job() -> None:
    cluster = running(backoffLimitPerIndex=0, maxFailedIndexes=1)
    finish(cluster, 0, code=1)
    assert (ends(cluster), status(cluster)["failedIndexes"]) == ([], "0")
    finish(cluster, 2, code=1)
    message = "Job has exceeded the specified maximal number of failed indexes"
    assert ends(cluster)[0] == ("FailureTarget", "MaxFailedIndexesExceeded", message)


def test_a_success_policy_ends_the_job_before_all_have_succeeded() -> None:
    policy = {"rules": [{"succeededCount": 3}, {"succeededIndexes": "0,2", "succeededCount": 1}]}
    cluster = running(successPolicy=policy)
    finish(cluster, 1)
    assert ends(cluster) == []
    finish(cluster, 2)
    assert ends(cluster) == [("SuccessCriteriaMet", "SuccessPolicy", "Matched rules at index 1")]
    assert (status(cluster)["completedIndexes"], status(cluster)["terminating"]) == ("1,2", 1)


def test_all_named_indexes_must_succeed_where_the_policy_gives_no_count() -> None:
    cluster = running(successPolicy={"rules": [{"succeededIndexes": "0-1"}]})
    finish(cluster, 0)
    assert ends(cluster) == []
    finish(cluster, 1)
    assert ends(cluster)[0] == ("SuccessCriteriaMet", "SuccessPolicy", "Matched rules at index 0")


CODES = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3, 7]}}
DISRUPTION = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}


def test_an_exit_code_fails_the_job_where_the_policy_says_so() -> None:
    cluster = with_job(*FAILING, completions=1, parallelism=1, podFailurePolicy={"rules": [DISRUPTION, CODES]})
    (pod,) = pods(cluster)
    message = (
        f"Container c for pod default/{meta.name_of(pod)} failed with exit code 3 matching FailJob rule at index 1"
    )
    assert ends(cluster) == [(kind, "PodFailurePolicy", message) for kind in ("FailureTarget", "Failed")]
    assert events(cluster, "ix")[-1] == ("PodFailurePolicy", message)
    assert status(cluster)["failed"] == 1


def test_a_condition_fails_the_job_where_the_policy_says_so() -> None:
    rule = {"action": "FailJob", "onPodConditions": [{"type": "ConfigIssue"}]}
    cluster = running(podFailurePolicy={"rules": [rule]})
    finish(cluster, 0, code=1, conditions=[{"type": "ConfigIssue", "status": "True"}])
    assert ends(cluster)[0][2].endswith("has condition ConfigIssue matching FailJob rule at index 0")


def test_disruptions_that_are_ignored_do_not_count() -> None:
    cluster = running(podFailurePolicy={"rules": [DISRUPTION]}, backoffLimit=0)
    finish(cluster, 0, code=137, conditions=[{"type": "DisruptionTarget", "status": "True"}])
    assert (ends(cluster), "failed" in status(cluster)) == ([], False)
    cluster.advance_to(NOW + MINUTE)
    assert [pod["metadata"]["labels"][INDEX] for pod in pods(cluster)] == ["0", "0", "1", "2"]


def test_fail_index_gives_one_index_up_at_once() -> None:
    rule = {"action": "FailIndex", "onExitCodes": {"operator": "NotIn", "values": [1]}}
    cluster = running(podFailurePolicy={"rules": [rule]}, backoffLimitPerIndex=5)
    finish(cluster, 1, code=2)
    assert (ends(cluster), status(cluster)["failedIndexes"]) == ([], "1")


def test_an_indexed_job_grows_and_shrinks_as_a_whole() -> None:
    cluster = running()
    cluster.client.patch("jobs", "ix", "default", {"spec": {"completions": 2, "parallelism": 2}})
    cluster.advance_to(NOW + 2 * MINUTE)
    assert [pod["metadata"]["labels"][INDEX] for pod in pods(cluster)] == ["0", "1"]
    cluster.client.patch("jobs", "ix", "default", {"spec": {"completions": 4, "parallelism": 4}})
    cluster.advance_to(NOW + 3 * MINUTE)
    assert [pod["metadata"]["labels"][INDEX] for pod in pods(cluster)] == ["0", "1", "2", "3"]


@pytest.mark.parametrize("indexes", ["0-99999999", "7", "x", "0-1-2", ",,", "9" * 5000])
def test_a_status_that_somebody_spoilt_stops_nothing(indexes: str) -> None:
    cluster = running()
    found = cluster.client.get("jobs", "ix")
    cluster.store.update("jobs", {**found, "status": {**found["status"], "completedIndexes": indexes}})
    cluster.advance_to(NOW + 2 * MINUTE)
    assert status(cluster).get("completedIndexes") in {None, "0,1", "0-2"}
