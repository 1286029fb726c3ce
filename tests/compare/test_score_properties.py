"""What must hold of every score, whatever was tried."""

from hypothesis import given
from hypothesis import strategies as st
from tries import trials, tried

from errata.compare.policies import POLICIES, clean, reviewed, strict
from errata.model import Limit
from errata.model.words import NOT_THE_SUBJECTS, OWNERS

FACTS = [
    ("completed", "scored", "pass"),
    ("completed", "scored", "fail"),
    ("completed", "scored", "partial"),
    ("completed", "unscored", "none"),
    ("completed", "error", "none"),
    ("completed", "not_run", "none"),
    ("error", "not_run", "none"),
    ("limit", "scored", "fail"),
    ("limit", "scored", "pass"),
    ("cancelled", "not_run", "none"),
    ("unfinished", "not_run", "none"),
    ("missing", "not_run", "none"),
]


@st.composite
def runs(draw):
    """Cases with a counted attempt, perhaps an earlier session, and what was thought of it."""
    attempts, owners, verdicts, broken = [], [], [], []
    for number in range(draw(st.integers(1, 8))):
        execution, measurement, outcome = draw(st.sampled_from(FACTS))
        limit = Limit(type=draw(st.sampled_from(["time", "token"]))) if execution == "limit" else None
        counted = tried(
            number, outcome, execution=execution, measurement=measurement, limit=limit, session=2,
            reported_counted=draw(st.booleans()),
        )  # fmt: skip
        attempts.append(counted)
        if draw(st.booleans()):
            attempts.append(tried(number, draw(st.sampled_from(["pass", "fail"])), session=1, superseded_by=counted.id))
        if counted.is_failure:
            owners.append((counted, draw(st.sampled_from(OWNERS))))
            broken += [counted] if draw(st.booleans()) else []
            verdicts += [(counted, draw(st.sampled_from(OWNERS)))] if draw(st.booleans()) else []
    timeouts = draw(st.sampled_from(["count", "drop"]))
    expected = draw(st.one_of(st.none(), st.integers(1, 12)))
    return trials(
        *attempts, owners=owners, broken=broken, verdicts=verdicts, timeouts=timeouts, expected_cases=expected
    )


@given(runs())
def test_passes_are_a_part_of_what_is_counted(given_trials):
    for count in POLICIES.values():
        score = count(given_trials)

        assert 0 <= score.passed <= score.total


@given(runs())
def test_bounds_and_interval_hold_the_rate(given_trials):
    for count in POLICIES.values():
        score = count(given_trials)
        if score.rate is not None:
            assert score.bounds[0] <= score.rate <= score.bounds[1]
            assert score.interval[0] <= score.rate <= score.interval[1]


@given(runs())
def test_what_is_counted_and_what_is_left_out_are_all_there_is(given_trials):
    score = clean(given_trials)
    if not given_trials.unavailable:
        assert score.total + sum(score.left_out.values()) == len(given_trials.units) + given_trials.absent


@given(runs())
def test_strict_is_never_above_clean_where_timeouts_count(given_trials):
    found, strictly = clean(given_trials), strict(given_trials)
    if found.total and strictly.total and given_trials.timeouts == "count":
        assert strictly.rate <= found.rate
        assert strictly.passed <= found.passed


@given(runs())
def test_reviewed_counts_no_more_than_clean_but_for_what_a_verdict_brings_back(given_trials):
    given_trials.earlier = {}
    found, read = clean(given_trials), reviewed(given_trials)
    brought_back = [
        one
        for one in given_trials.rows
        if one.verdict not in (NOT_THE_SUBJECTS | {"", "grader", "task"})
        and (one.owner in NOT_THE_SUBJECTS or one.broken)
    ]

    assert read.total <= found.total + len(brought_back)


@given(runs())
def test_an_earlier_session_never_lowers_the_total(given_trials):
    with_earlier = clean(given_trials)
    given_trials.earlier = {}

    assert clean(given_trials).total <= with_earlier.total


@given(runs())
def test_what_is_not_the_models_alone_is_a_part_of_what_failed(given_trials):
    score = clean(given_trials)
    passed, total = score.without_beside

    assert passed == score.passed <= total <= score.total
