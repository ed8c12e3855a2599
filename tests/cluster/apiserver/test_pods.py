"""Pods: what is refused on create and update, QoS, and graceful deletion."""

from __future__ import annotations

from copy import deepcopy

import pytest

from app.apimachinery import clock as clocks
from app.apimachinery.errors import Invalid
from tests.cluster.apiserver.making import NOW, named, pod, server

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def refusal(obj: dict) -> Invalid:
    client, store = server()
    before = store.revision
    with pytest.raises(Invalid) as caught:
        client.create(obj)
    assert store.revision == before
    return caught.value


def tolerating(**toleration) -> dict:
    return pod(tolerations=[toleration])


def node_terms(*expressions, fields=()) -> dict:
    term = {"matchExpressions": list(expressions), "matchFields": list(fields)}
    return pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term]}}})


def spread(**constraint) -> dict:
    given = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", **constraint}
    return pod(topologySpreadConstraints=[given])


TERMS = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"


@pytest.mark.parametrize(
    ("obj", "text"),
    [
        (
            tolerating(key="a", effect="NoScheduled"),
            (
                'spec.tolerations[0].effect: Unsupported value: "NoScheduled": supported values: "NoSchedule", '
                '"PreferNoSchedule", "NoExecute"'
            ),
        ),
        (
            tolerating(effect="NoSchedule"),
            (
                'spec.tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means '
                '"match all values and all keys"'
            ),
        ),
        (
            tolerating(key="a", operator="Exists", value="b"),
            (
                'spec.tolerations[0].operator: Invalid value: {"Key":"a","Operator":"Exists","Value":"b","Effect":"",'
                "\"TolerationSeconds\":null}: value must be empty when `operator` is 'Exists'"
            ),
        ),
        (
            tolerating(key="a", operator="Equals"),
            'spec.tolerations[0].operator: Unsupported value: "Equals": supported values: "Equal", "Exists"',
        ),
        (
            tolerating(key="a", effect="NoSchedule", tolerationSeconds=3),
            (
                "spec.tolerations[0].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when "
                "`tolerationSeconds` is set"
            ),
        ),
        (tolerating(key="a b"), 'spec.tolerations[0].key: Invalid value: "a b": name part must consist of'),
        (tolerating(key="a", value="b c"), 'spec.tolerations[0].operator: Invalid value: "b c": a valid label must be'),
        (named("v1", "Pod", "x", spec={}), "spec.containers: Required value"),
        (named("v1", "Pod", "x", spec={"containers": [{"name": "a"}]}), "spec.containers[0].image: Required value"),
        (named("v1", "Pod", "x", spec={"containers": [{"image": "a"}]}), "spec.containers[0].name: Required value"),
        (pod(container={"name": "A"}), 'spec.containers[0].name: Invalid value: "A": a lowercase RFC 1123 label must'),
        (pod(container={"image": " nginx"}), "must not have leading or trailing whitespace"),
        (
            named("v1", "Pod", "x", spec={"containers": [{"name": "a", "image": "b"}] * 2}),
            'spec.containers[1].name: Duplicate value: "a"',
        ),
        (
            pod(initContainers=[{"name": "c", "image": "b"}]),
            'spec.initContainers[0].name: Duplicate value: "c"',
        ),
        (
            pod(initContainers=[{"name": "i", "image": "b", "livenessProbe": {"exec": {"command": ["x"]}}}]),
            (
                "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without "
                "restartPolicy=Always"
            ),
        ),
        (
            pod(container={"imagePullPolicy": "Sometimes"}),
            (
                'spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", '
                '"IfNotPresent", "Never"'
            ),
        ),
        (pod(container={"ports": [{"containerPort": 0}]}), "spec.containers[0].ports[0].containerPort: Required value"),
        (
            pod(container={"ports": [{"containerPort": 70000}]}),
            "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
        ),
        (
            pod(container={"ports": [{"containerPort": 80, "protocol": "HTTP"}]}),
            'spec.containers[0].ports[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP"',
        ),
        (
            pod(container={"ports": [{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 80}]}),
            'spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//80"',
        ),
        (
            pod(container={"ports": [{"containerPort": 80, "hostPort": 81}]}, hostNetwork=True),
            (
                "spec.containers[0].ports[0].containerPort: Invalid value: 80: must match `hostPort` when `hostNetwork` is "
                "true"
            ),
        ),
        (pod(container={"ports": [{"containerPort": 80, "name": "UP"}]}), "must contain only alpha-numeric characters"),
        (pod(container={"env": [{"value": "x"}]}), "spec.containers[0].env[0].name: Required value"),
        (
            pod(container={"env": [{"name": "A", "valueFrom": {}}]}),
            'spec.containers[0].env[0].valueFrom: Invalid value: "": must specify one of',
        ),
        (
            pod(container={"env": [{"name": "A", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "a"}}}]}),
            'valueFrom: Invalid value: "": may not be specified when `value` is not empty',
        ),
        (
            pod(container={"volumeMounts": [{"name": "v", "mountPath": "/x"}]}),
            'spec.containers[0].volumeMounts[0].name: Not found: "v"',
        ),
        (
            pod(
                container={"volumeMounts": [{"name": "v", "mountPath": "/x"}, {"name": "v", "mountPath": "/x"}]},
                volumes=[{"name": "v"}],
            ),
            'spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/x": must be unique',
        ),
        (
            pod(volumes=[{"name": "v", "emptyDir": {}, "hostPath": {"path": "/"}}]),
            "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type",
        ),
        (pod(volumes=[{"name": "v"}, {"name": "v"}]), 'spec.volumes[1].name: Duplicate value: "v"'),
        (pod(volumes=[{"name": "v", "configMap": {}}]), "spec.volumes[0].configMap.name: Required value"),
        (
            pod(container={"livenessProbe": {}}),
            "spec.containers[0].livenessProbe: Required value: must specify a handler type",
        ),
        (
            pod(container={"livenessProbe": {"exec": {"command": ["x"]}, "successThreshold": 2}}),
            "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1",
        ),
        (
            pod(container={"readinessProbe": {"httpGet": {"port": 0}}}),
            "readinessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive",
        ),
        (
            pod(container={"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}),
            'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
        ),
        (
            pod(container={"resources": {"requests": {"cpu": "-1"}}}),
            'spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0',
        ),
        (
            pod(container={"resources": {"limits": {"cpus": "1"}}}),
            'spec.containers[0].resources.limits: Invalid value: "cpus": must be a standard resource for containers',
        ),
        (
            pod(container={"resources": {"requests": {"example.com/gpu": "1"}}}),
            "spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources",
        ),
        (
            pod(container={"resources": {"limits": {"example.com/gpu": "1500m"}}}),
            'spec.containers[0].resources.limits[example.com/gpu]: Invalid value: "1500m": must be an integer',
        ),
        (
            pod(restartPolicy="Sometimes"),
            'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
        ),
        (pod(nodeSelector={"a": "b c"}), 'spec.nodeSelector: Invalid value: "b c": a valid label must be'),
        (pod(nodeName="Node01"), 'spec.nodeName: Invalid value: "Node01": a lowercase RFC 1123 subdomain'),
        (
            node_terms({"key": "a", "operator": "in", "values": ["b"]}),
            f'{TERMS}[0].matchExpressions[0].operator: Invalid value: "in": not a valid selector operator',
        ),
        (
            node_terms({"key": "a", "operator": "In"}),
            f"{TERMS}[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
        ),
        (
            node_terms({"key": "a", "operator": "Exists", "values": ["b"]}),
            (
                f"{TERMS}[0].matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or "
                "'DoesNotExist'"
            ),
        ),
        (
            node_terms({"key": "a", "operator": "Gt", "values": ["1", "2"]}),
            (
                f"{TERMS}[0].matchExpressions[0].values: Required value: must be specified single value when `operator` is "
                "'Lt' or 'Gt'"
            ),
        ),
        (
            node_terms(fields=[{"key": "metadata.labels", "operator": "In", "values": ["b"]}]),
            f'{TERMS}[0].matchFields[0].key: Invalid value: "metadata.labels": not a valid field selector key',
        ),
        (
            pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": []}}}),
            f"{TERMS}: Required value: must have at least one node selector term",
        ),
        (
            pod(affinity={"nodeAffinity": {PREFERRED: [{"weight": 101, "preference": {}}]}}),
            f"spec.affinity.nodeAffinity.{PREFERRED}[0].weight: Invalid value: 101: must be in the range 1-100",
        ),
        (
            pod(affinity={"podAffinity": {REQUIRED: [{"labelSelector": {}}]}}),
            f"spec.affinity.podAffinity.{REQUIRED}[0].topologyKey: Required value: can not be empty",
        ),
        (
            pod(
                affinity={
                    "podAntiAffinity": {
                        PREFERRED: [
                            {
                                "weight": 1,
                                "podAffinityTerm": {
                                    "topologyKey": "a",
                                    "labelSelector": {"matchExpressions": [{"key": "a", "operator": "Is"}]},
                                },
                            }
                        ]
                    }
                }
            ),
            (
                f"podAntiAffinity.{PREFERRED}[0].podAffinityTerm.labelSelector.matchExpressions[0].operator: Invalid value: "
                '"Is": not a valid selector operator'
            ),
        ),
        (spread(maxSkew=0), "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero"),
        (
            spread(whenUnsatisfiable="Never"),
            'whenUnsatisfiable: Unsupported value: "Never": supported values: "DoNotSchedule", "ScheduleAnyway"',
        ),
        (spread(topologyKey=""), "spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty"),
        (
            spread(minDomains=2, whenUnsatisfiable="ScheduleAnyway"),
            "minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
        ),
        (
            pod(
                topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}] * 2
            ),
            'spec.topologySpreadConstraints[1].{topologyKey, whenUnsatisfiable}: Duplicate value: "{z, DoNotSchedule}"',
        ),
        (
            pod(nodeName="n", schedulingGates=[{"name": "example.com/g"}]),
            "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared",
        ),
        (pod(schedulingGates=[{"name": "g"}, {"name": "g"}]), 'spec.schedulingGates[1].name: Duplicate value: "g"'),
        (
            {**pod(), "metadata": {"name": "x", "annotations": {"kubernetes.io/config.mirror": "h"}}},
            "must set spec.nodeName if mirror pod annotation is set",
        ),
        (
            pod(activeDeadlineSeconds=0),
            "spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive",
        ),
    ],
)
def test_it_refuses_in_the_servers_words(obj, text):
    assert text in refusal(obj).message


