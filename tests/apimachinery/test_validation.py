"""Field errors and the name rules, in the API server's words."""

from __future__ import annotations

import pytest

from app.apimachinery import validation
from app.apimachinery.validation import duplicate, forbidden, invalid, not_found, not_supported, required


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (required("spec.a"), "spec.a: Required value"),
        (required("spec.a", "say it"), "spec.a: Required value: say it"),
        (invalid("a[0].b", "x", "bad"), 'a[0].b: Invalid value: "x": bad'),
        (invalid("a", 3, "bad"), "a: Invalid value: 3: bad"),
        (invalid("a", True, "bad"), "a: Invalid value: true: bad"),
        (invalid("a", None, "bad"), "a: Invalid value: null: bad"),
        (invalid("a", {"k": "v"}, "bad"), 'a: Invalid value: {"k":"v"}: bad'),
        (forbidden("spec", "no"), "spec: Forbidden: no"),
        (duplicate("a", "x"), 'a: Duplicate value: "x"'),
        (not_found("a", "x"), 'a: Not found: "x"'),
        (not_supported("a", "x", ("B", "A")), 'a: Unsupported value: "x": supported values: "B", "A"'),
    ],
)
def test_a_field_error_prints_as_upstreams(error, text):
    assert str(error) == text


def test_one_error_stands_bare_and_several_in_brackets_once_each():
    one = validation.invalid_object("Pod", "bee", [required("a")])
    assert one.message == 'Pod "bee" is invalid: a: Required value'
    several = validation.invalid_object("Deployment.apps", "web", [required("a"), required("b"), required("a")])
    assert several.message == 'Deployment.apps "web" is invalid: [a: Required value, b: Required value]'
    assert several.status()["details"] == {
        "name": "web",
        "group": "apps",
        "kind": "Deployment",
        "causes": [
            {"reason": "FieldValueRequired", "message": "Required value", "field": field} for field in ("a", "b", "a")
        ],
    }
    assert (several.code, several.reason) == (422, "Invalid")


SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
NAME_PART = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


@pytest.mark.parametrize(
    ("rule", "value", "wrong"),
    [
        (validation.dns1123_subdomain, "web-1.example", []),
        (validation.dns1123_subdomain, "Web", [SUBDOMAIN]),
        (validation.dns1123_subdomain, "a\n", [SUBDOMAIN]),
        (validation.dns1123_subdomain, "a" * 254, ["must be no more than 253 bytes"]),
        (validation.dns1123_label, "web-1", []),
        (validation.dns1123_label, "a.b", ["must not contain dots"]),
        (validation.dns1123_label, "Web", [LABEL]),
        (validation.dns1123_label, "a" * 64, ["must be no more than 63 bytes"]),
        (validation.dns1035_label, "web", []),
        (validation.label_value, "", []),
        (validation.label_value, "My_v.1", []),
        (validation.label_value, "-y", [VALUE]),
        (validation.label_value, "a b", [VALUE]),
        (validation.qualified_name, "app.kubernetes.io/name", []),
        (validation.qualified_name, "name", []),
        (validation.qualified_name, "", ["name part must be non-empty", NAME_PART]),
        (validation.qualified_name, "/x", ["prefix part must be non-empty"]),
        (validation.qualified_name, "A/x", [f"prefix part {SUBDOMAIN}"]),
        (validation.config_map_key, "my_key.yaml", []),
        (validation.config_map_key, "..a", ["must not start with '..'"]),
        (validation.config_map_key, "..", ["must not be '..'"]),
        (validation.path_segment, "system:node", []),
        (validation.path_segment, "a/b", ["may not contain '/'"]),
        (validation.path_segment, "..", ["may not be '..'"]),
        (validation.port_number, 0, ["must be between 1 and 65535, inclusive"]),
        (validation.port_number, 80, []),
        (validation.port_name, "http", []),
        (validation.port_name, "1", ["must contain at least one letter (a-z)"]),
        (validation.port_name, "a" * 16, ["must be no more than 15 characters"]),
        (validation.port_name, "a--b", ["must not contain consecutive hyphens"]),
        (validation.port_name, "a-", ["must not begin or end with a hyphen"]),
        (validation.percentage, "25%", []),
        (validation.env_var_name, "A B", []),
        (validation.env_var_name, "", ["environment variable name must be non-empty"]),
    ],
)
def test_name_rules(rule, value, wrong):
    assert rule(value) == wrong


@pytest.mark.parametrize("value", ["A=B", "가"])
def test_a_variable_name_is_printable_ascii_without_an_equals_sign(value):
    assert "printable ASCII" in validation.env_var_name(value)[0]


def test_a_label_key_with_two_slashes_is_no_key():
    wrong = validation.qualified_name("a/b/c")
    assert wrong[0].startswith("a valid label key must consist of")
    assert wrong[0].endswith("with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')")


def test_labels_are_judged_by_key_and_value():
    errors = validation.labels({"good": "x", "bad key": "y", "k": "-"}, "metadata.labels")
    assert [(error.field, error.value) for error in errors] == [
        ("metadata.labels", "bad key"),
        ("metadata.labels", "-"),
    ]
