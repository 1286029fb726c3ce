"""convex-evals: the numbers of the sample, and the oddities of saved answers."""

import json
from collections import Counter
from pathlib import Path

import pytest

from errata.model import Attempt, Case, Item, Run, Unreadable
from errata.sources import convex_evals

FIXTURES = Path(__file__).parent.parent / "fixtures" / "sources" / "convex_evals"
RUN_A = FIXTURES / "run_a" / "data" / "run-a"
RUN_B = FIXTURES / "run_b" / "data" / "run-b"
RUN_C = FIXTURES / "run_c" / "data" / "run-c"
RUN_D = FIXTURES / "run_d" / "data" / "run-d"
FAILED_ONLY = FIXTURES / "failed_only" / "data" / "failed.json"


def items_of(path: Path) -> list[Item]:
    return list(convex_evals.read(path))


def run_of(path: Path) -> Run:
    return next(item for item in items_of(path) if isinstance(item, Run))


def attempts_of(path: Path) -> list[Attempt]:
    return [item for item in items_of(path) if isinstance(item, Attempt)]


def attempt_at(path: Path, case: str) -> Attempt:
    return next(attempt for attempt in attempts_of(path) if attempt.case == f"convex-evals/{case}")


def case_at(path: Path, case: str) -> Case:
    return next(item for item in items_of(path) if isinstance(item, Case) and item.native_id == case)


def facts_of(attempt: Attempt) -> tuple[str, str, str]:
    return attempt.execution, attempt.measurement, attempt.outcome


def first_failed_steps(path: Path) -> Counter[str]:
    failures = [attempt for attempt in attempts_of(path) if attempt.is_failure]
    return Counter(next(iter(attempt.failed_checks), "none") for attempt in failures)


def a_details_answer(**status: object) -> dict[str, object]:
    """A run with one eval, which has the status that is given."""
    document = {"_id": "jh7one", "evalPath": "001-a/002-b", "category": "001-a", "name": "002-b", "steps": []}
    return {
        "_id": "jn7one",
        "model": "acme/m-1",
        "provider": "openrouter",
        "plannedEvals": ["001-a/002-b"],
        "status": {"kind": "completed", "durationMs": 1000},
        "_creationTime": 1772445600000,
        "evals": [document | {"status": status}],
    }


def saved(folder: Path, name: str, value: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(value))
    return folder


@pytest.mark.req("C-06", "C-15")
@pytest.mark.parametrize(
    ("path", "native_id", "planned", "documents", "passed", "failed", "pending"),
    [
        (RUN_A, "jn709tmjsmt0gc4p4ysp6m6ztabx3hw2", 25, 24, 13, 10, 1),
        (RUN_B, "jn7mqywbwe952an46zjcswtz9r7by5p7", 25, 25, 16, 9, 0),
        (RUN_C, "jn7h2dcxegb1ppzpkgp6rgsy5q0h6knt", 25, 25, 0, 25, 0),
        (RUN_D, "jn7maewn2m8p9nby37ge1ak5tzbmr6z9", 25, 25, 25, 0, 0),
    ],
)
def test_the_counts_of_a_run(path, native_id, planned, documents, passed, failed, pending):
    run = run_of(path)
    result = Counter(attempt.native_status for attempt in attempts_of(path) if attempt.execution != "missing")

    assert (run.native_id, run.expected_cases) == (native_id, planned)
    assert (result.total(), result["passed"], result["failed"], result["pending"]) == (
        documents,
        passed,
        failed,
        pending,
    )
    assert (run.reported[1].value, run.reported[1].n) == (passed / documents, documents)


@pytest.mark.parametrize(("path", "machinery", "left"), [(RUN_A, 3, 7), (RUN_B, 2, 7), (RUN_C, 25, 0), (RUN_D, 0, 0)])
def test_failures_of_machinery_have_no_outcome(path, machinery, left):
    failures = [attempt for attempt in attempts_of(path) if attempt.is_failure]

    assert Counter(map(facts_of, failures)) == Counter(
        {("error", "not_run", "none"): machinery, ("completed", "scored", "fail"): left}
    )


@pytest.mark.req("C-10", "C-16")
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (RUN_A, {"filesystem": 2, "deploy": 2, "tsc": 1, "eslint": 1, "tests": 3, "none": 1}),
        (RUN_B, {"install": 1, "deploy": 1, "tsc": 1, "eslint": 2, "tests": 3, "none": 1}),
        (RUN_C, {"none": 25}),
        (RUN_D, {}),
    ],
)
def test_failures_by_first_failed_step(path, expected):
    assert first_failed_steps(path) == Counter(expected)


