"""The lines of ProjectScylla's loggers in their own words: who owns the failure of the test, and what was overcome."""

import pytest
from scylla_fixtures import items
from tests.scylla_batches import (
    AGENT,
    ALL_FAILED,
    FINAL,
    JUDGE,
    NO_VERDICT,
    RESULTS,
    RUNNER,
    SETUP,
    STAGES,
    TIER,
    WORKERS,
    Batch,
    Logged,
    Scored,
    Tried,
    failed,
    judge,
    passed,
    stage,
    worked,
    worker,
    write_broken_run,
    write_experiment,
    write_run,
)

from errata.model import Attempt, Run
from errata.sources import scylla
from errata.sources.scylla.log_lines import phase_of_logger
from errata.triage import attribute, look_over, observe
from errata.triage.rulesets import rules_in_use

CLONE = "fatal: unable to access 'https://github.com/acme/tool/': Could not resolve host: github.com"
LIMIT = "Rate limit from agent: You've hit your limit · resets 3am (UTC)"
TIMEOUT = "Command '['claude', '--model', 'opus', '-p']' timed out after 1200 seconds"
LEFT = "RuntimeError: Failed to create worktree at /data/w: fatal: a branch named 'T0_00_run_01' already exists"
JUDGED = stage("T0_00", "JUDGE", "Complete (41.2s)")
STATES = "scylla.e2e.state_machine"
EXECUTOR, HEALTH = "scylla.e2e.subtest_executor", "scylla.e2e.health"
VALIDATION, RERUN = "scylla.e2e.model_validation", "scylla.e2e.rerun_judges"


def warning(logger: str, text: str) -> Logged:
    return Logged("WARNING", logger, text)


def error(logger: str, text: str, *below: str) -> Logged:
    return Logged("ERROR", logger, text, below)


def attempts_of(folder, *tried: Tried, sessions=None) -> dict[str, Attempt]:
    """Counted attempts by test."""
    Batch(folder, threads=1, sessions=sessions or [list(tried)]).write()
    counted = (one for one in items(folder) if isinstance(one, Attempt) and one.counted)
    return {one.case.rpartition("/")[2]: one for one in counted}


def owners(folder, *tried: Tried) -> dict[str, str]:
    attempts = attempts_of(folder, *tried)
    run = next(item for item in scylla.read(folder) if not isinstance(item, Attempt))
    rules, wide = rules_in_use(), look_over(attempts.values())
    failures = {test: one for test, one in attempts.items() if one.is_failure}
    return {
        test: attribute(one, observe(run, one, None, wide, rules), source="scylla", rules=rules).owner
        for test, one in failures.items()
    }


def owner(folder, *lines, scored=None, exit_code=0) -> str:
    """Of one test; the log alone tells, there is no folder of the experiment."""
    return owners(folder, Tried("test-001", lines, scored, exit_code=exit_code))["test-001"]


COST, NOTHING = failed(1.2), failed(0.0)

JUDGING = {
    "all judges failed": [stage("T0_00", "AGENT"), warning(JUDGE, ALL_FAILED), JUDGED],
    "judge timed out": [
        stage("T0_00", "AGENT"),
        error(FINAL, f"Judge 1 failed with model opus: {TIMEOUT}", "Traceback (most recent call last):"),
        warning(FINAL, ALL_FAILED),
        Logged("INFO", FINAL, "[JUDGE] Complete (1200.4s)"),
    ],
    "each judge failed": [
        stage("T0_00", "AGENT"),
        *[error(JUDGE, f"Judge {number} failed with model opus: {TIMEOUT}") for number in (1, 2, 3)],
    ],
    "no judge's answer parsed": [
        stage("T0_00", "AGENT"),
        warning(FINAL, "Judge 1 parse failed (attempt 1), retrying... stdout_len=2011, stderr_len=0"),
        warning("scylla.e2e.llm_judge", "Judge parse failure on attempt 2/2, retrying with JSON reminder (model=opus)"),
    ],
    "no tools for the judges": [
        stage("T0_00", "AGENT"),
        warning(JUDGE, "Judge pipeline for T0/00/run_01 exited 127: judge.sh: line 12: ruff: command not found"),
        JUDGED,
    ],
    "rate limit of all judges": [
        stage("T0_00", "AGENT"),
        warning(JUDGE, "All 3 judges failed with rate-limit errors"),
    ],
    "no room for the judges": [
        stage("T0_00", "AGENT"),
        warning(JUDGE, "Judge 1 failed with model opus: prompt is too long: 214556 tokens > 200000 maximum"),
        warning(JUDGE, ALL_FAILED),
    ],
    "no results of judges": [
        *worked("T0_00"),
        warning(RERUN, f"No valid judge results found for {RESULTS}/T0/00/run_01, skipping consensus"),
    ],
    "no scores of judges": [
        *worked("T0_00"),
        warning(RERUN, f"No valid scores for {RESULTS}/T0/00/run_01, skipping consensus"),
    ],
}


