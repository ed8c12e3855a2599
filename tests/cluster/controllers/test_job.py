from typing import Any

import pytest

from app.apimachinery import clock, meta
from app.apimachinery.errors import NotFound
from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from tests.cluster.builders import MINUTE, NOW, SECOND, events, fresh, job, taint

FAILING = ("sh", "-c", "exit 3")
TRACKING = "batch.kubernetes.io/job-tracking"


def with_job(*argv: str, **more: Any) -> Cluster:
    cluster = fresh()
    cluster.client.create(job("pi", *argv, **more))
    cluster.settle()
    return cluster


def status(cluster: Cluster, name: str = "pi") -> Object:
    return dict(cluster.client.get("jobs", name)["status"])


def conditions(cluster: Cluster, name: str = "pi") -> list[tuple[str, str, str, str]]:
    found = status(cluster, name).get("conditions", [])
    return [(c["type"], c["status"], c["reason"], c["message"]) for c in found]


def pods(cluster: Cluster, name: str = "pi") -> list[Object]:
    return cluster.client.list("pods", "default", f"job-name={name}")


def change(cluster: Cluster, **spec: Any) -> None:
    cluster.client.patch("jobs", "pi", "default", {"spec": spec})
    cluster.advance_to(cluster.now)


REACHED = ("CompletionsReached", "Reached expected number of succeeded pods")
LIMIT = ("BackoffLimitExceeded", "Job has reached the specified backoff limit")


def test_a_job_runs_one_pod_to_its_end() -> None:
    cluster = with_job()
    assert [pod["status"]["phase"] for pod in pods(cluster)] == ["Succeeded"]
    found = status(cluster)
    assert found.pop("startTime") == "2026-03-01T09:00:00Z"
    assert found.pop("completionTime") == found["conditions"][1]["lastTransitionTime"] > "2026-03-01T09:00:05Z"
    assert conditions(cluster) == [("SuccessCriteriaMet", "True", *REACHED), ("Complete", "True", *REACHED)]
    del found["conditions"]
    assert found == {"ready": 0, "terminating": 0, "uncountedTerminatedPods": {}, "succeeded": 1}
    assert events(cluster, "pi") == [
        ("SuccessfulCreate", f"Created pod: {meta.name_of(pods(cluster)[0])}"),
        ("Completed", "Job completed"),
    ]


def test_a_job_counts_what_runs_while_it_runs() -> None:
    cluster = fresh()
    cluster.client.create(job("pi", "sleep", "100", completions=3, parallelism=2))
    cluster.advance_to(NOW + 20 * SECOND)
    found = status(cluster)
    assert (found["active"], found["ready"], found["terminating"]) == (2, 2, 0)
    assert "succeeded" not in found


def test_parallelism_bounds_the_pods_and_completions_end_the_job() -> None:
    cluster = fresh()
    cluster.client.create(job("pi", completions=5, parallelism=2))
    most = 0
    for step in range(60):
        cluster.advance_to(NOW + step * SECOND)
        most = max(most, sum(pod["status"]["phase"] in {"Pending", "Running"} for pod in pods(cluster)))
    assert most == 2
    assert status(cluster)["succeeded"] == len(pods(cluster)) == 5


def test_without_completions_one_success_ends_the_job_when_all_pods_have_ended() -> None:
    cluster = with_job(parallelism=3)
    assert "completions" not in cluster.client.get("jobs", "pi")["spec"]
    assert conditions(cluster)[1][0] == "Complete"
    assert status(cluster)["succeeded"] == 3


def test_no_completions_at_all_are_reached_at_once() -> None:
    cluster = with_job(completions=0)
    assert (conditions(cluster)[1][0], pods(cluster)) == ("Complete", [])


def test_nothing_runs_at_parallelism_zero() -> None:
    cluster = with_job(parallelism=0, completions=2)
    assert (conditions(cluster), pods(cluster)) == ([], [])
    change(cluster, parallelism=1)
    cluster.settle()
    assert conditions(cluster)[1][0] == "Complete"


