"""What each policy counts, and what it leaves out."""

import pytest
from tries import CRASHED, NOT_MADE, OUT_OF_TIME, trials, tried

from errata.compare.policies import clean, reviewed, strict
from errata.model import ErrorInfo

OTHERS = ["provider", "environment", "harness", "simulator", "collateral"]


def test_strict_counts_every_expected_case():
    found = strict(trials(tried(1), tried(2, "fail"), expected_cases=4))

    assert (found.passed, found.total, found.note) == (1, 4, "missing = not passed")


@pytest.mark.parametrize("there", [0, 1, 2])
def test_strict_cannot_be_told_where_cases_were_measured_whose_rows_are_not_in_the_log(there):
    found = strict(trials(*map(tried, range(there)), expected_cases=10, measured_attempts=10))

    assert (found.total, found.rate, found.interval) == (0, None, None)
    assert found.note.startswith(f"unknown (between {10 * there:.1f} and 100.0 %): {10 - there} of 10 were")


def test_what_was_never_measured_stays_a_failure_in_the_bounds():
    crashed = tried(1, **CRASHED)

    found = strict(trials(crashed, expected_cases=80, measured_attempts=78))

    assert found.note.startswith("unknown (between 0.0 and 97.5 %): 78 of 80 were measured")


def test_clean_tells_what_is_not_in_the_log_from_what_is_missing():
    found = clean(trials(tried(1, "fail"), expected_cases=80, measured_attempts=78))

    assert found.left_out == {"not in the log": 77, "missing": 2}


def test_a_category_is_not_charged_with_what_is_not_in_the_log():
    whole = trials(tried(1), tried(2), expected_cases=10, measured_attempts=10)

    assert strict(whole.only([tried(1).case])).total == 1


def test_a_case_that_contradicts_itself_is_not_passed_strictly():
    first = tried(1)
    found = strict(trials(first, tried(1, "fail", index=2, duplicate_of=first.id)))

    assert (found.passed, found.total, found.note) == (0, 1, "contradictory = not passed")


def test_a_case_that_contradicts_itself_is_left_out_cleanly():
    first = tried(1)

    assert clean(trials(first, tried(1, "fail", index=2, duplicate_of=first.id))).left_out == {"contradictory": 1}


@pytest.mark.parametrize("owner", OTHERS)
def test_clean_leaves_out_what_is_not_the_subjects(owner):
    failed = tried(2, **CRASHED)

    found = clean(trials(tried(1), failed, owners=[(failed, owner)]))

    assert (found.passed, found.total, found.left_out) == (1, 1, {owner: 1})


@pytest.mark.parametrize("owner", ["model", "budget", "grader", "task"])
def test_clean_counts_what_was_measured_and_failed(owner):
    failed = tried(2, "fail")

    assert clean(trials(tried(1), failed, owners=[(failed, owner)])).total == 2


@pytest.mark.parametrize("owner", ["model", "budget", "unknown"])
def test_clean_counts_a_crash_that_is_nobody_elses(owner):
    crashed = tried(2, **CRASHED)

    assert clean(trials(tried(1), crashed, owners=[(crashed, owner)])).total == 2


def test_clean_leaves_out_what_was_made_and_never_scored():
    found = clean(trials(tried(1), tried(2, "none", measurement="not_run")))

    assert (found.total, found.left_out) == (1, {"not scored": 1})


def test_clean_leaves_out_a_broken_measurement():
    failed = tried(2, "fail")

    assert clean(trials(tried(1), failed, broken=[failed])).left_out == {"not measured": 1}


def test_clean_leaves_out_cases_that_the_log_does_not_even_name():
    found = clean(trials(tried(1), expected_cases=3))

    assert (found.total, found.left_out, found.bounds) == (1, {"missing": 2}, (1 / 3, 1.0))


@pytest.mark.req("S-16", "S-42")
def test_an_earlier_measured_session_stands_in_for_one_that_measured_nothing():
    latest = tried(1, **CRASHED, session=3)
    first = tried(1, session=1, superseded_by=latest.id)

    found = clean(trials(first, latest, owners=[(latest, "harness")]))

    assert (found.passed, found.total, found.recovered) == (1, 1, ("suite/case-1",))


def test_an_earlier_measured_session_stands_in_for_a_crash_that_nobody_can_explain():
    latest = tried(1, **CRASHED, session=2)
    first = tried(1, session=1, superseded_by=latest.id)

    assert clean(trials(first, latest, owners=[(latest, "unknown")])).recovered == ("suite/case-1",)


