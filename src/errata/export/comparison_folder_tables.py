"""The tables of a comparison folder, in the columns and digits of conversation-bench's own."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from statistics import fmean, pstdev, stdev
from typing import Any, NamedTuple

import msgspec

from errata.compare.consistency import CheckReading, metrics_of
from errata.compare.intervals import quantile, quantile_interval, wilson
from errata.compare.summaries import EMPTY, ENDED, ENDED_EARLY
from errata.model import Attempt, Run, Scorer, StoredRun
from errata.sources.conversation_bench.scores import DIMENSIONS


class JudgedRows(msgspec.Struct, frozen=True, kw_only=True):
    statuses: Counter[str]
    """`pass`, `fail` and `incomplete` → rows; a turn that has two rows counts twice."""
    markers: Counter[str]
    """Marker in place of an answer → rows."""
    passes: Counter[str]
    applicable: Counter[str]
    latencies: tuple[float, ...]
    """In milliseconds, of the rows that tell one."""
    ttfbs: tuple[float, ...]

    @property
    def rows(self) -> int:
        return self.statuses.total()


def judged_rows(attempts: Iterable[Attempt], judge: str) -> JudgedRows:
    """`judge` decides; what only another judge or the transcript has is not a row of this judge."""
    rows = JudgedRows(
        statuses=Counter(), markers=Counter(), passes=Counter(), applicable=Counter(), latencies=(), ttfbs=()
    )
    times: dict[str, list[float]] = {"latency": [], "ttfb": []}
    for attempt in attempts:
        if not any(one.judge == judge for one in attempt.judgements):
            continue
        readings = dict(metrics_of(attempt))
        rows.statuses[_status(readings.values())] += 1
        rows.passes.update(name for name, reading in readings.items() if reading == "pass")
        rows.applicable.update(name for name, reading in readings.items() if reading != "na")
        if attempt.native_status in _MARKERS:
            rows.markers[attempt.native_status] += 1
        for name, values in times.items():
            if name in attempt.durations:
                # seconds in the store; the rows have milliseconds, most of them whole
                values.append(round(1000 * attempt.durations[name], 6))
    return msgspec.structs.replace(rows, latencies=tuple(times["latency"]), ttfbs=tuple(times["ttfb"]))


_MARKERS = frozenset((EMPTY, ENDED, ENDED_EARLY))


def _status(readings: Iterable[CheckReading]) -> str:
    seen = set(readings)
    return "fail" if "fail" in seen else "pass" if "pass" in seen else "incomplete"


Plain = str | float | bool | None

NORMAL = "normal"
"""The mode of a `runtime.json` that names none."""


class RunSettings(NamedTuple):
    """None or empty where no file has the value."""

    judge: Scorer
    """The one that decides."""
    judged_at: str
    mode: str
    parallel: Plain
    disable_vad: Plain
    commands: tuple[tuple[str, str], ...]
    settings: dict[str, Plain]


def settings_of(run: Run) -> RunSettings:
    judge = run.scorers[0]
    runtime, before = _mapping(run.extra, "runtime"), _mapping(run.extra, "comparison")
    listed = _mapping(before, "run_results")
    summary = _mapping(_mapping(run.extra, "summaries"), judge.name)
    same_judge = listed if listed.get("judge_name") == judge.name else {}
    return RunSettings(
        judge=judge,
        judged_at=str(summary.get("judged_at") or same_judge.get("judged_at") or ""),
        mode=str(runtime.get("mode") or NORMAL) if runtime else "",
        parallel=_plain(run.environment.get("parallel")),
        disable_vad=_plain(run.environment.get("disable_vad")),
        commands=tuple(_commands(before)),
        settings={name: _plain(value) for name, value in _mapping(before, "metadata").items()},
    )


def _plain(value: Any) -> Plain:
    """A setting is one value; what is nested is none."""
    return value if isinstance(value, str | int | float) else None


def _mapping(record: dict[str, Any], name: str) -> dict[str, Any]:
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def _commands(before: dict[str, Any]) -> list[tuple[str, str]]:
    rows = before.get("commands") or ()
    commands = [(str(row.get("phase") or ""), str(row.get("command") or "")) for row in rows if isinstance(row, dict)]
    return [(phase, command) for phase, command in commands if command]


Row = dict[str, Any]
"""Column → value, in the order of the columns; none for what is not known."""

Z = 1.96
"""As the harness has it."""
SHARES = {"p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99}
RATE, COUNT, MEAN, MILLISECONDS = 6, 4, 2, 1
"""Digits."""
COUNTED = ("pass_rows", "fail_rows", "empty_response_count", "model_ended_session_count")
SUMMARISED = (
    *("pass_rows", "fail_rows", "incomplete_rows"),
    *(f"{rate}{end}" for rate in ("pass_row_rate", "fail_row_rate") for end in ("", "_ci_lower", "_ci_upper")),
    *(f"{name}{end}" for name in COUNTED[2:] for end in ("", "_ci_lower", "_ci_upper")),
    *(f"{name}{end}" for name in COUNTED[:2] for end in ("_ci_lower", "_ci_upper")),
    *("latency_ms_mean", "latency_ms_p50", "latency_ms_p90", "latency_ms_p95", "latency_ms_p95_ci_lower"),
    *("latency_ms_p95_ci_upper", "latency_ms_p99"),
    *(f"ttfb_ms_{name}" for name in ("mean", *SHARES)),
)
"""Columns that `model_summary.csv` gives as mean and deviation."""


class Member(NamedTuple):
    stored: StoredRun
    number: int
    """The number of the run among those of its model, from 1, in the order of the command line."""
    rows: JudgedRows

    @property
    def model(self) -> str:
        return self.stored.run.subject.model


def run_row(member: Member) -> Row:
    rows, of_rows = member.rows, partial(_of, total=member.rows.rows)
    counts = dict(zip(COUNTED, _counts(rows), strict=True))
    row: Row = {
        **_who(member, settings_of(member.stored.run)),
        "turns_scored": rows.rows,
        "pass_rows": counts["pass_rows"],
        "fail_rows": counts["fail_rows"],
        "incomplete_rows": rows.statuses["incomplete"],
        "pass_row_rate": of_rows(counts["pass_rows"]),
        "fail_row_rate": of_rows(counts["fail_rows"]),
        "empty_response_count": counts["empty_response_count"],
        "model_ended_session_count": counts["model_ended_session_count"],
    }
    for name, count in counts.items():
        row |= _bounds(name, count, rows.rows, times=rows.rows, digits=COUNT)
    for name in ("pass", "fail"):
        row |= _bounds(f"{name}_row_rate", counts[f"{name}_rows"], rows.rows)
    for name in DIMENSIONS:
        row |= _dimension(name, rows.passes[name], rows.applicable[name])
    row |= _times("latency_ms", rows.latencies) | _times("ttfb_ms", rows.ttfbs)
    bounds = quantile_interval(rows.latencies, SHARES["p95"], seed=member.number) or (None, None)
    ends = zip(("lower", "upper"), bounds, strict=True)
    return row | {f"latency_ms_p95_ci_{end}": _rounded(bound, MILLISECONDS) for end, bound in ends}


def metric_rows(runs: Sequence[Row]) -> Iterator[Row]:
    """From the rates in `run_results.csv`; the interval is over all rows of a model together."""
    for model, those in by_model(runs).items():
        for name in DIMENSIONS:
            rates = [row[f"{name}_pass_rate"] for row in those if row[f"{name}_pass_rate"] is not None]
            passes, applicable = ([row[f"{name}_{what}"] for row in those] for what in ("passes", "applicable"))
            yield {
                "model_name": model,
                "metric": name,
                "mean_pass_rate": _rounded(fmean(rates), RATE) if rates else None,
                "std_pass_rate": _rounded(pstdev(rates), RATE) if rates else None,
                **_bounds("mean_pass_rate", sum(passes), sum(applicable)),
                "mean_pass_count": _rounded(fmean(passes), COUNT),
                "mean_applicable": _rounded(fmean(applicable), COUNT),
                "runs": len(those),
            }


def model_rows(runs: Sequence[Row]) -> Iterator[Row]:
    """One run alone has no deviation."""
    for model, those in by_model(runs).items():
        summary: Row = {"model_name": model}
        for name in SUMMARISED:
            values = [row[name] for row in those if row[name] is not None]
            summary[f"{name}_mean"] = _rounded(fmean(values), RATE) if values else None
            summary[f"{name}_std"] = _rounded(stdev(values), RATE) if len(values) > 1 else None
        yield summary


def command_rows(members: Iterable[Member]) -> Iterator[Row]:
    """Commands are known only from an earlier comparison that listed the run."""
    for member in members:
        for phase, command in settings_of(member.stored.run).commands:
            yield {
                "phase": phase,
                "model_name": member.model,
                "run_index": member.number,
                "command": command,
                "run_dir": member.stored.run.origin,
            }


def by_model(runs: Sequence[Row]) -> dict[str, list[Row]]:
    rows_by_model: dict[str, list[Row]] = {}
    for row in runs:
        rows_by_model.setdefault(row["model_name"], []).append(row)
    return rows_by_model


def _who(member: Member, settings: RunSettings) -> Row:
    run = member.stored.run
    return {
        "model_name": member.model,
        "run_index": member.number,
        "run_id": run.native_id,
        "run_dir": run.origin,
        "benchmark_name": run.suite,
        "judge_name": settings.judge.name,
        "judge_model": settings.judge.model,
        "judge_version": settings.judge.version,
        "judged_at": settings.judged_at,
        "runtime_mode": settings.mode,
        "runtime_parallel": settings.parallel,
        "disable_vad": settings.disable_vad,
    }


def _counts(rows: JudgedRows) -> tuple[int, int, int, int]:
    """In the order of `COUNTED`. Turns after an ended session were not ended by the model again."""
    return rows.statuses["pass"], rows.statuses["fail"], rows.markers[EMPTY], rows.markers[ENDED]


def _dimension(name: str, passes: int, applicable: int) -> Row:
    row: Row = {f"{name}_passes": passes, f"{name}_applicable": applicable}
    row[f"{name}_pass_rate"] = _of(passes, total=applicable)
    return row | _bounds(f"{name}_pass_rate", passes, applicable)


def _bounds(name: str, count: int, total: int, *, times: int = 1, digits: int = RATE) -> Row:
    low, high = wilson(count, total, z=Z) or (None, None)
    return {f"{name}_ci_lower": _bound(low, times, digits), f"{name}_ci_upper": _bound(high, times, digits)}


def _bound(value: float | None, times: int, digits: int) -> float | int | None:
    """`0` and `1`, not `0.0`, at the ends: so the harness's own tables have it."""
    if value is None:
        return None
    rounded = round(value * times, digits)
    return int(rounded) if rounded.is_integer() else rounded


def _times(name: str, values: Sequence[float]) -> Row:
    ordered = sorted(values)
    row: Row = {f"{name}_mean": _rounded(fmean(ordered), MEAN) if ordered else None}
    for key, share in SHARES.items():
        row[f"{name}_{key}"] = _rounded(quantile(ordered, share), MILLISECONDS) if ordered else None
    return row


def _of(count: int, *, total: int) -> float | None:
    return _rounded(count / total, RATE) if total else None


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(float(value), digits)
