"""Did the machinery work?"""

import msgspec
import pytest
from checkup_fixtures import RUN, check, crashed, failed, missing, named, row, rows, the

from errata.model import Check, ErrorInfo, Session, SourceRef, Unreadable, Usage, UsageByRole

# --- unavailable ---


def test_one_error_everywhere_and_no_tokens_is_an_unavailable_run():
    found = the("unavailable", check([crashed(number) for number in range(10)]))

    assert found.text == "all 10 attempts failed with the same error and used no tokens"
    assert found.breaks
    assert [(one.quote, str(one.ref)) for one in found.evidence] == [("401 unauthorized", "rows.jsonl:1")]


def test_tokens_of_zero_are_no_tokens():
    nothing = UsageByRole(subject=Usage(input=0, output=0, cost=0.0))

    assert the("unavailable", check([crashed(number, usage=nothing) for number in range(3)]))


AVAILABLE = {
    "two attempts only": [crashed(0), crashed(1)],
    "another error": [crashed(0), crashed(1), crashed(2, "502 bad gateway")],
    "one that used tokens": [crashed(0), crashed(1), crashed(2, usage=UsageByRole(subject=Usage(output=1)))],
    "one that passed": [*(crashed(number) for number in range(3)), row(3, usage=UsageByRole())],
    "one that failed": [*(crashed(number) for number in range(3)), failed(3, usage=UsageByRole())],
    "one without an error": [*(crashed(number) for number in range(3)), crashed(3, errors=())],
}


@pytest.mark.parametrize("attempts", AVAILABLE.values(), ids=AVAILABLE.keys())
def test_a_run_is_not_unavailable_with(attempts):
    assert named("unavailable", check(attempts)) == []


def test_cases_that_are_missing_do_not_make_a_run_available():
    assert the("unavailable", check([*(crashed(number) for number in range(3)), missing(3)]))


# --- errors ---


def test_errors_are_counted_by_phase():
    scoring = ErrorInfo(type="Timeout", message="judge timed out", phase="scoring")
    attempts = [*rows(12), *map(crashed, (12, 13)), row(14, outcome="none", measurement="error", errors=(scoring,))]

    found = the("errors", check(attempts))

    assert found.text == "3 of 15 attempts (20 %) had errors: 2 while calling the model, 1 while scoring"
    assert [one.quote for one in found.evidence] == ["401 unauthorized", "judge timed out"]


@pytest.mark.parametrize(("bad", "severity"), [(1, "info"), (2, "warning"), (4, "warning"), (5, "error"), (9, "error")])
def test_errors_are_a_warning_from_a_fifth_on_and_a_problem_from_a_half_on(bad, severity):
    scored = {"execution": "completed", "measurement": "scored", "outcome": "fail"}
    broken = (crashed(number, f"error {number}", **scored) for number in range(bad))
    found = the("errors", check([*rows(10 - bad), *broken]))

    assert (found.severity, found.numbers) == (severity, {"attempts": bad})


def test_errors_of_the_very_attempts_that_were_not_measured_are_not_a_second_finding():
    found = check([*rows(2), crashed(2), crashed(3)])
    text = "2 of 4 attempts were not measured (2 errors while calling the model): case-2, case-3"

    assert (the("not_measured", found).text, named("errors", found)) == (text, [])
    assert [one.quote for one in the("not_measured", found).evidence] == ["401 unauthorized"]

    other = ErrorInfo(type="Crash", message="boom", phase="tool")
    also = check([*rows(2), crashed(2), crashed(3), row(4, outcome="fail", errors=(other,))])
    assert "3 of 5 attempts" in the("errors", also).text


def test_an_error_that_did_not_prevent_a_pass_is_no_finding():
    recovered = ErrorInfo(type="RateLimit", message="429", phase="subject", recovered=True)

    assert check([row(0, errors=(recovered,)), *rows(3)]) == ()


def test_the_place_of_an_error_is_its_own_where_it_has_one():
    place = SourceRef(file="run.log", line=77)
    error = ErrorInfo(type="Crash", message="boom", phase="setup", ref=place)

    assert the("errors", check([*rows(3), crashed(3, errors=(error,))])).evidence[0].ref == place


# --- sessions ---


@pytest.mark.trap(14)
def test_several_sessions_in_one_folder_are_told_one_by_one():
    sessions = (
        Session(number=1, started_at="2026-02-14T00:28:03", pattern="all tests ran", ref=SourceRef(file="a.log")),
        Session(number=2, pattern="died at once", ref=SourceRef(file="b.log", line=9)),
    )

    found = the("several_sessions", check(rows(2), msgspec.structs.replace(RUN, sessions=sessions)))

    assert [one.stated for one in found.evidence] == [
        "session 1, 2026-02-14T00:28:03: all tests ran",
        "session 2, no time: died at once",
    ]
    assert [str(one.ref) for one in found.evidence] == ["a.log", "b.log:9"]
    assert found.severity == "warning"


