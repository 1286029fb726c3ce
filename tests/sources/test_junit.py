"""What is special about JUnit XML: exceptions that pytest calls failures, reruns, columns, and XML from strangers."""

from pathlib import Path

import pytest
from changed_logs import FIXTURES, attempts, by_case, cases, facts, items, runs, unreadables

from errata.model import Attempt
from errata.sources import junit
from errata.sources.base import DEPTH_CAP

PYTEST = FIXTURES / "junit" / "pytest" / "data"
PROMPTFOO = FIXTURES / "junit" / "promptfoo" / "data"
NAMED = "test_llm."


def report(folder: Path, *tests: str, suite: str = 'name="tides"', root: str = "") -> Path:
    path = folder / "report.xml"
    inner = f"<testsuite {suite}>{''.join(tests)}</testsuite>"
    path.write_text(f"<testsuites {root}>{inner}</testsuites>" if root else inner)
    return path


def a_test(inner: str = "", name: str = "t", **others: str) -> str:
    text = "".join(f' {key}="{value}"' for key, value in others.items())
    return f'<testcase classname="c" name="{name}"{text}>{inner}</testcase>'


def only(path: Path) -> Attempt:
    (attempt,) = attempts(path)
    return attempt


# pytest


def test_an_assertion_that_fails_is_a_measured_failure():
    failed = by_case(PYTEST)[f"{NAMED}test_answer[capital-Canberra]"]

    assert (facts(failed), failed.errors) == (("completed", "scored", "fail"), ())
    assert failed.failed_checks == ("AssertionError",)


def test_any_other_exception_in_a_test_measured_nothing_although_pytest_calls_it_a_failure():
    broken = by_case(PYTEST)[f"{NAMED}test_infra"]

    assert (facts(broken), broken.native_status, broken.reported) == (("error", "not_run", "none"), "failed", 0.0)
    assert [(one.type, one.message, one.frame, one.phase) for one in broken.errors] == [
        ("ConnectionError", "503 upstream overloaded", "test_llm.py:8", "")
    ]


def test_a_fixture_that_breaks_is_an_error_of_the_setup():
    broken = by_case(PYTEST)[f"{NAMED}test_setup_error"]

    assert (facts(broken), broken.native_status) == (("error", "not_run", "none"), "error")
    assert [(one.type, one.message, one.phase) for one in broken.errors] == [
        ("TimeoutError", "container did not start", "setup")
    ]


def test_what_was_expected_to_fail_and_did_is_nobodys_failure():
    expected = by_case(PYTEST)[f"{NAMED}test_xf"]

    assert (facts(expected), expected.native_reason) == (("completed", "not_run", "none"), "known bad")
    assert (expected.native_status, expected.failed_checks) == ("xfailed", ())
    assert expected.reported_counted is False


def test_what_was_expected_to_fail_and_not_even_tried_is_skipped(tmp_path):
    path = report(tmp_path, a_test('<skipped type="pytest.xfail" message="[NOTRUN] known bad"/>'))

    assert facts(only(path)) == ("skipped", "not_run", "none")


def test_a_pass_that_nobody_expected_is_told_from_other_failures(tmp_path):
    path = report(tmp_path, a_test('<failure message="[XPASS(strict)] was bad">[XPASS(strict)] was bad</failure>'))

    assert (only(path).native_status, only(path).outcome) == ("xpassed (strict)", "fail")


def test_a_teardown_that_breaks_leaves_a_pass_that_the_runner_does_not_count(tmp_path):
    inner = '<error message="failed on teardown with &quot;OSError: busy&quot;">t.py:3: OSError</error>'
    passed = only(report(tmp_path, a_test(inner), suite='name="s" tests="1" errors="1" failures="0"'))

    assert (facts(passed), passed.reported) == (("error", "scored", "pass"), 0.0)
    assert [(one.message, one.phase) for one in passed.errors] == [("busy", "environment")]


