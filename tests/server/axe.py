"""Accessibility of a page in a real browser: what axe-core finds against WCAG 2.x, levels A and AA."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")


def violations(page: Page) -> list[str]:
    """Each with its rule, the element and what is wrong with it; empty where all is well."""
    found = Axe().run(page, options={"runOnly": {"type": "tag", "values": list(TAGS)}}).response["violations"]
    return [f"{rule['id']}: {node['target'][0]} {node['failureSummary']}" for rule in found for node in rule["nodes"]]


def violations_in_both_themes(page: Page) -> list[str]:
    """The page as it is, light and dark."""
    found = []
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        found += [f"{theme}: {one}" for one in violations(page)]
    return found
