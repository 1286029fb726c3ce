"""ProjectScylla: thread logs and the batch summary; of a single experiment the folders of its agent and its judges."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.triage.logs import Harness, Place, Target, Twin, changed
from bench.triage.templates import Template

BATCH = "scylla/batch-resumed"
CASCADE = "scylla/batch-cascade"
TREE = "scylla/dryrun-tier"
WHOLE = "scylla/large/batch-gen1"
TEST = "test-001"
RUN_FOLDER = Path("T0/00/run_01")
NOTHING_PASSED = """
============================================================
EXPERIMENT COMPLETE
============================================================
Duration: 14.2s
Total Cost: $0.0000

No passing results found

Tier Results:
------------------------------------------------------------
  T0: FAIL (score: 0.000, cost: $0.0000)
  T1: FAIL (score: 0.000, cost: $0.0000)
============================================================
"""


def worker(root: Path, fault: Template) -> Target:
    return crash(root, fault, 'scylla/e2e/parallel_executor.py", line 655, in _run_subtest')


def load(root: Path, fault: Template) -> Target:
    return crash(root, fault, 'scylla/e2e/runner.py", line 388, in _load_run_results')


def process(root: Path, fault: Template) -> Target:
    """The runner could not even start the experiment."""
    last_block(root, f"\n\nERROR: {fault.text}\n", exit_code=-1)
    with changed(root / "batch_summary.json") as summary:
        row = _row(summary)
        for name in ("best_tier", "best_score", "frontier_cop", "total_cost", "total_duration"):
            row.pop(name)
        row.update(status="error", exit_code=-1, error="Exit code: -1")
    return Target(TEST)


def cascade(root: Path, fault: Template) -> Target:
    """One crash comes first; what it left behind stops the others."""
    for log in (root / "thread_logs").glob("*.log"):
        text = re.sub(
            r"RuntimeError: Failed to create worktree: fatal: a branch named '\w+' already exists",
            lambda _: f"{fault.type}: {fault.text}",
            log.read_text(encoding="utf-8"),
        )
        log.write_text(text, encoding="utf-8")
    return Target("test-007")


def call(root: Path, fault: Template) -> Target:
    def answer(cli: dict[str, Any]) -> None:
        cli.update(subtype="success", is_error=True, result=fault.text, num_turns=1, total_cost_usd=0, usage={})

    return agent_broke(root, answer)


def cli_limit(root: Path, fault: Template) -> Target:
    def answer(cli: dict[str, Any]) -> None:
        cli.update(subtype=fault.type, is_error=bool(fault.text), result=fault.text)

    with changed(root / RUN_FOLDER / "agent" / "result.json") as result:
        on_cli(result, answer)
        result["exit_code"] = 1
    judged(root, "The work is not finished; F1 is not met.")
    return Target("T0/00")


def judge(root: Path, fault: Template) -> Target:
    """No judge came to a verdict; the harness writes a score of nothing."""
    judged(root, fault.text, valid=False)
    return Target("T0/00")


def judge_reasoning(root: Path, decoy: Template) -> Target:
    judged(root, decoy.text)
    return Target("T0/00")


def answer(root: Path, decoy: Template) -> Target:
    with changed(root / RUN_FOLDER / "agent" / "result.json") as result:
        on_cli(result, lambda cli: cli.update(result=decoy.text))
    judged(root, "The script prints the wrong greeting; F1 is not met.")
    return Target("T0/00")


def test_output(root: Path, decoy: Template) -> Target:
    """What the subject's program printed when the harness built and tested it."""
    (root / RUN_FOLDER / "commands" / "python_test_output.log").write_text(f"{decoy.text}\n1 failed in 0.41s\n")
    judged(root, "The script fails its test; F1 is not met.")
    return Target("T0/00")