def test_pods_are_held_for_counting_and_let_go_when_they_have_ended() -> None:
    cluster = fresh()
    cluster.client.create(job("pi", "sleep", "30"))
    cluster.advance_to(NOW + 5 * SECOND)
    (pod,) = pods(cluster)
    assert pod["metadata"]["finalizers"] == [TRACKING]
    cluster.settle()
    assert "finalizers" not in pods(cluster)[0]["metadata"]


def test_failed_pods_are_replaced_after_10_20_and_40_seconds() -> None:
    cluster = with_job(*FAILING, backoffLimit=3)
    cluster.advance_to(NOW + 5 * MINUTE)
    made = sorted(clock.parse(pod["metadata"]["creationTimestamp"]) for pod in pods(cluster))
    ended = sorted(
        clock.parse(pod["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"]) for pod in pods(cluster)
    )
    pauses = [later - before for before, later in zip(ended, made[1:], strict=False)]
    assert pauses == [10 * SECOND, 20 * SECOND, 40 * SECOND]


def test_a_job_fails_when_more_pods_failed_than_its_backoff_limit() -> None:
    cluster = with_job(*FAILING, backoffLimit=1)
    cluster.advance_to(NOW + MINUTE)
    assert conditions(cluster) == [("FailureTarget", "True", *LIMIT), ("Failed", "True", *LIMIT)]
    found = status(cluster)
    assert (found["failed"], "completionTime" in found) == (2, False)
    assert events(cluster, "pi")[-1] == LIMIT
    assert all("finalizers" not in pod["metadata"] for pod in pods(cluster))


def test_no_retry_at_backoff_limit_zero() -> None:
    cluster = with_job(*FAILING, backoffLimit=0)
    assert (status(cluster)["failed"], len(pods(cluster))) == (1, 1)


def test_on_failure_restarts_in_the_pod_and_ends_at_the_limit() -> None:
    cluster = with_job(*FAILING, backoffLimit=2, spec={"restartPolicy": "OnFailure"})
    cluster.advance_to(NOW + 10 * MINUTE)
    assert conditions(cluster)[1] == ("Failed", "True", *LIMIT)
    assert events(cluster, "pi")[0][0] == "SuccessfulCreate"
    assert [reason for reason, _ in events(cluster, "pi")].count("SuccessfulCreate") == 1
    assert [reason for reason, _ in events(cluster, "pi")].count("SuccessfulDelete") == 1


def test_a_deadline_ends_a_job_and_its_pods() -> None:
    cluster = with_job("sleep", "1000", activeDeadlineSeconds=30)
    why = ("DeadlineExceeded", "Job was active longer than specified deadline")
    assert [(kind, reason) for kind, _, reason, _ in conditions(cluster)] == [
        ("FailureTarget", why[0]),
        ("Failed", why[0]),
    ]
    found = status(cluster)
    assert found["conditions"][0]["lastTransitionTime"] == "2026-03-01T09:00:30Z"
    assert found["conditions"][1]["lastTransitionTime"] > "2026-03-01T09:00:30Z"
    assert (found["failed"], found.get("active"), pods(cluster)) == (1, None, [])
    assert events(cluster, "pi")[-1] == why


def test_a_job_that_ends_waits_for_its_pods_to_leave() -> None:
    cluster = fresh()
    cluster.client.create(job("pi", "sleep", "1000", activeDeadlineSeconds=30))
    cluster.advance_to(NOW + 31 * SECOND)
    assert [kind for kind, *_ in conditions(cluster)] == ["FailureTarget"]
    assert (status(cluster)["terminating"], status(cluster).get("active")) == (1, None)


def test_suspending_deletes_the_pods_without_counting_them() -> None:
    cluster = fresh()
    cluster.client.create(job("pi", "sleep", "1000"))
    cluster.advance_to(NOW + 10 * SECOND)
    change(cluster, suspend=True)
    assert conditions(cluster) == [("Suspended", "True", "JobSuspended", "Job suspended")]
    cluster.settle()
    found = status(cluster)
    assert (pods(cluster), found.get("active"), found.get("failed")) == ([], None, None)
    assert found["startTime"] == "2026-03-01T09:00:00Z"
    assert events(cluster, "pi")[-1] == ("Suspended", "Job suspended")


