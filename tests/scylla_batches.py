"""Batches of ProjectScylla written by tests: thread logs, summary and experiment folders in the runner's own words."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, NamedTuple

UTC = timezone(timedelta(0))
LOCAL = timedelta(hours=-5)
"""Logger lines have the local time of the machine, lines in square brackets UTC."""
FIRST = datetime(2026, 3, 10, 1, 0, tzinfo=UTC)
RESULTS = "/data/results/batch-0310"
BAR, SHORT = "=" * 70, "=" * 60
SETUP = "scylla.e2e.workspace_manager"
AGENT, STAGES = "scylla.e2e.agent_runner", "scylla.e2e.stages"
JUDGE, FINAL = "scylla.e2e.judge_runner", "scylla.e2e.stage_finalization"
TIER, WORKERS, RUNNER = "scylla.e2e.tier_state_machine", "scylla.e2e.parallel_executor", "scylla.e2e.runner"
ALL_FAILED = "All judges failed to produce valid results; returning zero-score consensus"


class Logged(NamedTuple):
    """One line of a logger; lines of a traceback follow it."""

    level: str
    logger: str
    text: str
    below: tuple[str, ...] = ()


class Scored(NamedTuple):
    """What stands below `EXPERIMENT COMPLETE`."""

    cost: float
    tiers: tuple[tuple[str, float, float], ...]
    """Tier, score, cost."""
    best: str = ""
    subtest: str = "00"
    cop: float | None = None

    @property
    def score(self) -> float:
        return next((score for tier, score, _ in self.tiers if tier == self.best), 0.0)


@dataclass
class Tried:
    """One test in one session."""

    test: str
    lines: Sequence[Logged | str] = ()
    scored: Scored | None = None
    exit_code: int = 0
    seconds: float = 300.0
    completed: bool = True
    status: str = ""
    """Of the summary row, where it is not the runner's rule."""
    thread: int | None = None

    def row(self, thread: int) -> dict[str, Any]:
        status = self.status or ("error" if self.exit_code else "unknown")
        if self.scored is not None and not self.status and not self.exit_code:
            status = "pass" if self.scored.score > 0.5 else "fail"
        row: dict[str, Any] = {
            "test_id": self.test,
            "test_name": f"Task {self.test[-3:]}",
            "thread_id": thread,
            "status": status,
            "exit_code": self.exit_code,
            "result_dir": None,
            "error": f"Exit code: {self.exit_code}" if self.exit_code else None,
        }
        if self.scored is not None:
            row |= {
                "best_tier": self.scored.best or None,
                "best_score": self.scored.score,
                "frontier_cop": self.scored.cop if self.scored.best else float("inf"),
                "total_cost": self.scored.cost,
                "total_duration": self.seconds,
            }
        return row


def passed(cost: float, cop: float, *, score: float = 1.0) -> Scored:
    half = round(cost / 2, 4)
    return Scored(cost, (("T0", score, half), ("T1", round(score * 0.9, 3), round(cost - half, 4))), "T0", cop=cop)


def failed(cost: float, *, best: str = "", score: float = 0.0) -> Scored:
    half = round(cost / 2, 4)
    return Scored(cost, (("T0", score, half), ("T1", 0.0, round(cost - half, 4))), best)


def stage(where: str, name: str, text: str = "Starting", at: str = "2026-03-10T01:00:30Z") -> Logged:
    return Logged("INFO", "scylla.e2e.subtest_executor", f"{at} [{where}] Stage: {name} - {text}")


def worked(*places: str) -> list[Logged]:
    """A subtest whose agent and judges did their work."""
    lines = []
    for place in places:
        lines += [stage(place, "AGENT", "Executing agent"), stage(place, "JUDGE", "Complete (41.2s)")]
    return lines


def worker(where: str, exception: str, frame: str = 'scylla/e2e/runner.py", line 412, in _run_tier') -> Logged:
    text = f"Worker exception for {where}: {exception}"
    return Logged("ERROR", WORKERS, text, ("Traceback (most recent call last):", f'  File "{frame}', exception))


