"""LimitRanger: the defaults it fills in and what it refuses, and what is refused of a range itself."""

from __future__ import annotations

from typing import Any

import pytest

from app.apimachinery.errors import Forbidden, Invalid
from app.apimachinery.meta import Object
from app.cluster.client import Client
from tests.cluster.apiserver.making import named, pod, server


def limit_range(kind: str = "Container", name: str = "lr", **fields: Any) -> Object:
    return named("v1", "LimitRange", name, spec={"limits": [{"type": kind, **fields}]})


def limited(kind: str = "Container", **fields: Any) -> Client:
    client, _ = server()
    client.create(limit_range(kind, **fields))
    return client


def asking(requests: Object | None = None, limits: Object | None = None, **spec: Any) -> Object:
    resources = {"requests": requests or {}, "limits": limits or {}}
    return pod(container={"resources": resources}, **spec)


def refusal(client: Client, obj: Object) -> str:
    with pytest.raises(Forbidden) as caught:
        client.create(obj)
    return caught.value.message


def test_defaults_are_filled_in_and_noted() -> None:
    client = limited(default={"cpu": "500m", "memory": "1Gi"}, defaultRequest={"cpu": "100m", "memory": "256Mi"})
    made = client.create(pod())
    assert made["spec"]["containers"][0]["resources"] == {
        "limits": {"cpu": "500m", "memory": "1Gi"},
        "requests": {"cpu": "100m", "memory": "256Mi"},
    }
    assert made["metadata"]["annotations"]["kubernetes.io/limit-ranger"] == (
        "LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c"
    )


def test_what_a_container_states_is_kept() -> None:
    client = limited(default={"cpu": "500m"}, defaultRequest={"cpu": "100m"})
    made = client.create(asking(requests={"cpu": "200m"}))
    assert made["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "500m"}, "requests": {"cpu": "200m"}}
    assert made["metadata"]["annotations"]["kubernetes.io/limit-ranger"] == (
        "LimitRanger plugin set: cpu limit for container c"
    )


def test_init_containers_get_them_too() -> None:
    client = limited(default={"cpu": "1"})
    made = client.create(pod(initContainers=[{"name": "i", "image": "busybox"}]))
    assert made["spec"]["initContainers"][0]["resources"]["limits"] == {"cpu": "1"}
    assert "cpu request for init container i" in made["metadata"]["annotations"]["kubernetes.io/limit-ranger"]


def test_a_range_completes_its_own_defaults() -> None:
    client, _ = server()
    item = client.create(limit_range(max={"cpu": "1"}, min={"memory": "1Mi"}))["spec"]["limits"][0]
    assert item["default"] == {"cpu": "1"}
    assert item["defaultRequest"] == {"cpu": "1", "memory": "1Mi"}


def test_a_limit_above_the_maximum_is_refused() -> None:
    assert refusal(limited(max={"cpu": "1"}), asking(limits={"cpu": "2"})) == (
        'pods "bee" is forbidden: maximum cpu usage per Container is 1, but limit is 2'
    )


def test_a_request_below_the_minimum_is_refused() -> None:
    assert refusal(limited(min={"memory": "100Mi"}), asking(requests={"memory": "50Mi"})) == (
        'pods "bee" is forbidden: minimum memory usage per Container is 100Mi, but request is 50Mi'
    )


def test_several_problems_are_told_together() -> None:
    client = limited(max={"cpu": "1", "memory": "1Gi"})
    assert refusal(client, asking(limits={"cpu": "2", "memory": "2Gi"})) == (
        'pods "bee" is forbidden: [maximum cpu usage per Container is 1, but limit is 2, '
        "maximum memory usage per Container is 1Gi, but limit is 2Gi]"
    )


def test_a_limit_too_far_above_its_request_is_refused() -> None:
    client = limited(maxLimitRequestRatio={"cpu": "2"})
    assert refusal(client, asking(requests={"cpu": "100m"}, limits={"cpu": "300m"})) == (
        'pods "bee" is forbidden: cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000'
    )
    assert refusal(client, pod()).endswith(
        "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0"
    )


def test_a_pod_is_judged_by_its_sums() -> None:
    client = limited("Pod", max={"cpu": "1"})
    two = asking(limits={"cpu": "600m"})
    two["spec"]["containers"].append({"name": "d", "image": "nginx", "resources": {"limits": {"cpu": "600m"}}})
    assert refusal(client, two) == 'pods "bee" is forbidden: maximum cpu usage per Pod is 1, but limit is 1200m'
    assert refusal(client, pod()) == ('pods "bee" is forbidden: maximum cpu usage per Pod is 1.  No limit is specified')


def test_a_claim_is_judged_by_its_request() -> None:
    client = limited("PersistentVolumeClaim", min={"storage": "1Gi"}, max={"storage": "5Gi"})

    def claim(size: str) -> Object:
        spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
        return named("v1", "PersistentVolumeClaim", "data", spec=spec)

    assert refusal(client, claim("10Gi")) == (
        'persistentvolumeclaims "data" is forbidden: maximum storage usage per PersistentVolumeClaim is 5Gi, '
        "but request is 10Gi"
    )
    assert "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi" in refusal(client, claim("1Mi"))
    client.create(claim("2Gi"))


def test_running_pods_are_left_alone() -> None:
    client, _ = server()
    client.create(asking(limits={"cpu": "2"}))
    client.create(limit_range(max={"cpu": "1"}))
    client.patch("pods", "bee", "default", {"metadata": {"labels": {"a": "b"}}})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            limit_range(min={"cpu": "2"}, max={"cpu": "1"}),
            'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
        ),
        (
            limit_range(default={"cpu": "1"}, defaultRequest={"cpu": "2"}),
            (
                'spec.limits[0].defaultRequest[cpu]: Invalid value: "2": '
                "default request value 2 is greater than default limit value 1"
            ),
        ),
        (
            limit_range("Pod", default={"cpu": "1"}),
            "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
        ),
        (
            limit_range("Box", max={"cpu": "1"}),
            'spec.limits[0].type: Invalid value: "Box": must be a standard limit type or fully qualified',
        ),
        (
            limit_range("PersistentVolumeClaim"),
            (
                "spec.limits[0].limits: Required value: either minimum or maximum storage value is required, "
                "but neither was provided"
            ),
        ),
        (
            limit_range(maxLimitRequestRatio={"cpu": "500m"}),
            'spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1',
        ),
    ],
)
def test_a_range_that_contradicts_itself_is_refused(given: Object, said: str) -> None:
    client, _ = server()
    with pytest.raises(Invalid) as caught:
        client.create(given)
    assert said in caught.value.message