def crash(root: Path, fault: Template, frame: str) -> Target:
    text = f"{fault.type}: {fault.text}"
    logged = f"2026-02-14 05:59:14 [ERROR] scylla.e2e.parallel_executor: Worker exception for T0/00: {text}\n"
    trace = f'Traceback (most recent call last):\n  File "{frame}\n{text}\n'
    last_block(root, f"\n{logged}{trace}{NOTHING_PASSED}", exit_code=0)
    with changed(root / "batch_summary.json") as summary:
        _row(summary).update(
            status="fail", best_tier=None, best_score=0.0, frontier_cop=None, total_cost=0.0, total_duration=14.2
        )
    return Target(TEST)


def _row(summary: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = next(row for row in summary["results"] if row["test_id"] == TEST)
    return result


def last_block(root: Path, block: str, *, exit_code: int) -> None:
    """Replace what the last session logged for the test."""
    log = root / "thread_logs" / "thread_0.log"
    text = log.read_text(encoding="utf-8")
    start = text.rindex(f"Starting {TEST}")
    body = text.index("=" * 70, start) + 71
    end = text.index("=" * 70, body)
    closing = re.sub(r"\(exit code: -?\d+\)", f"(exit code: {exit_code})", text[end:], count=1)
    log.write_text(f"{text[:body]}{block}\n{closing}", encoding="utf-8")


def agent_broke(root: Path, answer: Callable[[dict[str, Any]], None]) -> Target:
    """The agent's first request failed: no tokens, no cost, nothing to judge."""
    folder = root / RUN_FOLDER
    nothing = {"input_tokens": 0, "output_tokens": 0, "cache_creation_tokens": 0, "cache_read_tokens": 0}
    with changed(folder / "agent" / "result.json") as result:
        on_cli(result, answer)
        result.update(exit_code=1, token_stats=nothing, cost_usd=0.0, api_calls=1)
    with changed(folder / "run_result.json") as result:
        result.update(exit_code=1, token_stats=nothing, tokens_input=0, tokens_output=0, cost_usd=0.0)
        result.update(judge_score=0.0, judge_passed=False, judge_grade="F", judge_reasoning="", judges=[])
        result["criteria_scores"] = {}
    shutil.rmtree(folder / "judge")
    for name in ("output.txt", "stdout.log"):
        (folder / "agent" / name).unlink(missing_ok=True)
    return Target("T0/00")


def on_cli(result: dict[str, Any], answer: Callable[[dict[str, Any]], None]) -> None:
    cli = json.loads(result["stdout"])
    answer(cli)
    result["stdout"] = json.dumps(cli)


def judged(root: Path, reasoning: str, *, valid: bool = True) -> None:
    """All judges agree, and fail it."""
    judgement = {"score": 0.0, "passed": False, "grade": "F", "reasoning": reasoning, "criteria_scores": {}}
    folder = root / RUN_FOLDER
    with changed(folder / "run_result.json") as result:
        result.update(judge_score=0.0, judge_passed=False, judge_grade="F", judge_reasoning=reasoning)
        result["criteria_scores"] = {}
        for judge in result["judges"]:
            judge.update(judgement, is_valid=valid)
    for file in [folder / "judge" / "result.json", *folder.glob("judge/judge_*/judgment.json")]:
        with changed(file) as judgment:
            judgment.update(judgement, is_valid=valid)
    for response in folder.glob("judge/judge_*/response.txt"):
        response.write_text(reasoning, encoding="utf-8")


HARNESS = Harness(
    "scylla",
    {
        "worker": Place(BATCH, worker),
        "load": Place(BATCH, load),
        "process": Place(BATCH, process),
        "cascade": Place(CASCADE, cascade),
        "call": Place(TREE, call),
        "cli_limit": Place(TREE, cli_limit),
        "judge": Place(TREE, judge),
        "judge_reasoning": Place(TREE, judge_reasoning),
        "answer": Place(TREE, answer),
        "test_output": Place(TREE, test_output),
    },
    tuple(Twin(WHOLE, Target(test)) for test in ("test-003", "test-008", "test-022", "test-037")),
)
