"""Two texts side by side."""

from app.web import difference


def test_it_shows_what_went_and_what_came():
    before = "\n".join(f"line {number}" for number in range(20))
    after = before.replace("line 2\n", "line two\n").replace("line 17", "line seventeen")
    shown = difference.lines(before, after)
    assert "-line 2" in shown
    assert "+line two" in shown
    assert "+line seventeen" in shown
    assert "…" in shown
    assert " line 10" not in shown


def test_equal_texts_differ_in_nothing():
    assert difference.lines("a\nb", "a\nb") == []


def test_texts_too_long_to_compare_are_not_compared():
    assert difference.lines("a\n" * 3000, "b\n" * 3000) == []
