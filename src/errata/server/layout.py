"""The frame of every page: top bar, content, scripts; and the small parts that pages share."""

from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files

from errata.render.blocks_html import page_text
from errata.render.html import MARK, page_style
from errata.render.palette import OWNERS
from errata.server.exchange import Page
from errata.text.lazy_regex import lazy_regex

SECTIONS = (
    ("runs", "/", "Runs"),
    ("review", "/review", "Review"),
    ("compare", "/compare", "Compare"),
    ("buckets", "/buckets", "Buckets"),
    ("leaderboard", "/leaderboard", "Leaderboard"),
)
STYLE = "page.css"
SCRIPTS = ("page.js", "complete.js")
"""Of every page."""
MEDIA_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
_IMPORT = lazy_regex(rb'from "\./([a-z_]+\.js)"')


def framed(page: Page, *, account: str = "", to_review: int | None = None) -> str:
    """`account`: the token that somebody is logged in with. `to_review`: failures without a verdict, where known."""
    scripts = "".join(
        f'<script type="module" src="{static_path(name)}"></script>' for name in (*SCRIPTS, *page.scripts)
    )
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{page_text(page.title)} · errata</title>",
            f'<link rel="stylesheet" href="{static_path(STYLE)}">',
            f'<link rel="icon" href="{static_path("icon.svg")}">',
            f'<script src="{static_path("theme.js")}"></script>',
            scripts,
            "</head>",
            f'<body data-section="{page_text(page.section)}">',
            '<a class="skip" href="#content">Skip to the content</a>',
            _top_bar(page, account, to_review),
            f'<main id="content" tabindex="-1">{page.body}</main>',
            _command(page.command),
            _keys(page),
            '<div id="announcements" class="hidden" role="status" aria-live="polite"></div>',
            "</body>",
            "</html>",
            "",
        )
    )


def _top_bar(page: Page, account: str, to_review: int | None) -> str:
    counts = {"review": f' <b class="todo" title="{to_review:,} not reviewed">{to_review:,}</b>' if to_review else ""}
    links = "".join(
        f'<a href="{path}"{" aria-current=page" if page.section == name else ""}>{label}{counts.get(name, "")}</a>'
        for name, path, label in SECTIONS
    )
    search = (
        '<form class="find" action="/search" role="search"><input name="q" type="search"'
        ' aria-label="Find a run, case or quote" placeholder="Find a run, case or quote" autocomplete="off"'
        f"{data_words()}>"
        "<kbd>/</kbd></form>"
    )
    buttons = (
        '<button type="button" class="icon" data-does="theme" aria-label="Light or dark" hidden>◐</button>'
        '<button type="button" class="icon" data-does="keys" aria-label="Keys of this page" hidden>?</button>'
    )
    if account:
        buttons += (
            '<form class="account" method="post" action="/logout">'
            f'<button title="Logged in as {page_text(account)}">Log out</button></form>'
        )
    return (
        f'<header class="top"><a class="brand" href="/">{MARK}errata</a>'
        f'<nav class="sections" aria-label="Pages">{links}</nav>{search}{buttons}</header>'
    )


_WORDS = (
    "model:", "suite:", "case:", "signal:", "owner:", *(f"owner:{owner}" for owner in OWNERS),
    "is:disagreed", "is:open", "is:reviewed", "is:final",
)  # fmt: skip


def data_words(*more: str) -> str:
    """For a field that filters: the words that `complete.js` suggests. Words of logs with a space are left out."""
    words = dict.fromkeys((*_WORDS, *(word for word in more if not any(map(str.isspace, word)))))
    return f' data-words="{page_text(" ".join(words))}"'


def _command(command: str) -> str:
    """What shows the same on a terminal; with script, a button copies it."""
    if not command:
        return ""
    return (
        f'<footer class="command"><span>The same on a terminal:</span> <code>{page_text(command)}</code>'
        '<button type="button" data-does="copy-command" hidden>Copy</button></footer>'
    )


EVERYWHERE = (
    ("/", "Find"),
    ("?", "Show the keys of this page"),
    ("g r", "Go to the runs"),
    ("g d", "Go to the review"),
    ("g c", "Go to the comparison"),
    ("g b", "Go to the buckets"),
    ("g l", "Go to the leaderboard"),
    ("y", "Copy a link to this page, or to the place with the focus"),
    ("T", "Light or dark"),
    ("Esc", "Close; then remove the filters; then one level up"),
)
"""Keys that `page.js` binds on every page."""


