from typing import Any

import pytest

from app.apimachinery import clock, meta
from app.apimachinery.meta import Object
from app.cluster.cluster import Cluster
from tests.cluster.builders import MINUTE, NOW, SECOND, cron_job, events, fresh

HOUR = 60 * MINUTE
NOON = NOW // MINUTE  # 9:00, in minutes since 1970: what job names are made of


def with_cron_job(*argv: str, schedule: str = "*/5 * * * *", minutes: float = 0, **more: Any) -> Cluster:
    cluster = fresh()
    cluster.client.create(cron_job("tick", schedule, *argv, **more))
    cluster.advance_to(NOW + int(minutes * MINUTE))
    return cluster


def jobs(cluster: Cluster) -> list[str]:
    return [meta.name_of(job) for job in cluster.client.list("jobs", "default")]


def status(cluster: Cluster) -> Object:
    return dict(cluster.client.get("cronjobs", "tick")["status"])


def change(cluster: Cluster, **spec: Any) -> None:
    cluster.client.patch("cronjobs", "tick", "default", {"spec": spec})
    cluster.advance_to(cluster.now)


def seen(cluster: Cluster) -> list[tuple[str, str]]:
    return events(cluster, "tick")


def test_a_job_is_made_at_each_time_of_the_schedule_and_named_after_its_minute() -> None:
    cluster = with_cron_job(minutes=11)
    assert jobs(cluster) == [f"tick-{NOON + 5}", f"tick-{NOON + 10}"]
    made = cluster.client.get("jobs", f"tick-{NOON + 5}")
    assert made["metadata"]["creationTimestamp"] == "2026-03-01T09:05:00Z"
    assert made["metadata"]["annotations"] == {
        "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-03-01T09:05:00Z"
    }
    (owner,) = made["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("CronJob", "tick", True)
    assert seen(cluster)[:2] == [
        ("SuccessfulCreate", f"Created job tick-{NOON + 5}"),
        ("SawCompletedJob", f"Saw completed job: tick-{NOON + 5}, condition: Complete"),
    ]


def test_the_status_tells_of_running_jobs_and_of_the_last_ones() -> None:
    cluster = with_cron_job("sleep", "60", minutes=5.5)
    (reference,) = status(cluster)["active"]
    made = cluster.client.get("jobs", f"tick-{NOON + 5}")
    assert reference["uid"] == made["metadata"]["uid"]
    assert {key: reference[key] for key in ("kind", "apiVersion", "name", "namespace")} == {
        "kind": "Job",
        "apiVersion": "batch/v1",
        "name": f"tick-{NOON + 5}",
        "namespace": "default",
    }
    assert status(cluster)["lastScheduleTime"] == "2026-03-01T09:05:00Z"
    cluster.advance_to(NOW + 9 * MINUTE)
    found = status(cluster)
    assert found.get("active") is None
    assert found["lastSuccessfulTime"] == cluster.client.get("jobs", f"tick-{NOON + 5}")["status"]["completionTime"]


def test_labels_and_annotations_come_from_the_job_template() -> None:
    cluster = fresh()
    made = cron_job()
    made["spec"]["jobTemplate"]["metadata"] = {"labels": {"a": "b"}, "annotations": {"c": "d"}}
    cluster.client.create(made)
    cluster.advance_to(NOW + 6 * MINUTE)
    (job,) = cluster.client.list("jobs")
    assert (job["metadata"]["labels"], job["metadata"]["annotations"]["c"]) == ({"a": "b"}, "d")


def test_only_the_last_jobs_are_kept() -> None:
    cluster = with_cron_job(minutes=31)
    assert jobs(cluster) == [f"tick-{NOON + minute}" for minute in (20, 25, 30)]
    assert ("SuccessfulDelete", f"Deleted job tick-{NOON + 15}") in seen(cluster)
    assert len(cluster.client.list("pods", "default")) == 3
    change(cluster, successfulJobsHistoryLimit=0)
    cluster.settle()
    assert (jobs(cluster), cluster.client.list("pods", "default")) == ([], [])


def test_of_failed_jobs_one_is_kept() -> None:
    cluster = with_cron_job("sh", "-c", "exit 1", minutes=16, job_spec={"backoffLimit": 0})
    assert jobs(cluster) == [f"tick-{NOON + 15}"]
    assert seen(cluster)[1][1].endswith("condition: Failed")
    assert "lastSuccessfulTime" not in status(cluster)


def test_allow_runs_jobs_side_by_side() -> None:
    cluster = with_cron_job("sleep", "1000", minutes=11)
    assert len(status(cluster)["active"]) == 2


def test_forbid_leaves_a_time_out_while_a_job_runs_and_makes_up_for_it_afterwards() -> None:
    cluster = with_cron_job("sleep", "400", minutes=11, concurrencyPolicy="Forbid")
    assert jobs(cluster) == [f"tick-{NOON + 5}"]
    message = "Not starting job because prior execution is running and concurrency policy is Forbid"
    assert ("JobAlreadyActive", message) in seen(cluster)
    cluster.advance_to(NOW + 13 * MINUTE)
    assert jobs(cluster) == [f"tick-{NOON + 5}", f"tick-{NOON + 10}"]


def test_replace_deletes_the_job_that_still_runs() -> None:
    cluster = with_cron_job("sleep", "1000", minutes=11, concurrencyPolicy="Replace")
    assert jobs(cluster) == [f"tick-{NOON + 10}"]
    assert ("SuccessfulDelete", f"Deleted job tick-{NOON + 5}") in seen(cluster)
    assert [found["name"] for found in status(cluster)["active"]] == [f"tick-{NOON + 10}"]


def test_a_suspended_one_starts_nothing_and_catches_up_with_its_last_time_when_it_goes_on() -> None:
    cluster = with_cron_job(minutes=12, suspend=True)
    assert jobs(cluster) == []
    change(cluster, suspend=False)
    assert jobs(cluster) == [f"tick-{NOON + 10}"]
    assert status(cluster)["lastScheduleTime"] == "2026-03-01T09:10:00Z"


def test_a_time_that_was_missed_by_more_than_the_deadline_is_left_out() -> None:
    cluster = with_cron_job(minutes=12, suspend=True, startingDeadlineSeconds=60)
    change(cluster, suspend=False)
    assert jobs(cluster) == []
    cluster.advance_to(NOW + 16 * MINUTE)
    assert jobs(cluster) == [f"tick-{NOON + 15}"]


def test_more_than_a_hundred_missed_times_are_a_warning_and_one_job() -> None:
    cluster = with_cron_job(minutes=120, schedule="* * * * *", suspend=True)
    change(cluster, suspend=False)
    assert jobs(cluster) == [f"tick-{NOON + 120}"]
    assert seen(cluster)[0] == (
        "TooManyMissedTimes",
        "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew",
    )


def test_a_new_schedule_starts_nothing_before_its_next_time() -> None:
    cluster = with_cron_job(schedule="0 0 * * *", minutes=13)
    change(cluster, schedule="*/5 * * * *")
    assert jobs(cluster) == []
    cluster.advance_to(NOW + 16 * MINUTE)
    assert jobs(cluster) == [f"tick-{NOON + 15}"]


def test_a_time_zone_moves_the_schedule_and_stands_in_the_annotation() -> None:
    cluster = with_cron_job(schedule="30 18 * * *", minutes=31, timeZone="Asia/Seoul")
    (job,) = cluster.client.list("jobs")
    annotation = job["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"]
    assert annotation == "2026-03-01T18:30:00+09:00"


def test_a_schedule_that_never_comes_is_told() -> None:
    cluster = with_cron_job(schedule="59 23 31 2 *", minutes=30)
    problem = "time difference between two schedules is less than 1 second"
    assert seen(cluster)[0] == ("InvalidSchedule", f"invalid schedule: 59 23 31 2 * : {problem}")
    assert jobs(cluster) == []


def test_a_job_that_somebody_made_in_its_name_is_seen() -> None:
    cluster = with_cron_job(minutes=1)
    owner = cluster.client.get("cronjobs", "tick")
    reference = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "tick", "uid": owner["metadata"]["uid"]}
    metadata = {"name": "by-hand", "ownerReferences": [{**reference, "controller": True}]}
    spec = owner["spec"]["jobTemplate"]["spec"]
    cluster.client.create({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec})
    cluster.settle()
    assert seen(cluster)[0] == ("UnexpectedJob", "Saw a job that the controller did not create or forgot: by-hand")
    assert "lastSuccessfulTime" in status(cluster)
    assert "active" not in status(cluster)


