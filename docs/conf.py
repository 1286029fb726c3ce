"""Settings of the documentation site: `make docs` builds it from the Markdown files that git hosts show.

The pages appear in the order of the links in docs/README.md, under its headings.
"""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
START = "docs/README"
LISTS = (START, "docs/decisions/README", "docs/lab/README")
"""Pages that list others: their links become the navigation."""

project = "errata"
author = "the errata authors"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = START
include_patterns = ["*.md", "docs/*.md", "docs/decisions/*.md", "docs/lab/*.md"]
html_theme = "furo"
html_title = "errata"
html_show_sphinx = False
html_copy_source = False

# anchors as git hosts make them, and links to headings of any depth that the pages use
myst_heading_anchors = 4
myst_enable_extensions = ["strikethrough"]
# examples in the pages are cut with `…`, so they are not always valid in their language
suppress_warnings = ["misc.highlighting_failure", "myst.strikethrough"]

_HEADING = re.compile(r"^## (.+)$")
_LINK = re.compile(r"\]\(([^)#\s]+\.md)(?:#[^)]*)?\)")
_LOCAL = re.compile(r"\[([^\]]+)\]\(([\w./-]+)\)")


def is_on_site(path: Path) -> bool:
    """A site has no folders, and no pages of `bench`."""
    folders = {ROOT / Path(pattern).parent for pattern in include_patterns}
    return not path.is_dir() and (path.suffix != ".md" or path.resolve().parent in folders)


def linked_pages(page: str, text: str) -> dict[str, list[str]]:
    """Heading → the pages linked below it, each page once, as paths from the root of the repository."""
    folder = (ROOT / page).parent
    pages: dict[str, list[str]] = {}
    seen = set(LISTS) if page != START else {START}
    heading = ""
    for line in text.splitlines():
        if match := _HEADING.match(line):
            heading = match[1]
        for target in _LINK.findall(line):
            linked = (folder / target).resolve().relative_to(ROOT).with_suffix("").as_posix()
            if linked not in seen and (heading if page == START else (ROOT / linked).parent == folder):
                seen.add(linked)
                pages.setdefault(heading, []).append(linked)
    return pages


def add_navigation(_app: Any, page: str, source: list[str]) -> None:
    """Give lists of pages a tree of contents, and turn links to what is not on the site into plain text.

    The page of all schemas is built for the site, and stands where the repository has their folder.
    """
    folder = (ROOT / page).parent
    source[0] = source[0].replace("](schemas)", "](json.md)")
    source[0] = _LOCAL.sub(lambda match: match[0] if is_on_site(folder / match[2]) else match[1], source[0])
    for heading, pages in linked_pages(page, source[0]).items() if page in LISTS else ():
        caption = f":caption: {heading}\n" if page == START else ""
        entries = "\n".join(f"/{name}" for name in pages)
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n{caption}\n{entries}\n```\n"


def add_front_door(app: Any, error: Exception | None) -> None:
    """The site starts at its root, too."""
    if error is None:
        page = (
            f'<!doctype html><meta http-equiv="refresh" content="0; url={START}.html"><a href="{START}.html">errata</a>'
        )
        (Path(app.outdir) / "index.html").write_text(page, encoding="utf-8")


def setup(app: Any) -> None:
    app.connect("source-read", add_navigation)
    app.connect("build-finished", add_front_door)
