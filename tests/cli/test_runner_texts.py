"""Run E of convex-evals, in the texts that its runner writes, by the public queries and by the debug functions."""

import json
import re
from typing import Any, NamedTuple

import pytest

from report_pages import RUN_B, section, table, working_in
from terminal import FIXTURES, done, import_fixtures

CONVEX = FIXTURES / "convex_evals"
PUBLIC, DEBUG = (CONVEX / name / "data" / "run-e" for name in ("runner_texts", "runner_texts_debug"))
RUN = "jn7q4ht2"
LINT, PAGE, REMOVE, TIMEOUT = (
    "000-fundamentals/002-http_greeting",
    "002-queries/006-pagination_shape",
    "003-mutations/002-cascade_remove",
    "004-actions/005-fetch_with_retry",
)
ERRORS = {
    LINT: "9:30 error 'ctx' is defined but never used. Allowed unused args must match /^_/u",
    "000-fundamentals/004-env_config": "error: GET https://registry.example/@convex-dev%2fenv-vars - 404",
    "001-data_modeling/000-user_table": "error: upstream connect error or disconnect/reset before headers.",
    "001-data_modeling/003-optional_index": 'IndexNameReserved: In table "visits" the index "by_creation_time"',
    "001-data_modeling/005-shared_module": 'Could not resolve "./validators/contact"',
    "002-queries/004-range_condition": "AssertionError: expected [ 10, 15 ] to deeply equal [ 10, 15, 20 ]",
    PAGE: "convex/messages.ts(8,3): error TS2322: ",
    "002-queries/008-joined_rows": "convex/posts.ts(7,75): error TS2339: Property 'name' does not exist",
    REMOVE: 'AssertionError: promise resolved "null" instead of rejecting',
    "003-mutations/005-batch_insert": "error: ECONNRESET downloading package manifest convex",
    TIMEOUT: "Error: convex dev timed out after 90s",
    "004-actions/007-use_component": "TypeError: Cannot read properties of undefined (reading 'retries')",
    "005-idioms/002-scheduled_cleanup": "Failed to analyze crons.js: Uncaught Error: Minute must be between 0 and 59",
    "005-idioms/004-pick_primitive": "AssertionError: expected { a: 'query', b: 'action', c: 'query' } to deeply equal",
    "006-clients/000-live_list": "[infrastructure] empty provider response",
    "006-clients/002-optimistic_toggle": "Error: Invalid filesystem output: ",
}
"""Eval → the beginning of the line that carries the information."""
NOISE = re.compile(r"CONVEX_DEPLOYMENT|Failed to (?:deploy|lint|typecheck|install)[^:]*: |Tests failed \(ratio")
VERDICTS: dict[str, dict[str, Any]] = {
    LINT: {
        "label": "OVERLY_STRICT",
        "cause": "An unused parameter fails lint although the endpoint works",
        "evidence": [{"place": "run.log", "quote": "'ctx' is defined but never used."}],
        "recommendation": {"group": "config", "text": "Allow unused arguments", "target_path": "eslint.config.mjs"},
        "fix": {
            "path": "convex/http.ts",
            "before": "handler: httpAction(async (ctx, request) => {",
            "after": "handler: httpAction(async () => {",
        },
    },
    REMOVE: {
        "label": "AMBIGUOUS_TASK",
        "cause": "The task does not say what happens to an unknown owner",
        "evidence": [
            {"place": "run.log", "quote": 'promise resolved "null" instead of rejecting'},
            {"place": "grader/grader.test.ts", "quote": 'test("rejects an unknown owner", async () => {'},
        ],
        "recommendation": {"group": "eval", "text": "State what an unknown owner means", "target_path": "TASK.txt"},
        "fix": {"path": "TASK.txt", "before": "", "after": "An unknown owner is an error.\n"},
    },
    PAGE: {
        "label": "MODEL_FAULT",
        "cause": "The validator lacks a field of a page, whose shape the guidelines do not show",
        "evidence": [{"place": "run.log", "quote": "Property 'continueCursor' does not exist on type"}],
        "recommendation": {
            "group": "model",
            "text": "Explain paginationResultValidator",
            "target_path": "runner/models/guidelines.md",
        },
    },
    TIMEOUT: {
        "label": "MODEL_FAULT",
        "cause": "The action never ends",
        "evidence": [{"place": "run.log", "quote": "convex dev timed out after 90s"}],
        "recommendation": {"group": "none", "text": "Fair failure"},
    },
}  # fmt: skip


