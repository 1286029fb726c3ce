"""Failures that share an error text."""

from errata.model import Attribution, FailureKey, Signal
from errata.model.identity import attempt_id, case_key
from errata.runs.causes import causes_of
from errata.testing import a_run
from errata.triage.reasons import LogLine

RUN = a_run(suite="tides")
CRASH = FailureKey(exact="setup:Crash:no such file", coarse="setup:Crash")
SAYS_NOTHING = FailureKey(exact="tests:tests failed (<n>%)", coarse="tests")


def failure(case, key, *, rule="check_failed", quote=""):
    return Attribution(
        attempt=attempt_id(RUN.id, case_key("tides", case), session=None, index=1, path=""),
        owner="model",
        confidence="likely",
        decided_by=rule,
        signals=(Signal(name=rule, where="errors[0].message", quote=quote),),
        failure_key=key,
    )


def told(*failures, lines=None):
    by_attempt = {failures[at].attempt: found for at, found in (lines or {}).items()}
    causes = causes_of(RUN, failures, by_attempt)
    return [(cause.text, cause.count, cause.cases) for cause in causes.shared], causes.alone


def line(text, shared=""):
    return LogLine("run.log:1", f"Error: {text}", text, shared or text)


def test_failures_of_one_key_are_one_cause():
    assert told(failure("a", CRASH), failure("b", CRASH), failure("c", SAYS_NOTHING)) == (
        [("no such file", 2, ("a", "b"))],
        1,
    )


def test_that_checks_failed_is_nothing_to_share():
    assert told(failure("a", SAYS_NOTHING), failure("b", SAYS_NOTHING)) == ([], 2)


def test_what_decided_is_shared_where_the_key_says_nothing():
    found = [failure(case, SAYS_NOTHING, rule="verifier_never_ran", quote="uvx: command not found") for case in "ab"]

    assert told(*found) == ([("uvx: command not found", 2, ("a", "b"))], 0)


def test_lines_of_logs_are_shared_too_and_a_failure_may_have_several():
    found = [failure(case, SAYS_NOTHING) for case in "abc"]
    lines = {0: [line("no-unused-vars")], 1: [line("no-unused-vars"), line("wrong shape")], 2: [line("wrong shape")]}

    assert told(*found, lines=lines) == ([("no-unused-vars", 2, ("a", "b")), ("wrong shape", 2, ("b", "c"))], 0)


def test_a_log_that_repeats_the_error_is_not_a_second_cause():
    found = [failure("a", CRASH), failure("b", CRASH)]

    assert told(*found, lines={0: [line("no such file")], 1: [line("no such file")]})[0] == [
        ("no such file", 2, ("a", "b"))
    ]


def test_the_largest_cause_comes_first():
    other = FailureKey(exact="setup:Crash:out of cheese", coarse="setup:Crash")
    found = [failure("a", CRASH), failure("b", CRASH), *(failure(case, other) for case in "cde")]

    assert [count for _, count, _ in told(*found)[0]] == [3, 2]


def test_a_text_is_quoted_only_where_all_say_the_very_same():
    key = FailureKey(exact="setup:Crash:port <n> is taken", coarse="setup:Crash")
    same = causes_of(RUN, [failure(case, key, rule="wrong_port", quote="port 80 is taken") for case in "ab"], {})
    ports = (80, 81)
    differ = causes_of(
        RUN,
        [
            failure(case, key, rule="wrong_port", quote=f"port {n} is taken")
            for case, n in zip("ab", ports, strict=True)
        ],
        {},
    )

    assert (same.shared[0].text, same.shared[0].verbatim) == ("port 80 is taken", True)
    assert (differ.shared[0].text, differ.shared[0].verbatim) == ("port <n> is taken", False)
