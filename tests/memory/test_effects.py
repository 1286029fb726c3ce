"""Whether an action worked, from how its cases went before and after it."""

import pytest

from errata.memory.history import FailureSign, RunOutcomes, effects, newest_effect, same_case
from errata.model import Action

LINT = "suite/lint"
TASK = "suite/task"


def an_action(**changes):
    given = {"id": "1", "what": "allows it", "path": "lint.mjs", "addresses": (LINT,), "date": "2026-03-04"}
    return Action(**given | changes)


def a_run(at, *, failed=(), passed=(), **changes):
    given = {"run": f"run of {at}", "at": at, "subject": "nimbus", "suite": "suite"}
    return RunOutcomes(**given | changes, failed=frozenset(failed), passed=frozenset(passed))


def effect(action=None, now=None, before=None, members=None):
    now = now or a_run("2026-03-09T10:00:00Z", passed=[LINT])
    before = [a_run("2026-03-02T10:00:00Z", failed=[LINT])] if before is None else before
    (found,) = effects([action or an_action()], now, before, members)
    return found.worked, found.why


@pytest.mark.req("C-05")
def test_an_action_worked_where_its_case_failed_before_and_passes_now():
    assert effect() == ("yes", "lint passes now")


@pytest.mark.req("C-05")
def test_an_action_did_not_work_where_its_case_fails_again():
    assert effect(now=a_run("2026-03-09", failed=[LINT])) == ("no", "lint fails again")


def test_what_was_not_measured_since_is_unknown():
    assert effect(now=a_run("2026-03-09")) == ("unknown", "lint not measured since")


def test_an_action_after_the_run_can_not_have_worked_in_it():
    assert effect(an_action(date="2026-03-10")) == ("unknown", "it was made after the run began")


def test_the_same_day_is_unknown_without_times():
    assert effect(an_action(date="2026-03-09")) == (
        "unknown",
        "it was made on the day of the run; which came first is unknown",
    )


def test_a_time_of_the_action_tells_the_order_within_a_day():
    assert effect(an_action(date="2026-03-09T09:59:00Z"))[0] == "yes"
    assert effect(an_action(date="2026-03-09T10:01:00Z")) == ("unknown", "it was made after the run began")


def test_what_was_written_down_before_the_run_was_done_before_it():
    assert effect(an_action(date="2026-03-09", at="2026-03-09T09:00:00Z"))[0] == "yes"


def test_what_was_written_down_after_the_run_began_may_have_been_done_before():
    assert effect(an_action(date="2026-03-09", at="2026-03-09T11:00:00Z"))[0] == "unknown"


def test_a_local_time_does_not_tell_the_order():
    assert effect(an_action(date="2026-03-09T09:00:00Z"), a_run("2026-03-09T10:00:00", passed=[LINT]))[0] == "unknown"


def test_a_run_a_fix_and_another_run_on_one_day():
    before = [a_run("2026-03-09T08:00:00Z", failed=[LINT])]

    assert effect(an_action(date="2026-03-09", at="2026-03-09T09:00:00Z"), before=before) == ("yes", "lint passes now")


def test_a_run_without_a_time_tells_nothing():
    assert effect(now=a_run("", passed=[LINT])) == ("unknown", "the start time of the run is unknown")


def test_without_a_failure_before_nothing_can_be_told():
    assert effect(before=[])[0] == "unknown"


def test_a_case_that_passed_before_the_action_does_not_show_that_it_worked():
    before = [a_run("2026-02-01", failed=[LINT]), a_run("2026-03-02", passed=[LINT])]

    assert effect(before=before) == ("unknown", "lint passes now and passed before the action")


def test_another_model_shows_nothing():
    assert effect(before=[a_run("2026-03-02", failed=[LINT], subject="other")])[0] == "unknown"


def test_a_report_that_does_not_tell_its_model_counts():
    assert effect(before=[a_run("2026-03-02", failed=[LINT], subject="")])[0] == "yes"


def test_a_report_names_cases_without_the_suite():
    assert effect(before=[a_run("2026-03-02", failed=["lint"])])[0] == "yes"
    assert effect(an_action(addresses=("lint",)))[0] == "yes"


def test_a_name_that_fits_several_cases_is_unknown():
    now = a_run("2026-03-09", passed=["suite/a/lint", "suite/b/lint"])

    assert effect(an_action(addresses=("lint",)), now) == ("unknown", "lint matches 2 cases of the run")