@dataclass
class Batch:
    """A folder of the first generation. The last session of a test is in its summary."""

    root: Path
    threads: int = 2
    sessions: list[list[Tried]] = field(default_factory=list)
    gap: timedelta = timedelta(hours=3)

    def write(self) -> Path:
        logs = self.root / "thread_logs"
        logs.mkdir(parents=True, exist_ok=True)
        rows: dict[str, dict[str, Any]] = {}
        texts = dict.fromkeys(range(self.threads), "")
        start = FIRST
        for number, tries in enumerate(self.sessions):
            clocks = [start + timedelta(seconds=thread) for thread in range(self.threads)]
            for place, tried in enumerate(tries):
                thread = place % self.threads if tried.thread is None else tried.thread
                texts[thread] += _block(tried, clocks[thread], number)
                clocks[thread] += timedelta(seconds=tried.seconds + 1)
                rows[tried.test] = tried.row(thread)
            start = max(clocks) + self.gap
        for thread, text in texts.items():
            (logs / f"thread_{thread}.log").write_text(text, encoding="utf-8")
        summary = {
            "started_at": FIRST.isoformat(),
            "completed_at": (start - self.gap).isoformat(),
            "config": {
                "model": "sonnet", "judge_model": "opus", "runs": 1, "max_subtests": 3, "thinking": "None",
                "tiers": ["T0", "T1"],
            },
            "threads": [
                {"thread_id": thread, "tests": [test for test, row in rows.items() if row["thread_id"] == thread]}
                for thread in range(self.threads)
            ],
            "results": [rows[test] for test in sorted(rows)],
        }  # fmt: skip
        (self.root / "batch_summary.json").write_text(json.dumps(summary, indent=2), encoding="utf-8")
        return self.root


def _block(tried: Tried, start: datetime, session: int) -> str:
    command = (
        f"/home/user/.pixi/bin/pixi run python scripts/run_e2e_experiment.py --tiers-dir tests/fixtures/tests/"
        f"{tried.test} --tiers T0 T1 --runs 1 --max-subtests 3 --model sonnet --judge-model opus --thinking None "
        f"--results-dir {RESULTS}{' --resume' if session else ''}"
    )
    lines = ["", BAR, f"[{_utc(start)}] Starting {tried.test}", f"Command: {command}", BAR, ""]
    at = start
    for line in tried.lines:
        at += timedelta(seconds=2)
        if isinstance(line, str):
            lines.append(line)
        else:
            lines.append(f"{(at + LOCAL):%Y-%m-%d %H:%M:%S} [{line.level}] {line.logger}: {line.text}")
            lines += line.below
    if tried.scored is not None:
        lines += ["", *_result(tried.scored, tried.seconds)]
    if tried.completed:
        end = start + timedelta(seconds=tried.seconds)
        ended = f"[{_utc(end)}] Completed {tried.test} in {tried.seconds:.1f}s (exit code: {tried.exit_code})"
        lines += ["", BAR, ended, BAR, ""]
    return "\n".join(lines) + "\n"


def _result(scored: Scored, seconds: float) -> list[str]:
    lines = [SHORT, "EXPERIMENT COMPLETE", SHORT, f"Duration: {seconds:.1f}s", f"Total Cost: ${scored.cost:.4f}", ""]
    if scored.best:
        lines += [
            f"Best Tier: {scored.best}",
            f"Best Sub-test: {scored.subtest}",
            f"Frontier CoP: ${scored.cop or 0:.4f}",
        ]
    else:
        lines.append("No passing results found")
    lines += ["", "Tier Results:", "-" * 60]
    lines += [
        f"  {tier}: {'PASS' if score > 0.5 else 'FAIL'} (score: {score:.3f}, cost: ${cost:.4f})"
        for tier, score, cost in scored.tiers
    ]
    return [*lines, SHORT]


def _utc(at: datetime) -> str:
    return at.isoformat(timespec="microseconds")


