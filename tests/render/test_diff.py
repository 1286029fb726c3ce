"""The diff: nothing is lost, equal lines stand beside each other, and only what differs is marked."""

from hypothesis import given
from hypothesis import strategies as st

from errata.render.diff import diff_html, diff_rows

TEXTS = st.lists(st.text(alphabet="ab ()<&>\t", max_size=8), max_size=6).map("\n".join)


def side(rows, name):
    shown = (getattr(row, name) for row in rows)
    return "\n".join("".join(piece.text for piece in pieces) for pieces in shown if pieces is not None)


def marked(rows, name):
    return [piece.text for row in rows for piece in getattr(row, name) or () if piece.differs]


@given(TEXTS, TEXTS)
def test_both_texts_are_there_letter_for_letter(left, right):
    rows = diff_rows(left, right)

    assert (side(rows, "left"), side(rows, "right")) == (left, right)


def test_only_the_words_that_differ_are_marked():
    rows = diff_rows("if (used > 3) throw limit;", "if (used >= 3) throw limit;")

    assert (marked(rows, "left"), marked(rows, "right")) == ([], ["="])


def test_the_same_text_in_other_lines_is_marked_by_its_words():
    rows = diff_rows("route({\n  method: get,\n  run: (ctx) => 1\n})", "route({ method: get, run: () => 1 })")

    assert (marked(rows, "left"), marked(rows, "right")) == (["ctx"], [])


def test_a_line_that_only_one_side_has_leaves_a_gap_on_the_other():
    first, second, third = diff_rows("a\nc", "a\nb\nc")

    assert (first.kind, third.kind) == ("same", "same")
    assert second.left is None


def test_a_page_shows_signs_and_escapes_every_piece():
    page = diff_html("<b>x</b> one", "<b>x</b> two", captions=("Model", "Expected"), clean=str)

    assert "<b>" not in page
    assert "&lt;b&gt;x&lt;/b&gt; <del>one</del>" in page
    assert '<span class="sign">+</span>' in page
