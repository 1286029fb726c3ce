"""A batch of the first generation: the summary, the facts of each test, its children, and a cascade."""

import json
from statistics import fmean, median

import pytest
from scylla_fixtures import CASCADE, GEN1, attempts, by_test, copied, facts, items, items_of, run_of

from errata.model import Case, Unreadable, codec

FRAMEWORK = "004 006 011 017 019 023 026 031 034 038 041 043 046"
MODEL = "003 008 012 015 022 028 033 037 040 045"


def named(numbers):
    return {f"test-{number}" for number in numbers.split()}


def counted():
    return {one.case.removeprefix("projectscylla/"): one for one in attempts(items_of(GEN1)) if one.counted}


@pytest.mark.req("S-45")
def test_47_tests_are_counted_and_24_of_them_pass():
    outcomes = [one.outcome for one in counted().values()]

    assert (len(outcomes), outcomes.count("pass")) == (47, 24)


@pytest.mark.req("S-45")
def test_the_costs_add_up_to_the_cent():
    costs = {one.case: one.usage.cost for one in counted().values()}
    passes = [one.usage.cost for one in counted().values() if one.outcome == "pass"]

    assert sum(costs.values()) == pytest.approx(54.18)
    assert sum(passes) == pytest.approx(35.46)


@pytest.mark.req("S-37", "S-45")
def test_the_cost_of_pass_is_kept_for_every_pass():
    found = [one.cost_of_pass for one in counted().values() if one.outcome == "pass"]

    assert (fmean(found), median(found)) == (pytest.approx(0.37), pytest.approx(0.17))


@pytest.mark.req("S-37")
def test_a_test_that_was_never_passed_has_no_cost_of_pass():
    assert {one.cost_of_pass for name, one in counted().items() if name in named(FRAMEWORK)} == {None}


@pytest.mark.req("S-35")
def test_the_figures_of_tiers_and_subtests_are_the_harness_s_own():
    parts = {part.path: part for part in counted()["test-009"].parts}

    assert (parts["T0"].score, parts["T0"].cost, parts["T0"].cost_of_pass) == (0.667, 0.1791, 0.0896)
    assert (parts["T0/00"].made, parts["T0/00"].passed, parts["T0/02"].pass_rate) == (1, 1, 0.0)
    assert [path for path, part in parts.items() if part.is_best] == ["T0", "T0/00", "T1/01"]


def test_of_a_session_that_only_its_log_knows_the_tiers_are_kept_too():
    first = by_test(items_of(GEN1), 1)["test-017"]

    assert [(part.path, part.is_best) for part in first.parts] == [("T0", True), ("T0/00", True), ("T1", False)]
    assert first.cost_of_pass is not None


def test_an_attempt_has_the_lines_that_its_thread_logged_of_it():
    (log,) = by_test(items_of(GEN1), 2)["test-006"].artefacts

    assert (log.role, log.path, log.ref.line) == ("log", "thread_logs/thread_1.log", 754)
    assert log.text.splitlines()[0].endswith("Starting test-006")
    assert log.text.count("Starting test-") == 1


@pytest.mark.trap(20)
def test_a_secret_in_a_thread_log_is_not_kept(tmp_path):
    batch = copied(CASCADE, tmp_path)
    log = batch / "thread_logs" / "thread_0.log"
    log.write_text(log.read_text().replace("Command: ", "Command: ANTHROPIC_API_KEY=sk-ant-REDACTED "))
    kept = [artefact.text for one in attempts(items(batch)) for artefact in one.artefacts if artefact.role == "log"]

    assert kept
    assert not any("aaaaaaaaaaaa" in text for text in kept)


def test_an_error_says_which_parts_of_the_attempt_it_stopped():
    (error,) = by_test(items_of(GEN1), 3)["test-006"].errors

    assert error.hits == ("T0/00", "T0/01", "T0/02", "T1/01", "T1/02", "T1/03")


@pytest.mark.req("S-32")
def test_how_the_batch_was_configured_is_told():
    assert run_of(items_of(GEN1)).environment["config"]["judge_model"] == "opus"


@pytest.mark.trap(16)
def test_a_best_score_of_two_thirds_is_a_pass():
    found = {name for name, one in counted().items() if one.reported == 0.667 and one.outcome == "pass"}

    assert found == named("009 021 036")


@pytest.mark.req("S-15")
def test_a_fail_at_no_cost_is_an_error_without_an_outcome():
    found = {name for name, one in counted().items() if facts(one) == ("error", "not_run", "none")}

    assert found == named(FRAMEWORK)


