"""The static page: no text gets out of its place, nothing is loaded, and it is valid as far as a parser can tell."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents import HOSTILE, holding
from errata.render.document import Document, Section, line, paragraph
from errata.render.html import to_html

VOID = {"meta"}
IN_DIFF = {"div", "span", "code", "del", "ins"}
DIFF_CLASSES = {"", "heads", "side", "same", "changed", "minus", "plus", "none", "sign"}


class Skeleton(HTMLParser):
    """Elements and attribute names, in order; complains where they do not nest."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.found, self.open, self.ids = [], [], []
        self.diff = None

    def handle_starttag(self, tag, attrs):
        if tag == "wbr":  # where a long name may be broken: part of the text
            return
        named = dict(attrs)
        if tag == "span" and named == {"class": "nb"}:  # and where it may not
            self.open.append(tag)
            return
        if self.diff is not None:  # its rows and marks follow the text
            assert tag in IN_DIFF
            assert set(named) <= {"class"}
            assert set(named.get("class", "").split()) <= DIFF_CLASSES
            self.open.append(tag)
            return
        self.diff = len(self.open) if named.get("class") == "diff" else None
        self.found.append((tag, tuple(named)))
        self.ids += [named["id"]] if "id" in named else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, tuple(dict(attrs))))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if self.diff == len(self.open):
            self.diff = None


def skeleton(page):
    parser = Skeleton()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    assert len(set(parser.ids)) == len(parser.ids)
    return parser.found


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_changes_nothing_of_the_page(text):
    assert skeleton(to_html(holding(text))) == skeleton(to_html(holding("plain")))


@given(st.text(max_size=40))
def test_no_text_at_all_changes_anything_of_the_page(text):
    assert skeleton(to_html(holding(text))) == skeleton(to_html(holding("plain")))


def test_nothing_is_loaded_and_nothing_runs():
    page = to_html(holding("<script>x</script>"))

    assert "default-src &#39;none&#39;; style-src &#39;sha256-" in page
    assert not re.search(r"<(?:script|link|img|iframe|object|embed|form)|\bon\w+=\"|url\(|@import|style=", page)


def test_the_style_is_the_one_that_the_policy_allows():
    from base64 import b64encode
    from hashlib import sha256

    page = to_html(holding("x"))
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    assert f"sha256-{b64encode(sha256(style.encode()).digest()).decode()}" in page


def many(count, words=200):
    """Failures that all look like the first."""
    text = "why it failed " * words
    return tuple(
        Section(title=f"case-{number}", brief=line(f"brief {number}"), blocks=(paragraph(f"whole {number}! {text}"),))
        for number in range(count)
    )


def test_of_many_failures_the_first_are_shown_in_full_the_next_in_a_table_and_the_last_are_counted():
    group = Section(title="Cause", is_folded=True, sections=many(5_000))
    page = to_html(Document(title="x", sections=(Section(title="All", sections=(group,)),)))

    in_full = len(set(re.findall(r"whole (\d+)!", page)))
    in_short = int(re.search(r"([\d,]+) more in short", page)[1].replace(",", ""))
    counted = int(re.search(r"([\d,]+) of them are only counted", page)[1].replace(",", ""))
    assert in_full + in_short == 5_000
    assert page.count("<td>brief ") == in_short - counted
    assert len(page) < 1_000_000


def test_the_first_three_groups_are_open_and_of_each_the_first_item():
    groups = tuple(Section(title=f"group-{at}", is_folded=True, sections=many(2, words=1)) for at in range(5))
    page = to_html(Document(title="x", sections=(Section(title="All", sections=groups),)))

    assert re.findall(r'<details class="(\w+)"( open)?>', page) == [
        *[("group", " open"), ("item", " open"), ("item", "")] * 3,
        *[("group", ""), ("item", ""), ("item", "")] * 2,
    ]