def test_one_mistake_makes_one_error_and_several_stand_in_brackets():
    assert refusal(tolerating(key="a", effect="No")).message.startswith(
        'Pod "bee" is invalid: spec.tolerations[0].effect'
    )
    several = refusal(pod(restartPolicy="x", tolerations=[{"key": "a", "effect": "No"}])).message
    assert several.startswith('Pod "bee" is invalid: [spec.restartPolicy')
    assert several.endswith('"NoExecute"]')


def test_a_refusal_hints_at_the_place_and_the_right_word():
    hints = refusal(tolerating(key="a", effect="noschedule")).hints
    assert [(hint.path, str(hint.advice)) for hint in hints] == [
        ("spec.tolerations[0].effect", "Write “NoSchedule” instead of “noschedule”.")
    ]
    hint = refusal({**pod(), "metadata": {"name": "My_Pod"}}).hints[0]
    assert (hint.path, str(hint.advice)) == (
        "metadata.name",
        "Write “name: my-pod”: names have no capital letters and no underscores.",
    )


@pytest.mark.parametrize(
    "obj",
    [
        tolerating(operator="Exists"),
        tolerating(key="a", operator="Equal", value="", effect="NoExecute", tolerationSeconds=0),
        node_terms({"key": "a", "operator": "Gt", "values": ["1"]}),
        node_terms(fields=[{"key": "metadata.name", "operator": "In", "values": ["n"]}]),
        pod(container={"resources": {"limits": {"example.com/gpu": "1"}}}),
        pod(
            initContainers=[
                {"name": "s", "image": "b", "restartPolicy": "Always", "livenessProbe": {"exec": {"command": ["x"]}}}
            ]
        ),
        spread(minDomains=2),
        pod(schedulerName="nobody-serves-this"),
        pod(container={"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}),
        pod(container={"livenessProbe": {"httpGet": {"path": "/healthz", "port": 10259, "scheme": "HTTPS"}}}),
    ],
    ids=range(10),
)
def test_it_takes_what_kubernetes_takes(obj):
    client, _ = server()
    assert client.create(obj)["status"]["phase"] == "Pending"


@pytest.mark.parametrize(
    ("resources", "qos"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "0"}}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}, "Burstable"),
    ],
)
def test_the_qos_class_follows_requests_and_limits(resources, qos):
    client, _ = server()
    assert client.create(pod(container={"resources": resources}))["status"]["qosClass"] == qos


