"""A long document in two files: one to read, and the details beside it; nothing is in neither."""

import re

from hypothesis import given
from hypothesis import strategies as st

from documents import holding
from errata.memory.report_files import PART, find_reports
from errata.render.document import Document, Link, Section, fields, line, paragraph, table
from errata.render.markdown import to_markdown
from errata.render.paging import LINES, lines_of_document, paged


def a_report(*groups, rows=3, long=6):
    """Groups of so many failures each, and a table with a link to each of them."""
    sections, links = [], []
    for at, count in enumerate(groups):
        items = tuple(
            Section(title=f"case-{at}-{number}", key=f"{at}-{number}", blocks=(fields([("a", "b")] * long),))
            for number in range(count)
        )
        links += [(line(Link(item.title, f"#{item.key}")),) for item in items]
        sections.append(Section(title=f"cause-{at}", sections=items))
    return Document(
        title="Report",
        blocks=(paragraph("the answer"),),
        sections=(
            Section(title="Table", blocks=(table(("case",), links[: rows or None]),)),
            Section(title="Failures", sections=tuple(sections), can_overflow=True),
            Section(title="Actions taken", blocks=(paragraph("None"),)),
        ),
    )


def cases_in(text):
    return re.findall(r"^#### (case-\S+)$", text, re.MULTILINE)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=8), st.integers(1, 30))
def test_what_is_too_much_is_in_the_details_and_named(groups, long):
    pages = paged(a_report(*groups, rows=0, long=long), "r-details.md")
    main = to_markdown(pages.main)

    if pages.details is None:
        assert len(cases_in(main)) == sum(groups)
    else:
        assert "](r-details.md)" in main
        assert len(cases_in(to_markdown(pages.details))) == sum(groups)
    assert main.count("\n") <= LINES + 5
    assert main.rstrip().endswith("## Actions taken\n\nNone")


def test_every_cause_has_an_example_before_one_has_two():
    pages = paged(a_report(100, 100, 100), "r-details.md")

    assert cases_in(to_markdown(pages.main))[0] == "case-0-0"
    assert {one.rpartition("-")[0] for one in cases_in(to_markdown(pages.main))} == {"case-0", "case-1", "case-2"}


def test_a_link_leads_to_the_file_that_has_the_section():
    pages = paged(a_report(100, rows=0, long=40), "r-details.md")
    main = to_markdown(pages.main)

    assert "[case-0-0](#case-0-0)" in main
    assert "[case-0-29](r-details.md#case-0-29)" in main


def test_without_a_second_file_the_report_says_how_to_get_one():
    pages = paged(a_report(100), "", hint=line("errata report x"))

    assert "the others: errata report x." in to_markdown(pages.main)
    assert "r-details" not in to_markdown(pages.main)


def test_lines_are_counted_as_they_are_written():
    document = holding("plain")
    written = to_markdown(document).partition("<!-- errata:memory")[0]

    assert abs(lines_of_document(document) - written.count("\n")) <= 3


def test_the_details_are_not_taken_for_a_report_of_their_own(tmp_path):
    pages = paged(a_report(100), "r-details.md")
    (tmp_path / "r.md").write_text(to_markdown(pages.main))
    (tmp_path / "r-details.md").write_text(to_markdown(pages.details))

    assert PART.decode() in to_markdown(pages.details)
    found = find_reports([tmp_path])
    assert [one.path.name for one in found.files] == ["r.md"]
    assert found.skipped == ()
