"""Thread logs: sessions, result blocks, clocks, evidence."""

import re

import pytest
from scylla_fixtures import CASCADE, GEN1, attempts, by_test, copied, facts, items, items_of, run_of

FIRST_PASSES = (
    "001 002 005 006 007 009 010 013 014 016 017 018 020 021 024 "
    "025 026 027 029 030 032 035 036 038 039 042 043 044 047"
)


def sessions():
    return run_of(items_of(GEN1)).sessions


@pytest.mark.req("S-09", "S-17")
@pytest.mark.trap(14)
def test_three_sessions_are_told_apart_by_the_start_times_of_all_threads():
    assert [(one.number, one.started_at, one.extra["tests_started"]) for one in sessions()] == [
        (1, "2026-02-14T00:28:03Z", 47),
        (2, "2026-02-14T11:16:40Z", 47),
        (3, "2026-02-14T13:59:12Z", 47),
    ]


@pytest.mark.req("S-17")
def test_each_session_has_its_pattern_in_words():
    assert [one.pattern for one in sessions()] == [
        "spent $69.59; 29 passed, 2 failed at $0",
        "every test ended with exit code -1: [Errno 2] No such file or directory: 'pixi'; no cost",
        "resumed; 34 tests reuse stored results ($54.18, spent in an earlier session), 13 failed at $0",
    ]


@pytest.mark.req("S-16", "S-42")
def test_the_first_results_are_recovered_from_the_logs():
    first = by_test(items_of(GEN1), 1)
    passed = {name: one for name, one in first.items() if one.outcome == "pass"}

    assert set(passed) == {f"test-{number}" for number in FIRST_PASSES.split()}
    assert sum(one.usage.cost for one in passed.values()) == pytest.approx(43.52, abs=0.005)
    assert sum(one.outcome == "fail" for one in first.values()) == 16


@pytest.mark.req("S-18", "S-42")
def test_five_tests_passed_first_and_fail_now():
    first, now = by_test(items_of(GEN1), 1), by_test(items_of(GEN1), 3)
    lost = {name for name in first if first[name].outcome == "pass" and now[name].native_status == "fail"}

    assert lost == {"test-006", "test-017", "test-026", "test-038", "test-043"}


def test_six_tests_are_the_frameworks_now_and_had_failed_on_their_merits():
    first, now = by_test(items_of(GEN1), 1), by_test(items_of(GEN1), 3)
    found = {name for name in first if first[name].outcome == "fail" and now[name].execution == "error"}

    assert found == {"test-004", "test-011", "test-023", "test-031", "test-034", "test-046"}


def test_two_tests_were_never_measured():
    first, now = by_test(items_of(GEN1), 1), by_test(items_of(GEN1), 3)
    found = {name for name in first if first[name].execution == now[name].execution == "error"}

    assert found == {"test-019", "test-041"}
    assert first["test-019"].reported is None


def test_the_three_sessions_of_test_006_have_the_facts_of_the_table():
    found = [by_test(items_of(GEN1), number)["test-006"] for number in (1, 2, 3)]

    assert [facts(one) for one in found] == [
        ("completed", "scored", "pass"),
        ("error", "not_run", "none"),
        ("error", "not_run", "none"),
    ]
    assert [one.superseded_by for one in found] == [found[2].id, found[2].id, None]


@pytest.mark.req("S-05")
def test_a_resume_names_its_checkpoint_and_how_much_it_found():
    extra = by_test(items_of(GEN1), 3)["test-006"].extra

    assert (extra["resumed_from"], extra["previously_completed"]) == ("2026-02-14T01-02-23-test-006", 6)


def test_a_process_that_could_not_start_has_a_typed_error():
    (error,) = by_test(items_of(GEN1), 2)["test-006"].errors

    assert (error.type, error.message) == ("FileNotFoundError", "[Errno 2] No such file or directory: 'pixi'")
    assert str(error.ref) == "thread_logs/thread_1.log:759"


@pytest.mark.trap(15)
def test_a_missing_completed_line_leaves_the_result_as_it_stands():
    attempt = by_test(items_of(GEN1), 1)["test-047"]

    assert (attempt.exit_code, attempt.finished_at) == (None, None)
    assert (facts(attempt), attempt.usage.cost) == (("completed", "scored", "pass"), 0.4685)


def test_the_lines_of_a_test_in_its_log_are_kept():
    found = [by_test(items_of(GEN1), number)["test-006"].extra["log"] for number in (1, 2, 3)]

    assert [(one["first_line"], one["last_line"]) for one in found] == [(65, 92), (754, 762), (1120, 1178)]


