"""The log and steps of convex-evals as its runner writes them, by all three roads."""

import shutil
from pathlib import Path

import pytest

from errata.model import Artefact, Attempt, Run, SourceRef, Unreadable
from errata.sources import convex_evals
from errata.sources.convex_evals.reader import _stop_reason
from errata.sources.convex_evals.steps import machinery_word, read_log

FIXTURES = Path(__file__).parent.parent / "fixtures" / "sources" / "convex_evals"
PUBLIC = FIXTURES / "runner_texts" / "data" / "run-e"
DEBUG = FIXTURES / "runner_texts_debug" / "data" / "run-e"
LOCAL = FIXTURES / "runner_texts_local" / "data" / "results"
REF = SourceRef(file="run.log")


def attempts(path):
    return {item.case: item for item in convex_evals.read(path) if isinstance(item, Attempt)}


def facts(attempt):
    return attempt.execution, attempt.measurement, attempt.outcome, attempt.failed_checks


def test_each_road_reads_the_same_facts_about_a_failure():
    public, debug, local = attempts(PUBLIC), attempts(DEBUG), attempts(LOCAL)
    generated = {case: one for case, one in debug.items() if one.checks}

    assert {case: facts(public[case]) for case in debug} == {case: facts(one) for case, one in debug.items()}
    assert {case: facts(local[case]) for case in generated} == {case: facts(one) for case, one in generated.items()}
    for case, one in generated.items():
        shares = [[check.value for check in road[case].checks if check.name == "tests"] for road in (public, local)]
        assert shares[0] == pytest.approx(shares[1], abs=0.005, nan_ok=True) or one.failed_checks == ()


def test_an_error_that_the_log_holds_twice_is_one_failed_step():
    (attempt,) = [one for case, one in attempts(LOCAL).items() if case.endswith("008-joined_rows")]

    assert attempt.failed_checks == ("tsc", "eslint", "tests")
    assert attempt.errors == ()


def test_tests_that_passed_leave_no_ok_but_their_output():
    local = attempts(LOCAL)

    assert local["convex-evals/000-fundamentals/001-basic_schema"].outcome == "pass"
    assert local["convex-evals/000-fundamentals/002-http_greeting"].failed_checks == ("eslint",)


@pytest.mark.parametrize(
    ("case", "steps"),
    [("005-idioms/004-pick_primitive", 2), ("004-actions/007-use_component", 3), ("002-queries/008-joined_rows", 6)],
)
def test_an_eval_has_the_steps_of_its_pipeline(case, steps):
    for road in (PUBLIC, DEBUG, LOCAL):
        assert len(attempts(road)[f"convex-evals/{case}"].checks) == steps


@pytest.mark.parametrize(
    ("entry", "phase"),
    [
        ("InfrastructureError: [grader setup] Reference answer deploy failed: Error: Failed to deploy:", "scoring"),
        ("InfrastructureError: [install] Error: bun install timed out after 120s", "environment"),
    ],
)
def test_what_broke_in_the_harness_is_not_counted(entry, phase):
    log = read_log(f"=== Eval: a/b ===\n[ok] filesystem\n[infrastructure] {entry}\n", REF)

    assert log.kind == "failed"
    assert log.reason == f"[infrastructure] {entry}"
    assert [error.phase for error in log.errors] == [phase]


@pytest.mark.req("B-47")
def test_what_fetch_records_about_itself_is_no_unreadable_file(tmp_path):
    shutil.copytree(DEBUG, tmp_path / "run")
    record = '{"run": "jn7", "deployment": "https://a.convex.cloud", "asked": "runs:getRunDetails", "at": "2026-03-10"}'
    (tmp_path / "run" / "fetch.json").write_text(record)

    items = list(convex_evals.read(tmp_path / "run"))

    assert not [item for item in items if isinstance(item, Unreadable)]
    assert len([item for item in items if isinstance(item, Run)]) == 1


@pytest.mark.parametrize(
    ("usage", "log", "word"),
    [
        ({"raw": {"cost": 0.1, "finish_reason": "length"}}, "", "length"),
        ({"raw": {"cost": 0.1}}, "[generate] finishReason=length outputTokens=16384\n", "length"),
        ({"raw": {"cost": 0.1}}, "model wrote finishReason=length\n", ""),
    ],
)
def test_why_the_model_stopped_is_kept_in_the_providers_word(usage, log, word):
    assert _stop_reason({"usage": usage}, [Artefact(role="log", path="run.log", text=log)]) == word


def test_an_error_that_the_models_code_threw_is_no_machinery():
    thrown = "Failed to analyze items.js: Uncaught Error: connect ECONNREFUSED 127.0.0.1:6379"

    assert machinery_word("deploy", thrown) == ""
