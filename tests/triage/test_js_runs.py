"""Test runs that no code of the subject broke, in the form that convex-evals keeps in `run.log`."""

import pytest
from msgspec.structs import replace
from test_js_tests import FILE, TASK, attempt, block, decided, log

from errata.model import Artefact, Case, Check, ErrorInfo, SourceInfo
from errata.testing import a_run, an_attempt
from errata.triage import RunWide, attribute, built_in, observe

CLIENT = " ❯ ConvexHttpClient.query node_modules/convex/src/browser/http_client.ts:434:15"
REFUSED = "Caused by: Error: connect ECONNREFUSED 127.0.0.1:3212"
GONE = block(" > lists notes", "TypeError: fetch failed", CLIENT, REFUSED)
WRONG = block(" > lists notes", "AssertionError: expected [ 4, 5 ] to deeply equal [ 1, 2 ]")
SUITE = f" [ {FILE} ]"
NO_SEED = f"Error: ENOENT: no such file or directory, open '/w/evals/{FILE.rpartition('/')[0]}/fixtures/seed.json'"
MINE = Artefact(role="output", path="convex/notes.ts", text="export const list = 1")


@pytest.mark.parametrize(
    ("failed", "wanted"),
    [
        (GONE, ("environment", "backend_lost")),
        (block(" > a", "TypeError: fetch failed", "Caused by: Error: socket hang up"), ("environment", "backend_lost")),
        (block(" > a", "Error: 502 Bad Gateway", CLIENT), ("environment", "backend_lost")),
        (block(SUITE, "Error: listen EADDRINUSE: address in use :::4173"), ("environment", "test_machine_failed")),
        (block(SUITE, "browserType.launch: Executable doesn't exist at /x"), ("environment", "test_machine_failed")),
        (block(SUITE, "Error: Missing env variable CONVEX_SITE_URL"), ("harness", "test_setting_missing")),
        (block(" > a", "ReferenceError: expectedRows is not defined"), ("grader", "broken_test")),
        (block(" > a", NO_SEED), ("grader", "broken_test")),
        (block(SUITE, f"Error: No test suite found in file /w/{FILE}"), ("grader", "broken_test")),
        (block(" > a", "Error: Invalid Chai property: toBeNear"), ("grader", "broken_test")),
    ],
)  # fmt: skip
def test_a_fault_outside_of_the_answer_is_not_the_models(failed, wanted):
    assert decided(attempt(log(failed, passed=0), "tests failed (0%)", MINE)) == wanted


SERVER = "Error: [CONVEX A(notes:list)] [Request ID: 1c] Server Error"


@pytest.mark.parametrize(
    "failed",
    [
        block(" > a", SERVER, "Uncaught TypeError: fetch failed: connect ECONNREFUSED 127.0.0.1:3000"),
        block(" > a", "TypeError: fetch failed", " ❯ list /w/output/convex/notes.ts:5:9", REFUSED),
        block(" > a", "AssertionError: expected 'EADDRINUSE' to be 'ok'"),
        block(" > a", "AssertionError: expected 'fetch failed' to be 'ok'", REFUSED),
        block(" > a", SERVER, "Uncaught ReferenceError: rows is not defined"),
        block(" > a", "Error: ENOENT: no such file or directory, open '/w/evals/x/notes.json'"),
        block(" > a", "TypeError: rows.map is not a function"),
    ],
)
def test_the_same_words_about_the_answer_leave_it_with_the_model(failed):
    assert decided(attempt(log(failed), "tests failed (67%)", MINE))[0] == "model"


def test_one_test_that_failed_otherwise_keeps_it_with_the_model():
    assert decided(attempt(log(GONE, WRONG, failed=2)))[0] == "model"


def test_a_function_that_the_test_library_does_not_have_is_the_tests_fault():
    failed = attempt(log(block(" > a", "TypeError: t.finishAll is not a function")))
    source = 'import { convexTest } from "convex-test";\ntest("a", async () => { const t = convexTest(schema); });'
    case = Case(run="r", suite="s", key="s/c", native_id="c", input=TASK)
    with_source = replace(case, artefacts=(Artefact(role="grader", path="grader.test.ts", text=source),))

    assert _decided(failed, with_source) == ("grader", "broken_test")
    assert _decided(failed, case)[0] == "model"


