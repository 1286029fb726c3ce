"""The tables of a consistency study, in the columns of conversation-bench's own: a turn is a case, a metric a check."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from errata.compare.consistency import Consistency, StudyColumn, metrics_of
from errata.compare.repeats import status_of
from errata.model import Attempt, Case
from errata.review.transcript import as_text, calls_made
from errata.runs.names import are_judged_turns
from errata.sources.conversation_bench.scores import DIMENSIONS

Row = dict[str, Any]
Texts = Mapping[str, str]
"""Case → what was asked."""

DETAILS = ("comparison_dir", "benchmark_name", "model_name", "run_index", "run_id", "run_dir", "turn", "user_text",
           "assistant_text", "tool_calls_json", "judge_reasoning", "latency_ms", "ttfb_ms", "overall_status",
           "failed_metric_count", "failing_metrics")  # fmt: skip
"""Then a column for each metric."""
TURNS = ("benchmark_name", "turn", "runs", "pass_runs", "fail_runs", "incomplete_runs", "overall_status_pattern",
         "overall_status_unique_count", "metric_flip_count", "metric_flips", "unstable_overall", "unstable_metric",
         "user_text")  # fmt: skip
FLIPS = ("benchmark_name", "turn", "metric", "pattern", "pass_runs", "fail_runs", "na_runs", "user_text")
BENCHMARKS = ("benchmark_name", "turns", "unstable_overall_turns", "unstable_metric_turns", "max_pass_runs",
              "min_pass_runs")  # fmt: skip
SANITY = ("check", "value")
MAY_BE_MISSING = ("user_text", "assistant_text", "judge_reasoning", "latency_ms", "ttfb_ms")

MOST_METRICS = 100
"""Columns for metrics; a log may name a check for each of its cases."""


def metric_columns(studies: Sequence[Consistency]) -> tuple[str, ...]:
    """Judged turns have their six dimensions, whatever a log holds; then the checks there are, the commonest kept."""
    judged = all(are_judged_turns([one.stored]) for study in studies for one in study.columns)
    often = sum((study.study.metrics for study in studies), Counter[str]())
    kept = {name for name, _ in often.most_common(MOST_METRICS)}
    return tuple(dict.fromkeys([*(DIMENSIONS if judged else ()), *(name for name in often if name in kept)]))


def turn_of(study: Consistency, case: str) -> int | str:
    """The number of a turn; else the case as its harness names it."""
    name = study.name_of(case)
    tail = name.removeprefix("turn-")
    return int(tail) if name.startswith("turn-") and tail.isdecimal() and len(tail) < 10 else name


def detail_row(study: Consistency, column: StudyColumn, attempt: Attempt, case: Case | None) -> Row:
    """Without its metrics, whose names are not ours to choose."""
    run = column.stored.run
    failing = [name for name, reading in metrics_of(attempt) if reading == "fail"]
    return {
        "comparison_dir": run.group,
        "benchmark_name": study.benchmark,
        "model_name": run.subject.model or run.subject.agent,
        "run_index": column.index,
        "run_id": column.run_id,
        "run_dir": run.origin,
        "turn": turn_of(study, attempt.case),
        "user_text": _input_text(attempt, case),
        "assistant_text": _answered(attempt),
        "tool_calls_json": json.dumps(calls_made(attempt.steps), sort_keys=True, default=str),
        "judge_reasoning": _reasoned(attempt),
        "latency_ms": _milliseconds(attempt.durations.get("latency", attempt.duration)),
        "ttfb_ms": _milliseconds(attempt.durations.get("ttfb")),
        "overall_status": status_of(attempt),
        "failed_metric_count": len(failing),
        "failing_metrics": ",".join(failing),
    }


def turn_rows(study: Consistency, texts: Texts) -> Iterator[Row]:
    for tries in study.study.cases:
        repeated, flips = tries.repeated, [flip.metric for flip in tries.flips]
        yield {
            "benchmark_name": study.benchmark,
            "turn": turn_of(study, tries.case),
            "runs": len(tries.tries),
            "pass_runs": repeated.passed,
            "fail_runs": repeated.failed,
            "incomplete_runs": repeated.incomplete,
            "overall_status_pattern": tries.pattern,
            "overall_status_unique_count": len(set(repeated.statuses)),
            "metric_flip_count": len(flips),
            "metric_flips": ",".join(flips),
            "unstable_overall": repeated.is_unstable,
            "unstable_metric": bool(flips),
            "user_text": texts.get(tries.case, ""),
        }


def flip_rows(study: Consistency, texts: Texts) -> Iterator[Row]:
    for case, flip in study.study.flips:
        yield {
            "benchmark_name": study.benchmark,
            "turn": turn_of(study, case),
            "metric": flip.metric,
            "pattern": flip.pattern,
            "pass_runs": flip.counts["pass"],
            "fail_runs": flip.counts["fail"],
            "na_runs": flip.counts["na"],
            "user_text": texts.get(case, ""),
        }


def benchmark_row(study: Consistency) -> Row:
    repeated = study.study.repeated
    return {
        "benchmark_name": study.benchmark,
        "turns": len(repeated),
        "unstable_overall_turns": sum(one.is_unstable for one in repeated),
        "unstable_metric_turns": sum(bool(one.flips) for one in study.study.cases),
        "max_pass_runs": max((one.passed for one in repeated), default=0),
        "min_pass_runs": min((one.passed for one in repeated), default=0),
    }


def sanity_rows(studies: Sequence[Consistency], missing: Mapping[str, int]) -> Iterator[Row]:
    """The first nine as the harness has them; then what errata looks for beside them."""
    every = [one.study for one in studies]
    row = {
        "rows": sum(one.rows for one in every),
        "unique_runs": sum(len(one.columns) for one in every),
        "unique_turns": sum(one.tried for one in every),
        "duplicate_run_turn_rows": sum(one.surplus for one in every),
        **{f"missing_{name}": missing.get(name, 0) for name in MAY_BE_MISSING},
        "missing_turn_rows": sum(len(one.absent) for one in every),
        "changed_turns": sum(len(one.changed) for one in every),
        "metrics_without_column": len({name for one in every for name in one.metrics} - set(metric_columns(studies))),
    }
    return ({"check": check, "value": value} for check, value in row.items())


def unstable_cases(study: Consistency) -> dict[str, int]:
    """Cases with varying results → their place among all."""
    every = enumerate(study.study.cases)
    return {one.case: place for place, one in every if one.repeated.is_unstable or one.flips}


def _input_text(attempt: Attempt, case: Case | None) -> str:
    """The user's words in a conversation; else the task."""
    user_text = next((step.text for step in attempt.steps if step.actor.role == "user" and step.text.strip()), "")
    task = "" if case is None or case.input in (None, "", [], {}) else as_text(case.input)
    return user_text or task if attempt.position is not None else task or user_text


def _answered(attempt: Attempt) -> str:
    output = attempt.output
    return output.text or ("" if output.structured is None else as_text(output.structured))


def _reasoned(attempt: Attempt) -> str:
    explained = [one for one in attempt.judgements if one.reasoning.strip()]
    if len(explained) == 1:
        return explained[0].reasoning
    return "\n".join(f"[{one.judge or one.model}]\n{one.reasoning.rstrip()}" for one in explained)


def _milliseconds(seconds: float | None) -> float | int | str:
    """Empty where it is not known."""
    if seconds is None:
        return ""
    rounded = round(1000 * seconds, 3)
    return int(rounded) if rounded.is_integer() else rounded
