"""Is what was measured worth anything?"""

import pytest
from checkup_fixtures import RUN, check, named, row, rows
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from errata.checkup.disagreement import Panel
from errata.model import Check, ErrorInfo, Judgement, SourceInfo
from errata.review.agreement import krippendorff_alpha
from errata.testing import an_attempt

JUDGE_503 = ErrorInfo(type="SCORER_ERROR", message="judge 503", phase="scoring")
PROMPTFOO = replace(RUN, source=SourceInfo(name="promptfoo"))


def judged(number, *passed, **changes):
    result = tuple(Judgement(judge=f"judge_{at}", raw={"passed": one}) for at, one in enumerate(passed))
    return row(number, judgements=result, **changes)


def test_a_pass_that_nothing_was_asked_of_is_worth_nothing():
    (found,) = named("nothing_asserted", check([row(0), *(row(at, checks=()) for at in (1, 2))], PROMPTFOO))

    assert found.severity == "warning"
    assert found.text.startswith("2 of 3 passes met no assertion at all")


def test_where_the_log_keeps_only_the_outcome_nothing_is_said():
    assert not named("nothing_asserted", check(rows(3, checks=())))


def test_a_scorer_that_broke_beside_the_one_that_decides_is_noted_in_its_own_words():
    broke = Check(name="judge", status="error", counts=False, error=JUDGE_503)
    checked = Check(name="exact", status="pass")
    asked = [row(0, checks=(broke, checked)), *rows(9, checks=(checked, Check(name="judge", status="pass")))]
    (found,) = named("valueless_checks", check(asked))

    assert (found.severity, found.numbers) == ("info", {"values": 1})
    assert "`judge` 1 of 10" in found.text
    assert found.evidence[0].quote == "judge 503"


def test_checks_of_what_was_not_measured_at_all_are_told_elsewhere():
    broke = (Check(name="judge", status="error"),)

    assert not named("valueless_checks", check(rows(3, measurement="error", outcome="none", checks=broke)))


def test_judges_who_hardly_agree_are_warned_of():
    (found,) = named("judges_disagree", check([judged(at, True, at % 2 == 0) for at in range(20)]))

    assert found.severity == "warning"
    assert "10 of 20 attempts" in found.text


@pytest.mark.parametrize(
    "attempts",
    [
        [judged(at, at % 2 == 0, at % 2 == 0) for at in range(20)],
        [judged(at, True, at != 0) for at in range(20)],
        [judged(at, True, at % 2 == 0) for at in range(4)],
        [judged(at, at % 2 == 0) for at in range(20)],
    ],
    ids=["they agree", "one dispute of twenty", "too few to tell", "one judge"],
)
def test_other_judges_are_not(attempts):
    assert not named("judges_disagree", check(attempts))


def test_judges_without_a_word_on_the_whole_are_held_by_the_checks_that_both_rated():
    def both(number):
        checks = (Check(name="tone", status="pass", judge="a"), Check(name="alone", status="fail", judge="a"))
        other = Check(name="tone", status="fail" if number % 2 else "pass", judge="b", counts=False)
        return row(number, checks=(*checks, other), judgements=(Judgement(judge="a"), Judgement(judge="b")))

    (found,) = named("judges_disagree", check(map(both, range(20))))

    assert found.numbers["attempts"] == 10


@given(st.lists(st.lists(st.booleans(), min_size=2, max_size=4), min_size=1, max_size=30))
def test_it_is_the_alpha_of_the_textbook(ratings):
    panel = Panel()
    for result in ratings:
        panel.add(an_attempt(judgements=tuple(Judgement(judge="", raw={"passed": one}) for one in result)))

    expected = krippendorff_alpha(ratings)

    assert (panel.alpha is None) == (expected is None)
    assert panel.alpha == pytest.approx(expected) if expected is not None else True
