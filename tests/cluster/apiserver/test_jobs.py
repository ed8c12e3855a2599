"""What the API server makes of Jobs and CronJobs, and what it refuses, in upstream's words."""

from typing import Any

import pytest

from app.apimachinery.errors import Invalid
from app.apimachinery.meta import Object
from app.cluster.client import Client
from tests.cluster.apiserver.making import refused_change, server
from tests.cluster.builders import cron_job, job


def refused(obj: Object) -> str:
    client, _ = server()
    with pytest.raises(Invalid) as caught:
        client.create(obj)
    head = f'{obj["kind"]}.batch "{obj["metadata"]["name"]}" is invalid: '
    assert caught.value.message.startswith(head)
    return caught.value.message.removeprefix(head)


def created(obj: Object) -> Object:
    client, _ = server()
    return client.create(obj)


LABELS = ("batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name")


def test_a_job_is_given_its_defaults() -> None:
    spec = created(job())["spec"]
    assert {name: spec[name] for name in spec if name not in {"template", "selector"}} == {
        "backoffLimit": 6,
        "completionMode": "NonIndexed",
        "completions": 1,
        "manualSelector": False,
        "parallelism": 1,
        "podReplacementPolicy": "TerminatingOrFailed",
        "suspend": False,
    }


def test_policies_change_the_defaults() -> None:
    rules = [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]
    limits = {"completionMode": "Indexed", "completions": 2, "backoffLimitPerIndex": 1}
    spec = created(job(**limits, podFailurePolicy={"rules": rules}))["spec"]
    assert (spec["backoffLimit"], spec["podReplacementPolicy"]) == (2**31 - 1, "Failed")
    assert spec["podFailurePolicy"]["rules"][0]["onPodConditions"][0]["status"] == "True"