@pytest.mark.trap(1)
@pytest.mark.parametrize(
    ("path", "case", "kind", "code"),
    [
        (RUN_A, "005-idioms/001-internal_helpers", "rate_limit", "429"),
        (RUN_B, "001-data_modeling/000-user_table", "generation_error", ""),
        (RUN_C, "000-fundamentals/000-greeting_query", "generation_error", ""),
        (FAILED_ONLY, "005-idioms/001-internal_helpers", "rate_limit", "429"),
    ],
)
def test_without_a_failed_step_nothing_was_generated(path, case, kind, code):
    attempt = attempt_at(path, case)

    assert facts_of(attempt) == ("error", "not_run", "none")
    assert [(error.type, error.code, error.phase) for error in attempt.errors] == [(kind, code, "subject")]
    assert attempt.checks == ()


@pytest.mark.trap(2)
@pytest.mark.parametrize("path", [RUN_A, RUN_B])
def test_a_lint_only_failure_shows_that_every_test_passed(path):
    attempt = attempt_at(path, "000-fundamentals/002-http_greeting")

    assert facts_of(attempt) == ("completed", "scored", "fail")
    assert attempt.failed_checks == ("eslint",)
    assert (attempt.checks[-1].name, attempt.checks[-1].status, attempt.checks[-1].value) == ("tests", "pass", 1.0)


@pytest.mark.trap(2)
def test_a_failure_of_lint_and_tests_is_not_lint_only():
    attempt = attempt_at(RUN_B, "005-idioms/003-shared_validator")

    assert attempt.failed_checks == ("eslint", "tests")
    assert attempt.checks[-1].value == 0.83


@pytest.mark.trap(3)
@pytest.mark.parametrize(("path", "ratio"), [(RUN_A, 0.4), (RUN_B, 0.6), (FAILED_ONLY, 0.4)])
def test_rate_limit_in_a_path_or_in_code_is_no_rate_limit(path, ratio):
    attempt = attempt_at(path, "004-actions/003-rate_limit_guard")

    assert facts_of(attempt) == ("completed", "scored", "fail")
    assert attempt.errors == ()
    assert attempt.reported_counted
    assert attempt.checks[-1].value == ratio


@pytest.mark.trap(4)
def test_a_pending_eval_is_unfinished():
    attempt = attempt_at(RUN_A, "006-clients/003-presence_badge")

    assert facts_of(attempt) == ("unfinished", "not_run", "none")
    assert (attempt.reported, attempt.is_failure) == (None, False)


def test_a_planned_eval_without_a_document_is_missing():
    missing = [attempt.case for attempt in attempts_of(RUN_A) if attempt.execution == "missing"]

    assert missing == ["convex-evals/003-mutations/004-swap_order"]


@pytest.mark.parametrize(
    ("path", "case", "step", "code"),
    [
        (RUN_A, "004-actions/005-fetch_with_retry", "deploy", ""),
        (RUN_B, "003-mutations/005-batch_insert", "install", "ECONNRESET"),
    ],
)
def test_a_step_that_failed_for_want_of_machinery_is_an_error_of_the_environment(path, case, step, code):
    attempt = attempt_at(path, case)

    assert facts_of(attempt) == ("error", "not_run", "none")
    assert attempt.failed_checks == (step,)
    assert [(error.phase, error.code) for error in attempt.errors] == [("environment", code)]
    assert attempt.reported_counted, "the harness counts it: the reason has no prefix"


def test_an_empty_response_is_the_providers():
    attempt = attempt_at(RUN_A, "006-clients/000-live_list")

    assert facts_of(attempt) == ("error", "not_run", "none")
    assert attempt.usage.subject.total == 0
    assert not attempt.reported_counted


def test_a_response_without_files_is_the_models_and_its_text_is_kept():
    attempt = attempt_at(RUN_A, "006-clients/002-optimistic_toggle")

    assert facts_of(attempt) == ("completed", "scored", "fail")
    assert attempt.output.text is not None
    assert attempt.output.text.startswith("Here is my plan")


def test_a_static_eval_that_stopped_early_is_known_by_its_source(tmp_path):
    step = {"name": "filesystem", "status": {"kind": "failed", "failureReason": "empty parsed model output"}}
    debug = {
        "eval": {"_id": "jh7one", "evalPath": "001-a/002-b", "status": {"kind": "failed", "failureReason": "empty"}},
        "run": {"_id": "jn7one", "model": "acme/m-1"},
        "steps": [step],
        "outputFiles": None,
        "evalSourceFiles": {"eval.json": '{"pipeline": "static"}'},
    }

    checks = attempts_of(saved(tmp_path, "x.json", debug))[0].checks

    assert [(check.name, check.status) for check in checks] == [("filesystem", "fail"), ("tests", "not_run")]