@pytest.mark.req("S-08")
def test_every_experiment_complete_block_is_found():
    run = run_of(items_of(GEN1))

    assert run.extra["experiment_complete_blocks"] == 94
    assert [one.extra["experiment_complete_blocks"] for one in run.sessions] == [47, 0, 47]


@pytest.mark.req("S-06", "S-07")
def test_every_line_with_an_error_is_evidence_with_its_place():
    wanted = re.compile("ValidationError|criteria_scores|is_error|Error|Exception")
    lines = {
        f"thread_logs/{path.name}:{number}": line
        for path in sorted((GEN1 / "thread_logs").iterdir())
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if wanted.search(line)
    }

    assert {str(one.ref): one.quote for one in run_of(items_of(GEN1)).log_evidence} == lines
    assert run_of(items_of(GEN1)).extra["log_evidence_count"] == len(lines)


@pytest.mark.trap(14)
def test_a_result_block_counts_for_its_test_although_log_lines_come_between(tmp_path):
    root = copied(CASCADE, tmp_path)
    log = root / "thread_logs" / "thread_0.log"
    late = "2026-02-20 00:05:01 [INFO] scylla.e2e.runner: late line\n"
    log.write_text(
        log.read_text().replace("Best Tier: T0", f"{late}Best Tier: T0").replace("  T1: PASS", f"{late}  T1: PASS")
    )

    found = by_test(items(root), 1)["test-001"]
    assert [check.value for check in found.checks] == [1.0, 0.9]
    assert found.extra["logged_result"]["best_tier"] == "T0"


@pytest.mark.trap(14)
def test_bracket_times_are_utc_and_logger_times_are_local():
    attempt = by_test(items_of(GEN1), 3)["test-006"]

    assert attempt.started_at == "2026-02-14T13:59:28.800Z"
    assert attempt.errors[0].at == "2026-02-14T05:59:33"


SESSION = """
======================================================================
[{at}+00:00] Starting {test}
Command: {command} --tiers-dir tests/{test} --results-dir /data/b
======================================================================

[{at}+00:00] Completed {test} in 0.0s (exit code: 0)
"""


def with_log(tmp_path, *starts):
    (tmp_path / "thread_logs").mkdir()
    (tmp_path / "batch_summary.json").write_text('{"threads": [], "results": []}')
    blocks = (SESSION.format(at=at, test=test, command=command) for at, test, command in starts)
    (tmp_path / "thread_logs" / "thread_0.log").write_text("".join(blocks))
    return [one.session for one in attempts(items(tmp_path))]


def test_another_command_begins_another_session(tmp_path):
    first, second = ("2026-01-01T10:00:00", "test-1", "run"), ("2026-01-01T10:01:00", "test-2", "run --fresh")

    assert with_log(tmp_path, first, second) == [1, 2]


def test_a_thread_that_goes_on_at_once_with_another_command_is_the_same_session(tmp_path):
    first, second = ("2026-01-01T10:00:00", "test-1", "run"), ("2026-01-01T10:00:01", "test-2", "run --fresh")

    assert with_log(tmp_path, first, second) == [1, 1]


def test_a_long_rest_of_all_threads_begins_another_session(tmp_path):
    first, second = ("2026-01-01T10:00:00", "test-1", "run"), ("2026-01-01T14:00:00", "test-2", "run")

    assert with_log(tmp_path, first, second) == [1, 2]


def test_a_command_is_kept_without_its_secrets(tmp_path):
    with_log(tmp_path, ("2026-01-01T10:00:00", "test-1", "DB_PASSWORD=hunter2hunter2 run"))

    (attempt,) = attempts(items(tmp_path))
    assert "hunter2" not in attempt.extra["command"]
    assert "hunter2" not in repr(run_of(items(tmp_path)))


def test_an_unexpected_error_of_a_thread_is_an_error(tmp_path):
    with_log(tmp_path, ("2026-01-01T10:00:00", "test-1", "run"))
    log = tmp_path / "thread_logs" / "thread_0.log"
    log.write_text(
        log.read_text().split("[2026-01-01T10:00:00+00:00] Completed")[0] + "UNEXPECTED ERROR: ValueError: no\n"
    )

    (attempt,) = attempts(items(tmp_path))
    assert (facts(attempt), attempt.errors[0].type) == (("error", "not_run", "none"), "ValueError")


def test_a_test_that_was_begun_and_never_ended_is_unfinished(tmp_path):
    with_log(tmp_path, ("2026-01-01T10:00:00", "test-1", "run"))
    log = tmp_path / "thread_logs" / "thread_0.log"
    log.write_text(log.read_text().split("[2026-01-01T10:00:00+00:00] Completed")[0])

    (attempt,) = attempts(items(tmp_path))
    assert facts(attempt) == ("unfinished", "not_run", "none")
