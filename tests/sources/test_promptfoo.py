"""promptfoo's real exports: what is in the raw JSON comes out of the records."""

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from promptfoo_rows import attempts_in, cases_in, facts, runs_in, written

from errata.checkup import examine
from errata.sources import promptfoo

FIXTURES = Path(__file__).parent.parent / "fixtures" / "sources" / "promptfoo"
FILES = {folder.parent.name: next(folder.iterdir()) for folder in sorted(FIXTURES.glob("*/data"))}
NOW = datetime(2026, 12, 1, tzinfo=UTC)


def read(name):
    return list(promptfoo.read(FILES[name]))


def raw_rows(name):
    """The rows as they stand in the file, whatever its layout."""
    text = FILES[name].read_text()
    if name == "lines":
        return [json.loads(line) for line in text.splitlines()]
    document = json.loads(text)
    results = document.get("data", document)["results"]
    return results if isinstance(results, list) else results["results"]


def findings(items, name):
    made = []
    for run in runs_in(items):
        of_run = [attempt for attempt in attempts_in(items) if attempt.run == run.id]
        made += [one for one in examine(run, of_run, (), now=NOW) if one.name == name]
    return made


@pytest.mark.parametrize("name", FILES)
def test_a_right_export_has_no_mismatch(name):
    assert not findings(read(name), "aggregate_mismatch")


def test_a_column_of_prompt_and_provider_is_a_run():
    runs = runs_in(read("export"))

    assert [(run.subject.model, run.variant) for run in runs] == [
        ("echo", {"prompt": "terse"}),
        ("echo", {"prompt": "verbose"}),
        ("bad-provider", {"prompt": "terse"}),
        ("bad-provider", {"prompt": "verbose"}),
    ]


def test_eight_rows_pass_eight_fail_and_eight_had_no_answer():
    assert Counter(facts(attempt) for attempt in attempts_in(read("export"))) == {
        ("completed", "scored", "pass"): 8,
        ("completed", "scored", "fail"): 8,
        ("error", "not_run", "none"): 8,
    }


def test_repeats_are_attempts_at_one_case_although_their_testidx_differs():
    items = read("export")
    (first, *_) = runs_in(items)

    tries = Counter(attempt.case for attempt in attempts_in(items) if attempt.run == first.id)

    assert tries == {
        "errata sample/passes contains": 2,
        "errata sample/fails equals": 2,
        "errata sample/threshold partial": 2,
    }


@pytest.mark.parametrize(
    ("count", "by"), [("testPassCount", 1), ("testPassCount", -1), ("testFailCount", 1), ("testErrorCount", 2)]
)
def test_a_doctored_count_is_a_mismatch(count, by, tmp_path):
    document = json.loads(FILES["export"].read_text())
    document["results"]["prompts"][0]["metrics"][count] += by

    items = list(promptfoo.read(written(tmp_path / "results.json", document)))

    assert findings(items, "aggregate_mismatch")


def test_a_dropped_row_is_a_mismatch(tmp_path):
    document = json.loads(FILES["export"].read_text())
    del document["results"]["results"][0]

    items = list(promptfoo.read(written(tmp_path / "results.json", document)))

    assert findings(items, "aggregate_mismatch")


def test_a_provider_error_keeps_its_text_and_its_status():
    errors = [error for attempt in attempts_in(read("export")) for error in attempt.errors]

    assert Counter((error.phase, error.type, error.code, error.message) for error in errors) == {
        ("subject", "provider_error", "503", "API error: 503 Service Unavailable"): 4,
        ("", "Error", "", "Error: socket hang up"): 4,
    }


def test_the_frame_of_a_thrown_error_is_not_promptfoos_own():
    errors = [error for attempt in attempts_in(read("export")) for error in attempt.errors if error.traceback]

    assert {error.frame for error in errors} == {"module.exports.callApi (/home/user/demo/badprovider.cjs:4:37)"}


def test_a_failed_row_has_no_error_although_promptfoo_writes_one():
    failed = [attempt for attempt in attempts_in(read("export")) if attempt.outcome == "fail"]

    assert all(row["error"] for row in raw_rows("export") if row["failureReason"] == 1)
    assert not any(attempt.errors for attempt in failed)