@pytest.mark.req("S-02", "S-12", "B-65")
@pytest.mark.parametrize("lines", JUDGING.values(), ids=JUDGING)
def test_a_score_of_0_without_a_valid_judgment_is_the_graders_whatever_it_cost(tmp_path, lines):
    assert owner(tmp_path, *lines, scored=COST) == "grader"


@pytest.mark.req("S-12", "S-15")
@pytest.mark.parametrize(
    "lines",
    [
        [stage("T0_00", "AGENT"), warning(FINAL, "Judge 1 parse failed (attempt 1), retrying... stdout_len=9"), JUDGED],
        [stage("T0_00", "AGENT"), error(JUDGE, f"Judge 2 failed with model sonnet: {TIMEOUT}"), JUDGED],
        [stage("T0_00", "AGENT"), warning(JUDGE, ALL_FAILED), JUDGED, *worked("T1_00")],
        [warning("scylla.e2e.llm_judge", "Judge response had is_error=true once, retrying"), *worked("T0_00")],
        [warning(AGENT, "[AGENT] T0/00/run_01: API Error: 529 Overloaded, retrying"), *worked("T0_00")],
        [warning(JUDGE, "Judge pipeline for T0/00/run_01 exited 1: 3 tests failed"), *worked("T0_00")],
    ],
    ids=["parsed at last", "one of several judges", "another run was judged", "retried", "agent retried", "red tests"],
)
def test_where_a_valid_judgment_exists_a_failure_with_cost_is_the_models(tmp_path, lines):
    assert owner(tmp_path, *lines, scored=COST) == "model"


ENDED = {
    "agent never worked": (
        "environment",
        [
            warning(
                STAGES, "[AGENT] Infrastructure failure detected (exit_code=-1, zero tokens) — run moved to /d/.failed"
            ),
            warning(
                WORKERS,
                "[SKIP] Subtest 00 skipped due to infrastructure failure: Infrastructure failure in run 1 "
                "(T0/00): agent crashed before making any API calls",
            ),
        ],
    ),
    "refused in the agent's own words": (
        "provider",
        [
            warning(AGENT, "[AGENT] T0/00/run_01: error in structured output: You've hit your limit · resets 9pm"),
            warning(WORKERS, "[SKIP] Subtest T0/00 skipped due to infrastructure failure"),
        ],
    ),
    "incomplete execution": (
        "environment",
        [warning(AGENT, "Invalid result detected at /d/T0/00/run_01: exit_code=-1 with zero token stats")],
    ),
    "clone": (
        "environment",
        [
            warning(SETUP, f"Git clone failed (attempt 1/3), retrying in 1.0s: {CLONE}"),
            error(RUNNER, "Experiment failed: Failed to clone repository: Cloning into '/d/repo'...", CLONE),
        ],
    ),
    "tier's rate limit": (
        "provider",
        [
            warning(
                TIER,
                f"[T0] Rate limit encountered in tier state machine: {LIMIT}. Marking tier as FAILED — rate limit "
                "handling occurs at experiment level.",
            )
        ],
    ),
    "rate limit of the model": (
        "provider",
        [
            warning(
                VALIDATION,
                "Rate limit detected for model 'sonnet'. Would wait 3600 seconds but "
                "deferring to caller retry logic...",
            )
        ],
    ),
    "experiment's rate limit": ("provider", [error(RUNNER, f"Experiment failed due to rate limit: {LIMIT}")]),
    "model missing": (
        "provider",
        [warning(VALIDATION, "Model 'claude-sonnet-4-9' not found on server")],
    ),
    "model refused": (
        "provider",
        [warning(VALIDATION, "Validation failed for model 'claude-sonnet-4-9', will retry...")],
    ),
    "zombie": (
        "harness",
        [
            warning(
                HEALTH,
                "Zombie detected: status=running, pid=48122 dead, "
                "last_heartbeat='2026-03-10T01:44:02+00:00' stale (>120s)",
            )
        ],
    ),
    "resume": (
        "harness",
        [warning(RUNNER, "Failed to resume from checkpoint: Expecting value: line 1 column 1 (char 0)")],
    ),
    "resume without files": (
        "harness",
        [warning("scylla.e2e.checkpoint_finalizer", "Resuming from TIERS_RUNNING but experiment repo missing: /d")],
    ),
    "unknown state": ("harness", [warning(STATES, "Unknown run state 'judge_ready', treating as PENDING")]),
    "stored run invalid": (
        "harness",
        [warning(EXECUTOR, "Previously completed run is invalid (no report), re-running...")],
    ),
    "run failed in a state": (
        "harness",
        [error(STATES, "Run T0/00/run_01 failed in state diff_captured: 'NoneType' object has no attribute 'x'")],
    ),
    "experiment failed in a state": (
        "harness",
        [error("scylla.e2e.experiment_state_machine", "Experiment failed in state tiers_running: 'T1'")],
    ),
    "judge worker": (
        "harness",
        [error(RERUN, "Unexpected exception in judge worker for T0/00/run_01 judge_02: KeyError: 'model'")],
    ),
    "disk full in a state": (
        "environment",
        [error(STATES, "Run T0/00/run_01 failed in state worktree_created: [Errno 28] No space left on device")],
    ),
    "rate limit in a state": (
        "provider",
        [error(STATES, f"Run T0/00/run_01 failed in state replay_generated: {LIMIT}")],
    ),
    "low memory and nothing else": (
        "environment",
        [warning(HEALTH, "Low memory warning: 0.4 GB available (threshold: 2.0 GB)")],
    ),
    "nothing at all": ("harness", []),
}