def test_selector_and_labels_are_made_of_the_uid() -> None:
    made = created(job())
    uid = made["metadata"]["uid"]
    assert made["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    labels = dict(zip(LABELS, (uid, "pi", uid, "pi"), strict=True))
    assert made["spec"]["template"]["metadata"]["labels"] == made["metadata"]["labels"] == labels


def test_the_labels_of_a_job_are_its_own_where_it_has_some() -> None:
    obj = job()
    obj["metadata"]["labels"] = {"a": "b"}
    assert created(obj)["metadata"]["labels"] == {"a": "b"}


def test_a_generated_name_and_a_dry_run_get_a_selector_too() -> None:
    client, store = server()
    obj = {**job(), "metadata": {"generateName": "pi-"}}
    made = client.create(obj, dry_run=True)
    assert made["spec"]["selector"]["matchLabels"]["batch.kubernetes.io/controller-uid"] == made["metadata"]["uid"]
    assert made["spec"]["template"]["metadata"]["labels"]["job-name"] == made["metadata"]["name"]
    assert store.list("jobs") == []


def test_a_selector_of_ones_own_needs_to_be_asked_for() -> None:
    selector = {"selector": {"matchLabels": {"app": "x"}}}
    obj = job(**selector)
    obj["spec"]["template"]["metadata"] = {"labels": {"app": "x"}}
    text = refused(obj)
    assert "spec.selector: Invalid value: " in text
    assert text.endswith("`selector` not auto-generated")
    obj["spec"]["manualSelector"] = True
    assert created(obj)["spec"]["selector"] == selector["selector"]


def test_labels_that_the_server_gives_may_not_be_others() -> None:
    obj = job()
    obj["spec"]["template"]["metadata"] = {"labels": {"job-name": "other"}}
    assert "spec.template.metadata.labels[job-name]: Invalid value: " in refused(obj)
    assert "must be 'pi'" in refused(obj)


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"completions": -1}, "spec.completions: Invalid value: -1: must be greater than or equal to 0"),
        ({"parallelism": -1}, "spec.parallelism: Invalid value: -1: must be greater than or equal to 0"),
        ({"backoffLimit": -1}, "spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0"),
        (
            {"activeDeadlineSeconds": -1},
            "spec.activeDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            {"ttlSecondsAfterFinished": -1},
            "spec.ttlSecondsAfterFinished: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            {"completionMode": "Odd"},
            'spec.completionMode: Unsupported value: "Odd": supported values: "NonIndexed", "Indexed"',
        ),
        (
            {"completionMode": "Indexed", "parallelism": 1},
            "spec.completions: Required value: when completion mode is Indexed",
        ),
        (
            {"completionMode": "Indexed", "completions": 1, "parallelism": 100_001},
            (
                "spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 "
                "when completion mode is Indexed"
            ),
        ),
        (
            {"backoffLimitPerIndex": 1},
            "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode",
        ),
        (
            {"completionMode": "Indexed", "completions": 2, "maxFailedIndexes": 1},
            "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
        ),
        (
            {"completionMode": "Indexed", "completions": 2, "backoffLimitPerIndex": 0, "maxFailedIndexes": 3},
            "spec.maxFailedIndexes: Invalid value: 3: must be less than or equal to completions",
        ),
        (
            {"podReplacementPolicy": "Never"},
            'spec.podReplacementPolicy: Unsupported value: "Never": supported values: "Failed", "TerminatingOrFailed"',
        ),
        (
            {"podFailurePolicy": {"rules": [{"action": "FailJob"}]}},
            (
                "spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is "
                "required"
            ),
        ),
        (
            {"podFailurePolicy": {"rules": [{"onPodConditions": [{"type": "A"}]}]}},
            (
                'spec.podFailurePolicy.rules[0].action: Required value: valid values: ["Count" "FailIndex" "FailJob" '
                '"Ignore"]'
            ),
        ),
        (
            {"podFailurePolicy": {"rules": [{"action": "Count", "onExitCodes": {"operator": "In", "values": [0]}}]}},
            "spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator",
        ),
        (
            {"podFailurePolicy": {"rules": [{"action": "Count", "onExitCodes": {"operator": "In", "values": [3, 1]}}]}},
            "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [3,1]: must be ordered",
        ),
        (
            {"podFailurePolicy": {"rules": [{"action": "Count", "onPodConditions": [{"type": "A"}]}] * 21}},
            "spec.podFailurePolicy.rules: Too many: 21: must have at most 20 items",
        ),
        (
            {"successPolicy": {"rules": [{"succeededCount": 1}]}},
            'spec.successPolicy: Invalid value: {"Rules":[{"SucceededCount":1}]}: requires indexed completion mode',
        ),
        (
            {
                "completionMode": "Indexed",
                "completions": 3,
                "successPolicy": {"rules": [{"succeededIndexes": "0-1", "succeededCount": 3}]},
            },
            (
                "spec.successPolicy.rules[0].succeededCount: Invalid value: 3: must be less than or equal to 2 "
                "(the number of indexes in the specified succeededIndexes field)"
            ),
        ),
        (
            {
                "completionMode": "Indexed",
                "completions": 3,
                "successPolicy": {"rules": [{"succeededIndexes": "2,1"}]},
            },
            (
                'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "2,1": error parsing succeededIndexes: '
                "non-increasing order, previous: 2, current: 1"
            ),
        ),
        (
            {"managedBy": "mine"},
            'spec.managedBy: Invalid value: "mine": must be a domain-prefixed path (such as "acme.io/foo")',
        ),
    ],
)
def test_a_wrong_spec_is_refused(spec: Object, problem: str) -> None:
    assert refused(job(**spec)) == problem


@pytest.mark.parametrize("policy", [{}, {"restartPolicy": "Always"}])
def test_pods_of_a_job_must_end(policy: Object) -> None:
    obj = job()
    obj["spec"]["template"]["spec"].pop("restartPolicy")
    obj["spec"]["template"]["spec"].update(policy)
    field = "spec.template.spec.restartPolicy"
    assert refused(obj) == f'{field}: Required value: valid values: "OnFailure", "Never"'


def test_a_failure_policy_needs_pods_that_are_not_restarted() -> None:
    rules = [{"action": "Count", "onPodConditions": [{"type": "A"}]}]
    text = refused(job(spec={"restartPolicy": "OnFailure"}, podFailurePolicy={"rules": rules}))
    assert text == (
        'spec.template.spec.restartPolicy: Invalid value: "OnFailure": '
        'only "Never" is supported when podFailurePolicy is specified'
    )


