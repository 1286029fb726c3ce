"""Assertions of cost and latency: a row that fails for nothing else has missed a limit, not a demand."""

import pytest
from promptfoo_rows import a_component, a_failed_row, facts, read_one

LATE = a_component(
    **{"pass": False},
    score=0,
    reason="Latency 6200ms is greater than threshold 5000ms",
    assertion={"type": "latency", "threshold": 5000},
)
DEAR = a_component(
    **{"pass": False},
    score=0,
    reason="Cost 0.0121 is greater than threshold 0.01",
    assertion={"type": "cost", "threshold": 0.01},
)
WRONG = a_component(**{"pass": False}, score=0, reason='Expected output to contain "hello"')


@pytest.mark.parametrize(("missed", "kind", "value"), [(LATE, "time", 5.0), (DEAR, "cost", 0.01)])
def test_a_row_that_only_missed_a_limit_says_which(tmp_path, missed, kind, value):
    attempt = read_one(tmp_path, a_failed_row(a_component(), missed))

    assert facts(attempt) == ("completed", "scored", "fail")
    assert (attempt.limit.type, attempt.limit.value, attempt.limit.reason) == (kind, value, missed["reason"])


def test_the_check_of_a_limit_is_of_a_kind_of_its_own(tmp_path):
    attempt = read_one(tmp_path, a_failed_row(a_component(), LATE))

    assert [check.kind for check in attempt.checks] == ["assertion", "limit", "reward"]


def test_a_wrong_answer_that_also_came_late_is_a_wrong_answer(tmp_path):
    attempt = read_one(tmp_path, a_failed_row(LATE, WRONG))

    assert attempt.limit is None


def test_a_limit_inside_of_a_set_is_found(tmp_path):
    within = a_component(
        **{"pass": False},
        score=0.5,
        reason="Aggregate score 0.5 < 1 threshold",
        assertion=None,
        metadata={"assertionSet": {"type": "assert-set", "threshold": 1}},
        componentResults=[a_component(), LATE],
    )
    attempt = read_one(tmp_path, a_failed_row(within))

    assert [check.kind for check in attempt.checks if check.failed] == ["limit"]
    assert (attempt.limit.type, attempt.limit.value) == ("time", 5.0)
