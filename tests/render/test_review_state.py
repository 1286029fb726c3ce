"""Where the owners of failures come from, in the words of every command (errata.render.proof)."""

import pytest

from errata.model.output.report.shared import ReviewCoverage
from errata.render.proof import coverage_state, owners_state


@pytest.mark.parametrize(
    ("by_rules", "need_second", "words"),
    [
        (9, 0, "PROVISIONAL: owners assigned by rules"),
        (2, 1, "PROVISIONAL: 2 owners assigned by rules"),
        (0, 1, "PROVISIONAL: owners come from verdicts, 1 still needs a second review"),
        (0, 2, "PROVISIONAL: owners come from verdicts, 2 still need a second review"),
        (0, 0, "Owners come from verdicts"),
    ],
)
def test_rules_are_blamed_only_where_they_decided(by_rules, need_second, words):
    assert owners_state(9, by_rules=by_rules, need_second=need_second) == words


def test_a_report_where_one_verdict_needs_a_second_reviewer_gives_that_as_the_reason():
    assert coverage_state(ReviewCoverage(failures=9, read=8, final=7, inherited=1)) == (
        "PROVISIONAL: owners come from verdicts, 1 still needs a second review; 8 of 9 failures reviewed, 1 inherited"
    )
