"""What is kept of a long text, and how that is said."""

import re

from hypothesis import given
from hypothesis import strategies as st

from errata.review.excerpts import excerpt, gap, weight

LINES = "\n".join(f"line {number}" for number in range(1_000))


def test_a_text_that_fits_is_left_alone():
    assert excerpt("short", 100) == ("short", 0)


def test_the_beginning_and_the_end_are_kept():
    text, _ = excerpt(LINES, 600)

    assert text.startswith("line 0\n") and text.endswith("line 999")


def test_what_is_looked_for_is_kept():
    text, _ = excerpt(LINES, 900, needles=["line 500"])

    assert "line 500\n" in text


def test_lines_are_kept_whole():
    text, _ = excerpt(LINES, 900, needles=["line 500"])

    known = set(LINES.splitlines())
    assert all(line in known or line.startswith("[…") for line in text.splitlines())


def test_more_of_the_end_is_kept_where_that_is_wanted():
    text, _ = excerpt(LINES, 1_000, tail=0.9)
    head, _, tail = text.partition("[…")

    assert len(tail) > 4 * len(head)


def test_what_is_missing_is_said_where_it_is_missing():
    text, missing = excerpt(LINES, 700)

    assert text.count(gap(missing)) == 1


@given(
    st.text(st.characters(codec="utf-8"), max_size=3_000).map(lambda text: text * 3),
    st.integers(60, 4_000),
    st.lists(st.text(max_size=4), max_size=4),
    st.floats(0, 1),
)
def test_no_excerpt_is_too_large_or_counts_wrongly(text, room, needles, tail):
    shown, missing = excerpt(text, room, needles=needles, tail=tail)

    assert weight(shown) <= room
    result = [int(number.replace(",", "")) for number in re.findall(r"\[… ([\d,]+) characters left out …\]", shown)]
    assert sum(result) == missing or "left out" in text
    assert (missing == 0) == (shown == text)
