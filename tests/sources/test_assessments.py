"""Several scorers of one trace: which of the three facts they make."""

import pytest

from errata.model import Check
from errata.sources.shared.scores import facts_of, grade_of, status_of_value


def checks(*values, **more):
    return [Check(name=str(at), status=status_of_value(value), value=value, **more) for at, value in enumerate(values)]


@pytest.mark.parametrize(
    ("values", "facts"),
    [
        ((), ("not_run", "none")),
        ((True, "yes", 1), ("scored", "pass")),
        ((True, 0.5), ("scored", "number")),
        ((True, 0.5, "no"), ("scored", "fail")),
        ((None,), ("unscored", "none")),
        ((None, True), ("scored", "pass")),
        (("friendly",), ("scored", "none")),
        (("friendly", False), ("scored", "fail")),
    ],
)
def test_all_have_to_be_passed_and_one_that_is_failed_decides(values, facts):
    assert facts_of("completed", checks(*values)) == ("completed", *facts)


def test_a_scorer_that_broke_leaves_no_verdict_unless_another_failed_it():
    broken = Check(name="judge", status="error")

    assert facts_of("completed", [broken, *checks(True)]) == ("completed", "error", "none")
    assert facts_of("completed", [broken, *checks(False)]) == ("completed", "scored", "fail")


def test_what_does_not_count_decides_nothing():
    assert facts_of("completed", [*checks(True), *checks(False, counts=False)]) == ("completed", "scored", "pass")


@pytest.mark.parametrize(("value", "outcome"), [(True, "pass"), (False, "none"), (0.5, "none")])
def test_what_broke_is_passed_or_has_no_outcome(value, outcome):
    assert facts_of("error", checks(value)) == ("error", "scored", outcome)


def test_what_broke_and_was_not_looked_at_was_not_measured():
    assert facts_of("error", []) == ("error", "not_run", "none")


@pytest.mark.parametrize(
    ("value", "grade"), [("Correct ", 1.0), ("FAILED", 0.0), (0.25, 0.25), (1.5, None), (-1, None)]
)
def test_a_grade_is_from_0_to_1(value, grade):
    assert grade_of(value) == grade
