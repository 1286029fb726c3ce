"""ProjectScylla, for the fresh part: agents that never started, judges of two minds, and what was recovered."""

import shutil
from pathlib import Path
from typing import Any

from bench.triage import inject_scylla as old
from bench.triage.inject_scylla import (
    BATCH,
    NOTHING_PASSED,
    RUN_FOLDER,
    TEST,
    TREE,
    WHOLE,
    agent_broke,
    crash,
    judged,
    last_block,
    on_cli,
)
from bench.triage.logs import Place, Target, Twin, changed
from bench.triage.templates import Template


def clone(root: Path, fault: Template) -> Target:
    return crash(root, fault, 'scylla/e2e/workspace_manager.py", line 118, in setup_base_repo')


def never_started(root: Path, fault: Template) -> Target:
    """The agent's program could not be run at all; only its standard error shows why."""
    target = agent_broke(root, lambda cli: cli.clear())
    with changed(root / RUN_FOLDER / "agent" / "result.json") as result:
        result.update(exit_code=-1, stdout="", stderr=fault.text, api_calls=0)
    with changed(root / RUN_FOLDER / "run_result.json") as result:
        result["exit_code"] = -1
    (root / RUN_FOLDER / "agent" / "stderr.log").write_text(f"{fault.text}\n", encoding="utf-8")
    return target


def cli_error(root: Path, fault: Template) -> Target:
    """The agent worked, and ended with an error of its own."""

    def answer(cli: dict[str, Any]) -> None:
        cli.update(subtype="success", is_error=True, result=fault.text)

    with changed(root / RUN_FOLDER / "agent" / "result.json") as result:
        on_cli(result, answer)
        result["exit_code"] = 1
    judged(root, "The work is not finished; F1 is not met.")
    return Target("T0/00")


def disagree(root: Path, fault: Template) -> Target:
    """Two judges of the same work."""
    yes, no = fault.values["scores"]
    folder = root / RUN_FOLDER
    shutil.rmtree(folder / "judge" / "judge_03")
    judgements = [_judgement(yes, fault.values["yes"]), _judgement(no, fault.values["no"])]
    mean = (yes + no) / 2
    together = {"score": mean, "passed": False, "grade": "C" if mean >= 0.4 else "D", "reasoning": fault.values["no"]}
    with changed(folder / "run_result.json") as result:
        result.update({f"judge_{name}": value for name, value in together.items()})
        result["judges"] = [one | more for one, more in zip(result["judges"], judgements, strict=False)]
    with changed(folder / "judge" / "result.json") as judgment:
        judgment.update(together)
    for file, judgement in zip(sorted(folder.glob("judge/judge_*/judgment.json")), judgements, strict=True):
        with changed(file) as judgment:
            judgment.update(judgement)
    return Target("T0/00")


def recovered(root: Path, decoy: Template) -> Target:
    """The last session waited and went on; what it cost shows that the agent worked."""
    logged = f"2026-02-14 05:59:14 [WARNING] scylla.e2e.rate_limit: {decoy.text}\n"
    last_block(root, f"\n{logged}{NOTHING_PASSED.replace('$0.0000', '$0.3060')}", exit_code=0)
    with changed(root / "batch_summary.json") as summary:
        row = next(row for row in summary["results"] if row["test_id"] == TEST)
        row.update(status="fail", best_tier=None, best_score=0.0, frontier_cop=None, total_cost=0.306)
    return Target(TEST)


def task(root: Path, decoy: Template) -> Target:
    for name in ("task_prompt.md", "agent/prompt.md"):
        path = root / RUN_FOLDER / name
        path.write_text(f"{path.read_text(encoding='utf-8')}\n{decoy.text}\n", encoding="utf-8")
    judged(root, "The script prints the wrong greeting; F1 is not met.")
    return Target("T0/00")


def criterion(root: Path, decoy: Template) -> Target:
    """What a judge writes beside one criterion."""
    judged(root, "Two of five requirements are met.")
    items = {"F1": {"achieved": 0.0, "max": 1.0, "reason": decoy.text}}
    criteria = {"functional": {"achieved": 0.0, "max": 1.0, "score": 0.0, "items": items}}
    for file in (root / RUN_FOLDER).glob("judge/judge_*/judgment.json"):
        with changed(file) as judgment:
            judgment["criteria_scores"] = criteria
    return Target("T0/00")


def _judgement(score: float, reasoning: str) -> dict[str, Any]:
    passed = score > 0.5
    grade = "S" if score == 1 else "A" if score >= 0.8 else "D" if score >= 0.2 else "F"
    return {"score": score, "passed": passed, "grade": grade, "reasoning": reasoning, "criteria_scores": {}}


HARNESS = old.HARNESS._replace(
    places=old.HARNESS.places
    | {
        "clone": Place(BATCH, clone),
        "never_started": Place(TREE, never_started),
        "cli_error": Place(TREE, cli_error),
        "disagree": Place(TREE, disagree),
        "recovered": Place(BATCH, recovered),
        "task": Place(TREE, task),
        "criterion": Place(TREE, criterion),
    },
    twins=(
        *(Twin(WHOLE, Target(test)) for test in ("test-012", "test-028", "test-040")),
        *(Twin("scylla/haiku-tables", Target("T0/00", index=run)) for run in (1, 2, 3)),
    ),
)
