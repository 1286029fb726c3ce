"""Is everything there, once, and measured?"""

import msgspec
import pytest
from checkup_fixtures import RUN, check, crashed, failed, missing, named, row, rows, the

from errata.model import Check, ErrorInfo, Judgement, SourceRef, Unreadable

UNSCORED = {"measurement": "unscored", "outcome": "none"}
NOT_RUN = {"measurement": "not_run", "outcome": "none"}


def again(number, make=row, **changes):
    """A further row of a case that has one already."""
    return make(number, index=changes.pop("index", 2), duplicate_of=row(number).id, **changes)


# --- missing ---


def test_missing_cases_are_counted_and_named():
    found = the("missing_cases", check([*rows(8), missing(8), missing(9)]))

    assert found.text == "2 of 10 planned cases are not in the log: case-8, case-9"
    assert found.numbers == {"cases": 2}


def test_one_missing_case_is_told_in_the_singular():
    assert "1 of 3 planned cases is not in the log" in the("missing_cases", check([*rows(2), missing(2)])).text


def test_many_missing_cases_are_named_as_people_count():
    found = the("missing_cases", check([row(0), *(missing(number) for number in (10, 9, 2, 1, 11, 12, 13, 14, 15))]))

    assert found.text.endswith("case-1, case-2, case-9, case-10, case-11, case-12, case-13, case-14 and 1 more")


def test_a_case_of_which_several_attempts_are_missing_is_one_case():
    found = the("missing_cases", check([*rows(2), missing(2), missing(2, index=2), missing(2, index=3)]))

    assert found.numbers == {"cases": 1}
    assert found.text == "1 of 3 planned cases is not in the log: case-2"


def test_the_reason_of_a_missing_case_is_its_evidence():
    place = SourceRef(file="plan.json", pointer="/3")
    why = ErrorInfo(type="missing", message="planned, never started", phase="setup", ref=place)

    (result,) = the("missing_cases", check([*rows(2), crashed(2, execution="missing", errors=(why,))])).evidence

    assert (result.quote, result.ref) == ("planned, never started", place)


# --- a log that holds a part ---


def test_cases_that_a_log_only_counts_are_a_warning():
    run = msgspec.structs.replace(RUN, expected_cases=5, measured_attempts=5)

    found = the("cases_not_in_log", check(rows(2), run))

    assert found.text == "3 of 5 cases were measured according to the harness, but have no row in the log"
    assert not found.breaks


def test_a_log_of_numbers_alone_is_told_the_same_way():
    found = check([], msgspec.structs.replace(RUN, expected_cases=5, measured_attempts=5))

    assert the("cases_not_in_log", found).numbers == {"cases": 5}
    assert "missing_cases" not in [one.name for one in found]


def test_attempts_at_cases_that_have_others_may_lack_rows_too():
    run = msgspec.structs.replace(RUN, expected_cases=2, measured_attempts=4)

    found = the("cases_not_in_log", check(rows(2), run))

    assert found.text == "2 of 4 attempts were measured according to the harness, but have no row in the log"


def test_cases_that_nobody_says_were_measured_are_missing_though_they_have_no_name():
    found = check(rows(2), msgspec.structs.replace(RUN, expected_cases=5, measured_attempts=4))

    assert the("missing_cases", found).text == "1 of 5 planned cases is missing; the log does not say which"
    assert the("cases_not_in_log", found).numbers == {"cases": 2}


@pytest.mark.parametrize("expected", [None, 0, 2])
def test_a_log_that_holds_all_that_was_expected_is_no_finding(expected):
    assert check(rows(2), msgspec.structs.replace(RUN, expected_cases=expected)) == ()


# --- unfinished ---


@pytest.mark.trap(4)
def test_a_pending_case_is_unfinished_and_no_failure():
    pending = row(2, execution="unfinished", **NOT_RUN)

    found = the("unfinished_cases", check([*rows(2), pending]))

    assert found.text == "1 case is not finished: case-2"
    assert found.evidence[0].ref == pending.ref
    assert not pending.is_failure


def test_a_case_of_which_several_attempts_are_unfinished_is_one_case():
    pending = [row(2, execution="unfinished", index=index, **NOT_RUN) for index in (1, 2)]

    found = the("unfinished_cases", check([*rows(2), *pending]))

    assert found.text == "1 case is not finished: case-2"