def _keys(page: Page) -> str:
    """The dialog of keys, unless the page has its own. Without script there are no keys."""
    if 'id="keys"' in page.body:
        return ""
    rows = "".join(
        f"<dt{' class=pair' if keys.startswith('g ') else ''}>{_caps(keys)}</dt><dd>{page_text(does)}</dd>"
        for keys, does in (*page.keys, *EVERYWHERE)
    )
    return (
        '<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keys of this page</h2>'
        f"<dl>{rows}</dl>"
        f"{KEY_SETTINGS}"
        '<form method="dialog"><button>Close</button></form></dialog>'
    )


KEY_SETTINGS = '<p><label><input type="checkbox" id="letters" checked> Keys without Ctrl work</label></p>'
"""In the dialog of keys."""


def _caps(keys: str) -> str:
    return " ".join(f"<kbd>{page_text(key)}</kbd>" for key in keys.split())


# --- static files


@cache
def static_file(name: str) -> bytes | None:
    """None where there is no such file. One style for all pages: that of reports, then what only the server has."""
    if name == STYLE:
        own = ["server.css", *sorted(each for each in _names() if each.endswith(".css") and each != "server.css")]
        return page_style().encode("utf-8") + b"".join(map(_read, own))
    if name not in _names():
        return None
    return _read(name)


@cache
def _names() -> frozenset[str]:
    return frozenset(
        each.name for each in files("errata.server.static").iterdir() if each.name.endswith(tuple(MEDIA_TYPES))
    )


def _read(name: str) -> bytes:
    """What a module imports has the same mark as where a page loads it: else a browser would load it twice."""
    content = files("errata.server.static").joinpath(name).read_bytes()
    return _IMPORT.sub(lambda found: f'from "{static_path(found[1].decode())}"'.encode(), content)


@cache
def static_path(name: str) -> str:
    """With a mark of its content, so that browsers can keep it for ever."""
    content = static_file(name)
    if content is None:
        raise LookupError(name)
    return f"/static/{name}?v={sha256(content).hexdigest()[:12]}"


# --- parts


def link(target: str, text: str, *, kind: str = "") -> str:
    """`target` is one of our own paths, quoted already."""
    style = f' class="{kind}"' if kind else ""
    return f'<a{style} href="{escape(target)}">{page_text(text)}</a>'


def table(head: Iterable[str], rows: Iterable[Iterable[str]], *, label: str, kind: str = "") -> str:
    """Cells are HTML already; a head that ends with `#` is a column of numbers."""
    names = list(head)
    numbers = [name.endswith("#") for name in names]
    heads = "".join(
        f'<th scope="col"{" class=number" * is_number}>{page_text(name.rstrip("#"))}</th>'
        for name, is_number in zip(names, numbers, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{' class=number' * is_number}>{cell}</td>" for cell, is_number in zip(row, numbers, strict=True))
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{page_text(label)}">'
        f'<table class="{kind}"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def card(title: str, body: str, *, note: str = "", kind: str = "") -> str:
    """`body` is HTML."""
    beside = f' <span class="note">{page_text(note)}</span>' if note else ""
    return f'<section class="card {kind}"><h2>{page_text(title)}{beside}</h2>{body}</section>'


def notice(text: str) -> str:
    """Something to know before the numbers are read."""
    return f'<p class="alert">{page_text(text)}</p>'


# --- the scripts and keys of a list: live updates only where the server has a stream of changes


ROW_KEYS = (("j k", "Next or previous row"), ("↵", "Open it"), ("o", "Open it in a new tab"), ("f", "Filter"))
FAILURE_KEYS = (
    *ROW_KEYS,
    ("J K", "Next or previous group"),
    ("h l", "Fold or unfold the group"),
    ("x X", "Select the row, or all rows up to it"),
    ("b", "Move the selected failures to a cause"),
    ("p", "Passes"),
    ("R", "Review"),
    ("C", "Compare"),
)
RUN_KEYS = (
    *ROW_KEYS,
    ("x X", "Select the run, or all runs up to it"),
    ("C", "Compare the selected runs"),
    ("I", "How to import a run"),
)
PASS_KEYS = (("p", "Failures"),)


LIST_SCRIPTS = ("list.js", "list_live.js")