def test_the_name_of_an_indexed_job_leaves_room_for_host_names() -> None:
    name = "x" * 62
    text = refused(job(name, completionMode="Indexed", completions=11))
    assert text == (
        f'metadata.name: Invalid value: "{name}": will not able to create pod with invalid DNS label: {name}-10'
    )


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"completions": 2}, "spec.completions: Invalid value: 2: field is immutable"),
        (
            {"completionMode": "Indexed"},
            'spec.completionMode: Invalid value: "Indexed": field is immutable',
        ),
        ({"managedBy": "a.b/c"}, 'spec.managedBy: Invalid value: "a.b/c": field is immutable'),
    ],
)
def test_most_of_a_job_is_fixed(changes: Object, problem: str) -> None:
    assert problem in refused_change(job(), {"spec": changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"parallelism": 3},
        {"suspend": True},
        {"backoffLimit": 1},
        {"activeDeadlineSeconds": 9},
        {"ttlSecondsAfterFinished": 9},
    ],
)
def test_the_rest_may_change(changes: Object) -> None:
    client, _ = server()
    client.create(job())
    changed = client.patch("jobs", "pi", "default", {"spec": changes})
    assert changed["metadata"]["generation"] == 2


def test_the_template_is_fixed_and_shown_as_the_server_holds_it() -> None:
    container = {"containers": [{"name": "c", "image": "alpine"}]}
    text = refused_change(job(), {"spec": {"template": {"spec": container}}})
    assert 'spec.template: Invalid value: {"labels":{"batch.kubernetes.io/controller-uid":' in text
    assert text.endswith('"WorkloadRef":null}}: field is immutable')


def test_replacing_a_job_by_its_own_manifest_is_refused() -> None:
    client, _ = server()
    client.create(job())
    with pytest.raises(Invalid) as caught:
        client.update(job())
    assert "spec.selector: Required value" in caught.value.message


def test_where_pods_go_may_change_before_a_suspended_job_first_starts() -> None:
    client, _ = server()
    client.create(job(suspend=True))
    spec = {"nodeSelector": {"disk": "ssd"}, "tolerations": [{"operator": "Exists"}]}
    changed = client.patch("jobs", "pi", "default", {"spec": {"template": {"spec": spec}}})
    assert changed["spec"]["template"]["spec"]["nodeSelector"] == {"disk": "ssd"}
    client.patch("jobs", "pi", "default", {"status": {"startTime": "2026-03-01T09:00:00Z"}}, subresource="status")
    with pytest.raises(Invalid, match=r"spec\.template: Invalid value"):
        client.patch("jobs", "pi", "default", {"spec": {"template": {"spec": {"nodeSelector": {"disk": "hdd"}}}}})


def test_an_indexed_job_changes_its_size_as_a_whole_only() -> None:
    obj = job(completionMode="Indexed", completions=2, parallelism=2)
    text = refused_change(obj, {"spec": {"completions": 3}})
    assert text.endswith("spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism")


# ---- status


def with_status(**status: Any) -> Client:
    client, _ = server()
    client.create(job())
    if status:
        client.patch("jobs", "pi", "default", {"status": status}, subresource="status")
    return client


def refused_status(client: Client, **status: Any) -> str:
    with pytest.raises(Invalid) as caught:
        client.patch("jobs", "pi", "default", {"status": status}, "merge", subresource="status")
    return caught.value.message.partition(" is invalid: ")[2]


def true(*kinds: str) -> list[Object]:
    return [{"type": kind, "status": "True"} for kind in kinds]


START, END = "2026-03-01T09:00:00Z", "2026-03-01T09:01:00Z"


@pytest.mark.parametrize(
    ("status", "problem"),
    [
        ({"active": -1}, "status.active: Invalid value: -1: must be greater than or equal to 0"),
        (
            {"completionTime": END},
            (
                f'status.completionTime: Invalid value: "{END}": cannot set completionTime when there is no Complete=True '
                "condition"
            ),
        ),
        (
            {"startTime": START, "conditions": true("Complete", "SuccessCriteriaMet")},
            "status.completionTime: Required value: completionTime is required for Complete jobs",
        ),
        (
            {"startTime": START, "conditions": true("Failed"), "active": 1},
            "status.active: Invalid value: 1: active>0 is invalid for finished job",
        ),
        ({"conditions": true("Failed")}, "status.startTime: Required value: startTime is required for finished job"),
        (
            {"conditions": true("SuccessCriteriaMet", "FailureTarget")},
            "status.conditions: Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
        ),
        (
            {"completedIndexes": "0"},
            (
                'status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed '
                "completion mode"
            ),
        ),
        (
            {"failedIndexes": "0"},
            (
                'status.failedIndexes: Invalid value: "0": cannot set non-null failedIndexes when backoffLimitPerIndex is '
                "null"
            ),
        ),
    ],
)
def test_a_status_must_fit_together(status: Object, problem: str) -> None:
    assert refused_status(with_status(), **status) == problem


