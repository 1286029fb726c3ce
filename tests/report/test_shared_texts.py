"""Failures that share an error text."""

from errata.model import Attribution, FailureKey, Signal
from errata.model.identity import attempt_id, case_key, split_attempt_id
from errata.report.run_failures import shared_errors
from errata.testing import a_run
from errata.transcript.error_text import LogLine

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


def shared(*failures, lines=None):
    by_attempt = {failures[at].attempt: its_lines for at, its_lines in (lines or {}).items()}
    pairs = [(split_attempt_id(failure.attempt).case, failure) for failure in failures]
    return shared_errors(RUN, pairs, by_attempt)


def summary(*failures, lines=None):
    return [(error.text, error.failures, error.cases) for error in shared(*failures, lines=lines)]


def line(text, shared=""):
    return LogLine("run.log:1", f"Error: {text}", text, shared or text)


def test_failures_of_one_key_share_an_error():
    assert summary(failure("a", CRASH), failure("b", CRASH), failure("c", SAYS_NOTHING)) == [
        ("no such file", 2, ("a", "b"))
    ]


def test_values_that_the_agent_never_stated_differ_from_case_to_case_and_are_not_shared():
    never_stated = FailureKey(exact="COMMUNICATE:the agent never stated: <n>", coarse="COMMUNICATE")

    assert summary(failure("a", never_stated), failure("b", never_stated)) == []


def test_what_decided_is_shared_where_the_key_says_nothing():
    found = [failure(case, SAYS_NOTHING, rule="verifier_never_ran", quote="uvx: command not found") for case in "ab"]

    assert summary(*found) == [("uvx: command not found", 2, ("a", "b"))]


def test_lines_of_logs_are_shared_too_and_a_failure_may_have_several():
    found = [failure(case, SAYS_NOTHING) for case in "abc"]
    lines = {0: [line("no-unused-vars")], 1: [line("no-unused-vars"), line("wrong shape")], 2: [line("wrong shape")]}

    assert summary(*found, lines=lines) == [("no-unused-vars", 2, ("a", "b")), ("wrong shape", 2, ("b", "c"))]


def test_the_text_of_most_failures_comes_first():
    other = FailureKey(exact="setup:Crash:out of cheese", coarse="setup:Crash")
    found = [failure("a", CRASH), failure("b", CRASH), *(failure(case, other) for case in "cde")]

    assert [count for _, count, _ in summary(*found)] == [3, 2]


def test_a_text_is_quoted_only_where_all_say_the_very_same():
    key = FailureKey(exact="setup:Crash:port <n> is taken", coarse="setup:Crash")
    at = {port: failure(f"case-{port}", key, rule="wrong_port", quote=f"port {port} is taken") for port in (80, 81)}
    also_at_80 = failure("other", key, rule="wrong_port", quote="port 80 is taken")

    (same,) = shared(at[80], also_at_80)
    (differ,) = shared(at[80], at[81])

    assert (same.text, same.is_verbatim) == ("port 80 is taken", True)
    assert (differ.text, differ.is_verbatim) == ("port … is taken", False)