def test_a_score_above_zero_can_fail_by_the_threshold():
    attempt = next(one for one in attempts_in(read("export")) if one.threshold == 0.5 and one.outcome == "fail")

    score = next(check for check in attempt.checks if check.is_primary)

    assert (score.value, score.threshold, attempt.reported) == (pytest.approx(0.4), 0.5, 0.0)
    assert score.explanation == "Aggregate score 0.40 < 0.5 threshold"


def test_assertions_are_checks_called_by_their_metric():
    attempt = next(one for one in attempts_in(read("export")) if one.threshold == 0.5 and one.outcome == "fail")

    assert [(check.name, check.scorer, check.status, check.value) for check in attempt.checks[:3]] == [
        ("format", "is-json", "fail", 0),
        ("correctness", "icontains", "pass", 1),
        ("politeness", "llm-rubric", "fail", 0.2),
    ]


def test_the_tokens_of_the_judge_are_not_the_subjects():
    attempt = next(one for one in attempts_in(read("export")) if one.threshold == 0.5 and one.outcome == "fail")

    assert (attempt.usage.judge.total, attempt.usage.judge.input, attempt.usage.judge.output) == (30, 25, 5)
    assert attempt.usage.subject.total == 0


def test_the_cost_of_an_answer_is_reported_and_that_of_an_error_unknown():
    costs = Counter(attempt.usage.subject.cost for attempt in attempts_in(read("export")))

    assert costs == {0.00012: 4, 0.0: 12, None: 8}


def test_judges_that_gave_no_verdict_are_measurement_errors():
    assert [facts(attempt) for attempt in attempts_in(read("judge_error"))] == [("completed", "error", "none")] * 3


def test_the_errors_of_judges_belong_to_scoring():
    errors = [error for attempt in attempts_in(read("judge_error")) for error in attempt.errors]

    assert [(error.phase, error.message) for error in errors] == [
        ("scoring", "API error: 503"),
        ("scoring", "Error: socket hang up"),
        ("scoring", "Could not extract JSON from llm-rubric response"),
    ]


def test_a_judge_that_returned_an_error_leaves_a_check_with_an_error():
    attempt = attempts_in(read("judge_error"))[0]

    assert [(check.name, check.status) for check in attempt.checks] == [("politeness", "error"), ("score", "error")]
    assert [(one.model, one.valid) for one in attempt.judgements] == [("file://judge_err.cjs", False)]


def test_the_four_failed_riddles_missed_the_latency():
    attempts = attempts_in(read("riddles"))

    assert [attempt.outcome for attempt in attempts] == ["fail"] * 4
    assert all("latency" in attempt.failed_checks for attempt in attempts)


def test_tokens_of_a_cached_answer_are_read_from_the_cache():
    attempts = attempts_in(read("cached"))

    assert sum(attempt.usage.subject.cache_read for attempt in attempts) == 190
    assert {attempt.usage.subject.input for attempt in attempts} == {None}
    assert {attempt.extra["response"]["cached"] for attempt in attempts} == {True}


def test_a_row_without_assertions_passes_without_a_check():
    attempts = attempts_in(read("cached"))

    assert {(attempt.outcome, attempt.checks, attempt.extra["reason"]) for attempt in attempts} == {
        ("pass", (), "No assertions")
    }


def test_a_case_without_a_description_is_known_by_a_hash_and_the_same_in_both_columns():
    items = read("cached")
    by_run = {run.id: {case.key for case in cases_in(items) if case.run == run.id} for run in runs_in(items)}

    first, second = by_run.values()

    assert first == second
    assert len(first) == 4


def test_rows_that_name_no_provider_are_of_the_only_one_configured():
    runs = runs_in(read("old_table"))

    assert {run.subject.provider for run in runs} == {"replicate"}
    assert [len([one for one in attempts_in(read("old_table")) if one.run == run.id]) for run in runs] == [5, 5]


def test_the_table_of_a_shared_evaluation_tells_which_test_a_row_belongs_to():
    names = {case.name for case in cases_in(read("shared_3"))}

    assert names == {"Row #1", "Row #2", "Row #3", "Row #4"}


def test_the_turns_of_a_red_team_are_steps():
    attempt = attempts_in(read("red_team"))[5]
    result = raw_rows("red_team")[5]["response"]["metadata"]["redteamHistory"]

    assert [step.actor.role for step in attempt.steps] == ["simulator", "assistant"] * len(result)
    assert [step.text for step in attempt.steps[1::2]] == [turn["output"] for turn in result]
    assert [step.extra["score"] for step in attempt.steps[1::2]] == [turn["score"] for turn in result]
