"""Where the links of a document lead, whatever its titles are."""

from hypothesis import given
from hypothesis import strategies as st

from errata.render.document import Anchors, Document, Link, Section, paragraph
from errata.render.html import to_html
from errata.render.markdown import to_markdown


def document(*titles):
    return Document(title="Report", sections=tuple(Section(title=title, key=title) for title in titles))


def anchors(*titles):
    made = document(*titles)
    found = Anchors(made)
    return [found.of(section) for section in made.sections]


def test_titles_become_anchors_as_git_hosts_make_them():
    assert anchors("Net Impact", "001-data_modeling/003-optional_index", "`a` & b, c.") == [
        "net-impact",
        "001-data_modeling003-optional_index",
        "a--b-c",
    ]


@given(st.lists(st.text(max_size=12), max_size=8))
def test_no_two_sections_share_an_anchor(titles):
    found = anchors(*titles)

    assert len(set(found)) == len(titles)
    assert all(anchor and not any(letter.isspace() for letter in anchor) for anchor in found)


def test_a_link_finds_its_section_by_its_key():
    made = Document(
        title="x",
        blocks=(paragraph(Link("there", "#k")),),
        sections=(Section(title="Same"), Section(title="Same", key="k")),
    )

    assert "[there](#same-1)" in to_markdown(made)
    assert '<a href="#same-1">there</a>' in to_html(made)
    assert '<h2 id="same-1">' in to_html(made)