def test_resuming_starts_the_clock_of_the_job_anew() -> None:
    cluster = with_job(suspend=True)
    assert "startTime" not in status(cluster)
    cluster.advance_to(NOW + 5 * MINUTE)
    change(cluster, suspend=False)
    assert status(cluster)["startTime"] == "2026-03-01T09:05:00Z"
    assert conditions(cluster)[0] == ("Suspended", "False", "JobResumed", "Job resumed")
    cluster.settle()
    assert conditions(cluster)[-1][0] == "Complete"
    assert ("Resumed", "Job resumed") in events(cluster, "pi")


def test_a_job_that_ran_before_can_be_resumed() -> None:
    cluster = fresh()
    cluster.client.create(job("pi", "sleep", "30"))
    cluster.advance_to(NOW + 10 * SECOND)
    change(cluster, suspend=True)
    cluster.advance_to(NOW + 5 * MINUTE)
    change(cluster, suspend=False)
    assert status(cluster)["startTime"] == "2026-03-01T09:05:00Z"
    cluster.settle()
    assert conditions(cluster)[-1][0] == "Complete"


def test_fewer_pods_run_when_the_parallelism_is_lowered() -> None:
    cluster = fresh()
    cluster.client.create(job("pi", "sleep", "1000", parallelism=3, completions=3))
    cluster.advance_to(NOW + 10 * SECOND)
    change(cluster, parallelism=1)
    cluster.advance_to(NOW + 2 * MINUTE)
    assert (len(pods(cluster)), status(cluster).get("failed")) == (1, None)


def test_a_deleted_pod_counts_as_failed_and_is_replaced_at_once_it_leaves() -> None:
    cluster = fresh()
    cluster.client.create(job("pi", "sleep", "1000"))
    cluster.advance_to(NOW + 10 * SECOND)
    cluster.client.delete("pods", meta.name_of(pods(cluster)[0]), "default")
    cluster.advance_to(NOW + 11 * SECOND)
    assert status(cluster)["failed"] == 1
    cluster.advance_to(NOW + 2 * MINUTE)
    assert [pod["status"]["phase"] for pod in pods(cluster)] == ["Running"]


def test_a_pod_is_replaced_only_when_it_has_ended_where_the_policy_says_failed() -> None:
    cluster = fresh()
    cluster.client.create(job("pi", "sleep", "1000", podReplacementPolicy="Failed"))
    cluster.advance_to(NOW + 10 * SECOND)
    cluster.client.delete("pods", meta.name_of(pods(cluster)[0]), "default")
    cluster.advance_to(NOW + 35 * SECOND)
    found = status(cluster)
    assert (len(pods(cluster)), found["terminating"], found.get("failed")) == (1, 1, None)
    cluster.advance_to(NOW + 2 * MINUTE)
    assert (status(cluster)["failed"], status(cluster)["active"]) == (1, 1)


def test_a_deleted_job_takes_its_pods_along() -> None:
    cluster = fresh()
    cluster.client.create(job("pi", "sleep", "1000"))
    cluster.advance_to(NOW + 10 * SECOND)
    cluster.client.delete("jobs", "pi", "default")
    cluster.settle()
    assert pods(cluster) == []


@pytest.mark.parametrize("propagation", ["Foreground", "Background"])
def test_a_finished_job_goes_with_its_pods(propagation: str) -> None:
    cluster = with_job()
    cluster.client.delete("jobs", "pi", "default", propagation=propagation)
    cluster.settle()
    assert (cluster.client.find("jobs", "pi"), pods(cluster)) == (None, [])


