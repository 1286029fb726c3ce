"""The section "Actions taken" of a report, edited in place."""

import pytest

from errata.memory.actions_section import has_section, is_editable, with_entry, without_entry
from errata.memory.entries import entry_for
from errata.model import Action

LINE = "2026-03-04: `lint.mjs` allows unused arguments (addresses 000/002)."


def an_entry(**changes):
    given = {"what": "allows unused arguments", "path": "lint.mjs", "addresses": ("evals/000/002",)}
    return entry_for(Action(**{"id": "1", "date": "2026-03-04"} | given | changes), "evals")


def added(text, **changes):
    return with_entry(text.encode(), an_entry(**changes)).data.decode()


@pytest.mark.req("C-29", "C-32")
def test_none_is_replaced_by_the_first_entry():
    assert added("## Actions taken\n\nNone\n\n## Net impact\n\n3\n") == (
        f"## Actions taken\n\n1. {LINE}\n\n## Net impact\n\n3\n"
    )


@pytest.mark.req("C-32")
def test_an_entry_tells_what_where_when_and_for_which_failures():
    text = added(
        "## Actions taken\n", addresses=("evals/000/002", "evals/003/001"), author="ana", expected_effect="ok."
    )

    assert text.splitlines()[-1] == (
        "1. 2026-03-04: `lint.mjs` allows unused arguments (addresses 000/002, 003/001; by ana; expected: ok)."
    )


@pytest.mark.parametrize(
    "none", ["None", "none.", "*None*", "_None yet_", "N/A", "No actions taken.", "No action was taken yet", "Nothing"]
)
def test_whatever_says_that_nothing_was_done_makes_room(none):
    assert added(f"## Actions taken\n\n{none}\n") == f"## Actions taken\n\n1. {LINE}\n"


@pytest.mark.parametrize("said", ["No action needed.", "None of the fixes was deployed", "Nothing but a lint change"])
def test_what_says_more_than_none_is_kept(said):
    assert added(f"## Actions taken\n\n{said}\n") == f"## Actions taken\n\n{said}\n\n1. {LINE}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("1. a\n2. b\n", f"1. a\n2. b\n3. {LINE}\n"),
        ("7) a\n", f"7) a\n8) {LINE}\n"),
        ("- a\n", f"- a\n- {LINE}\n"),
        ("* a\n* b\n", f"* a\n* b\n* {LINE}\n"),
        ("+   a\n", f"+   a\n+   {LINE}\n"),
        ("  - a\n", f"  - a\n  - {LINE}\n"),
        ("- None\n", f"- {LINE}\n"),
        ("1. None.\n", f"1. {LINE}\n"),
        ("- a\n\n  more of a\n  - below a\n", f"- a\n\n  more of a\n  - below a\n- {LINE}\n"),
        ("- a\n\nWords after it.\n", f"- a\n- {LINE}\n\nWords after it.\n"),
        ("- a\n\n---\n", f"- a\n- {LINE}\n\n---\n"),
        ("None\n\n---\n", f"1. {LINE}\n\n---\n"),
    ],
)
def test_a_list_goes_on_in_its_own_way(before, after):
    assert added(f"# R\n\n## Actions taken\n\n{before}") == f"# R\n\n## Actions taken\n\n{after}"


def test_a_table_gets_a_row():
    table = "| # | Date | File | Change | Evals | Seen |\n|---|---|---|---|---|---|\n| 1 | x | y | z | a | b |\n"

    assert added(f"## Actions taken\n\n{table}\nWords.\n") == (
        f"## Actions taken\n\n{table}"
        "| 2 | 2026-03-04 | `lint.mjs` | allows unused arguments | 000/002 |   |\n\nWords.\n"
    )


def test_what_has_no_column_goes_with_the_description():
    assert added("## Actions taken\n\n| Action |\n|---|\n", author="ana").splitlines()[-1] == (
        "| 2026-03-04: `lint.mjs` allows unused arguments (addresses 000/002) (by ana) |"
    )


def test_a_table_that_says_none_gets_its_first_row():
    text = "## Actions taken\n\nDate | Action\n--|--\n– | None\n"

    assert added(text).splitlines()[-1] == "2026-03-04 | `lint.mjs` allows unused arguments (addresses 000/002)"