def test_steps_after_the_one_that_stopped_the_pipeline_were_not_run():
    checks = attempt_at(RUN_A, "001-data_modeling/003-optional_index").checks

    assert [check.status for check in checks] == ["pass", "pass", "fail", "not_run", "not_run", "not_run"]
    assert "reserved name" in checks[2].explanation


@pytest.mark.req("C-09", "C-11")
def test_an_eval_brings_its_task_answer_grader_output_and_log():
    case = case_at(RUN_A, "002-queries/004-range_condition")
    attempt = attempt_at(RUN_A, "002-queries/004-range_condition")

    assert {artefact.role for artefact in case.artefacts} == {"task", "expected", "grader"}
    assert {artefact.path: artefact.role for artefact in attempt.artefacts} == {
        "convex/readings.ts": "output",
        "run.log": "log",
    }
    assert "inclusive" in case.input


@pytest.mark.req("C-11")
def test_files_come_from_the_zips_where_no_debug_answer_was_saved(tmp_path):
    details = tmp_path / "run"
    details.mkdir()
    (details / "x.json").write_bytes((RUN_A / "getRunDetails.envelope.json").read_bytes())
    (tmp_path / "storage").symlink_to(RUN_A / "storage")

    assert case_at(details, "000-fundamentals/002-http_greeting").digest == (
        case_at(RUN_A, "000-fundamentals/002-http_greeting").digest
    )
    by_zip = attempt_at(details, "000-fundamentals/002-http_greeting")
    by_answer = attempt_at(RUN_A, "000-fundamentals/002-http_greeting")

    assert [(one.path, one.role, one.text, one.binary) for one in by_zip.artefacts] == [
        (one.path, one.role, one.text, one.binary) for one in by_answer.artefacts
    ]
    assert by_zip.links == {
        "output": "kg23h50r52qvqmccqqwbbkc8atx5g7nt",
        "source": "kg2bzgj580ekgsy6a5t4ayg1dh5tpky0",
    }


def test_usage_times_and_durations_are_kept():
    run, attempt = run_of(RUN_A), attempt_at(RUN_A, "002-queries/006-pagination_shape")
    usage = attempt.usage.subject

    assert (usage.input, usage.output, usage.total, usage.cost, usage.cost_source) == (
        6243,
        1131,
        7374,
        0.018,
        "reported",
    )
    assert (attempt.duration, attempt.durations) == (46.5, {"generation": 22.1})
    assert (run.started_at, run.finished_at) == ("2026-03-02T10:00:00Z", "2026-03-02T10:22:10Z")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (RUN_A, "getRunDetails.envelope.json"),
        (RUN_A, "getFailedEvalsForRun.json"),
        (RUN_B, "getRunDetails.envelope.json"),
        (RUN_B, "getFailedEvalsForRun.json"),
    ],
)
def test_a_run_has_the_same_id_whichever_answer_it_is_read_from(path, name):
    assert run_of(path / name).id == run_of(path).id
    assert run_of(path / name).variant == {"experiment": "default"}


def test_one_eval_alone_does_not_take_the_place_of_its_run():
    whole, alone = run_of(RUN_A), run_of(RUN_A / "getEvalDebugInfo.first.envelope.json")

    assert alone.id != whole.id
    assert (alone.group, alone.native_id.partition(".")[0]) == (whole.native_id, whole.native_id)


@pytest.mark.req("C-06")
def test_the_failure_summary_alone_invents_no_passes():
    run = run_of(FAILED_ONLY)

    assert len(attempts_of(FAILED_ONLY)) == 10
    assert (run.expected_cases, run.extra["passedCount"], run.reported[1].n) == (24, 13, 24)


def test_where_answers_contradict_each_other_the_details_are_kept(tmp_path):
    saved(tmp_path, "b.json", a_details_answer(kind="passed", durationMs=1000))
    entry = {"_id": "jh7one", "evalPath": "001-a/002-b", "failureReason": "tsc fail", "failedStep": None}
    saved(tmp_path, "a.json", {"run": {"_id": "jn7one"}, "totalEvals": 1, "failedEvals": [entry]})

    (attempt,) = attempts_of(tmp_path)

    assert attempt.outcome == "pass"
    assert attempt.extra["contradicted_by"] == [{"file": "a.json", "kind": "failed", "failureReason": "tsc fail"}]