def test_a_job_that_was_deleted_goes_missing() -> None:
    cluster = with_cron_job("sleep", "1000", minutes=6)
    cluster.client.delete("jobs", f"tick-{NOON + 5}", "default")
    cluster.advance_to(NOW + 7 * MINUTE)
    assert ("MissingJob", f"Active job went missing: tick-{NOON + 5}") in seen(cluster)
    assert "active" not in status(cluster)


def test_a_deleted_cron_job_takes_its_jobs_along() -> None:
    cluster = with_cron_job("sleep", "1000", minutes=6)
    cluster.client.delete("cronjobs", "tick", "default")
    cluster.advance_to(NOW + 20 * MINUTE)
    assert (jobs(cluster), cluster.client.list("pods", "default")) == ([], [])


def test_a_job_that_is_refused_is_tried_again() -> None:
    cluster = fresh()
    metadata = {"name": "none", "namespace": "default"}
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": metadata,
        "spec": {"hard": {"count/jobs.batch": "0"}},
    }
    cluster.client.create(quota)
    cluster.settle()
    cluster.client.create(cron_job())
    cluster.advance_to(NOW + 6 * MINUTE)
    reason, message = seen(cluster)[0]
    assert (reason, message[:19]) == ("FailedCreate", "Error creating job:")
    cluster.client.delete("resourcequotas", "none", "default")
    cluster.advance_to(NOW + 9 * MINUTE)
    assert jobs(cluster) == [f"tick-{NOON + 5}"]


def test_waiting_for_a_schedule_does_not_keep_a_cluster_from_settling() -> None:
    cluster = with_cron_job(schedule="* * * * *")
    cluster.settle()
    assert cluster.now - NOW < 5 * SECOND
    assert cluster.next_event() is not None


def test_many_looks_are_as_good_as_one() -> None:
    one, many = with_cron_job(schedule="*/7 * * * *"), with_cron_job(schedule="*/7 * * * *")
    one.advance_to(NOW + HOUR)
    for step in range(1, 121):
        many.advance_to(NOW + step * 30 * SECOND)
        if step % 40 == 0:
            many = Cluster.load(many.dump())
    assert one.dump() == many.dump()


@pytest.mark.parametrize("schedule", ["@every 40s", "* * * * *"])
def test_a_quick_schedule_keeps_its_pace(schedule: str) -> None:
    cluster = with_cron_job("true", schedule=schedule, minutes=10, successfulJobsHistoryLimit=50)
    assert len(jobs(cluster)) in {9, 10}
    last = clock.parse(status(cluster)["lastScheduleTime"])
    assert cluster.now - last <= MINUTE