def test_a_test_that_fails_and_then_can_not_be_torn_down_is_one_attempt(tmp_path):
    failure = '<failure message="AssertionError: no">t.py:2: AssertionError</failure>'
    teardown = '<error message="failed on teardown with &quot;OSError: busy&quot;">t.py:3: OSError</error>'
    counts = 'name="s" tests="2" failures="1" errors="1" skipped="0"'
    path = report(tmp_path, a_test(failure), a_test(teardown), a_test(name="fine"), suite=counts)

    assert [facts(one) for one in attempts(path)] == [("completed", "scored", "fail"), ("completed", "scored", "pass")]
    assert [one.recovered for one in attempts(path)[0].errors] == [True]
    assert runs(path)[0].reported[0].value == 0.5


def test_a_file_that_can_not_be_collected_is_an_error_of_the_setup(tmp_path):
    text = "<error message='collection failure'>ImportError while importing test module</error>"
    broken = only(report(tmp_path, f'<testcase classname="" name="test_x">{text}</testcase>'))

    assert (facts(broken), broken.errors[0].phase) == (("error", "not_run", "none"), "setup")


def test_the_model_is_what_all_tests_record_as_such(tmp_path):
    two = [
        a_test(f'<properties><property name="model" value="{m}"/></properties>', name=f"test-{m}") for m in ("a", "b")
    ]

    assert runs(PYTEST)[0].subject.model == "mock-1"
    assert runs(report(tmp_path, *two))[0].subject.model == ""


# promptfoo and others


def test_each_column_of_promptfoo_is_a_run():
    result = [(run.subject.model, run.variant, run.group) for run in runs(PROMPTFOO)]

    assert result == [("echo", {"prompt": "prompt 1"}, "promptfoo"), ("bad", {"prompt": "prompt 1"}, "promptfoo")]
    assert len(cases(PROMPTFOO)) == 6


def test_an_error_of_promptfoo_is_told_from_a_failed_assertion():
    echo, bad = runs(PROMPTFOO)
    of = {(one.run, one.case): one for one in attempts(PROMPTFOO)}
    name = "promptfoo/test 5: threshold partial"

    assert (facts(of[echo.id, name]), facts(of[bad.id, name])) == (
        ("completed", "scored", "fail"),
        ("error", "not_run", "none"),
    )


def test_the_assertions_that_promptfoo_names_are_the_checks_and_its_score_is_kept():
    failed = next(one for one in attempts(PROMPTFOO) if "threshold" in one.case)

    assert failed.failed_checks == ("is-json", "llm-rubric")
    assert failed.checks[-1].value == pytest.approx(0.4)


def test_what_failed_before_it_passed_is_superseded(tmp_path):
    flaky = '<flakyFailure message="no" type="java.lang.AssertionError"><stackTrace>at A.b</stackTrace></flakyFailure>'
    first, last = attempts(report(tmp_path, a_test(flaky)))

    assert [facts(one)[2] for one in (first, last)] == ["fail", "pass"]
    assert (first.superseded_by, first.index, last.index) == (last.id, 1, 2)
    assert (first.reported_counted, last.reported_counted) == (False, True)


def test_what_fails_again_is_superseded_by_the_last_try(tmp_path):
    inner = (
        '<failure message="a"/><rerunFailure message="b"/><rerunError message="c" type="java.net.ConnectException"/>'
    )
    tries = attempts(report(tmp_path, a_test(inner)))

    assert [one.counted for one in tries] == [False, False, True]
    assert (tries[-1].execution, tries[-1].errors[0].type) == ("error", "ConnectException")


def test_a_test_that_stands_there_twice_has_two_attempts(tmp_path):
    path = report(tmp_path, a_test(), a_test("<failure message='no'/>"), suite='name="s" tests="2"')

    assert [(one.index, one.outcome, one.counted) for one in attempts(path)] == [(1, "pass", True), (2, "fail", True)]
    assert runs(path)[0].expected_cases == 1


