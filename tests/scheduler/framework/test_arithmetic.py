"""Arithmetic where Go and Python differ, and where upstream has its own way."""

import pytest

from app.scheduler.framework.helpers import default_normalize_score, shape_score, truncated
from app.scheduler.framework.host_ports import HostPortInfo, host_ports
from app.scheduler.framework.resource_scoring import Usage
from app.scheduler.plugins.image_locality import normalized_image_name
from app.scheduler.plugins.node_resources_balanced_allocation import balance
from app.scheduler.plugins.node_resources_fit import least_allocated, most_allocated, requested_to_capacity_ratio
from tests.scheduler.builders import pod


@pytest.mark.parametrize(("a", "b", "found"), [(7, 2, 3), (-7, 2, -3), (7, -2, -3), (-7, -2, 3), (0, 5, 0)])
def test_division_goes_towards_zero(a, b, found):
    assert truncated(a, b) == found


@pytest.mark.parametrize(("utilization", "score"), [(0, 100), (10, 94), (30, 80), (35, 78), (100, 40), (101, 40)])
def test_a_shape_is_a_broken_line(utilization, score):
    assert shape_score([(0, 100), (30, 80), (100, 40)], utilization) == score


@pytest.mark.parametrize(
    ("scores", "reverse", "found"),
    [
        ({"a": 3, "b": 7}, False, {"a": 42, "b": 100}),
        ({"a": 3, "b": 7}, True, {"a": 58, "b": 0}),
        ({"a": 0, "b": 0}, False, {"a": 0, "b": 0}),
        ({"a": 0, "b": 0}, True, {"a": 100, "b": 100}),
    ],
)
def test_scores_are_scaled_to_the_best(scores, reverse, found):
    default_normalize_score(scores, reverse=reverse)
    assert scores == found


def _usages(*pairs):
    return [Usage(f"r{index}", 1, used, total) for index, (used, total) in enumerate(pairs)]


@pytest.mark.parametrize(
    ("strategy", "pairs", "score"),
    [
        (least_allocated, [(1, 4), (1, 3)], 70),
        (least_allocated, [(5, 4), (0, 3)], 50),
        (least_allocated, [], 0),
        (most_allocated, [(1, 4), (1, 3)], 29),
        (most_allocated, [(9, 4), (3, 3)], 100),
        (most_allocated, [], 0),
        (balance, [(1, 2), (1, 2)], 100),
        (balance, [(1, 4), (3, 4)], 75),
        (balance, [(9, 4), (0, 4)], 50),
        (balance, [(1, 4), (2, 4), (3, 4)], 79),
        (balance, [(1, 4)], 100),
    ],
)
def test_strategies_score_usage(strategy, pairs, score):
    assert strategy(_usages(*pairs)) == score


def test_a_ratio_leaves_out_resources_that_score_nothing_and_rounds_half_up():
    shape = [(0, 0), (100, 100)]
    assert requested_to_capacity_ratio(shape, _usages((1, 2), (0, 4))) == 50
    assert requested_to_capacity_ratio(shape, _usages((1, 2), (51, 100))) == 51
    assert requested_to_capacity_ratio(shape, _usages((3, 2))) == 100
    assert requested_to_capacity_ratio(shape, []) == 0


@pytest.mark.parametrize(
    ("used", "wanted", "clash"),
    [
        (("0.0.0.0", "TCP", 80), ("10.0.0.1", "TCP", 80), True),
        (("10.0.0.1", "TCP", 80), ("0.0.0.0", "TCP", 80), True),
        (("10.0.0.1", "TCP", 80), ("10.0.0.2", "TCP", 80), False),
        (("0.0.0.0", "UDP", 80), ("0.0.0.0", "TCP", 80), False),
        (("0.0.0.0", "TCP", 81), ("0.0.0.0", "TCP", 80), False),
    ],
)
def test_host_ports_clash_by_address_protocol_and_number(used, wanted, clash):
    ports = HostPortInfo()
    ports.add([used])
    assert ports.conflicts(wanted) is clash
    ports.remove([used])
    assert not ports.conflicts(wanted)


def test_sidecars_take_host_ports_and_init_containers_do_not():
    ports = [{"containerPort": 1, "hostPort": 1}]
    init = [
        {"name": "side", "image": "x", "restartPolicy": "Always", "ports": [{"containerPort": 2, "hostPort": 2}]},
        {"name": "init", "image": "x", "ports": [{"containerPort": 3, "hostPort": 3}]},
    ]
    found = pod("a", containers=[{"name": "c", "image": "x", "ports": ports}], initContainers=init)
    assert [number for _, _, number in host_ports(found)] == [1, 2]


@pytest.mark.parametrize(
    ("name", "found"),
    [("nginx", "nginx:latest"), ("nginx:1", "nginx:1"), ("host:5000/nginx", "host:5000/nginx:latest")],
)
def test_image_names_get_a_tag(name, found):
    assert normalized_image_name(name) == found
