"""What the logs of an attempt say went wrong."""

from msgspec.structs import replace

from errata.model import Artefact, Check, Judgement
from errata.testing import an_attempt
from errata.transcript.error_text import MOST, error_lines, error_of

LOG = """\
=== Eval: greeting ===
[cmd] bunx eslint -c eslint.config.mjs .
[eslint]   9:23  error  'ctx' is defined but never used  @typescript-eslint/no-unused-vars
[vitest] AssertionError: expected [ 10, 15 ] to deeply equal [ 10, 15, 20 ]
E   FileNotFoundError: [Errno 2] No such file
[error] tests: tests failed (67%)
"""


def lines(text, role="log"):
    return list(error_lines(an_attempt(artefacts=(Artefact(role=role, path="run.log", text=text),))))


def test_exceptions_and_findings_are_found_with_their_lines():
    assert [(line.where, line.text) for line in lines(LOG)] == [
        ("run.log:3", "9:23 error 'ctx' is defined but never used @typescript-eslint/no-unused-vars"),
        ("run.log:4", "AssertionError: expected [ 10, 15 ] to deeply equal [ 10, 15, 20 ]"),
        ("run.log:5", "FileNotFoundError: [Errno 2] No such file"),
    ]


def test_a_sentence_below_a_servers_announcement_is_the_error():
    announced = "Error: [CONVEX M(a:hit)] [Request ID: c6] Server Error"

    assert [line.text for line in lines(f"{announced}\nDocuments read from a table changed\n")] == [
        "Documents read from a table changed"
    ]
    assert lines(f"{announced}\n ❯ grader.test.ts:11:54\n") == []


def test_a_finding_is_shared_by_its_rule():
    assert lines(LOG)[0].shared == "@typescript-eslint/no-unused-vars"


def test_a_message_is_shared_without_its_numbers():
    one, other = lines("AssertionError: expected 1 to be 2"), lines("AssertionError: expected 3 to be 4")

    assert one[0].shared == other[0].shared


def test_a_message_that_is_only_data_keeps_the_name_of_its_exception():
    (data,), (key,), (words,), (value,) = map(
        lines,
        (
            'ConvexError: {"code":"SLOW_DOWN"}',
            "KeyError: 'name'",
            "ValueError: no such table 'a'",
            "AssertionError: 3 != 2",
        ),
    )

    assert (data.message, key.message) == ('ConvexError: {"code":"SLOW_DOWN"}', "KeyError: 'name'")
    assert (words.message, value.message) == ("no such table 'a'", "3 != 2")


def test_the_words_of_the_model_are_no_log():
    assert lines(LOG, role="output") == []


def test_a_log_full_of_errors_is_read_to_a_point():
    assert len(lines("ValueError: no\n" * 1_000)) == MOST


def test_lines_have_the_numbers_of_the_whole_file():
    cut = Artefact(role="log", path="run.log", text="one\fpage\nValueError: no", extra={"lines_before": 900})

    assert [line.where for line in error_lines(an_attempt(artefacts=(cut,)))] == ["run.log:902"]


def test_what_passing_tests_printed_is_no_error_of_the_attempt():
    log = "\n".join(
        [
            "=== test session starts ===",
            "=== FAILURES ===",
            "E       Failed: nomatch: '*1 xfailed*'",
            "=== PASSES ===",
            "NameError: name 'asd' is not defined",
            "=== short test summary info ===",
            "=== 1 failed, 1 passed in 0.10s ===",
        ]
    )

    assert [(line.where, line.text) for line in lines(log)] == [("run.log:3", "Failed: nomatch: '*1 xfailed*'")]


def test_a_summary_of_failed_tests_is_read_where_no_traceback_is_shown():
    summary = (
        "FAILED a/b.py::test_c - TypeError: f() got an une...\nFAILED a/b.py::test_d - Typ...\nERROR conda.cli: no - x"
    )

    assert [line.text for line in lines(summary)] == [
        "TypeError: f() got an une...",
        "FAILED a/b.py::test_d - Typ...",
    ]
    assert [line.text for line in lines(f"E   ValueError: no\n{summary}")] == ["ValueError: no"]


def test_a_measured_time_is_not_the_reason_while_another_check_failed():
    timing = Check(name="turn_taking", status="fail", explanation="negative_ttfb (-120ms)")
    grounding = Check(name="kb_grounding", status="fail")
    judged = (Judgement(judge="openai", reasoning="Factual error: 17:30 is right."),)

    assert error_of(an_attempt(checks=(timing, grounding), judgements=judged)).text == "Factual error: 17:30 is right."
    assert error_of(an_attempt(checks=(timing,), judgements=judged)).text == "negative_ttfb (-120ms)"


SCRATCH = "$ python try.py\nSyntaxError: cannot assign to literal\n"
SESSION = """\
=============== test session starts ===============
=================== FAILURES ======================
____________________ test_it ______________________
E       AssertionError:
E       Not equal to tolerance rtol=1e-07, atol=0

tests/test_it.py:4: AssertionError
"""


def with_logs(**logs):
    artefacts = tuple(Artefact(role="log", path=f"panes/{name}.txt", text=text) for name, text in logs.items())
    check = Check(name="test_it", kind="tests", status="fail")
    return an_attempt(artefacts=artefacts, checks=(check,), outcome="fail", measurement="scored")


def test_what_the_subject_met_while_it_worked_does_not_explain_the_verdict_of_the_tests():
    attempt = with_logs(**{"post-agent": SCRATCH, "post-test": SCRATCH + SESSION})

    assert [(line.where, line.text) for line in error_lines(attempt)] == [
        ("panes/post-test.txt:6", "AssertionError: Not equal to tolerance rtol=1e-07, atol=0")
    ]


def test_where_only_the_subjects_log_is_there_it_is_shown():
    assert [line.where for line in error_lines(with_logs(**{"post-agent": SCRATCH}))] == ["panes/post-agent.txt:2"]


def test_where_nothing_was_measured_every_log_may_tell_why():
    attempt = replace(with_logs(**{"post-agent": SCRATCH}), measurement="unscored", outcome="unknown")

    assert len(list(error_lines(attempt))) == 1
