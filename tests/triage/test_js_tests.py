"""Failures in the form that vitest prints them, as convex-evals keeps it in `run.log`."""

import pytest

from errata.model import Artefact, Case, Check
from errata.testing import a_run, an_attempt
from errata.triage import RunWide, attribute, built_in, observe
from errata.triage.js_tests import failed_js_tests

FILE = "evals/003-mutations/009-archive/grader.test.ts"
RULE = "⎯" * 7
TASK = 'Write `archive({ id })` in `convex/notes.ts`. Archiving twice throws an error. The state is "archived".'


def block(test, *lines):
    return "\n".join([f" FAIL  {FILE}{test}", *lines, f" ❯ {FILE}:54:46", "", RULE, ""])


def log(*blocks, failed=1, passed=2):
    counts = f"{failed} failed | {passed} passed ({failed + passed})" if failed else f"{passed} passed ({passed})"
    return "\n".join(
        [
            "[cmd] bunx vitest run grader.test.ts",
            f"[error] vitest: Error: Tests failed (ratio: {passed / (failed + passed):.2f})",
            "",
            f" ❯ {FILE} ({failed + passed} tests | {failed} failed) 701ms",
            "   × second archive throws 143ms",
            "",
            f"{RULE} Failed Tests {failed} {RULE}",
            "",
            *blocks,
            " Test Files  1 failed (1)",
            f"      Tests  {counts}",
        ]
    )


def attempt(text, explanation="tests failed (67%)", *more):
    return an_attempt(
        case="s/c",
        checks=(Check(name="tests", status="fail", kind="step", explanation=explanation),),
        artefacts=(Artefact(role="log", path="run.log", text=text), *more),
    )


def attributed(failed, task=TASK):
    case = Case(run="r", suite="s", key="s/c", native_id="c", input=task)
    return attribute(failed, observe(a_run(), failed, case, RunWide(), built_in()))


def decided(failed, task=TASK):
    attribution = attributed(failed, task)
    return attribution.owner, attribution.decided_by


OTHER_MESSAGE = block(
    " > second archive throws",
    "AssertionError: expected [Function] to throw error including 'Note is gone' "
    "but got 'Uncaught Error: already archived'",
)
OTHER_VALUE = block(" > sets the state", "AssertionError: expected 'archived' to be 'in archive' // Object.is equality")
WRONG = block(" > lists notes", "AssertionError: expected [ 4, 5 ] to deeply equal [ 1, 2 ]")
NO_HELPER = block(
    f" [ {FILE} ]",
    f'Error: Failed to resolve import "../../../grader/sortNotes" from "{FILE}". Does the file exist?',
    "  Plugin: vite:import-analysis",
)


def test_each_failure_is_read_with_its_error():
    where, tests = failed_js_tests(attempt(log(OTHER_MESSAGE, WRONG, failed=2, passed=1)))

    assert where == "run.log"
    assert [test.message.partition(":")[0] for test in tests] == ["AssertionError", "AssertionError"]
    assert not any(test.is_suite for test in tests)


def test_a_message_that_the_task_does_not_mention_is_the_graders_demand():
    assert decided(attempt(log(OTHER_MESSAGE))) == ("grader", "unnamed_message")


@pytest.mark.parametrize(
    ("text", "task"),
    [
        pytest.param(OTHER_MESSAGE, TASK + " The message is `Note is gone`.", id="the task gives the message"),
        pytest.param(OTHER_MESSAGE.replace("already archived", "x is not a function"), TASK, id="a crash is no answer"),
        pytest.param(
            OTHER_MESSAGE.replace("already archived", "ArgumentValidationError"), TASK, id="a validator threw"
        ),
        pytest.param(OTHER_MESSAGE + WRONG, TASK, id="another test failed, too"),
        pytest.param(WRONG, TASK, id="a wrong value"),
        pytest.param(OTHER_VALUE.replace("'archived'", "'gone'"), TASK, id="a value that the task does not state"),
        pytest.param(OTHER_VALUE, TASK + ' Later it is "in archive".', id="the task states both values"),
    ],
)
def test_a_fair_demand_stays_the_models(text, task):
    assert decided(attempt(log(text)), task)[0] == "model"


def test_tests_that_refuse_the_value_that_the_task_states_contradict_it():
    assert decided(attempt(log(OTHER_VALUE))) == ("task", "test_contradicts_task")


def test_a_test_file_that_imports_something_nobody_was_asked_for_is_broken():
    assert decided(attempt(log(NO_HELPER, passed=0))) == ("grader", "broken_test")


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(NO_HELPER.replace("../../../grader/sortNotes", "./convex/notes"), id="the task asks for it"),
        pytest.param(
            NO_HELPER.replace(f'from "{FILE}"', 'from "convex/helpers.ts"'), id="the subject's file imports it"
        ),
        pytest.param(NO_HELPER + WRONG, id="other tests ran"),
    ],
)
def test_what_the_subject_had_to_write_is_missing_for_want_of_it(broken):
    assert decided(attempt(log(broken)))[0] == "model"


