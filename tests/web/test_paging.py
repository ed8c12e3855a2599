"""Long lists page by page."""

import pytest

from app.web.paging import Paging


@pytest.mark.parametrize(
    ("total", "wanted", "page", "pages", "offset"),
    [(0, 1, 1, 1, 0), (50, 1, 1, 1, 0), (51, 2, 2, 2, 50), (51, 9, 2, 2, 50), (200, 3, 3, 4, 100)],
)
def test_a_page_past_the_end_is_the_last_one(total, wanted, page, pages, offset):
    paging = Paging("/admin", {}, total, 50, wanted)
    assert (paging.page, paging.pages, paging.offset) == (page, pages, offset)


def test_a_link_keeps_the_filters_and_leaves_out_the_empty_ones():
    paging = Paging("/admin", {"q": "a&b", "role": ""}, 500, 50)
    assert paging.link(1) == "/admin?q=a%26b"
    assert paging.link(3) == "/admin?q=a%26b&page=3"
    assert Paging("/admin", {}, 500, 50).link(1) == "/admin"
