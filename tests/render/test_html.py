"""The static page: no text gets out of its place, nothing is loaded, and it is valid as far as a parser can tell."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents import HOSTILE, holding
from errata.render.document import Document, Section, line, paragraph
from errata.render.html import IN_FULL, to_html

VOID = {"meta", "rect"}


class Skeleton(HTMLParser):
    """Elements and attribute names, in order; complains where they do not nest."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.found, self.open, self.ids = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag == "wbr":  # where a long name may be broken: part of the text
            return
        named = dict(attrs)
        self.found.append((tag, tuple(named)))
        self.ids += [named["id"]] if "id" in named else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, tuple(dict(attrs))))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


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


def test_of_many_failures_the_first_are_shown_in_full_and_the_rest_in_a_table():
    many = tuple(
        Section(title=f"case-{number}", brief=line(f"brief {number}"), blocks=(paragraph(f"whole {number}"),))
        for number in range(IN_FULL + 7)
    )
    page = to_html(Document(title="x", sections=(Section(title="All", sections=many),)))

    assert f"whole {IN_FULL - 1}" in page
    assert f"whole {IN_FULL}<" not in page
    assert f"brief {IN_FULL + 6}" in page
    assert "7 more in short" in page


def test_a_provisional_report_says_so_on_top():
    page = to_html(holding("x"))

    assert page.index(">PROVISIONAL</p>") < page.index("<dl>")
