"""Log text made safe to show."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from errata.text.clean import clean, one_line, quoted, visible
from errata.text.outgoing import page_lines

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
HOSTILE = st.text(st.characters() | st.sampled_from("\x1b\x9b\x9d\r\n\t\x07[]();mBPX^_\\" + BIDI))


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain", "plain"),
        ("", ""),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[1;38;5;196mred\x1b[m", "red"),
        ("\x1b[2J\x1b[Hgone?", "gone?"),
        ("\x1b[?25lhidden cursor\x1b[?25h", "hidden cursor"),
        ("\x1b]8;;https://example.org/a?b=c\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]8;;https://example.org\x07link\x1b]8;;\x07", "link"),
        ("\x1b]0;new title\x07text", "text"),
        ("\x1b]52;c;ZXZpbA==\x07text", "text"),
        ("\x1bP+q544e\x1b\\text", "text"),
        ("\x1bMup", "up"),
        ("\x1b(B\x1b[mtext", "text"),
        ("\x1b7text\x1b8", "text"),
        ("\x1b=\x1b>text", "text"),
        ("\x1bctext", "text"),
        ("\x9b31mred\x9b0m", "red"),
        ("bell\x07 back\x08space \x00nul \x7fdel", "bell backspace nul del"),
        ("tabs\tand\nlines", "tabs\tand\nlines"),
        ("a\r\nb\rc\u2028d\u2029e\x85f", "a\nb\nc\nd\ne\nf"),
        ("user\u202etxt.exe", "usertxt.exe"),
        ("\ufeffmark", "mark"),
        ("a\ud800b", "a?b"),
        ("naïve ☃ 日本 👩\u200d💻", "naïve ☃ 日本 👩\u200d💻"),
    ],
    ids=ascii,
)
def test_only_what_can_be_shown_stays(raw, shown):
    assert clean(raw) == shown


@given(HOSTILE)
@example("\x1b\x1b[31m[31m")
@example("\x1b\u202e[31m")
@example("\r\x00\n")
def test_no_control_or_bidi_character_is_left(text):
    left = [one for one in clean(text) if unicodedata.category(one) in ("Cc", "Cs") or one in BIDI]

    assert set(left) <= {"\t", "\n"}


@given(HOSTILE)
@example("\x1b\x1b[31m[31m")
@example("\x1b\u202e[31m")
@example("\x1b]\x00\x07")
def test_cleaning_twice_changes_nothing_more(text):
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("a\n  b\t c ", 0, "a b c"),
        ("\x1b[31mred\x1b[0m\nand more", 0, "red and more"),
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abcde…"),
        ("abc", 1, "…"),
        (" \n ", 5, ""),
    ],
)
def test_one_line_is_cleaned_folded_and_cut(text, width, shown):
    assert one_line(text, width) == shown


@given(HOSTILE, st.integers(1, 40))
def test_one_line_is_one_line_and_never_longer_than_asked(text, width):
    line = one_line(text, width)

    assert len(line) <= width
    assert line.splitlines() in ([line], [])


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "  =cmd|' /C calc'!A0", "\t=1", "＝1+1", "\nx"])
def test_what_would_be_a_formula_is_quoted(text):
    assert quoted(text) == f"'{text}"


def test_hidden_characters_become_visible_and_lines_stay_as_they_are_counted():
    text = "a\u202eb\u200bc\x00\x1b[31md\x1b[0m\r\n10 %\r100 %\nend"

    assert visible(text) == "a⟨U+202E⟩b⟨U+200B⟩c⟨U+0000⟩d\n10 %␍100 %\nend"


def test_a_hidden_character_does_not_save_a_secret():
    secret = "sk-ant-api03-" + "Ab3" * 31 + "AA"

    assert page_lines(f"key {secret[:20]}\u200b{secret[20:]} end") != f"key {secret[:20]}⟨U+200B⟩{secret[20:]} end"
    assert secret not in page_lines(f"key {secret}")