def test_a_job_that_has_ended_stays_ended() -> None:
    ended = true("SuccessCriteriaMet", "Complete")
    client = with_status(startTime=START, completionTime=END, succeeded=1, conditions=ended)
    assert "cannot disable the terminal Complete=True condition" in refused_status(
        client, conditions=[], completionTime=None
    )
    assert (
        refused_status(client, succeeded=0)
        == "status.succeeded: Invalid value: 0: cannot decrease the succeeded counter"
    )
    assert refused_status(client, completionTime=START).endswith("completionTime cannot be mutated")


# ---- CronJobs


def test_a_cron_job_is_given_its_defaults() -> None:
    spec = created(cron_job())["spec"]
    assert {name: spec[name] for name in spec if name not in {"jobTemplate", "schedule"}} == {
        "concurrencyPolicy": "Allow",
        "failedJobsHistoryLimit": 1,
        "successfulJobsHistoryLimit": 3,
        "suspend": False,
    }


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"schedule": ""}, "spec.schedule: Required value"),
        (
            {"schedule": "x * * * *"},
            (
                'spec.schedule: Invalid value: "x * * * *": failed to parse int from x: strconv.Atoi: parsing "x": invalid '
                "syntax"
            ),
        ),
        (
            {"schedule": "TZ=UTC 0 0 * * *"},
            (
                'spec.schedule: Invalid value: "TZ=UTC 0 0 * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field '
                "instead"
            ),
        ),
        ({"timeZone": "Mars/Base"}, 'spec.timeZone: Invalid value: "Mars/Base": unknown time zone Mars/Base'),
        ({"timeZone": "../etc"}, 'spec.timeZone: Invalid value: "../etc": unknown time zone ../etc'),
        ({"timeZone": "America"}, 'spec.timeZone: Invalid value: "America": unknown time zone America'),
        ({"timeZone": ""}, 'spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string'),
        (
            {"timeZone": "Local"},
            (
                'spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in '
                "https://www.iana.org/time-zones"
            ),
        ),
        (
            {"concurrencyPolicy": "Never"},
            'spec.concurrencyPolicy: Unsupported value: "Never": supported values: "Allow", "Forbid", "Replace"',
        ),
        (
            {"startingDeadlineSeconds": -1},
            "spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            {"successfulJobsHistoryLimit": -1},
            "spec.successfulJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0",
        ),
    ],
)
def test_a_wrong_cron_job_is_refused(spec: Object, problem: str) -> None:
    obj = cron_job()
    assert refused({**obj, "spec": {**obj["spec"], **spec}}) == problem


def test_the_job_of_a_cron_job_has_no_selector_of_its_own() -> None:
    selector = {"selector": {"matchLabels": {"a": "b"}}, "manualSelector": True}
    text = refused(cron_job(job_spec=selector))
    field = "spec.jobTemplate.spec"
    assert f'{field}.selector: Invalid value: {{"matchLabels":{{"a":"b"}}}}: `selector` will be auto-generated' in text
    assert f'{field}.manualSelector: Unsupported value: true: supported values: "nil", "false"' in text


def test_the_template_of_a_cron_job_is_looked_at_too() -> None:
    obj = cron_job()
    del obj["spec"]["jobTemplate"]["spec"]["template"]["spec"]["restartPolicy"]
    field = "spec.jobTemplate.spec.template.spec.restartPolicy"
    assert refused(obj) == f'{field}: Required value: valid values: "OnFailure", "Never"'


def test_the_name_of_a_cron_job_leaves_room_for_the_minute() -> None:
    name = "x" * 53
    assert refused(cron_job(name)) == f'metadata.name: Invalid value: "{name}": must be no more than 52 characters'