def test_what_counts_and_is_not_the_models_alone_is_told_apart():
    failed, strict_grader = tried(2, "fail"), tried(3, "fail")

    found = clean(trials(tried(1), failed, strict_grader, owners=[(failed, "model"), (strict_grader, "grader")]))

    (group,) = found.beside
    assert (group.why, group.signal, group.members[0].id) == ("grader", "rule_of_grader", strict_grader.id)
    assert found.without_beside == (1, 2)


def test_an_unavailable_run_has_a_strict_score_only():
    error = ErrorInfo(type="", message="No endpoints found", phase="subject")
    down = trials(*(tried(number, **CRASHED, errors=(error,)) for number in range(4)))

    assert (strict(down).total, clean(down).total) == (4, 0)
    assert "unavailable" in clean(down).note


def test_a_log_without_attempts_has_no_strict_score():
    found = strict(trials(tried(1, **NOT_MADE), expected_cases=1))

    assert (found.total, found.rate, found.note) == (0, None, "the log has no attempts")


# --- timeouts


def test_timeouts_count_where_nothing_else_is_said():
    late = tried(2, "fail", **OUT_OF_TIME)

    found = clean(trials(tried(1), late, owners=[(late, "budget")]))

    assert (found.total, [group.why for group in found.beside]) == (2, ["budget"])


@pytest.mark.parametrize("outcome", ["pass", "fail"])
def test_timeouts_can_be_dropped_however_they_ended(outcome):
    found = clean(trials(tried(1), tried(2, outcome, **OUT_OF_TIME), timeouts="drop"))

    assert (found.total, found.left_out) == (1, {"timed out": 1})


def test_an_earlier_timeout_does_not_stand_in_where_timeouts_are_dropped():
    latest = tried(1, **CRASHED, session=2)
    first = tried(1, session=1, superseded_by=latest.id, **OUT_OF_TIME)

    found = clean(trials(first, latest, owners=[(latest, "harness")], timeouts="drop"))

    assert (found.total, found.recovered) == (0, ())


# --- reviewed


def test_nothing_is_reviewed_without_verdicts():
    found = reviewed(trials(tried(1), tried(2, "fail"), tried(3, "fail")))

    assert (found.total, found.rate, found.note) == (0, None, "0 of 2 reviewed")


@pytest.mark.parametrize("owner", [*OTHERS, "grader", "task"])
def test_a_verdict_takes_a_failure_out(owner):
    failed = tried(2, "fail")

    found = reviewed(trials(tried(1), failed, verdicts=[(failed, owner)]))

    assert (found.passed, found.total, found.left_out, found.note) == (1, 1, {owner: 1}, "1 of 1 reviewed")


def test_a_known_gap_is_taken_out_whoever_owns_it():
    failed = tried(2, "fail")

    found = reviewed(trials(tried(1), failed, verdicts=[(failed, "model", "KNOWN_GAP")]))

    assert found.left_out == {"known gap": 1}


@pytest.mark.parametrize("owner", ["model", "budget", "unknown"])
def test_a_verdict_wins_over_what_triage_said(owner):
    failed = tried(2, "fail")
    given = trials(tried(1), failed, owners=[(failed, "provider")], verdicts=[(failed, owner)])

    assert (clean(given).total, reviewed(given).total) == (1, 2)


def test_a_verdict_wins_over_a_rule_that_says_the_measurement_broke():
    failed = tried(2, "fail")

    assert reviewed(trials(tried(1), failed, broken=[failed], verdicts=[(failed, "model")])).total == 2


def test_what_was_not_measured_stays_out_whatever_a_verdict_says():
    unjudged = tried(2, "none", measurement="unscored")

    assert reviewed(trials(tried(1), unjudged, verdicts=[(unjudged, "model")])).left_out == {"not measured": 1}


def test_what_nobody_has_read_goes_by_its_attribution():
    read, grader, provider = tried(2, "fail"), tried(3, "fail"), tried(4, **CRASHED)

    found = reviewed(
        trials(
            tried(1), read, grader, provider,
            owners=[(grader, "grader"), (provider, "provider")],
            verdicts=[(read, "task")],
        )
    )  # fmt: skip

    assert (found.total, found.left_out, found.note) == (2, {"task": 1, "provider": 1}, "1 of 3 reviewed")


def test_a_category_without_failures_has_no_reviewed_score_where_the_run_has_none():
    found = trials(tried(1), tried(2, "fail"))

    assert reviewed(found.only({"suite/case-1"})).total == 0