def test_pods_that_the_quota_refuses_are_tried_again() -> None:
    cluster = fresh()
    metadata = {"name": "none", "namespace": "default"}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": {"pods": "0"}}}
    cluster.client.create(quota)
    cluster.settle()
    cluster.client.create(job())
    cluster.advance_to(NOW + 10 * SECOND)
    assert events(cluster, "pi")[0][0] == "FailedCreate"
    assert "active" not in status(cluster)
    cluster.client.delete("resourcequotas", "none", "default")
    cluster.advance_to(cluster.now + 20 * MINUTE)
    assert conditions(cluster)[-1][0] == "Complete"


def test_a_job_whose_pods_are_driven_off_at_once_comes_to_its_limit() -> None:
    cluster = fresh()
    for name in ("node01", "node02"):
        taint(cluster, name, {"key": "gone", "effect": "NoExecute"})
    cluster.client.create(job("pi", spec={"nodeName": "node01"}, backoffLimit=2))
    cluster.advance_to(NOW + 10 * MINUTE)
    assert conditions(cluster)[-1][:3] == ("Failed", "True", "BackoffLimitExceeded")
    assert status(cluster)["failed"] == 3


def test_an_adopted_pod_is_held_and_a_released_one_is_not() -> None:
    cluster = fresh()
    selector = {"manualSelector": True, "selector": {"matchLabels": {"app": "x"}}}
    orphan = job("lone", "sleep", "500")["spec"]["template"]["spec"]
    metadata = {"name": "lone", "labels": {"app": "x"}}
    cluster.client.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": orphan})
    template = {"metadata": {"labels": {"app": "x"}}, "spec": orphan}
    made = job("pi", "sleep", "500")
    cluster.client.create({**made, "spec": {**selector, "template": template}})
    cluster.advance_to(NOW + 10 * SECOND)
    lone = cluster.client.get("pods", "lone")
    assert lone["metadata"]["finalizers"] == [TRACKING]
    assert lone["metadata"]["ownerReferences"][0]["name"] == "pi"
    cluster.client.patch("pods", "lone", "default", {"metadata": {"labels": {"app": "y"}}})
    cluster.advance_to(NOW + 20 * SECOND)
    lone = cluster.client.get("pods", "lone")
    assert not {"finalizers", "ownerReferences"} & lone["metadata"].keys()


def test_another_controllers_job_is_left_alone() -> None:
    cluster = with_job(managedBy="acme.io/mine")
    assert (pods(cluster), status(cluster)) == ([], {})


def test_a_finished_job_is_deleted_after_its_time_to_live_with_its_pods() -> None:
    cluster = with_job(ttlSecondsAfterFinished=60)
    ended = clock.parse(status(cluster)["completionTime"])
    cluster.advance_to(ended + 59 * SECOND)
    assert len(pods(cluster)) == 1
    cluster.advance_to(ended + 61 * SECOND)
    with pytest.raises(NotFound):
        cluster.client.get("jobs", "pi")
    assert pods(cluster) == []


def test_the_time_to_live_may_be_set_when_the_job_is_over() -> None:
    cluster = with_job()
    change(cluster, ttlSecondsAfterFinished=0)
    cluster.settle()
    assert cluster.client.find("jobs", "pi") is None


def test_a_huge_job_stops_at_the_clusters_room() -> None:
    cluster = fresh()
    cluster.client.create(job("pi", "sleep", "1000", parallelism=100_000, completions=2_000_000_000))
    cluster.advance_to(NOW + SECOND)
    assert len(cluster.client.list("pods")) == 500
    assert status(cluster)["active"] == len(pods(cluster)) > 400


def test_a_job_goes_on_in_a_loaded_cluster_as_in_the_saved_one() -> None:
    cluster = fresh()
    cluster.client.create(job("pi", *FAILING, backoffLimit=2))
    cluster.advance_to(NOW + 8 * SECOND)
    other = Cluster.load(cluster.dump())
    for step in range(1, 10):
        cluster.advance_to(NOW + step * 10 * SECOND)
    other.advance_to(NOW + 90 * SECOND)
    assert other.dump() == cluster.dump()
    assert conditions(other)[-1][0] == "Failed"