def test_a_gated_pod_says_so():
    client, _ = server()
    gated = client.create(pod(schedulingGates=[{"name": "example.com/g"}]))
    assert gated["status"]["conditions"][0]["reason"] == "SchedulingGated"
    freed = client.patch("pods", "bee", "default", {"spec": {"schedulingGates": None}}, "merge")
    assert "schedulingGates" not in freed["spec"]


def changed(obj: dict, path: str, value: object) -> dict:
    copy = deepcopy(obj)
    place = copy
    *way, last = path.split(".")
    for step in way:
        place = place[int(step)] if step.isdigit() else place[step]
    place[last] = value
    return copy


FIXED = (
    "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
    "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"
)
EXTRA = {"key": "x", "operator": "Exists", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("spec.nodeName", "node02", FIXED + "@@ -"),
        ("spec.priority", 5, FIXED),
        ("spec.nodeSelector", {"a": "b"}, FIXED + "@@ -"),
        ("spec.containers.0.resources", {"limits": {"cpu": "1"}}, FIXED),
        ("spec.containers", [], "spec.containers: Forbidden: pod updates may not add or remove containers"),
        ("spec.containers.0.image", "", "spec.containers[0].image: Required value"),
        (
            "spec.tolerations",
            [EXTRA],
            "spec.tolerations: Forbidden: existing toleration can not be modified except its tol",
        ),
        (
            "spec.activeDeadlineSeconds",
            -1,
            "activeDeadlineSeconds: Invalid value: -1: must be between 0 and 2147483647",
        ),
        ("spec.schedulingGates", [{"name": "g"}], "only deletion is allowed, but found new scheduling gate 'g'"),
    ],
)
def test_most_of_a_pod_is_fixed(path, value, text):
    client, store = server()
    stored = client.create(pod(nodeName="node01", tolerations=[{"key": "own", "operator": "Exists"}]))
    before = store.revision
    with pytest.raises(Invalid) as caught:
        client.update(changed(stored, path, value))
    assert text in caught.value.message
    assert store.revision == before


