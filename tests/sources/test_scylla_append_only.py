"""Batches of the second generation: entries are appended, outcomes are in the experiment's folder."""

import json

import pytest
from scylla_fixtures import GEN2, attempts, by_test, copied, facts, items, items_of


def last_entries():
    tests = [one for one in attempts(items_of(GEN2)) if one.parent is None]
    return {one.case.removeprefix("projectscylla/"): one for one in tests if one.counted}


@pytest.mark.trap(11)
def test_the_last_entry_of_a_test_is_counted():
    assert {name: one.native_status for name, one in last_entries().items()} == {
        "test-001": "error",
        "test-002": "success",
        "test-003": "success",
        "test-004": "error",
        "test-005": "success",
    }


@pytest.mark.trap(11)
def test_earlier_entries_are_kept_and_superseded():
    tests = [one for one in attempts(items_of(GEN2)) if one.parent is None]
    of_second = [one for one in tests if one.case.endswith("test-002")]

    assert len(tests) == 9
    assert [one.session for one in of_second] == [1, 2, 3]
    assert [one.superseded_by for one in of_second] == [of_second[2].id, of_second[2].id, None]


def test_a_success_without_an_experiment_folder_has_no_outcome():
    assert facts(last_entries()["test-003"]) == ("completed", "not_run", "none")


def test_an_interruption_by_a_person_is_cancelled():
    attempt = last_entries()["test-001"]

    assert (facts(attempt), attempt.errors[0].type) == (("cancelled", "not_run", "none"), "KeyboardInterrupt")


def runs():
    return {one.path: one for one in attempts(items_of(GEN2)) if one.parent}


def test_all_three_corners_of_the_later_layout_are_read():
    assert {path: (one.extra["corner"], facts(one)) for path, one in runs().items()} == {
        "T0/00/run_01": ("completed", ("completed", "scored", "pass")),
        "T0/01/run_01": ("completed", ("completed", "scored", "fail")),
        "T0/02/run_01": (".failed", ("error", "not_run", "none")),
        "T1/01/run_01": ("in_progress", ("unfinished", "not_run", "none")),
    }


def test_the_cost_is_read_from_the_experiment_folder():
    assert last_entries()["test-002"].usage.cost == pytest.approx(0.4195)
    assert (runs()["T0/00/run_01"].usage.cost, runs()["T0/01/run_01"].usage.cost) == (0.2211, 0.1984)


def test_a_judged_failure_is_a_failure_although_the_checkpoint_says_passed():
    run = runs()["T0/01/run_01"]

    assert (run.extra["recorded"], run.outcome) == ("passed", "fail")


@pytest.mark.trap(13)
def test_nan_is_kept_as_text():
    assert runs()["T0/01/run_01"].extra["process_metrics"]["cfp"] == "NaN"


def test_a_rate_limited_run_says_what_the_provider_said():
    run = runs()["T0/02/run_01"]

    assert [error.message for error in run.errors] == ["You have hit your limit, resets 10:30"]
    assert run.output.text is None


def test_the_outcome_of_a_success_comes_from_its_finished_runs():
    attempt = last_entries()["test-002"]

    assert facts(attempt) == ("completed", "scored", "pass")
    assert attempt.extra["derived"] == {
        "by": "runs",
        "best_tier": "T0",
        "best_score": 0.95,
        "pass_rate": 0.5,
        "judged_runs": 2,
        "executions": {"T0/02/run_01": "error", "T1/01/run_01": "unfinished"},
    }


def with_report(tmp_path, **summary):
    root = copied(GEN2, tmp_path)
    folder = root / "2026-03-20T09-00-00-test-002"
    children = [{"tier": "T0", "best_score": 0.4}, {"tier": "T1", "best_score": 0.9}]
    (folder / "report.json").write_text(json.dumps({"summary": summary, "children": children}))
    return by_test(items(root), 3)["test-002"]


def test_a_report_gives_the_outcome_by_the_rule_of_the_batch(tmp_path):
    attempt = with_report(tmp_path, best_tier="T0", total_cost=1.5)

    assert (facts(attempt), attempt.usage.cost) == (("completed", "scored", "fail"), 1.5)


def test_a_report_without_cost_and_without_best_tier_shows_that_nothing_was_measured(tmp_path):
    assert facts(with_report(tmp_path, best_tier=None, total_cost=0.0)) == ("error", "not_run", "none")


def test_a_failed_try_stands_beside_the_run_that_was_made_again(tmp_path):
    root = copied(GEN2, tmp_path)
    folder = root / "2026-03-20T09-00-00-test-002"
    (folder / ".failed" / "T0" / "00").mkdir()
    (folder / ".failed" / "T0" / "02" / "run_01").rename(folder / ".failed" / "T0" / "00" / "run_01")

    found = {one.path: one.execution for one in attempts(items(root)) if one.parent}
    assert (found["T0/00/run_01"], found[".failed/T0/00/run_01"]) == ("completed", "error")
