"""What holds for every page of a report, whatever the logs say: no markup, no address, no call that is not ours."""

import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

from markdown_it import MarkdownIt

from errata.render.document import anchor_of

PARSER = MarkdownIt("gfm-like", {"linkify": False}).enable(["table", "strikethrough"])
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")
OURS = re.compile(r"<!-- errata:[\w:.-]+(?: \{[^<>]*\})? -->\s*")
ADDRESS = re.compile(r"://|\bwww\.|mailto:")
CALL = re.compile(r"(?<![\w`])@\w|(?<!\w)#\d|\bGH-\d")
TAGS = frozenset(
    re.findall(
        r"\w+",
        "html head meta title style body h1 h2 h3 h4 h5 h6 p dl dt dd ul ol li nav section table thead tbody tr th td "
        "div figure figcaption pre code strong a span wbr header main details summary b mark del ins "
        "svg rect circle path g text tspan",
    )
)
ATTRIBUTES = frozenset(
    re.findall(
        r"[\w-]+",
        "lang charset http-equiv content name id class href scope role tabindex aria-label aria-hidden title open "
        "width height viewbox rx x y cx cy r d transform",
    )
)
VOID = {"meta", "wbr"}


def check_markdown(text: str, page: Path | None = None) -> None:
    """`page` is where it lies, so that links to files beside it can be followed."""
    assert not HIDDEN.search(text)
    tokens = PARSER.parse(text)
    levels = [int(token.tag[1]) for token in tokens if token.type == "heading_open"]
    assert levels[:1] == [1]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    anchors = _anchors(tokens)
    for token in tokens:
        assert token.type != "html_block" or OURS.fullmatch(token.content), token.content
        for child in token.children or ():
            assert child.type not in ("html_inline", "image"), child
            if child.type == "text":
                assert not ADDRESS.search(child.content), child.content
                assert not CALL.search(child.content), child.content
            if child.type == "link_open":
                _leads_somewhere(str(child.attrs["href"]), anchors, page)


def _anchors(tokens) -> set[str]:
    """As a git host makes them of what is shown."""
    found: dict[str, int] = {}
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            shown = "".join(child.content for child in inline.children if child.type != "softbreak")
            made = base = anchor_of(shown) or "section"
            while made in found:
                found[base] += 1
                made = f"{base}-{found[base]}"
            found[made] = 0
    return set(found)


def _leads_somewhere(target: str, anchors: set[str], page: Path | None) -> None:
    if target.startswith("#"):
        assert unquote(target[1:]) in anchors, target
    elif page is not None:
        file, _, anchor = target.partition("#")
        other = page.parent / file
        assert other.resolve().is_relative_to(page.parents[1]), target
        assert other.is_file(), target
        if anchor:
            assert unquote(anchor) in _anchors(PARSER.parse(other.read_text())), target


class Page(HTMLParser):
    """Complains where elements do not nest, or one is none of ours."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        assert tag in TAGS, tag
        assert set(named) <= ATTRIBUTES, (tag, named)
        assert len(named) == len(attrs), tag
        self.ids += [named["id"]] if "id" in named else []
        self.targets += [named["href"]] if "href" in named else []
        if tag not in VOID:
            assert not (tag in ("p", "h1", "h2", "h3", "li") and "p" in self.open), self.open
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert tag in ("rect", "circle", "path")
        assert set(dict(attrs)) <= ATTRIBUTES, (tag, attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def check_html(text: str, *, beside: bool = False) -> None:
    """`beside` where it may link to files that lie beside it."""
    assert not HIDDEN.search(text)
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)
    for target in page.targets:
        if beside and re.fullmatch(r"[\w./-]+\.md", target):
            continue
        assert target.startswith("#"), target
        assert target[1:] in page.ids, target


def check_folder(folder: Path) -> int:
    """Every page below it; how many there were."""
    pages = [path for path in sorted(folder.rglob("*")) if path.suffix in (".md", ".html")]
    for path in pages:
        assert re.fullmatch(r"[A-Za-z0-9._-]+", path.name), path.name
        if path.suffix == ".md":
            check_markdown(path.read_text(), path)
        else:
            check_html(path.read_text())
    return len(pages)