def test_the_advice_for_a_fixed_field_is_to_replace_the_pod():
    client, _ = server()
    stored = client.create(pod(nodeName="node01"))
    with pytest.raises(Invalid) as caught:
        client.update(changed(stored, "spec.nodeName", "node02"))
    assert "replace --force" in str(caught.value.hints[0].advice)


def test_images_deadlines_labels_and_more_tolerations_may_change():
    client, _ = server()
    stored = client.create(pod())
    for path, value in {
        "spec.containers.0.image": "nginx:1.27",
        "spec.activeDeadlineSeconds": 60,
        "metadata.labels": {"a": "b"},
        "spec.tolerations": [*stored["spec"]["tolerations"], EXTRA],
    }.items():
        stored = client.update(changed(stored, path, value))
    assert stored["metadata"]["generation"] == 4
    longer = changed(stored, "spec.activeDeadlineSeconds", 90)
    with pytest.raises(Invalid, match="must be less than or equal to previous value"):
        client.update(longer)


def test_a_pod_that_runs_nowhere_goes_at_once():
    client, _ = server()
    client.create(pod())
    client.delete("pods", "bee")
    assert client.find("pods", "bee") is None


def test_a_placed_pod_goes_after_its_grace():
    client, _ = server()
    client.create(pod(nodeName="node01", terminationGracePeriodSeconds=40))
    marked = client.delete("pods", "bee")
    assert marked["metadata"]["deletionTimestamp"] == clocks.rfc3339(NOW + 40 * clocks.SECOND)
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 40
    assert client.delete("pods", "bee") is marked
    sooner = client.delete("pods", "bee", grace_seconds=5)
    assert sooner["metadata"]["deletionGracePeriodSeconds"] == 5
    assert sooner["metadata"]["deletionTimestamp"] == clocks.rfc3339(NOW + 5 * clocks.SECOND)
    client.delete("pods", "bee", grace_seconds=0)
    assert client.find("pods", "bee") is None


