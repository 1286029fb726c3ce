"""Whole journeys in a real browser: two clicks to the proof, by keyboard alone, hostile text, a phone."""

from urllib.parse import urlsplit

from tests.server.test_attempt_page import HOSTILE_CASE
from tests.server.test_run_page import run_id


def test_two_clicks_lead_from_the_first_page_to_the_line_that_proves_it_and_back(looked, window):
    page = window()
    page.set_default_timeout(10_000)
    page.goto(looked.url)
    page.get_by_role("link", name="kimi-k2.5").click()
    page.locator("tr", has_text="pypi-server").locator("td.quote a").click()

    assert page.url.endswith("pypi-server/1#verifier-17")
    line = page.locator("#verifier-17")
    assert line.locator("mark").inner_text().endswith("uvx: command not found")
    box = line.bounding_box()
    assert box is not None
    assert 44 <= box["y"] < page.viewport_size["height"]
    page.go_back()
    assert urlsplit(page.url).path == f"/runs/{run_id(looked, 'kimi')}"
    page.go_back()
    assert urlsplit(page.url).path == "/"


def press_until(page, key, selector, text="", times=40):
    """By keyboard, until an element that fits is there."""
    for _ in range(times):
        page.keyboard.press(key)
        if page.locator(selector, has_text=text).count():
            return
    raise AssertionError(f"{key} does not lead to {selector} {text}")


def test_the_keyboard_alone_reaches_the_line(looked, window):
    page = window()
    page.set_default_timeout(10_000)
    page.goto(looked.url)
    press_until(page, "j", "tr.run[aria-current]", "kimi-k2.5")
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/*")
    press_until(page, "j", "tr.fail[aria-current]", "pypi-server")
    page.keyboard.press("h")
    assert not page.locator("tr.fail", has_text="pypi-server").is_visible()
    page.keyboard.press("l")
    press_until(page, "j", "tr.fail[aria-current]", "pypi-server")
    page.keyboard.press("b")
    assert page.locator("dialog#move").get_by_text("1 failure").is_visible()
    page.wait_for_function("() => document.querySelectorAll('#causes option').length > 0")
    page.keyboard.press("Escape")
    page.locator("tr.fail[aria-current] a.open").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**pypi-server/1*")
    press_until(page, "n", "#verifier-17:focus-within, #verifier-17:focus", times=8)
    page.keyboard.press("[")
    page.wait_for_url("**polyglot-rust-c/1*")


def test_a_hostile_transcript_runs_nothing_and_asks_for_nothing(looked, window):
    page = window()
    page.set_default_timeout(10_000)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: asked.append(dialog.message))
    run = run_id(looked, "hostile")
    for path in (
        "/",
        f"/runs/{run}",
        f"/runs/{run}/cases/{HOSTILE_CASE}/1",
        f"/runs/{run}/cases/{HOSTILE_CASE}/1?render=markdown",
        "/cases/harbour/x%3Cb%3Ey%3C%2Fb%3E",
        "/search?q=%3Cscript%3Eowned",
    ):
        page.goto(looked.url + path)
        page.wait_for_load_state("networkidle")
        assert page.title() != "owned"
        assert page.locator("main").is_visible()
        if "render=" in path:
            assert page.locator(".rendered").count() > 3
            assert page.locator(".rendered :not(p, pre, code, ul, ol, li)").count() == 0
            assert "[click](javascript:alert(1))" in page.locator(".rendered").first.inner_text()
            page.keyboard.press("M")
            assert page.locator(".rendered").count() == 0
            assert "render" not in page.url
    assert [url for url in asked if not url.startswith(looked.url)] == []


def test_the_end_of_a_list_loads_by_itself_and_a_deep_link_loads_its_block(looked, window):
    page = window()
    page.set_default_timeout(10_000)
    page.goto(f"{looked.url}/runs/{run_id(looked, 'many')}?group=none")
    for _ in range(6):
        page.mouse.wheel(0, 20_000)
        page.wait_for_timeout(150)
    page.wait_for_function("document.querySelectorAll('tr.fail').length === 230")
    page.goto(f"{looked.url}/runs/{run_id(looked, 'hostile')}/cases/{HOSTILE_CASE}/1#step-100")
    page.locator("#step-100").wait_for()


def test_no_page_scrolls_sideways_on_a_phone(looked, window):
    page = window(viewport={"width": 390, "height": 844}, has_touch=True)
    run, hostile = run_id(looked, "kimi"), run_id(looked, "hostile")
    for path in (
        "/",
        f"/runs/{run}",
        f"/runs/{run}?group=none&owner=E",
        f"/runs/{run}/cases/pypi-server/1",
        f"/runs/{hostile}/cases/{HOSTILE_CASE}/1",
        "/cases/harbour/c000",
        "/search?q=uvx",
    ):
        page.goto(looked.url + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