@pytest.mark.req("S-05", "S-07")
@pytest.mark.parametrize(("who", "lines"), ENDED.values(), ids=ENDED)
def test_a_test_that_ended_without_a_result_has_the_owner_of_its_line(tmp_path, who, lines):
    assert owner(tmp_path, *lines, exit_code=1) == who


def test_an_interrupted_test_is_cancelled_and_can_be_resumed(tmp_path):
    lines = [
        warning(STATES, "[T0/00/run_01] Shutdown interrupted at replay_generated — run left resumable (not FAILED)"),
        warning(RUNNER, "💾 Checkpoint saved after interrupt"),
    ]
    attempt = attempts_of(tmp_path, Tried("test-001", lines, exit_code=1))["test-001"]

    assert (attempt.execution, attempt.measurement) == ("cancelled", "not_run")
    assert owner(tmp_path, *lines, exit_code=1) == "collateral"


OVERCOME = {
    "clone": [
        warning(SETUP, f"Git clone failed (attempt 1/3), retrying in 1.0s: {CLONE}"),
        Logged("INFO", SETUP, "Base repo setup complete"),
    ],
    "zombie": [warning(HEALTH, "Zombie detected: status=running, pid=4 dead, last_heartbeat='' stale")],
    "resume": [
        warning(RUNNER, "Failed to resume from checkpoint: bad"),
        warning(RUNNER, "Starting fresh experiment instead"),
    ],
    "stored run": [warning(EXECUTOR, "Previously completed run is invalid (no report), re-running...")],
    "rate limit": [warning("scylla.e2e.rate_limit", "Rate limit hit, waiting 60s")],
    "validation": [
        warning(VALIDATION, "Validation failed for model 'sonnet', will retry..."),
        Logged("INFO", VALIDATION, "✓ Model 'sonnet' validated successfully"),
    ],
    "low memory": [warning(HEALTH, "Low disk warning: 3.1 GB free")],
    "peak hours": [
        warning("scylla.e2e.scheduling", "[SCHEDULING] Currently in peak API hours (13:00-19:00). Waiting 600s")
    ],
    "agent": [
        warning(AGENT, "Invalid result detected at /d/T0/00/run_01: exit_code=-1 with zero token stats (incomplete)")
    ],
    "worker": [worker("T0/02", "RuntimeError: worker lost")],
}


@pytest.mark.req("S-12", "S-15")
@pytest.mark.parametrize("lines", OVERCOME.values(), ids=OVERCOME)
def test_what_was_overcome_before_agents_and_judges_worked_is_no_cause(tmp_path, lines):
    attempt = attempts_of(tmp_path, Tried("test-001", [*lines, *worked("T0_00", "T1_00")], COST))["test-001"]

    assert (attempt.measurement, attempt.outcome) == ("scored", "fail")
    assert all(one.recovered for one in attempt.errors)
    assert owner(tmp_path, *lines, *worked("T0_00", "T1_00"), scored=COST) == "model"