def test_a_test_file_of_the_subject_is_its_own_work():
    own = Artefact(role="output", path="output/grader.test.ts", text="test()")

    assert decided(attempt(log(NO_HELPER, passed=0), "tests failed (0%)", own))[0] == "model"


CRASH = (
    "TypeError: Cannot read properties of undefined (reading 'numPassedTests')\n    at summarize (/w/scorer.ts:612:31)"
)


def test_a_runner_that_crashes_after_every_test_passed_is_the_harnesss():
    passed = f"[vitest]  ✓ {FILE} (1 test) 211ms\n[vitest]       Tests  1 passed (1)\n[error] vitest: {CRASH}\n"

    assert decided(attempt(passed, CRASH)) == ("harness", "test_runner_crashed")
    assert decided(attempt(log(WRONG), CRASH))[0] == "model"


def test_tests_that_run_out_of_time_do_not_show_whose_fault_it_is():
    late = attributed(attempt("[error] vitest: vitest timed out after 300s\n", "vitest timed out after 300s"))

    assert (late.owner, late.also, late.decided_by) == ("unknown", ("grader", "model"), "test_run_timeout")


@pytest.mark.parametrize(
    ("finding", "owner"),
    [
        ("9:23  error  'ctx' is defined but never used  @typescript-eslint/no-unused-vars", "grader"),
        ("14:26  error  Unnecessary escape character: \\/  no-useless-escape", "grader"),
        ("12:5  error  Promises must be awaited  @typescript-eslint/no-floating-promises", "model"),
        ("3:1  error  'conut' is not defined  no-undef", "model"),
    ],
)
def test_a_lint_rule_about_behaviour_is_not_a_matter_of_style(finding, owner):
    assert decided(linted(finding))[0] == owner


def linted(finding):
    text = f"Error: Failed to lint code:\n/w/a.ts\n  {finding}\n"
    checks = (Check(name="eslint", status="fail", explanation=text), Check(name="tests", status="pass"))
    return an_attempt(case="s/c", checks=checks)


@pytest.mark.parametrize(
    ("task", "owner"),
    [
        ("The code is linted with the project's rules: do not use the type `any`.", "model"),
        ("It has to pass ESLint.", "model"),
        ("Return the list without lint errors of other files.", "model"),
        ("Write a query that returns any note.", "grader"),
        ("Write a function that removes lint from the dryer.", "grader"),
    ],
)
def test_a_style_that_the_task_asks_for_is_part_of_the_task(task, owner):
    finding = "10:29  error  Unexpected any. Specify a different type  @typescript-eslint/no-explicit-any"

    assert decided(linted(finding), task)[0] == owner


JUDGE_BROKE = block(
    " > AI grader assessment", "Error: AI grader failed: AI_NoObjectGeneratedError: No object generated."
)


def test_a_judge_that_breaks_inside_a_test_gives_no_verdict():
    assert decided(attempt(log(JUDGE_BROKE))) == ("grader", "judge_broke_in_test")


def test_a_judge_that_breaks_beside_a_wrong_answer_is_not_the_reason():
    assert decided(attempt(log(JUDGE_BROKE, WRONG, failed=2)))[0] == "model"


def test_a_code_under_test_that_speaks_of_a_grader_is_the_models():
    own = block(" > grades", "AssertionError: expected 'grader failed' to be 'grader passed' // Object.is equality")

    assert decided(attempt(log(own)))[0] == "model"


NO_VERSION = [
    'error: No version matching "0.9.4" found for specifier "@acme/migrations" (but package exists)',
    "npm error notarget No matching version found for @acme/migrations@0.9.4.",
    'Couldn\'t find any versions for "@acme/migrations" that matches "0.9.4"',
]


@pytest.mark.parametrize("error", NO_VERSION)
def test_a_version_that_the_task_prescribes_and_nobody_published_is_the_tasks(error):
    failed = an_attempt(
        case="s/c", checks=(Check(name="install", status="fail", kind="step", explanation=f"Error:\n{error}"),)
    )

    assert decided(failed, "Use exactly `@acme/migrations` 0.9.4.") == ("task", "task_names_no_version")
    assert decided(failed, "Use `@acme/migrations`.")[0] == "model"


@pytest.mark.parametrize(
    ("task", "owner"),
    [
        ("The index has 8192 dimensions.", "task"),
        ("The index has 768 dimensions.", "model"),
        ("Store 81920 rows.", "model"),
        ("The price is 8192.50.", "model"),
    ],
)
def test_a_number_that_the_task_prescribes_and_the_platform_refuses_is_the_tasks(task, owner):
    error = "Failed to analyze schema.js: Uncaught Error: dimensions must be between 2 and 4096, got 8192"
    steps = (Check(name="deploy", status="fail", kind="step", explanation=f"Error: Failed to deploy:\n{error}\n"),)

    assert decided(an_attempt(case="s/c", checks=steps), task)[0] == owner