def test_a_grace_beyond_all_calendars_is_taken():
    client, _ = server()
    client.create(pod(nodeName="node01", terminationGracePeriodSeconds=2**63 - 1))
    assert client.delete("pods", "bee")["metadata"]["deletionTimestamp"].startswith("2126-")


def test_a_finished_pod_goes_at_once():
    client, _ = server()
    stored = client.create(pod(nodeName="node01"))
    client.update_status({**stored, "status": {"phase": "Succeeded"}})
    client.delete("pods", "bee")
    assert client.find("pods", "bee") is None


class TestKeysOfThePodsOwnLabels:
    def spread(self, **more):
        constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", **more}
        made = pod(topologySpreadConstraints=[constraint])
        return {**made, "metadata": {**made["metadata"], "labels": {"app": "bee", "hash": "x"}}}

    def test_the_selector_of_a_spread_constraint_is_narrowed_by_them(self):
        client, _ = server()
        selector = {"matchLabels": {"app": "bee"}}
        made = client.create(self.spread(labelSelector=selector, matchLabelKeys=["hash", "absent"]))
        (constraint,) = made["spec"]["topologySpreadConstraints"]
        assert constraint["labelSelector"]["matchExpressions"] == [{"key": "hash", "operator": "In", "values": ["x"]}]
        assert constraint["matchLabelKeys"] == ["hash", "absent"]

    def test_a_term_of_affinity_is_narrowed_by_both_lists(self):
        client, _ = server()
        term = {"topologyKey": "zone", "labelSelector": {}, "matchLabelKeys": ["app"], "mismatchLabelKeys": ["hash"]}
        made = self.spread(labelSelector={})
        affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        made = client.create({**made, "spec": {**made["spec"], "affinity": affinity}})
        (found,) = made["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        assert found["labelSelector"]["matchExpressions"] == [
            {"key": "app", "operator": "In", "values": ["bee"]},
            {"key": "hash", "operator": "NotIn", "values": ["x"]},
        ]

    def test_a_key_that_the_selector_has_already_is_refused(self):
        client, _ = server()
        selector = {"matchLabels": {"hash": "x"}}
        with pytest.raises(Invalid) as refusal:
            client.create(self.spread(labelSelector=selector, matchLabelKeys=["hash"]))
        words = 'spec.topologySpreadConstraints[0].matchLabelKeys[0]: Invalid value: "hash": exists in both'
        assert words in refusal.value.message
