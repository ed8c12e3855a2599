import pytest

from app.cluster import controller_utils as utils
from tests.cluster.builders import NOW, SECOND


@pytest.mark.parametrize(
    ("value", "total", "up", "down"),
    [
        (2, 10, 2, 2),
        ("25%", 10, 3, 2),
        ("25%", 4, 1, 1),
        ("0%", 9, 0, 0),
        ("100%", 7, 7, 7),
        (None, 5, 0, 0),
        ("3", 5, 3, 3),
    ],
)
def test_a_share_is_rounded_up_for_surge_and_down_for_what_may_be_missing(
    value: int | str | None, total: int, up: int, down: int
) -> None:
    assert utils.int_or_percent(value, total, round_up=True) == up
    assert utils.int_or_percent(value, total, round_up=False) == down


@pytest.mark.parametrize(("data", "value"), [(b"", 0x811C9DC5), (b"a", 0xE40C292C), (b"foobar", 0xBF9CF968)])
def test_hashes_are_fnv_1a(data: bytes, value: int) -> None:
    assert utils.fnv32a(data) == value


def test_a_templates_hash_ignores_the_order_of_its_fields() -> None:
    one, other = {"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1}
    assert utils.template_hash(one) == utils.template_hash(other)
    assert utils.template_hash(one) != utils.template_hash(one, collisions=1)
    assert set(utils.template_hash(one)) <= set("bcdfghjklmnpqrstvwxz2456789")


def test_a_conditions_time_changes_with_its_status_only() -> None:
    new = {"type": "Ready", "status": "True", "reason": "x"}
    first = utils.with_condition([], new, NOW)
    assert first[0]["lastTransitionTime"] == "2026-03-01T09:00:00Z"
    again = utils.with_condition(first, {**new, "reason": "y"}, NOW + SECOND)
    assert (again[0]["lastTransitionTime"], again[0]["reason"]) == ("2026-03-01T09:00:00Z", "y")
    turned = utils.with_condition(again, {**new, "status": "False"}, NOW + SECOND)
    assert turned[0]["lastTransitionTime"] == "2026-03-01T09:00:01Z"


@pytest.mark.parametrize(
    ("phase", "deleted", "active"),
    [
        ("Running", False, True),
        ("Pending", False, True),
        ("Succeeded", False, False),
        ("Failed", False, False),
        ("Running", True, False),
    ],
)
def test_a_pod_is_active_until_it_ends_or_is_deleted(phase: str, deleted: bool, active: bool) -> None:
    metadata = {"deletionTimestamp": "2026-03-01T09:00:00Z"} if deleted else {}
    assert utils.is_active({"metadata": metadata, "status": {"phase": phase}}) == active