def test_suites_inside_of_suites_are_counted_once(tmp_path):
    inner = f'<testsuite name="in" tests="1" failures="1">{a_test("<failure/>")}</testsuite>'
    path = report(tmp_path, inner, a_test(name="other"), suite='name="out" tests="2" failures="1"', root='name="all"')

    assert runs(path)[0].reported[0].value == 0.5
    assert [one.extra["suite"] for one in attempts(path)] == ["out / in", "out"]


def test_what_is_missing_of_a_report_that_was_cut_off_is_known(tmp_path):
    whole = next(PYTEST.iterdir()).read_text()
    (tmp_path / "cut.xml").write_text(whole[: whole.index("test_setup_error")])

    assert len(attempts(tmp_path)) == 3
    assert runs(tmp_path)[0].expected_cases == 6
    assert "invalid XML from here on" in unreadables(tmp_path)[0].why


def test_what_a_test_prints_is_no_log_of_the_harness(tmp_path):
    printed = only(report(tmp_path, a_test("<system-out>rate limit exceeded</system-out>")))

    assert [(one.role, one.text) for one in printed.artefacts] == [("transcript", "rate limit exceeded")]


def test_of_variables_of_the_environment_only_the_names_are_kept(tmp_path):
    text = '<properties><property name="env.HOME" value="/home/u"/><property name="os" value="x"/></properties>'
    (run,) = runs(report(tmp_path, text, a_test()))

    assert run.extra == {"properties": {"os": "x"}, "variables": ["env.HOME"]}


# hostile XML


LAUGHS = '<!DOCTYPE t [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>'
EXTERNAL = '<!DOCTYPE t [<!ENTITY x SYSTEM "{file}">]>'


def hostile(folder: Path, before: str, inner: str = "", tests: str = "") -> Path:
    path = folder / "hostile.xml"
    path.write_text(f'<?xml version="1.0"?>{before}<testsuite name="s">{tests}{inner}</testsuite>')
    return path


def test_entities_are_never_expanded(tmp_path):
    path = hostile(tmp_path, LAUGHS, a_test("<system-out>&c;</system-out>"))

    assert attempts(path) == []
    assert [one.why for one in unreadables(path)] == ["declares a document type, which is not allowed"]


def test_nothing_outside_of_the_report_is_read(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("do not tell")
    path = hostile(tmp_path, EXTERNAL.format(file=secret.as_uri()), a_test("<system-out>&x;</system-out>"))

    assert junit.recognise(path)
    assert "do not tell" not in repr(items(path))


def test_ten_thousand_levels_are_refused(tmp_path):
    deep = "<testsuite name='x'>" * 10_000
    path = hostile(tmp_path, "", deep, tests=a_test())

    assert len(attempts(path)) == 1
    assert unreadables(path)[0].why == f"nested deeper than {DEPTH_CAP} levels"


def test_levels_inside_of_a_test_are_refused_too(tmp_path):
    path = hostile(tmp_path, "", a_test("<a>" * 10_000 + "</a>" * 10_000))

    assert unreadables(path)[0].why == f"nested deeper than {DEPTH_CAP} levels"


def test_wrong_bytes_are_replaced_and_told(tmp_path):
    path = tmp_path / "bytes.xml"
    path.write_bytes(b'<testsuite name="s"><testcase name="a\xff"/><testcase name="b"/></testsuite>')

    assert [one.case for one in attempts(path)] == ["s/a\ufffd", "s/b"]
    assert "not UTF-8" in unreadables(path)[0].why


def test_a_test_larger_than_what_is_held_is_left_out_and_the_rest_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("errata.sources.shared.xml_elements.LINE_CAP", 2_000)
    path = report(tmp_path, a_test(f"<system-out>{'x ' * 2_000}</system-out>", name="large"), a_test(name="small"))

    assert [one.case for one in attempts(path)] == ["tides/c.small"]
    assert "larger than" in unreadables(path)[0].why


def test_a_test_without_a_name_is_unreadable(tmp_path):
    path = report(tmp_path, "<testcase/>", a_test())

    assert [one.why for one in unreadables(path)] == ["a test without a name"]
    assert len(attempts(path)) == 1
