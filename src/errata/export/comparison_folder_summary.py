"""What a comparison folder says of itself: `metadata.json` for programs, `summary.md` for people."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from errata import __version__
from errata.export.comparison_folder_judging import Told, told_by
from errata.export.comparison_folder_tables import Member, Row
from errata.model.times import moment_of
from errata.render.document import Code, Document, Line, Section, items, line
from errata.sources.conversation_bench.comparison import WRITTEN_BY
from errata.text.clean import clean
from errata.text.private import tree_for_others
from errata.text.redact import redact

SHOWN = ("benchmark", "models", "runs_per_model", "service_override", "rehydrate", "disable_vad", "parallel", "judge",
         "judge_model", "skip_turn_taking")  # fmt: skip
UNKNOWN = "not known"


def metadata(members: Sequence[Member], folder: Path) -> Row:
    """Null for what the runs do not tell, or do not agree on."""
    told = [told_by(one.stored.run) for one in members]
    often = Counter(one.model for one in members)
    modes = _agreed(one.mode for one in told)
    return {
        "generated_at": _newest(members, told),
        "benchmark": members[0].stored.run.suite,
        "models": list(often),
        # keys of ours, names of theirs
        "runs_per_model": {redact(clean(model)): count for model, count in often.items()},
        "service_override": _set_before(told, "service_override"),
        "rehydrate": None if not modes else modes == "rehydrated",
        "disable_vad": _first_known(_agreed(one.disable_vad for one in told), _set_before(told, "disable_vad")),
        "parallel": _agreed(one.parallel for one in told),
        "judge": _agreed(one.judge.name for one in told) or None,
        "judge_model": _agreed(one.judge.model for one in told) or None,
        "skip_turn_taking": _set_before(told, "skip_turn_taking"),
        "output_dir": str(folder),
        WRITTEN_BY: f"errata {__version__}",
    }


def as_json(told: Row) -> str:
    """The folder's own path stays whole."""
    washed = tree_for_others(told) | {"output_dir": redact(clean(told["output_dir"]))}
    return json.dumps(washed, indent=2) + "\n"


def _newest(members: Sequence[Member], told: Sequence[Told]) -> str | None:
    """When the last of the runs was judged, not when this was written: the same runs give the same file."""
    times = [said.judged_at or one.stored.run.finished_at or "" for one, said in zip(members, told, strict=True)]
    return max((time for time in times if moment_of(time).year > 1), key=moment_of, default=None)


def _agreed(values: Iterable[Any]) -> Any:
    """What all say; none where they differ."""
    first, *others = list(values)
    return first if all(one == first and type(one) is type(first) for one in others) else None


def _set_before(told: Sequence[Told], name: str) -> Any:
    """As the comparison that listed the runs before has it."""
    return _agreed(one.settings.get(name) for one in told)


def _first_known(*values: Any) -> Any:
    return next((one for one in values if one is not None), None)


def summary(told: Row, runs: Sequence[Row], metrics: Sequence[Row], models: Sequence[Row]) -> Document:
    """The sections of the harness's own summary."""
    return Document(
        title="Model Comparison Summary",
        sections=(
            _section("Setup", (line(f"{name}: ", Code(_value(told[name]))) for name in SHOWN)),
            _section("Run Paths", map(_path, runs)),
            _section("Model Summary", map(_model, models)),
            _section("Metric Averages", map(_metric, metrics)),
        ),
    )


def _section(title: str, lines: Iterator[Line]) -> Section:
    return Section(title=title, blocks=(items(list(lines)),))


def _value(value: Any) -> str:
    if value is None:
        return UNKNOWN
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items())
    return ", ".join(value) if isinstance(value, list) else str(value)


def _path(row: Row) -> Line:
    return line(Code(row["model_name"]), f" run {row['run_index']}: ", Code(row["run_dir"]))


def _model(row: Row) -> Line:
    return line(
        Code(row["model_name"]),
        f": pass_rows={_number(row['pass_rows_mean'])}, fail_rows={_number(row['fail_rows_mean'])} "
        f"{_interval(row['fail_rows_ci_lower_mean'], row['fail_rows_ci_upper_mean'])}, "
        f"empty_responses={_number(row['empty_response_count_mean'])}, "
        f"ended_session={_number(row['model_ended_session_count_mean'])}, "
        f"latency_p95={_number(row['latency_ms_p95_mean'])} ms "
        f"{_interval(row['latency_ms_p95_ci_lower_mean'], row['latency_ms_p95_ci_upper_mean'])}",
    )


def _metric(row: Row) -> Line:
    named = (Code(row["model_name"]), " ", Code(row["metric"]))
    if row["mean_pass_rate"] is None:
        return line(*named, ": applies to no turn")
    low, high = (f"{100 * row[f'mean_pass_rate_ci_{end}']:.1f}" for end in ("lower", "upper"))
    return line(
        *named,
        f": {_number(row['mean_pass_count'])}/{_number(row['mean_applicable'])} "
        f"({100 * row['mean_pass_rate']:.1f} %, 95 % CI {low} to {high})",
    )


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2f}"


def _interval(low: float | None, high: float | None) -> str:
    return f"(95 % CI {_number(low)} to {_number(high)})"
