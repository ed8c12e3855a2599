"""Posted forms: what they keep, what they refuse, and where they may lead."""

import pytest

from app.web.forms import Form, is_printable, local_path


@pytest.mark.parametrize("address", ["/", "/learn", "/lab/x?hints=1#picture", "/author/taint-a-node"])
def test_a_path_of_this_site_is_where_one_goes(address):
    assert local_path(address, "/learn") == address


@pytest.mark.parametrize(
    "address",
    [
        "",
        "https://evil.example/",
        "//evil.example/",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "learn",
        "/\t/evil.example",
        "/\n//evil.example",
        " /learn",
        "/" + "a" * 3000,
    ],
)
def test_any_other_address_leads_to_the_default(address):
    assert local_path(address, "/learn") == "/learn"


def test_a_field_keeps_what_was_typed_when_it_is_refused():
    form = Form({"name": "  a\x00b "})
    form.line("name")
    assert form.values["name"] == "  a\x00b "
    assert not form.ok


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("", "Write it."),
        ("   ", "Write it."),
        ("x" * 201, "This is too long: write at most 200 characters."),
        ("a\nb", "This holds characters that cannot be shown. Type it instead of pasting it."),
        ("a\u202eb", "This holds characters that cannot be shown. Type it instead of pasting it."),
        ("a\u2028b", "This holds characters that cannot be shown. Type it instead of pasting it."),
    ],
)
def test_a_line_says_what_is_wrong_with_it(value, fault):
    form = Form({"name": value})
    form.line("name", required="Write it.")
    assert str(form.errors["name"]) == fault


@pytest.mark.parametrize("value", ["Kim 김철수", "Zoë", "O'Brien", "<b>", "=1+1", "👩‍🏫"])
def test_names_of_all_kinds_are_printable(value):
    assert is_printable(value)


def test_the_first_fault_of_a_field_is_the_one_shown():
    form = Form()
    form.fail("name", "first")
    form.fail("name", "second")
    assert str(form.errors["name"]) == "first"


@pytest.mark.parametrize(
    ("typed", "number"), [("3", 3), ("0", 1), ("99", 9), ("", 2), ("-1", 2), ("x", 2), ("٣", 2), ("1" * 5000, 2)]
)
def test_a_number_is_kept_within_bounds(typed, number):
    assert Form({"page": typed}).number("page", least=1, most=9, default=2) == number


def test_a_text_has_line_feeds_alone():
    assert Form({"text": "a\r\nb\r\n"}).text("text") == "a\nb\n"
