"""A report's "Actions taken", edited by command and by hand in turns: whatever it looks like, nothing is lost."""

from hypothesis import given
from hypothesis import strategies as st

from errata.memory.actions_section import lines_of, with_entry, without_entry
from errata.memory.entries import entry_for, is_none
from errata.model import Action

HEADINGS = (
    "# Run",
    "## Actions taken",
    "## Actions Taken:",
    "### Actions taken",
    "## Actions",
    "## Net impact",
    "Setext\n---",
)
BLOCKS = (
    *HEADINGS,
    *HEADINGS,
    "None",
    "- None",
    "words  ",
    "words\nand more words",
    "1. one\n2. two",
    "- one\n\n- two\n\n  more of two",
    "* [x] done",
    "  + one\n    - below",
    "| Date | Action | Eval |\n|---|---|---|\n| a | b | c |",
    "| Date | Action |\n|---|---|\n| - | None |",
    "```\n## Actions taken\n\nNone\n```",
    "~~~\nnever closed",
    "```",
    "<!--\n## Actions taken\n-->",
    "<!-- never closed",
    "> ## Actions taken\n> None",
    "    code\n    ## Actions taken",
    "**Actions taken:** None",
    "---",
    "[link]: http://example.com",
    "<div>\n## Actions taken",
    "\t1. tab",
    "\xa0",
    "",
    "",
)
ENDS = ("\n", "\r\n", "\r")
MARK = b"\xef\xbb\xbf"
ODD = (b"", b"caf\xe9", b"\xff\xff", "–✓\u2028".encode(), b"\x0b", b"\\", b"`", b"  ")


@st.composite
def documents(draw):
    """Markdown put together from blocks, with line ends of any kind and bytes that are no text."""
    blocks = draw(st.lists(st.sampled_from(BLOCKS), max_size=9))
    gap = draw(st.sampled_from(("\n", "\n\n")))
    text = gap.join(blocks) + draw(st.sampled_from(("", "\n", "\n\n\n")))
    data = text.replace("\n", draw(st.sampled_from(ENDS))).encode()
    at = draw(st.integers(0, len(data)))
    odd = draw(st.sampled_from(ODD))
    mark = draw(st.sampled_from((b"", MARK)))
    return mark + data[:at] + odd + data[at:]


actions = st.builds(
    Action,
    id=st.just("1"),
    date=st.sampled_from(("2026-03-04", "2026-03-05T10:00:00Z")),
    what=st.one_of(
        st.sampled_from(("allows it", "a | b", "`code` and `", "<!-- x", "**bold", "x\\", "1. x", "## Actions taken")),
        st.text(min_size=1, max_size=20),
    ).filter(lambda text: any(letter.isalnum() for letter in text)),
    path=st.sampled_from(("lint.mjs", "a`b", "evals/x y/TASK.txt", "|")),
    addresses=st.lists(st.sampled_from(("s/000/002", "s/a b", "s/c|d", "bucket")), min_size=1, max_size=3).map(tuple),
    author=st.sampled_from(("", "ana", "a | b")),
    expected_effect=st.sampled_from(("", "it passes.")),
)


def gone(before, after):
    """The lines between what both begin with and what both end with: they are not there any more."""
    assert before.startswith(MARK) == after.startswith(MARK)
    old, new = (lines_of(data.removeprefix(MARK).decode("latin-1")) for data in (before, after))
    head = next(
        (at for at, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), min(len(old), len(new))
    )
    if head == len(old) - 1 and new[head].rstrip("\r\n") == old[head]:
        return []  # a last line that had no end
    rest = list(zip(reversed(old[head:]), reversed(new[head:]), strict=False))
    tail = next((at for at, pair in enumerate(rest) if pair[0] != pair[1]), len(rest))
    return old[head : len(old) - tail]


def said_nothing(line):
    return is_none(line.replace("**Actions taken:**", ""))


@given(documents(), st.lists(actions, min_size=1, max_size=4))
def test_every_byte_but_a_placeholder_is_kept(data, done):
    for action in done:
        edited = with_entry(data, entry_for(action, "s"))
        assert len(lost := gone(data, edited.data)) <= 1
        assert all(map(said_nothing, lost))
        data = edited.data


@given(documents(), st.lists(actions, min_size=1, max_size=4))
def test_telling_it_again_changes_nothing(data, done):
    for action in done:
        data = with_entry(data, entry_for(action, "s")).data

    for action in done:
        again = with_entry(data, entry_for(action, "s"))
        assert (again.state, again.data) == ("there", data)


@given(documents(), actions, actions)
def test_taking_out_the_last_entry_gives_the_entry_before_it_back(data, first, second):
    before = with_entry(data, entry_for(first, "s")).data
    after = with_entry(before, entry_for(second, "s"))
    if not after.changed:
        return

    back = without_entry(after.data, entry_for(second, "s"))

    assert back is not None
    assert with_entry(back.data, entry_for(first, "s")).state == "there"
    assert with_entry(back.data, entry_for(second, "s")).state == "written"


@given(documents(), st.lists(st.tuples(actions, st.integers(0, 40), st.sampled_from(BLOCKS)), min_size=2, max_size=5))
def test_edits_by_hand_between_commands_are_kept(data, rounds):
    """In turns: a command adds an action, a person adds lines anywhere. At the end everybody's lines are there."""
    kept = []
    for number, (action, at, block) in enumerate(rounds):
        edited = with_entry(data, entry_for(action, "s"))
        lines = edited.data.splitlines(keepends=True)
        place = at % (len(lines) + 1)
        lines.insert(place, f"{block}\nby hand {number}\n".encode())
        if place and not lines[place - 1].endswith((b"\n", b"\r")):
            lines.insert(place, b"\n")
        data = b"".join(lines)
        kept += [edited.text.encode("utf-8", "surrogateescape"), f"by hand {number}".encode()]

    data = with_entry(data, entry_for(rounds[0][0], "s")).data

    assert all(one in data for one in kept)
