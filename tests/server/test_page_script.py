"""What `page.js` does on every page, and that the scripts are sound and small."""

import gzip
from pathlib import Path

from errata.server.layout import static_file, static_path

STATIC = Path(__file__).parents[2] / "src/errata/server/static"
COMPILER = Path(__file__).parents[2] / ".venv/node/node_modules/typescript/bin/tsc"


def test_keys_lead_around_and_can_be_switched_off(served, window):
    page = window()
    page.goto(f"{served.url}/api?x=1")
    page.keyboard.press("?")
    assert page.locator("dialog#keys").is_visible()
    assert page.locator("dialog#keys").get_by_text("Go to the leaderboard").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("dialog#keys").is_visible()

    page.keyboard.press("Escape")
    page.wait_for_url("**/api")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.type("g r")
    page.keyboard.press("Escape")
    page.keyboard.press("T")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url(f"{served.url}/")

    page.keyboard.press("?")
    page.locator("#letters").uncheck()
    page.keyboard.press("Escape")
    for key in ("?", "T", "/"):
        page.keyboard.press(key)
    assert not page.locator("dialog#keys").is_visible()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    # the browser takes the focus from a closed dialog with its next frame
    page.wait_for_function("document.activeElement === document.body")


def test_the_login_page_works_without_script(serve, window, now):
    from errata.server.exchange import ServerOptions
    from errata.verbs.store import open_store
    from errata.verbs.tokens import create_token

    served = serve(options=ServerOptions(hosts=None, needs_token=True))
    store = open_store(served.settings.store)
    secret = create_token("ada", ["review"], store, now=now).secret
    store.engine.dispose()
    page = window(java_script_enabled=False)
    page.goto(f"{served.url}/?x=1")
    page.get_by_label("Token").fill(secret)
    page.get_by_role("button", name="Log in").click()

    assert page.url == f"{served.url}/?x=1"
    page.get_by_role("button", name="Log out").click()
    assert page.url == f"{served.url}/login"


def test_scripts_and_styles_of_all_pages_are_under_100_kb_compressed():
    names = [*sorted(path.name for path in STATIC.glob("*.js")), "page.css"]
    sizes = {name: len(gzip.compress(static_file(name) or b"", mtime=0)) for name in names}

    assert static_path("page.css").startswith("/static/page.css?v=")
    assert sum(sizes.values()) < 100_000, sizes