def test_one_session_is_no_finding():
    assert check(rows(2), msgspec.structs.replace(RUN, sessions=(Session(number=1),))) == ()


# --- dead processes ---


def with_process(**process):
    given = {"name": "exp-1", "status": "running", "pid": 7, "heartbeat": "2026-03-01T10:00:00Z"} | process
    return msgspec.structs.replace(RUN, environment={"processes": [given]})


def test_a_process_that_was_not_heard_of_for_long_is_dead():
    found = the("dead_process", check(rows(2), with_process()))

    assert found.text == "exp-1 is marked `running`, but its process 7 last reported at 2026-03-01T10:00:00Z"
    assert found.numbers == {"hours": 2.0}
    assert found.evidence[0].ref == RUN.ref


ALIVE = {
    "it was heard of within the hour": {"heartbeat": "2026-03-01T11:00:00Z"},
    "its clock is ahead": {"heartbeat": "2026-03-01T13:00:00Z"},
    "it says that it is done": {"status": "completed"},
    "it says nothing": {"status": ""},
    "it never beat": {"heartbeat": None},
    "its time is local, of an unknown zone": {"heartbeat": "2026-03-01T01:00:00"},
}


@pytest.mark.parametrize("process", ALIVE.values(), ids=ALIVE.keys())
def test_a_process_is_not_called_dead_where(process):
    assert named("dead_process", check(rows(2), with_process(**process))) == []


def test_each_dead_process_is_told():
    environment = {"processes": [{"status": "running", "heartbeat": "2026-02-01T00:00:00Z"}] * 2}

    found = check(rows(2), msgspec.structs.replace(RUN, environment=environment))

    assert len(named("dead_process", found)) == 2


# --- the run as a whole ---


@pytest.mark.parametrize("status", ["failed", "error", "cancelled", "interrupted", "aborted", "running", "pending"])
def test_a_run_that_its_harness_calls_unfinished_is_a_warning(status):
    found = the("run_not_completed", check(rows(2), msgspec.structs.replace(RUN, native_status=status)))

    assert (found.severity, found.evidence[0].stated, found.evidence[0].ref) == ("warning", status, RUN.ref)


@pytest.mark.parametrize("status", ["", "completed", "success", "done"])
def test_a_run_that_its_harness_calls_done_is_no_finding(status):
    assert check(rows(2), msgspec.structs.replace(RUN, native_status=status)) == ()


def test_unreadable_items_are_counted_and_the_first_of_them_quoted():
    bad = [
        Unreadable(source="s", where=f"a:{number}", why="cut off", excerpt="{...", ref=SourceRef(file="a", line=number))
        for number in range(1, 9)
    ]

    found = the("unreadable", check(rows(2), unreadables=bad))

    assert (found.text, found.numbers) == ("8 items of the log could not be read", {"items": 8})
    assert [one.ref.line for one in found.evidence] == [1, 2, 3, 4, 5]
    assert (found.evidence[0].stated, found.evidence[0].quote) == ("cut off", "{...")


def test_rows_out_of_order_are_a_note():
    found = the("row_order", check([row(0, position=1), row(1, position=3), row(2, position=2)]))

    assert (found.severity, found.breaks) == ("info", False)


@pytest.mark.parametrize("positions", [(1, 2, 3), (1, 1, 2), (None, None, None), (1, None, 2)])
def test_rows_in_order_are_no_finding(positions):
    assert check([row(number, position=position) for number, position in enumerate(positions)]) == ()


def test_missing_rows_may_come_at_the_end():
    found = check([row(0, position=1), row(1, position=3), missing(2, position=2)])

    assert named("row_order", found) == []


def test_a_failed_check_is_no_breakage():
    assert check([failed(0), row(1, checks=(Check(name="tests", status="fail"),), outcome="fail")]) == ()


def test_the_error_that_ended_an_attempt_counts_not_one_of_a_try_that_was_repeated():
    tries = (
        ErrorInfo(type="ConnectionError", message="judge: no route", phase="scoring", retryable=True),
        ErrorInfo(type="ConnectionError", message="model: no route", phase="subject"),
    )
    found = the("errors", check([*rows(4), crashed(4, errors=tries)]))

    assert found.text == "1 of 5 attempts (20 %) had errors: 1 while calling the model"
    assert found.evidence[0].quote == "model: no route"
