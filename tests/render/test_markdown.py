"""Whatever a text holds, it changes nothing but itself: the skeleton of the page stays as it was."""

import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from documents import HOSTILE, holding
from errata.render.document import Code, Document, Link, Section, Snippet, line, paragraph, table
from errata.render.markdown import to_markdown

PARSER = MarkdownIt("gfm-like", {"linkify": False}).enable(["table", "strikethrough"])
CARRIERS = ("inline", "text", "softbreak", "text_special", "code_inline", "entity")


def skeleton(markdown):
    """Every element of the page but its texts."""
    found = []
    for token in PARSER.parse(markdown):
        found.append((token.type, token.tag, token.attrs.get("href", "")))
        found += [
            (child.type, child.tag, str(child.attrs)) for child in token.children or () if child.type not in CARRIERS
        ]
    return [one for one in found if one[0] not in CARRIERS]


def texts(text):
    return text or "x"


@pytest.mark.trap(22)
@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_changes_nothing_of_the_page(text):
    assert skeleton(to_markdown(holding(text))) == skeleton(to_markdown(holding("plain")))


@given(st.text(max_size=40))
@example("_\\_")
@example("a&copy;b")
def test_no_text_at_all_changes_anything_of_the_page(text):
    assert skeleton(to_markdown(holding(text))) == skeleton(to_markdown(holding("plain")))


@given(st.text(alphabet="`*_[]()<>#|\\-+.!&~=1 \n\tab:/@", max_size=30))
def test_no_mix_of_marks_changes_anything_of_the_page(text):
    assert skeleton(to_markdown(holding(text))) == skeleton(to_markdown(holding("plain")))


@given(st.text(max_size=60))
def test_what_errata_remembers_can_be_read_back(text):
    written = to_markdown(Document(title="x", memory={"note": text}))

    (found,) = re.findall(r"<!-- errata:memory (.*?) -->", written, re.DOTALL)
    assert "--" not in found
    assert isinstance(json.loads(found)["note"], str)


def test_a_secret_is_redacted_wherever_it_stands():
    secret = "ghp_" + "a1B2" * 9
    written = to_markdown(holding(f" {secret}"))

    assert secret not in written
    assert "[redacted:github-token]" in written.replace("\\[", "[").replace("\\]", "]")


@pytest.mark.parametrize(
    "target", ["javascript:alert(1)", "https://evil.example", "//evil.example", "/etc/passwd", "a/../../b"]
)
def test_a_link_leads_nowhere_else(target):
    assert "](" not in to_markdown(Document(title="x", blocks=(paragraph(Link("here", target)),)))


def test_links_inside_of_the_document_find_their_section():
    document = Document(
        title="x",
        blocks=(paragraph(Link("there", "#the-place")),),
        sections=(Section(title="Somewhere", key="the-place"),),
    )

    assert "[there](#somewhere)" in to_markdown(document)


def test_a_fence_is_longer_than_any_inside():
    assert to_markdown(Document(title="x", blocks=(Snippet("````"),))).count("`````") == 2


def test_a_bar_in_code_does_not_end_a_cell():
    written = to_markdown(Document(title="x", blocks=(table(("a", "b"), [(line(Code("x|y")), "z")]),)))

    assert r"| `x\|y` | z |" in written