def _decided(failed, case=None, source="convex-evals"):
    run = a_run(source=SourceInfo(name=source))
    found = attribute(failed, observe(run, failed, case, RunWide(), built_in()))
    return found.owner, found.decided_by


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("No test files found, exiting with code 1\n\nfilter: grader.test.ts", "harness"),
        ("failed to load config from /w/vitest.config.ts\nError: Cannot find module 'x'", "harness"),
        ("Error: [vitest-pool]: Worker forks emitted error.\nCaused by: Error: Worker exited unexpectedly", "unknown"),
        ("Error: Worker terminated due to reaching memory limit: JS heap out of memory", "unknown"),
    ],
)
def test_a_runner_that_never_ran_the_tests(text, owner):
    assert decided(attempt(f"[cmd] bunx vitest run\n{text}\n", "tests failed (0%)"))[0] == owner
    assert decided(attempt(log(WRONG) + text))[0] == "model", "a test failed before"


def test_a_line_without_end_explains_a_test_run_that_timed_out():
    line = "[vitest] [CONVEX A(jobs:poll)] [LOG] 'poll attempt {}'"
    endless = "\n".join([*(line.format(at) for at in range(3)), "[vitest] ... 41817 more lines ..."])

    assert decided(attempt(endless, "vitest timed out after 300s")) == ("model", "prints_without_end")
    assert decided(attempt(line.format(1), "vitest timed out after 300s"))[0] == "unknown"
    assert decided(attempt(endless, "tests failed (50%)")) == ("model", "check_failed")


SET_UP = '[setup] normalized tsconfig resolution: moduleResolution "NodeNext" -> "bundler"'
LINKED = "[setup] package.json: convex ^1.31.2 -> workspace:* (link to the checked-out client)"
NOT_LINKED = 'error: Workspace dependency "convex" not found\nerror: convex@workspace:* failed to resolve'
OPTION = (
    "convex/tsconfig.json(6,25): error TS5095: Option 'bundler' can only be used when 'module' is set to 'preserve'."
)


@pytest.mark.parametrize(
    ("output", "setup", "owner"),
    [
        (OPTION, SET_UP, "harness"),
        (OPTION, "", "model"),
        (OPTION, "[setup] dropped unresolvable tsconfig types: node", "model"),
        (f"{OPTION}\nconvex/a.ts(1,2): error TS2322: Type 'a' is not assignable to type 'b'.", SET_UP, "model"),
        (NOT_LINKED, LINKED, "harness"),
        (NOT_LINKED, "", "model"),
    ],
)
def test_settings_that_the_harness_has_changed_are_its_own(output, setup, owner):
    checks = (Check(name="tsc", status="fail", kind="step", explanation=f"Error: Failed to typecheck code:\n{output}"),)
    files = (Artefact(role="log", path="run.log", text=f"{setup}\n[ok] install\n"),)

    assert _decided(an_attempt(case="s/c", checks=checks, artefacts=files))[0] == owner


PUSH = "Error fetching POST  http://127.0.0.1:3212/api/deploy2/start_push"


@pytest.mark.parametrize(
    ("output", "owner"),
    [
        ("✖ File not found at https://github.example/releases/download/p/convex-local-backend.zip.", "environment"),
        ("✖ version.convex.dev returned 503: upstream connect error", "environment"),
        ("✖ Failed to fetch latest backend version", "environment"),
        ("Error: ADM-ZIP: Invalid or unsupported zip format. No END header found", "environment"),
        (f"✖ {PUSH} TypeError: fetch failed", "environment"),
        (f"✖ {PUSH} 500 Internal Server Error: InternalServerError: Try again later.", "environment"),
        (f'✖ {PUSH} 400 Bad Request: IndexNameReserved: In table "a" the index "by_id" is reserved.', "model"),
        ("✖ Schema was overwritten by another push.", "harness"),
        (f"✖ {PUSH} 401 Unauthorized: BadAdminKey: The provided admin key was invalid", "harness"),
    ],
)
def test_a_deployment_fails_for_the_backend_or_for_what_is_pushed(output, owner):
    text = f"Error: Failed to deploy:\nInitial codegen (exit 1):\n(no output)\n\nconvex dev:\n{output}"
    checks = (Check(name="deploy", status="fail", kind="step", explanation=text),)

    assert _decided(an_attempt(case="s/c", checks=checks))[0] == owner


def test_the_number_of_a_line_in_a_stack_is_no_status_of_a_provider():
    stack = "    at parse (/ci/convex-evals/runner/a.ts:429:31)\n    at async run (/ci/convex-evals/runner/b.ts:402:24)"
    error = ErrorInfo(
        type="generation_error", message=f"TypeError: Cannot read properties of undefined\n{stack}", phase="subject"
    )
    failed = an_attempt(case="s/c", errors=(error,), execution="error", measurement="not_run", outcome="none")

    assert _decided(failed)[0] == "harness"