@pytest.mark.parametrize(
    "text",
    [
        "[AGENT] Result: requests above the rate limit get HTTP 429 Too Many Requests",
        "Agent output: All judges failed to produce valid results is the message that the task asks for",
    ],
)
def test_words_of_a_task_in_a_line_of_the_log_are_no_cause(tmp_path, text):
    assert owner(tmp_path, Logged("INFO", STAGES, text), *worked("T0_00"), scored=COST) == "model"


def test_judgments_of_an_earlier_session_that_are_used_again_are_valid(tmp_path):
    """One run is judged again, in vain; those of the other subtests stand."""
    stored = [Logged("INFO", EXECUTOR, f"Skipping completed run: T0/0{sub}/run_01") for sub in (1, 2)]
    lines = [*stored, stage("T0_00", "AGENT"), warning(JUDGE, ALL_FAILED), JUDGED]

    assert owner(tmp_path, *lines, scored=COST) == "model"


def test_a_tier_that_was_given_up_after_others_had_cost_something_is_not_the_models(tmp_path):
    given_up = warning(TIER, f"[T1] Rate limit encountered in tier state machine: {LIMIT}. Marking tier as FAILED")
    crashed = error(RUNNER, "Tier T1 failed: KeyError: 'language'")
    scored = Scored(0.42, (("T0", 0.0, 0.42), ("T1", 0.0, 0.0)))

    assert owner(tmp_path, *worked("T0_00"), given_up, scored=scored) == "provider"
    assert owner(tmp_path, *worked("T0_00"), crashed, scored=scored) == "harness"


@pytest.mark.req("S-37")
def test_points_show_that_somebody_judged_it(tmp_path):
    lines = [stage("T0_00", "AGENT"), warning(JUDGE, ALL_FAILED), JUDGED]

    assert owner(tmp_path, *lines, scored=failed(1.2, best="T0", score=0.333)) == "model"


@pytest.mark.parametrize(
    ("logger", "phase"),
    [
        ("scylla.e2e.workspace_manager", "setup"),
        ("scylla.e2e.agent_runner", "subject"),
        ("scylla.e2e.stages", "subject"),
        ("scylla.e2e.judge_runner", "scoring"),
        ("scylla.e2e.llm_judge", "scoring"),
        ("scylla.e2e.stage_finalization", "scoring"),
        ("scylla.e2e.tier_state_machine", "aggregation"),
        ("scylla.e2e.parallel_executor", "aggregation"),
        ("scylla.e2e.runner", "aggregation"),
        ("scylla.e2e.health", "aggregation"),
        ("scylla.e2e.checkpoint", "aggregation"),
    ],
)
def test_the_loggers_name_gives_the_phase(tmp_path, logger, phase):
    tried = Tried("test-001", [error(logger, "something that no rule knows")], exit_code=1)

    assert phase_of_logger(logger) == phase
    assert attempts_of(tmp_path, tried)["test-001"].errors[0].phase == phase


@pytest.mark.req("S-12", "S-15")
@pytest.mark.parametrize(("judges", "who"), [([NO_VERDICT], "grader"), ([judge()], "model")])
def test_the_stored_judgments_of_subtests_decide_for_their_test(tmp_path, judges, who):
    """Whatever the log says, the files of the judges know it better."""
    folder = write_experiment(tmp_path, "2026-03-10T01-00-00-test-001")
    for tier in ("T0", "T1"):
        write_run(folder / tier / "00" / "run_01", cost=0.6, score=0, judges=judges, at="2026-03-10T01:04:00+00:00")

    assert owner(tmp_path, *worked("T0_00", "T1_00"), scored=COST) == who
    assert owner(tmp_path, warning(JUDGE, ALL_FAILED), scored=COST) == who


LIMITED = {"type": "result", "is_error": True, "result": "You've hit your limit · resets 3am (UTC)"}


@pytest.mark.parametrize(
    ("code", "answer", "who"),
    [(-1, None, "environment"), (1, LIMITED, "provider"), (0, None, "harness")],
    ids=["never worked", "rate limit", "nothing known"],
)
def test_the_agents_of_the_stored_runs_explain_a_test_whose_log_does_not(tmp_path, code, answer, who):
    folder = write_experiment(tmp_path, "2026-03-10T01-00-00-test-001")
    write_broken_run(folder / "T0" / "00" / "run_01", exit_code=code, answer=answer)

    assert owner(tmp_path, exit_code=1) == who
    assert owner(tmp_path, scored=NOTHING) == who


