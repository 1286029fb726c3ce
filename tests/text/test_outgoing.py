"""What every text of a report goes through: no control, no secret, nobody's name, also where it is cut."""

import pytest

from errata.render.document import Code, Text, marked
from errata.render.markdown_text import GAP, plain_title
from errata.text.outgoing import short_line, washed, washed_lines, washed_tree

SECRET = "ghp_" + "a1B2" * 9


@pytest.mark.trap(20)
def test_secrets_addresses_and_home_folders_are_replaced():
    told = washed(f"token {SECRET} of ana.lopez@acme.io in /home/ana.lopez/x")

    assert told == "token [redacted:github-token] of [redacted:email] in /home/[redacted:user]/x"


@pytest.mark.trap(20)
def test_a_secret_at_the_place_of_the_cut_leaves_no_half():
    for width in range(20, 60):
        assert SECRET[:8] not in short_line(f"the key is {SECRET}, keep it", width)


def test_lines_stay_lines_in_a_snippet_and_become_one_elsewhere():
    assert washed_lines("\n a\r\nb\x1b[31m\n") == " a\nb"
    assert washed(" a\r\nb\u2028c\t d ") == "a b c d"


def test_every_text_of_a_tree_is_washed():
    assert washed_tree({"a": [SECRET, {"b": f"{SECRET}\x00"}], "n": 1, "no": None}) == {
        "a": ["[redacted:github-token]", {"b": "[redacted:github-token]"}],
        "n": 1,
        "no": None,
    }


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("has `code` in it", (Text("has "), Code("code"), Text(" in it"))),
        ("one ` alone", (Text("one ` alone"),)),
        ("`a` and `b", (Code("a"), Text(" and `b"))),
        ("", ()),
    ],
)
def test_what_reviewers_put_between_backticks_is_code(text, parts):
    assert marked(text) == parts


@pytest.mark.parametrize(
    "title",
    ["<script>alert(1)</script>", "[x](y)", "![x](y)", "@all", "closes #1", "https://evil.example", "www.evil.example"],
)
def test_a_plain_title_reads_as_it_is_and_acts_as_nothing(title):
    made = plain_title(title)

    assert made.replace(GAP, "") == title
    assert made != title


def test_an_ordinary_title_stays_as_it_is():
    title = '[E2E] test-029: Validate "user" input with `x` at $HOME (1 < 2) - PASS'

    assert plain_title(title) == title
