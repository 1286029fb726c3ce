"""What does not come out the same in repeated runs, case by case and check by check."""

from hypothesis import given, settings
from hypothesis import strategies as st

from errata.compare.consistency import Tries, metrics_of, passing
from errata.compare.intervals import wilson
from errata.model import Check
from errata.testing import an_attempt


def row(case, outcome="pass", *, position=None, **checks):
    made = tuple(Check(name=name, status=status) for name, status in checks.items())
    return an_attempt(case=case, outcome=outcome, position=position, checks=made)


def study(*columns, changed=()):
    tries = Tries()
    for at, attempts in enumerate(columns):
        for attempt in attempts:
            tries.add((at, 1), attempt)
    return tries.study(changed=changed)


def test_the_pattern_tells_every_run():
    (case,) = study([row("a")], [row("a", "fail")], [row("a")]).cases

    assert case.pattern == "1:pass|2:fail|3:pass"


def test_a_run_that_lacks_a_case_is_not_in_its_pattern():
    _, case = study([row("a")], [row("a"), row("b")], [row("a"), row("b", "fail")]).cases

    assert case.pattern == "2:pass|3:fail"


def test_a_check_flips_between_pass_and_fail():
    (case,) = study([row("a", tone="pass", tools="fail")], [row("a", tone="fail", tools="fail")]).cases

    assert [(flip.metric, flip.pattern) for flip in case.flips] == [("tone", "1:pass|2:fail")]


def test_a_check_that_did_not_apply_somewhere_is_told_where_it_flips_elsewhere():
    (case,) = study([row("a", tone="pass")], [row("a", tone="not_applicable")], [row("a", tone="fail")]).cases
    (flip,) = case.flips

    assert flip.pattern == "1:pass|2:na|3:fail"
    assert (flip.counts["pass"], flip.counts["fail"], flip.counts["na"]) == (1, 1, 1)


def test_a_check_can_flip_where_the_outcome_does_not():
    (case,) = study([row("a", "fail", x="pass", y="fail")], [row("a", "fail", x="fail", y="pass")]).cases

    assert not case.repeated.is_unstable
    assert [flip.metric for flip in case.flips] == ["x", "y"]


def test_checks_that_do_not_count_are_no_metrics():
    checks = (Check(name="tone", status="pass"), Check(name="tone", judge="second", status="fail", counts=False))

    assert metrics_of(an_attempt(checks=checks)) == (("tone", "pass"),)


def test_of_several_checks_of_one_name_the_worst_counts():
    checks = [Check(name="contains", status=status) for status in ("pass", "fail", "not_applicable")]

    assert metrics_of(an_attempt(checks=tuple(checks))) == (("contains", "fail"),)
    assert metrics_of(an_attempt(checks=(checks[0], checks[2]))) == (("contains", "pass"),)


def test_several_rows_for_one_case_of_a_run_are_in_no_count():
    found = study([row("a"), row("a", "fail"), row("b")], [row("a"), row("b")])

    assert found.duplicates == ((1, "a"),)
    assert (found.rows, found.surplus, found.tried) == (5, 1, 2)
    assert [(case.case, case.pattern) for case in found.cases] == [("a", "2:pass"), ("b", "1:pass|2:pass")]


def test_a_case_whose_task_changed_is_no_repetition():
    found = study([row("a"), row("b")], [row("a", "fail"), row("b")], changed={"a", "elsewhere"})

    assert [case.case for case in found.cases] == ["b"]
    assert found.changed == ("a",)


def test_a_planned_case_without_a_row_is_absent_and_no_row():
    missing = an_attempt(case="a", execution="missing", measurement="not_run", outcome="none")
    found = study([missing, row("b")], [row("a"), row("b")])

    assert (found.absent, found.rows) == (((1, "a"),), 3)


def test_epochs_of_a_run_are_columns_like_runs():
    tries = Tries()
    for column, outcome in (((0, 2), "fail"), ((0, 1), "pass"), ((1, 1), "pass")):
        tries.add(column, row("a", outcome))
    found = tries.study()

    assert found.columns == ((0, 1), (0, 2), (1, 1))
    assert found.cases[0].pattern == "1:pass|2:fail|3:pass"


outcomes = st.sampled_from(["pass", "fail"])


@settings(deadline=None)
@given(st.lists(st.lists(outcomes, min_size=3, max_size=3), min_size=1, max_size=8))
def test_counts_by_run_and_by_case_are_the_same_in_all(table):
    columns = [[row(f"case-{at}", tries[column]) for at, tries in enumerate(table)] for column in range(3)]
    found = study(*columns)

    by_run = sum(counts["pass"] for counts in found.counts.values())
    assert by_run == sum(one.passed for one in found.repeated) == passing(found.repeated).passed
    assert by_run == sum(tries.count("pass") for tries in table)


@settings(deadline=None)
@given(st.lists(outcomes, min_size=1, max_size=30))
def test_the_interval_of_runs_that_agree_everywhere_is_that_of_one(tries):
    columns = [row(f"case-{at}", outcome) for at, outcome in enumerate(tries)]
    low, high = passing(study(columns, columns).repeated).interval

    expected = wilson(tries.count("pass"), len(tries))
    assert (round(low, 9), round(high, 9)) == (round(expected[0], 9), round(expected[1], 9))