def test_one_case_that_fails_again_outweighs_others_that_pass():
    before = [a_run("2026-03-02", failed=[LINT, TASK])]
    now = a_run("2026-03-09", failed=[LINT], passed=[TASK])

    assert effect(an_action(addresses=(LINT, TASK)), now, before) == ("no", "lint fails again; 1 of 2 passes now")


def test_cases_that_pass_are_told_together():
    before = [a_run("2026-03-02", failed=[LINT, TASK])]
    now = a_run("2026-03-09", passed=[LINT, TASK])

    assert effect(an_action(addresses=(LINT, TASK)), now, before) == ("yes", "lint, task pass now")


def test_mixed_attempts_show_nothing():
    now = a_run("2026-03-09", failed=[LINT], passed=[LINT])

    assert effect(now=now) == ("unknown", "lint fails in one attempt and passes in another")


def test_a_bucket_stands_for_its_cases():
    assert effect(an_action(addresses=("unused",)), members={"unused": [LINT]}) == ("yes", "lint passes now")


def test_an_action_without_cases_is_unknown():
    assert effect(an_action(addresses=())) == ("unknown", "it does not name a case")


def test_the_newest_run_that_tells_anything_decides():
    runs = [
        a_run("2026-03-20", passed=[]),
        a_run("2026-03-02", failed=[LINT]),
        a_run("2026-03-09", failed=[LINT]),
        a_run("2026-03-12", passed=[LINT]),
    ]

    found = newest_effect(an_action(), runs)

    assert (found.worked, found.run) == ("yes", "run of 2026-03-12")
    assert (found.resolved.worked, found.resolved.worked_in) == ("yes", "run of 2026-03-12")


def test_without_any_run_an_action_is_unknown():
    assert newest_effect(an_action(), []).worked == "unknown"


@pytest.mark.parametrize(("one", "other"), [("a/b/c", "b/c"), ("b/c", "a/b/c"), ("c", "c")])
def test_cases_are_the_same_by_their_ends(one, other):
    assert same_case(one, other)


def test_half_a_name_is_another_case():
    assert not same_case("a/bc", "c")


def a_sign(check, key=""):
    return FailureSign(checks=frozenset((check,)), key=key)


@pytest.mark.req("C-05")
def test_what_a_report_lists_was_done_after_its_run_even_on_the_same_day():
    listed = an_action(date="2026-03-02", report="reports/a.md")
    before = [a_run("2026-03-02", failed=[LINT], reports=frozenset(["reports/a.md"]))]

    assert effect(listed, a_run("2026-03-09", failed=[LINT]), before) == ("no", "lint fails again")
    assert effect(listed, a_run("2026-03-09", passed=[LINT]), before)[0] == "yes"


def test_an_action_of_another_report_on_that_day_may_have_been_first():
    listed = an_action(date="2026-03-02", report="reports/b.md")
    before = [a_run("2026-03-02", failed=[LINT], reports=frozenset(["reports/a.md"]))]

    assert effect(listed, a_run("2026-03-09", failed=[LINT]), before)[0] == "unknown"


@pytest.mark.req("B-45")
@pytest.mark.parametrize(
    ("before", "now", "worked"),
    [
        (a_sign("eslint"), a_sign("eslint"), "no"),
        (a_sign("eslint"), a_sign("tests"), "unknown"),
        (a_sign("eslint"), a_sign("eslint", "ctx is defined but never used"), "no"),
        (
            a_sign("eslint", "'ctx' is defined but never used"),
            a_sign("eslint", "'args' is defined but never used"),
            "no",
        ),
        (a_sign("eslint", "ctx is defined but never used"), a_sign("eslint", "Unexpected any"), "unknown"),
        (a_sign("tests", "expected two rows"), a_sign("tests", "expected two rows"), "no"),
    ],
)
def test_an_effect_is_judged_by_the_failed_check_and_the_failure_key(before, now, worked):
    earlier = [a_run("2026-03-02", failed=[LINT], signs={LINT: (before,)})]

    assert effect(now=a_run("2026-03-09", failed=[LINT], signs={LINT: (now,)}), before=earlier)[0] == worked


def test_another_failure_of_the_case_is_named_as_such():
    earlier = [a_run("2026-03-02", failed=[LINT], signs={LINT: (a_sign("eslint"),)})]
    now = a_run("2026-03-09", failed=[LINT], signs={LINT: (a_sign("deploy"),)})

    assert effect(now=now, before=earlier)[1] == "lint fails now for another reason than before"
