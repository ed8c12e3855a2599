"""Selectors parse kubectl's form and match as the API server does."""

import pytest

from app.apimachinery import labels

WEB = {"env": "prod", "tier": "web", "size": "7", "empty": ""}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("env=prod", True),
        ("env==prod", True),
        ("env = prod , tier = web", True),
        ("env=dev", False),
        ("env!=dev", True),
        ("absent!=dev", True),
        ("env in (prod, dev)", True),
        ("env in (dev)", False),
        ("env notin (dev,test)", True),
        ("absent notin (dev)", True),
        ("env", True),
        ("!env", False),
        ("!absent", True),
        ("size>6", True),
        ("size<7", False),
        ("env>6", False),
        ("empty=", True),
        ("env=prod,tier=db", False),
        ("env in (prod),!absent,tier", True),
    ],
)
def test_it_parses_and_matches(text, matches):
    assert labels.parse_selector(text).matches(WEB) is matches


@pytest.mark.parametrize(
    "text", ["=prod", "env=prod,", "env in prod", "env in (prod", "a b", "env>web", ",", "!", "(a)"]
)
def test_it_refuses_what_is_no_selector(text):
    with pytest.raises(labels.SelectorError):
        labels.parse_selector(text)


def test_an_absent_selector_selects_nothing_and_an_empty_one_everything():
    assert not labels.from_label_selector(None).matches(WEB)
    assert labels.from_label_selector({}).matches(WEB)


def test_labels_and_expressions_must_all_hold():
    selector = labels.from_label_selector(
        {
            "matchLabels": {"env": "prod"},
            "matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["db"]}],
        }
    )
    assert selector.matches(WEB)
    assert not selector.matches({**WEB, "tier": "db"})
    assert str(selector) == "env=prod,tier!=db"


def test_an_unknown_operator_is_refused():
    with pytest.raises(labels.SelectorError, match='"Near" is not a valid label selector operator'):
        labels.from_label_selector({"matchExpressions": [{"key": "a", "operator": "Near"}]})