def test_a_bar_in_the_words_does_not_break_a_row():
    text = added("## Actions taken\n\n| Date | Action | For |\n|--|--|--|\n", what="a | b", path="c|d")

    assert text.splitlines()[-1] == r"| 2026-03-04 | `c\|d` a \| b | 000/002 |"
    assert added(text, what="a | b", path="c|d") == text


def test_a_table_about_something_else_is_left_alone():
    table = "| Kosten | Summe |\n|--|--|\n| a | 1 |\n"

    assert added(f"## Actions taken\n\n{table}") == f"## Actions taken\n\n{table}\n1. {LINE}\n"


@pytest.mark.parametrize(
    "heading",
    [
        "# Actions taken",
        "#### Actions Taken:",
        "## ACTIONS TAKEN ##",
        "## **Actions taken**",
        "## __Actions taken__",
        "## 7. Actions taken",
        "## ✅ Actions taken",
        "## Actions",
        "## Action taken",
        "## Actions taken (since the run)",
        "## Actions taken so far",
        "Actions taken\n---",
    ],
)
def test_the_heading_is_known_in_any_spelling(heading):
    assert added(f"{heading}\n\n- a\n") == f"{heading}\n\n- a\n- {LINE}\n"


@pytest.mark.parametrize(
    "other",
    ["### 004-actions", "## Action items", "## Recommended actions", "## Actions taken by the model", "### Actions"],
)
def test_other_headings_are_not_the_section(other):
    assert not has_section(f"# R\n\n{other}\n\n- a\n".encode())


@pytest.mark.parametrize(
    "hidden",
    [
        "```\n## Actions taken\n\nNone\n```\n",
        "~~~md\n## Actions taken\n~~~\n",
        "    ## Actions taken\n",
        "<!--\n## Actions taken\n-->\n",
        "> ## Actions taken\n>\n> None\n",
        "1. x\n\n   ```\n   ## Actions taken\n   ```\n",
    ],
)
def test_what_only_quotes_the_heading_is_not_the_section(hidden):
    text = f"# R\n\n{hidden}\n## Net impact\n\n3\n"

    assert added(text) == f"# R\n\n{hidden}\n## Actions taken\n\n1. {LINE}\n\n## Net impact\n\n3\n"


def test_a_report_without_the_section_gets_it_before_the_net_impact():
    assert added("# R\n### Net Impact\n3\n") == f"# R\n\n### Actions taken\n\n1. {LINE}\n\n### Net Impact\n3\n"


def test_a_report_without_either_gets_it_at_the_end():
    assert added("# R\n\n## Failures\n\nx") == f"# R\n\n## Failures\n\nx\n\n## Actions taken\n\n1. {LINE}"


def test_of_several_sections_the_topmost_is_meant():
    text = "## Failures\n\n### Actions taken\n\nx\n\n## Actions taken\n\nNone\n\n### Actions taken\n\ny\n"

    assert added(text) == text.replace("None", f"1. {LINE}")


def test_entries_under_headings_of_the_section_are_seen():
    text = f"## Actions taken\n\n### March\n\n- {LINE}\n"

    assert added(text) == text


def test_a_new_entry_goes_before_the_headings_of_the_section():
    assert added("## Actions taken\n\n### March\n\n- a\n") == (f"## Actions taken\n\n1. {LINE}\n\n### March\n\n- a\n")


@pytest.mark.parametrize("unclosed", ["```\ncode\n", "<!-- comment\n", "<script>\n"])
def test_what_is_never_closed_does_not_swallow_the_entry(unclosed):
    assert added(f"# R\n\n{unclosed}") == f"# R\n\n## Actions taken\n\n1. {LINE}\n\n{unclosed}"
    assert added(f"## Actions taken\n\n{unclosed}") == f"## Actions taken\n\n1. {LINE}\n\n{unclosed}"


def test_an_empty_file_becomes_a_section():
    assert added("") == f"## Actions taken\n\n1. {LINE}\n"


@pytest.mark.parametrize(
    "before",
    [
        b"# R  \r\n\r\n## Actions taken\r\n\r\nNone\r\n\r\n## Net impact\r\nx\xff\xfe  \r\n",
        b"\xef\xbb\xbf# R\r\r## Actions taken\r\rNone\r\r## Net impact\rx",
        b"\xef\xbb\xbf## Actions taken\n\nNone\n\n\n\n",
        b"caf\xe9\n\n## Actions taken\n\nNone",
        b"a\r\nb\n## Actions taken\r\nNone\r\n\n\x0b\x0c\xc2\x85\xe2\x80\xa8\r",
    ],
)
def test_all_other_bytes_stay_as_they_are(before):
    after = with_entry(before, an_entry()).data

    assert after == before.replace(b"None", b"1. " + LINE.encode())