def write_run(folder: Path, *, cost: float, score: float, judges: Iterable[dict[str, Any]], at: str) -> None:
    """One run of a subtest: the agent's result and its judgments."""
    (folder / "agent").mkdir(parents=True, exist_ok=True)
    (folder / "judge").mkdir(exist_ok=True)
    judges = list(judges)
    valid = any(judge.get("is_valid", True) for judge in judges)
    answer = {"type": "result", "is_error": False, "result": "Done.", "total_cost_usd": cost}
    tokens = {"input_tokens": 900, "output_tokens": 300, "cache_creation_tokens": 0, "cache_read_tokens": 0}
    _json(folder / "agent" / "result.json", {
        "exit_code": 0, "stdout": json.dumps(answer), "stderr": "", "token_stats": tokens, "cost_usd": cost,
        "api_calls": 4,
    })  # fmt: skip
    _json(folder / "agent" / "timing.json", {"agent_duration_seconds": 60.0, "measured_at": at})
    _json(folder / "judge" / "timing.json", {"judge_duration_seconds": 20.0, "measured_at": at})
    reasoning = judges[0]["reasoning"] if valid else "All judges failed to produce valid results"
    _json(folder / "judge" / "result.json", {
        "score": score, "passed": score > 0.5, "grade": "A" if score > 0.5 else "F", "reasoning": reasoning,
        "is_valid": valid, "criteria_scores": {},
    })  # fmt: skip
    _json(folder / "run_result.json", {
        "run_number": 1, "exit_code": 0, "token_stats": tokens, "cost_usd": cost, "duration_seconds": 80.0,
        "judge_score": score, "judge_passed": score > 0.5, "judge_grade": "A" if score > 0.5 else "F",
        "judge_reasoning": reasoning, "judges": judges, "criteria_scores": {},
    })  # fmt: skip


def write_broken_run(folder: Path, *, exit_code: int, answer: dict[str, Any] | None = None) -> None:
    """A run whose agent did not work: no tokens, no cost, nothing to judge."""
    (folder / "agent").mkdir(parents=True, exist_ok=True)
    tokens = {"input_tokens": 0, "output_tokens": 0, "cache_creation_tokens": 0, "cache_read_tokens": 0}
    stdout = json.dumps(answer) if answer else ""
    _json(folder / "agent" / "result.json", {
        "exit_code": exit_code, "stdout": stdout, "stderr": "", "token_stats": tokens, "cost_usd": 0.0, "api_calls": 0,
    })  # fmt: skip
    _json(folder / "run_result.json", {"run_number": 1, "exit_code": exit_code, "token_stats": tokens, "cost_usd": 0.0})


def judge(number: int = 1, *, score: float = 0.0, reasoning: str = "", valid: bool = True) -> dict[str, Any]:
    result = reasoning or ("The program does what the task asks for." if score > 0.5 else "The command is not there.")
    return {
        "model": "claude-opus-4-5", "score": score, "passed": score > 0.5, "grade": "A" if score > 0.5 else "F",
        "reasoning": result, "judge_number": number, "is_valid": valid, "criteria_scores": {},
    }  # fmt: skip


NO_VERDICT = judge(reasoning="Judge failed: Claude CLI judge error: You've hit your limit · resets 7pm", valid=False)


def write_experiment(root: Path, name: str, *, version: str = "2.0", status: str = "completed") -> Path:
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    test = name[20:]
    checkpoint = {"version": version, "experiment_id": test, "experiment_dir": f"{RESULTS}/{name}", "status": status}
    key = "completed_runs" if version == "2.0" else "run_states"
    _json(folder / "checkpoint.json", checkpoint | {key: {}})
    (folder / "prompt.md").write_text("Write the command that the issue asks for.\n", encoding="utf-8")
    (folder / "criteria.md").write_text("- R001 the command exists\n", encoding="utf-8")
    return folder


def write_report(folder: Path, *, best: str, score: float, cost: float) -> None:
    _json(folder / "report.json", {
        "experiment_id": folder.name[20:],
        "summary": {"total_tiers": 1, "best_tier": best or None, "frontier_cop": None, "total_cost": cost},
        "children": [{"tier": best or "T0", "best_subtest": "00", "best_score": score, "cost": cost}],
    })  # fmt: skip


def write_entries(root: Path, entries: Sequence[tuple[str, str, str, str]]) -> Path:
    """A summary of the second generation: test, status, when it began, error."""
    root.mkdir(parents=True, exist_ok=True)
    results = [
        {"test_id": test, "status": status, "started_at": at} | ({"error": error} if error else {})
        for test, status, at, error in entries
    ]
    _json(root / "batch_summary.json", {"results": results})
    return root


def _json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")
