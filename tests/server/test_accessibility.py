"""Every page against WCAG 2.x A and AA, light and dark, wide and narrow."""

import pytest
from tests.server.axe import violations_in_both_themes

PAGES = ("/", "/review", "/review?state=done")


@pytest.mark.parametrize("width", [1440, 390])
def test_no_page_violates_wcag(served, window, width):
    page = window(viewport={"width": width, "height": 900})
    found = {}
    for path in PAGES:
        page.goto(served.url + path)
        found[path] = violations_in_both_themes(page)

    assert found == {path: [] for path in PAGES}