def test_the_same_entry_is_not_written_twice():
    once = added("## Actions taken\n\n1. a\n")

    assert added(once) == once


@pytest.mark.parametrize(
    "written",
    [
        "1. 2026-03-04: `lint.mjs` allows unused arguments (addresses 000/002).",
        "- **2026-03-04**: lint.mjs allows unused arguments (addresses `000/002`)",
        "- [x] 2026-03-04: `lint.mjs` allows unused\n  arguments (addresses 000/002; by somebody else)",
    ],
)
def test_what_a_person_wrote_counts_in_whatever_markup(written):
    found = with_entry(f"## Actions taken\n\n{written}\n".encode(), an_entry())

    assert (found.state, found.line) == ("there", 3)


@pytest.mark.parametrize(
    "other",
    [
        {"what": "allows unused"},
        {"date": "2026-03-05"},
        {"path": "other.mjs"},
        {"addresses": ("evals/000/002", "evals/000/003")},
        {"addresses": ("evals/000/0021",)},
        {"what": "Allows unused arguments"},
    ],
)
def test_another_action_is_written_beside_it(other):
    once = added("## Actions taken\n\nNone\n")

    assert added(once, **other).count("\n2. ") == 1


@pytest.mark.parametrize(
    "text",
    [
        "## Actions taken\n\nNone\n\n## Net impact\n",
        "## Actions taken\r\n\r\nNone",
        "## Actions taken\n\n1. a\n2. b\n\nx\n",
        "## Actions taken\n\n| Date | Action |\n|--|--|\n| x | y |\n",
    ],
)
def test_taking_an_entry_out_gives_the_file_as_it_was(text):
    found = without_entry(added(text).encode(), an_entry())

    assert found.data.decode() == text


def test_an_entry_with_words_of_a_person_below_it_is_not_taken_out():
    text = added("## Actions taken\n\nNone\n") + "   reverted a day later\n"

    assert without_entry(text.encode(), an_entry()) is None


def test_an_entry_that_is_not_there_is_not_taken_out():
    assert without_entry(b"## Actions taken\n\n1. a\n", an_entry()) is None


def test_what_errata_remembers_in_its_own_reports_stays_behind_the_entries():
    memory = '<!-- errata:memory {"format":1} -->\n'

    assert added(f"## Actions taken\n\nNone\n\n{memory}") == f"## Actions taken\n\n1. {LINE}\n\n{memory}"
    assert added(f"## Actions taken\n\nWords.\n\n{memory}") == (f"## Actions taken\n\nWords.\n\n1. {LINE}\n\n{memory}")


@pytest.mark.parametrize("data", [b"\xff\xfe#\0", b"a\0b", b"a" * 3_000_000])
def test_what_is_no_text_is_not_edited(data):
    assert not is_editable(data)


@pytest.mark.parametrize(
    ("what", "shown"),
    [
        ("a\nb\r\n\r\n## c", "a b ## c"),
        ("a <!-- b", r"a \<!-- b"),
        ("a <script>", r"a \<script>"),
        ("a ` b", r"a \` b"),
        ("a `<b>` c", "a `<b>` c"),
        ("a \x1b[31mred\x1b[0m \u202eb", "a red b"),
        ("token sk-ant-api03-" + "a" * 95, "token [redacted:"),
        ("ends.", "ends"),
        ("if a < b", "if a < b"),
    ],
)
def test_words_can_not_break_out_of_their_line(what, shown):
    text = added("## Actions taken\n\nNone\n\n## Net impact\n\n`x`\n", what=what)

    assert shown in text.splitlines()[2]
    assert text.endswith("\n\n## Net impact\n\n`x`\n")
    assert added(text, what=what) == text


@pytest.mark.parametrize(
    ("path", "shown"), [("a`b", "``a`b``"), ("`a", "`` `a ``"), ("a\nb", "`a b`"), ("<a>", "`<a>`")]
)
def test_a_path_is_code_whatever_it_holds(path, shown):
    assert f": {shown} allows" in added("## Actions taken\n", path=path)


def test_the_name_of_a_case_can_not_break_out():
    text = added("## Actions taken\n", addresses=("evals/a, <b>\n## c",))

    assert text.splitlines()[-1].endswith("(addresses `a, <b> ## c`).")
