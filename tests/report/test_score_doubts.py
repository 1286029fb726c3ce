"""What makes a score unusable comes before it, and is the first thing to do."""

from hypothesis import given
from hypothesis import strategies as st

from errata.model.output.report.shared import FindingFact, SuspiciousPasses
from errata.report.shared import ScoreDoubts, doubt_card, doubt_words, doubts_to_do, findings_card

EMPTY = SuspiciousPasses(name="empty", means="the answer is empty", cases=("a", "b"))
ECHO = SuspiciousPasses(name="echo", means="the answer is the task itself", by_run={"x": 3, "y": 1})
ERROR = FindingFact(name="broken", severity="error", text="nothing was measured", run="x")
WARNING = FindingFact(name="no_verdict", severity="warning", text="1 case has no verdict", run="y")


def words(parts):
    return "".join(part.text for part in parts)


def reasons(doubts):
    (card,) = doubt_card(doubts)
    return card.title, [words(one) for one in card.blocks[0].lines]


def test_passes_that_are_all_suspicious_forbid_to_publish():
    title, lines = reasons(ScoreDoubts((EMPTY,), 2, 2))

    assert title == "Do not publish this score yet"
    assert lines == ["All 2 passes are suspicious: the answer is empty"]


def test_a_few_suspicious_passes_are_to_be_checked():
    title, lines = reasons(ScoreDoubts((EMPTY,), 2, 12, runs=2))

    assert title == "Check this before you publish these scores"
    assert lines == ["2 of 12 passes are suspicious: the answer is empty"]


def test_passes_that_are_odd_in_several_ways_are_counted_once():
    _, lines = reasons(ScoreDoubts((EMPTY, ECHO), 5, 12))

    assert lines == ["5 of 12 passes are suspicious: 2 × the answer is empty; 4 × the answer is the task itself"]


def test_errors_forbid_to_publish_and_warnings_do_not():
    doubts = ScoreDoubts(findings=(WARNING, ERROR), runs=2)

    assert reasons(doubts) == ("Do not publish these scores yet", ["x: nothing was measured"])
    (card,) = findings_card(doubts)
    assert [words(one) for one in card.blocks[0].lines] == ["y: 1 case has no verdict"]
    assert doubt_card(ScoreDoubts(findings=(WARNING,))) == ()
    assert findings_card(ScoreDoubts(findings=(ERROR,))) == ()


def test_the_first_things_to_do_are_what_blocks_the_score():
    assert [words(one) for one in doubts_to_do(ScoreDoubts((EMPTY,), 2, 12, (ERROR,)))] == [
        "Resolve what makes the run unfit for comparison before you publish this score (errata check)",
        "Look at 2 suspicious passes (of 12) before you publish this score",
    ]
    assert list(doubts_to_do(ScoreDoubts(findings=(WARNING,)))) == []


@given(st.integers(0, 50), st.integers(0, 50))
def test_all_is_only_said_of_all(odd, passes):
    suspicious = (EMPTY,) if odd else ()
    warning = doubt_words(ScoreDoubts(suspicious, odd, passes))

    assert ("All " in warning) == (1 < odd == passes)
    assert bool(warning) == bool(odd)


def test_a_run_without_any_verdict_is_judged_before_anything_else():
    doubts = ScoreDoubts(findings=[FindingFact(name="not_judged", severity="error", text="no judging")])

    assert doubt_words(doubts) == "No score yet. no judging."
    assert ["".join(part.text for part in one) for one in doubts_to_do(doubts)] == [
        "Judge the run first (errata rerun shows how)"
    ]