def test_answers_in_folders_by_function_are_one_run(tmp_path):
    for name in ("getRunDetails", "getFailedEvalsForRun"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.json").write_bytes((RUN_A / f"{name}.envelope.json").read_bytes())

    assert convex_evals.recognise(tmp_path) is not None
    assert run_of(tmp_path).reported[1].value == 13 / 24


def test_two_documents_of_one_eval_are_two_attempts(tmp_path):
    answer = a_details_answer(kind="passed")
    answer["evals"] = [*answer["evals"], answer["evals"][0] | {"_id": "jh7two"}]

    first, second = attempts_of(saved(tmp_path, "x.json", answer))

    assert (second.index, second.duplicate_of) == (2, first.id)


def test_an_eval_without_a_known_status_is_unreadable_and_the_rest_is_kept(tmp_path):
    answer = a_details_answer(kind="exploded")
    answer["evals"] = [*answer["evals"], answer["evals"][0] | {"_id": "jh7two", "status": {"kind": "passed"}}]
    saved(tmp_path, "x.json", answer)

    assert [item.where for item in items_of(tmp_path) if isinstance(item, Unreadable)] == ["x.json#/evals/0"]
    assert [attempt.outcome for attempt in attempts_of(tmp_path)] == ["pass"]


def test_why_a_run_was_aborted_is_evidence(tmp_path):
    reason = "[rate_limit] Aborted after 3 rate-limit errors"
    answer = a_details_answer(kind="pending") | {"status": {"kind": "failed", "failureReason": reason}}
    run = run_of(saved(tmp_path, "x.json", answer))

    assert (run.native_status, run.extra["failureReason"]) == ("failed", reason)
    assert [evidence.quote for evidence in run.log_evidence] == [reason]


def test_token_details_and_the_providers_own_numbers_are_kept(tmp_path):
    usage = {
        "inputTokens": 100,
        "inputTokenDetails": {"noCacheTokens": 60, "cacheReadTokens": 30, "cacheWriteTokens": 10},
        "outputTokenDetails": {"textTokens": 5, "reasoningTokens": 7},
        "raw": {"cost": 0.5, "webSearchRequestCount": 2},
    }
    (attempt,) = attempts_of(saved(tmp_path, "x.json", a_details_answer(kind="passed", usage=usage)))
    made = attempt.usage.subject

    assert (made.cache_read, made.cache_write, made.reasoning, made.includes_cache) == (30, 10, 7, True)
    assert made.extra == {"noCacheTokens": 60, "textTokens": 5, "raw": {"webSearchRequestCount": 2}}


def test_the_words_of_a_failing_test_never_make_it_infrastructure(tmp_path):
    reason = "[infrastructure] connect ECONNRESET, HTTP 429"
    answer = a_details_answer(kind="failed", failureReason="tests fail (0%)")
    answer["evals"][0]["steps"] = [{"name": "tests", "status": {"kind": "failed", "failureReason": reason}}]

    (attempt,) = attempts_of(saved(tmp_path, "x.json", answer))

    assert facts_of(attempt) == ("completed", "scored", "fail")


def test_gaps_are_kept_and_do_not_change_the_digest(tmp_path):
    def digest(name: str, **files: str) -> str:
        result = {"eval": {"_id": "jh7", "evalPath": "a/b", "status": {"kind": "pending"}}, "run": {"_id": "jn7"}}
        return case_at(saved(tmp_path / name, "x.json", result | {"evalSourceFiles": files}), "a/b").digest

    assert digest("one", **{"TASK.txt": "x"}) == digest("two", **{"TASK.txt": "x", "GAPS.txt": "y"})
    assert digest("one", **{"TASK.txt": "x"}) != digest("three", **{"TASK.txt": "z"})


@pytest.mark.req("C-09")
@pytest.mark.parametrize(
    ("path", "case", "native_id", "reason"),
    [
        (RUN_A, "002-queries/004-range_condition", "jh7z5f86g3ee6sypfe08e99hc1x6tak8", "tests fail (67%)"),
        (RUN_B, "003-mutations/005-batch_insert", "jh7csmwchdnsgpth42wjdj8x5vjjne8n", "install fail"),
    ],
)
def test_an_eval_can_be_asked_for_by_its_id_and_says_why_in_the_harness_s_words(path, case, native_id, reason):
    attempt = attempt_at(path, case)

    assert (attempt.native_id, attempt.native_reason) == (native_id, reason)