# --- not judged ---


def test_a_transcript_without_any_verdict_is_not_passed():
    found = the("not_judged", check(rows(3, checks=(), **NOT_RUN)))

    assert "3 transcript rows, no judge results" in found.text
    assert found.breaks


def test_a_run_that_only_crashed_had_nothing_to_judge():
    assert named("not_judged", check([crashed(number, f"error {number}") for number in range(3)])) == []


def test_one_verdict_makes_a_run_a_judged_one():
    assert named("not_judged", check([row(0), *rows(3, **NOT_RUN)[1:]])) == []


@pytest.mark.trap(9)
def test_a_row_whose_every_dimension_is_null_has_no_verdict():
    null = (Check(name="tone", status="not_applicable"), Check(name="facts", status="not_applicable"))

    found = the("no_verdict", check([*rows(2), row(2, checks=null, **UNSCORED)]))

    assert found.text == "1 case with a row was not scored: case-2"
    assert (found.severity, found.evidence[0].ref.line) == ("warning", 3)


# --- duplicates ---


@pytest.mark.trap(11)
def test_equal_duplicates_are_a_note():
    found = the("duplicate_case", check([*rows(2), again(0), again(1)]))

    assert (found.severity, found.breaks, found.numbers) == ("info", False, {"cases": 2})
    assert found.text == "2 cases have several rows with the same verdict: case-0, case-1"


@pytest.mark.trap(11)
def test_contradicting_duplicates_make_the_case_unusable():
    found = the("duplicate_case", check([row(0), row(1), again(0, failed), again(0, failed, index=3)]))

    assert (found.severity, found.breaks, found.numbers) == ("error", True, {"rows": 3})
    assert found.text == "case-0 has 3 rows with different verdicts: 1 pass, 2 fail"


def test_each_contradicting_row_is_evidence():
    found = the("duplicate_case", check([row(0), again(0, failed, ref=SourceRef(file="rows.jsonl", line=9))]))

    assert [one.ref.line for one in found.evidence] == [1, 9]
    assert [one.stated for one in found.evidence] == ["pass", "failed tests"]


def test_rows_that_fail_in_different_checks_contradict_each_other():
    other = failed(0, index=2, duplicate_of=row(0).id)
    changed = msgspec.structs.replace(other, checks=(Check(name="lint", status="fail"),))

    assert the("duplicate_case", check([failed(0), changed])).severity == "error"


def test_several_contradicting_cases_are_a_finding_each():
    found = check([row(0), row(1), again(0, failed), again(1, failed)])

    assert len(named("duplicate_case", found)) == 2


def test_repetitions_that_are_planned_are_no_duplicates():
    assert check([row(0), row(0, index=2), row(0, index=3)]) == ()


def test_what_each_judge_said_of_contradicting_rows_is_told():
    kind, strict = (Judgement(judge="j", reasoning=text) for text in ("good enough", "wrong number"))

    found = the("judge_conflict", check([row(0, judgements=(kind,)), again(0, failed, judgements=(strict,))]))

    assert [(one.stated, one.quote) for one in found.evidence] == [("pass", "good enough"), ("fail", "wrong number")]
    assert all(one.ref for one in found.evidence)


def test_judges_who_agree_are_no_conflict():
    result = (Judgement(judge="j", reasoning="good enough"),)

    assert named("judge_conflict", check([row(0, judgements=result), again(0, judgements=result)])) == []


# --- nothing ---


def test_a_run_without_attempts_is_an_error():
    assert [one.name for one in check([])] == ["no_attempts"]


def test_a_run_with_only_superseded_attempts_has_none_that_counts():
    assert the("no_attempts", check(rows(2, superseded_by="x"))).breaks


def test_copies_are_named_once_for_all_of_them_and_are_not_unreadable():
    copies = [
        Unreadable(source="s", where=f"rows:{line}", why="a copy of rows:1", copy_of=name)
        for line, name in ((7, "case-1"), (8, "case-1"), (9, "case-2"))
    ]
    found = check(rows(3), unreadables=copies)

    assert the("duplicate_case", found).text == "3 rows are copies of others and are not counted: case-1, case-2"
    assert named("unreadable", found) == []