class Road(NamedTuple):
    analysis: Any
    pages: dict[str, str]
    report: Any
    text: str
    failures: dict[str, Any]


def road(folder, path) -> Road:
    with working_in(folder):
        analysis = done("analyze", path, "--no-report", "--json").row
        report = done("report", RUN, "--json").row
        return Road(
            analysis=analysis,
            pages={
                "analyze": done("analyze", path, "--no-report").out,
                "score": done("score", RUN, "--by-category").out,
                "runs": done("runs").out,
            },
            report=report["report"],
            text=(folder / report["written"][0]).read_text(),
            failures={row["case"]: row for row in done("failures", RUN, "--json").rows},
        )


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    return road(tmp_path_factory.mktemp("public"), PUBLIC)


@pytest.fixture(scope="module")
def debug(tmp_path_factory):
    return road(tmp_path_factory.mktemp("debug"), DEBUG)


class Reviewed(NamedTuple):
    report: Any
    text: str
    details: str
    """Of failures that the report has no room for."""
    status: Any
    analysis: Any
    score: Any
    page: str
    show: str
    rerun: Any
    failures: dict[str, Any]


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reviewed")
    with working_in(folder):
        import_fixtures(PUBLIC)
        ids = {row["case"]: row["attempt_id"] for row in done("failures", RUN, "--json").rows}
        filled = {"reasoning": "The quote shows it. The task says no more.", "confidence": "certain"}
        rows = [filled | verdict | {"attempt_id": ids[case]} for case, verdict in VERDICTS.items()]
        (folder / "verdicts.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        for reviewer in ("agent", "second"):  # it takes two, with different models, to clear the model
            done("review", "import", "verdicts.jsonl", "--reviewer", reviewer, "--model", f"{reviewer}@1")
        report = done("report", RUN, "--json").row
        return Reviewed(
            report=report["report"],
            text=(folder / report["written"][0]).read_text(),
            details=next(folder.rglob("*-details.md")).read_text(),
            status=done("review", "status", RUN, "--json").row,
            analysis=done("analyze", PUBLIC, "--no-report", "--json").row,
            score=done("score", RUN, "--json").row,
            page=done("score", RUN).out,
            show=done("show", f"{RUN}/{LINT}").out,
            rerun=done("rerun", RUN, "--json").row,
            failures={row["case"]: row for row in done("failures", RUN, "--json").rows},
        )


def rates(analysis):
    return {name: (one["passed"], one["total"]) for name, one in analysis["scores"].items() if name != "reviewed"}


@pytest.mark.req("C-15")
def test_both_roads_have_the_same_pass_rate(public, debug):
    subjects = [one.report["subject"] for one in (public, debug)]

    assert {(one["passed"], one["total"]) for one in subjects} == {(20, 37)}
    assert rates(public.analysis) == {"strict": (20, 38), "as_reported": (20, 35), "clean": (20, 32)}
    assert rates(debug.analysis) == {"strict": (20, 37), "as_reported": (20, 35), "clean": (20, 32)}


@pytest.mark.req("C-10", "C-14", "C-17")
@pytest.mark.parametrize("name", ["public", "debug"])
def test_the_error_is_the_line_that_carries_the_information(name, request):
    run = request.getfixturevalue(name)
    in_report = {one["case"]: one["error"] for one in run.report["failures"]}

    assert run.failures.keys() == in_report.keys() == ERRORS.keys()
    for case, line in ERRORS.items():
        assert run.failures[case]["reason"].startswith(line)
        assert in_report[case].startswith(line)
    assert not NOISE.search(run.text)


@pytest.mark.req("C-10", "B-48")
def test_a_review_does_not_change_the_error(public, reviewed):
    before = {one["case"]: one["error"] for one in public.report["failures"]}

    assert {one["case"]: one["error"] for one in reviewed.report["failures"]} == before
    assert not NOISE.search(reviewed.text)


@pytest.mark.req("C-16", "C-24")
def test_failures_are_counted_by_their_first_failed_step(public):
    rows = {
        row["Step (first failed)"].split(" ")[0]: int(row["Count"])
        for row in table(section(public.text, "Failure Summary"))
    }

    assert rows == {"none": 1, "filesystem": 2, "install": 2, "deploy": 4, "tsc": 2, "eslint": 1, "tests": 4}


@pytest.mark.req("C-25")
@pytest.mark.parametrize(
    ("case", "path", "line", "shown"),
    [
        (LINT, "convex/http.ts", 9, "httpAction(async (ctx, request)"),
        ("001-data_modeling/003-optional_index", "convex/schema.ts", 11, '.index("by_creation_time"'),
        ("001-data_modeling/005-shared_module", "convex/contacts.ts", 3, "./validators/contact"),
        ("002-queries/008-joined_rows", "convex/posts.ts", 7, "ctx.db.get(post.author).name"),
        ("005-idioms/002-scheduled_cleanup", "convex/crons.ts", 6, "minuteUTC: 75"),
    ],
)
def test_snippets_show_the_place_that_the_error_names(public, case, path, line, shown):
    (snippets,) = [one["snippets"] for one in public.report["failures"] if one["case"] == case]

    assert (snippets["path"], snippets["line"]) == (path, line)
    assert shown in snippets["model"]


def test_an_answer_equal_to_the_code_of_the_reference_is_noted_whatever_lies_beside_it(public):
    names = [one["name"] for one in public.failures[TIMEOUT]["signals"]]

    assert "answer_equals_reference" in names


@pytest.mark.req("C-27", "B-54")
def test_a_proposed_fix_is_shown_before_and_after(reviewed):
    about = section(reviewed.text, LINT)

    assert "Proposed fix in `convex/http.ts`: before" in about
    assert about.index("async (ctx, request) => {", about.index("Proposed fix")) < about.index(
        "httpAction(async () => {"
    )
    assert "Proposed addition in `TASK.txt`" in section(reviewed.details, REMOVE)
    shown = reviewed.show[reviewed.show.index("  fix ") :]
    assert shown.index("async (ctx, request)") < shown.index("async () =>")


@pytest.mark.req("C-28")
def test_the_score_after_fixes_counts_grader_and_task_failures_with_a_fix_as_passed(reviewed):
    after = reviewed.score["after_fixes"]

    assert after["cases"] == [LINT, REMOVE]
    assert {name: (one["passed"], one["total"]) for name, one in after["scores"].items()} == {
        "strict": (22, 38),
        "as_reported": (22, 35),
        "clean": (22, 32),
    }
    assert "after fixes" in reviewed.page
    assert "Score after these fixes: strict 57.9 % (22/38)" in section(reviewed.text, "Net Impact").replace("**", "")


def test_there_is_no_score_after_fixes_without_a_fix(public):
    assert public.report["after_fixes"] is None
    assert "after fixes" not in public.pages["score"]


@pytest.mark.req("C-21")
def test_advice_to_the_guidelines_is_a_group_of_its_own(public, reviewed):
    advice = section(reviewed.text, "Recommendations")

    assert re.search(
        r"\*\*Guideline additions\*\*\s+1\. `runner/models/guidelines.md`: Explain paginationResult", advice
    )
    assert "Guideline additions" not in section(public.text, "Recommendations")


@pytest.mark.req("B-51")
def test_a_rerun_goes_by_verdicts(reviewed):
    cases = [case for command in reviewed.rerun["commands"] for case in command["cases"]]

    assert TIMEOUT not in cases
    assert "003-mutations/005-batch_insert" in cases
    assert len(cases) == reviewed.rerun["attempts"]


def test_a_report_compares_with_the_predecessor_of_the_model(tmp_path):
    with working_in(tmp_path):
        import_fixtures(RUN_B, PUBLIC)
        text = (tmp_path / done("report", RUN, "--json").row["written"][0]).read_text()

    assert re.search(r"\*\*Compared with its predecessor, acme/nimbus-2-coder\*\*: jn7mqywb of 2026-03-09\. ", text)