def test_one_valid_judgment_among_the_subtests_is_enough(tmp_path):
    folder = write_experiment(tmp_path, "2026-03-10T01-00-00-test-001")
    at = "2026-03-10T01:04:00+00:00"
    write_run(folder / "T0" / "00" / "run_01", cost=0.6, score=0, judges=[NO_VERDICT], at=at)
    write_run(folder / "T1" / "00" / "run_01", cost=0.6, score=0, judges=[judge()], at=at)

    assert owner(tmp_path, *worked("T0_00", "T1_00"), scored=COST) == "model"


@pytest.mark.req("S-16", "S-18")
def test_a_test_that_another_thread_takes_in_a_later_session_keeps_its_earlier_result(tmp_path):
    first = [Tried("test-001", worked("T0_00"), passed(1.0, 0.2)), Tried("test-002", worked("T0_00"), passed(0.5, 0.1))]
    second = [Tried("test-002", [], NOTHING, seconds=9.0), Tried("test-001", [], NOTHING, seconds=9.0)]
    Batch(tmp_path, threads=2, sessions=[first, second]).write()
    found = {(one.case[-8:], one.session): one.outcome for one in items(tmp_path) if isinstance(one, Attempt)}

    assert found == {
        ("test-001", 1): "pass",
        ("test-002", 1): "pass",
        ("test-001", 2): "none",
        ("test-002", 2): "none",
    }


def crash(test: str, what: str) -> Tried:
    return Tried(test, [worker("T0/00", what)], exit_code=1, seconds=9.0)


@pytest.mark.parametrize(("followers", "who"), [(1, "harness"), (2, "collateral"), (3, "collateral")])
def test_two_crashes_on_leftovers_follow_from_the_crash_before_them(tmp_path, followers, who):
    later = [crash(f"test-{number:03}", LEFT) for number in range(2, 2 + followers)]
    found = owners(tmp_path, crash("test-001", "AttributeError: no attribute 'language'"), *later)

    assert found["test-001"] == "harness"
    assert {found[one.test] for one in later} == {who}


@pytest.mark.req("B-66")
def test_a_test_that_worked_in_between_separates_two_cascades(tmp_path):
    """The second crash leaves the same branch behind."""
    tried = [
        crash("test-001", "AttributeError: no attribute 'language'"),
        crash("test-002", LEFT),
        crash("test-003", LEFT),
        Tried("test-004", worked("T0_00"), COST),
        crash("test-005", "KeyError: 'tiers'"),
        crash("test-006", LEFT),
        crash("test-007", LEFT),
    ]
    attempts = attempts_of(tmp_path, *tried)
    roots = look_over(attempts.values()).roots

    assert {follower[-12:-4]: root[-12:-4] for follower, root in roots.items()} == {
        "test-002": "test-001",
        "test-003": "test-001",
        "test-006": "test-005",
        "test-007": "test-005",
    }


def test_another_crash_among_the_followers_does_not_become_their_root(tmp_path):
    tried = [
        crash("test-001", "AttributeError: no attribute 'language'"),
        crash("test-002", LEFT),
        crash("test-003", "OSError: [Errno 28] No space left on device"),
        crash("test-004", LEFT),
    ]
    roots = look_over(attempts_of(tmp_path, *tried).values()).roots

    assert {root[-12:-4] for root in roots.values()} == {"test-001"}


def test_every_rule_for_the_runners_own_words_says_what_to_do():
    own = [rule for rule in rules_in_use().book.rules.values() if rule.sources == ("scylla",)]

    assert {rule.name for rule in own if rule.fix is None} == {"low_resources"}


REFUSALS = ("API error: something odd", "is_error in the result", "OAuth token has expired", LIMIT, "Overloaded (529)")


@pytest.mark.req("N-08")
@pytest.mark.parametrize("said", REFUSALS)
def test_the_name_that_the_reader_gives_a_line_is_no_evidence(tmp_path, said):
    lines = [warning(AGENT, f"[AGENT] T0/00/run_01: {said}"), warning(WORKERS, "[SKIP] Subtest T0/00 skipped")]
    Batch(tmp_path, threads=1, sessions=[[Tried("test-001", lines, exit_code=1)]]).write()
    made = [one for one in items(tmp_path) if isinstance(one, Attempt) and one.counted]
    run = next(one for one in items(tmp_path) if isinstance(one, Run))
    (attempt,) = made
    rules = rules_in_use()
    found = attribute(attempt, observe(run, attempt, None, look_over(made), rules), rules=rules)
    decisive = next(one for one in found.signals if one.name == found.decided_by)
    cited = (tmp_path / decisive.ref.file).read_text(encoding="utf-8").splitlines()[decisive.ref.line - 1]

    assert (found.owner, decisive.where) == ("provider", "errors[0].message")
    assert decisive.quote in cited