@pytest.mark.req("S-12")
def test_a_fail_that_cost_something_is_measured():
    failed = {name: one for name, one in counted().items() if one.outcome == "fail"}

    assert set(failed) == named(MODEL)
    assert sum(one.usage.cost for one in failed.values()) == pytest.approx(18.72)


@pytest.mark.req("S-10", "S-11")
def test_the_durations_of_the_tests_at_no_cost_are_kept():
    seconds = [one.duration for one in counted().values() if one.execution == "error"]

    assert sum(8 <= one <= 22 for one in seconds) == 9
    assert sum(100 <= one <= 200 for one in seconds) == 4


@pytest.mark.trap(10)
def test_eleven_tests_failed_on_null_criteria_scores_and_two_on_their_worktree():
    kinds = [one.errors[0].type for one in counted().values() if one.execution == "error"]

    assert (kinds.count("ValidationError"), kinds.count("RuntimeError")) == (11, 2)


def test_equal_exceptions_are_kept_once_with_every_subtest_that_they_hit():
    (error,) = by_test(items_of(GEN1), 3)["test-006"].errors

    assert [hit["where"] for hit in error.extra["hits"]] == ["T0/00", "T0/01", "T0/02", "T1/01", "T1/02", "T1/03"]
    assert error.extra["hits"][1]["line"] == 1132


def test_an_exception_has_its_message_frame_phase_and_line():
    (error,) = by_test(items_of(GEN1), 3)["test-006"].errors

    assert error.message.splitlines()[:2] == ["1 validation error for RunResult", "criteria_scores"]
    assert error.frame == "scylla/e2e/subtest_executor.py:301 in _load_run_result"
    assert (error.phase, str(error.ref)) == ("aggregation", "thread_logs/thread_1.log:1126")


def test_different_tracebacks_behind_equal_first_lines_stay_apart(tmp_path):
    root = copied(CASCADE, tmp_path)
    log = root / "thread_logs" / "thread_1.log"
    text = log.read_text()
    first = text.index("2026-02-20 00:00:13")
    other = text[text.index("2026-02-20 00:00:12") : first].replace("T0/00", "T0/01").replace("line 412", "line 7")
    log.write_text(text[:first] + other + text[first:])

    assert len(by_test(items(root), 1)["test-002"].errors) == 2


@pytest.mark.trap(13)
def test_an_infinite_cost_of_pass_is_kept_as_text():
    found = [one for one in counted().values() if one.extra.get("frontier_cop") == "Infinity"]

    assert len(found) == 8


def test_only_the_best_tier_counts():
    checks = {check.name: check for check in counted()["test-009"].checks}

    assert (checks["T0"].value, checks["T0"].is_primary, checks["T0"].counts) == (0.667, True, True)
    assert not checks["T1"].counts


def test_task_and_grader_are_part_of_the_case():
    (case,) = (item for item in items_of(GEN1) if isinstance(item, Case) and item.native_id == "test-006")

    assert case.input.startswith("# Task")
    assert [(one.role, one.path) for one in case.artefacts][:3] == [
        ("task", "prompt.md"),
        ("grader", "criteria.md"),
        ("grader", "rubric.yaml"),
    ]


def children(test):
    return [one for one in attempts(items_of(GEN1)) if one.parent and one.case.endswith(test)]


def test_stored_runs_belong_to_the_session_that_made_them():
    runs = children("test-006")

    assert {one.parent for one in runs} == {by_test(items_of(GEN1), 1)["test-006"].id}
    assert sum(one.outcome == "pass" for one in runs) == 6
    assert sum(one.usage.cost for one in runs) == pytest.approx(1.7462)


def test_a_resumed_test_points_to_the_attempt_whose_runs_it_reuses():
    found = items_of(GEN1)

    assert by_test(found, 3)["test-003"].links == {"runs": by_test(found, 1)["test-003"].id}


@pytest.mark.req("S-40")
@pytest.mark.trap(10)
def test_null_criteria_give_no_criteria_and_are_noted():
    run = children("test-006")[0]

    assert [check.kind for check in run.checks] == ["reward"]
    assert run.extra["criteria_scores_null"] is True


def test_a_majority_of_judges_passes_a_run():
    (run,) = (one for one in children("test-001") if one.path == "T1/03/run_01")

    assert [judge.raw["passed"] for judge in run.judgements] == [True, True, False]
    assert run.outcome == "pass"
    assert len(children("test-001")) == 6


def test_words_on_a_rate_limit_in_an_answer_are_no_error():
    runs = children("test-003")

    assert {facts(one) for one in runs} == {("completed", "scored", "fail")}
    assert not any(one.errors for one in runs)
    assert "rate limit" in runs[0].output.text


@pytest.mark.trap(18)
def test_an_invalid_judge_is_kept_as_invalid_and_the_others_decide():
    runs = children("test-009")

    assert [[judge.valid for judge in one.judgements] for one in runs] == [[True, True, False]] * 6
    assert [one.path for one in runs if one.outcome == "pass"] == ["T0/00/run_01", "T0/01/run_01", "T1/01/run_01"]


@pytest.mark.trap(18)
def test_the_criteria_of_an_invalid_judge_are_no_measure():
    (run,) = (one for one in children("test-009") if one.path == "T0/02/run_01")

    assert {check.status for check in run.checks if check.judge == "judge_03"} == {"error"}


@pytest.mark.trap(20)
def test_no_value_of_an_environment_variable_is_in_any_record():
    written = b"".join(codec.to_json(item) for item in items_of(GEN1))
    log = json.loads(next(GEN1.glob("*/T0/00/run_01/agent/command_log.json")).read_text())
    values = [value for name, value in log["commands"][0]["env_vars"].items() if name not in ("USER", "HOME", "PATH")]

    assert len(values) == 4
    assert not [value for value in values if value.encode() in written]
    assert b"/usr/bin:/bin" not in written


@pytest.mark.trap(17)
def test_a_cascade_keeps_every_error_and_leaves_the_root_to_triage():
    tests = by_test(items_of(CASCADE), 1)

    kinds = {name: one.errors[0].type for name, one in tests.items() if one.execution == "error"}
    assert (len(kinds), kinds.pop("test-002"), set(kinds.values())) == (11, "AttributeError", {"RuntimeError"})
    assert not any(one.follows for one in tests.values())


@pytest.mark.trap(12)
def test_an_error_without_cost_fields_has_no_cost():
    found = by_test(items_of(CASCADE), 1)

    assert facts(found["test-003"]) == ("error", "not_run", "none")
    assert found["test-003"].usage.cost is None
    assert found["test-001"].usage.cost == 0.4821


def edited(tmp_path, change):
    root = copied(CASCADE, tmp_path)
    summary = json.loads((root / "batch_summary.json").read_text())
    change(summary)
    (root / "batch_summary.json").write_text(json.dumps(summary))
    return items(root)


@pytest.mark.trap(12)
def test_a_fail_whose_cost_is_not_stated_is_not_taken_for_free(tmp_path):
    def change(summary):
        summary["results"][0] |= {"status": "fail", "best_score": 0.2}
        del summary["results"][0]["total_cost"]

    assert facts(by_test(edited(tmp_path, change), 1)["test-001"]) == ("completed", "scored", "fail")


def test_a_fail_at_no_cost_without_any_exception_says_why_it_is_an_error(tmp_path):
    def change(summary):
        summary["results"][0] |= {"status": "fail", "best_score": 0.0, "total_cost": 0.0}

    attempt = by_test(edited(tmp_path, change), 1)["test-001"]

    assert facts(attempt) == ("error", "not_run", "none")
    assert attempt.errors[0].type == "NothingSpent"


def test_an_unknown_status_is_an_error_without_a_result(tmp_path):
    def change(summary):
        row = summary["results"][0]
        summary["results"][0] = {"test_id": row["test_id"], "status": "unknown", "exit_code": 0}

    assert facts(by_test(edited(tmp_path, change), 1)["test-001"]) == ("error", "not_run", "none")


def test_a_planned_test_without_any_trace_is_missing(tmp_path):
    def change(summary):
        summary["threads"][0]["tests"].append("test-099")

    assert facts(by_test(edited(tmp_path, change), 1)["test-099"]) == ("missing", "not_run", "none")


def test_a_repeated_row_of_a_test_is_a_duplicate_of_the_first(tmp_path):
    found = edited(tmp_path, lambda summary: summary["results"].append(summary["results"][1]))

    (second,) = (one for one in attempts(found) if one.index == 2)
    assert second.duplicate_of == second.id.replace("#1.2", "#1.1")


def test_a_row_without_a_test_is_unreadable_and_the_rest_is_kept(tmp_path):
    found = edited(tmp_path, lambda summary: summary["results"].insert(0, {"status": "pass"}))

    (bad,) = (item for item in found if isinstance(item, Unreadable))
    assert bad.where == "batch_summary.json#/results/0"
    assert len(by_test(found, 1)) == 12


def test_an_experiment_that_no_summary_and_no_log_knows_is_unfinished(tmp_path):
    root = copied(CASCADE, tmp_path)
    (root / "2026-02-20T09-00-00-test-050" / "T0" / "00" / "run_01" / "agent").mkdir(parents=True)

    found = [one for one in attempts(items(root)) if one.case.endswith("test-050")]
    assert [one.execution for one in found] == ["unfinished", "unfinished"]
    assert found[1].parent == found[0].id
