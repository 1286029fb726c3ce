"""A consistency study as files: six tables and a summary, one set for each subject."""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from errata.compare.consistency import NOT_TRIED, CaseTries, Consistency, StudyColumn, metrics_of, with_epochs
from errata.compare.repeats import status_of
from errata.errors import SettingsError
from errata.model import Attempt, Case
from errata.model.record import Struct
from errata.render.document import Block, Code, Document, Line, Section, Table, items, line, paragraph
from errata.render.files import replacing, slug, write_file
from errata.render.markdown import to_markdown
from errata.review.transcript import as_text, calls_made
from errata.runs.names import are_judged_turns
from errata.runs.runset import RunSet
from errata.sources.conversation_bench.scores import DIMENSIONS
from errata.text.outgoing import cell_for_others

Row = dict[str, Any]
Texts = Mapping[str, str]

DETAILS = ("comparison_dir", "benchmark_name", "model_name", "run_index", "run_id", "run_dir", "turn", "user_text",
           "assistant_text", "tool_calls_json", "judge_reasoning", "latency_ms", "ttfb_ms", "overall_status",
           "failed_metric_count", "failing_metrics")  # fmt: skip
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
    if seconds is None:
        return ""
    rounded = round(1000 * seconds, 3)
    return int(rounded) if rounded.is_integer() else rounded


TABLES = ("run_details", "turn_summary", "metric_flips", "flip_details", "benchmark_summary", "sanity_checks")
SUMMARY = "consistency_summary.md"
CHUNK = 500
SHORT = 200


class WrittenTable(Struct):
    file: str
    rows: int | None = None
    """None for a text."""


def write_studies(
    studies: Sequence[Consistency], runs: RunSet, folder: Path, *, force: bool = False
) -> list[WrittenTable]:
    """Into the folder itself; where there are several subjects, into a folder below it for each."""
    by_subject: dict[str, list[Consistency]] = {}
    for study in studies:
        by_subject.setdefault(study.subject, []).append(study)
    folders = _folders(list(by_subject), folder)
    files = (path for home in folders.values() for path in (*(_table(home, name) for name in TABLES), home / SUMMARY))
    there = next((path for path in files if path.exists()), None)
    if there is not None and not force:
        raise SettingsError(f"`{there}` already exists", hint="choose another folder, or add `--force`")
    return [one for subject, those in by_subject.items() for one in _Files(those, runs, folders[subject]).write()]


def _folders(subjects: Sequence[str], folder: Path) -> dict[str, Path]:
    if len(subjects) < 2:
        return dict.fromkeys(subjects, folder)
    often = Counter(slug(subject).lower() for subject in subjects)
    names = {subject: slug(subject) for subject in subjects}
    return {
        subject: folder / (name if often[name.lower()] == 1 else f"{name}-{number}")
        for number, (subject, name) in enumerate(names.items(), 1)
    }


def _table(folder: Path, name: str) -> Path:
    return folder / f"consistency_{name}.csv"


class _Files:
    """Of one subject. The attempts are read once; of their texts only those stay that other tables repeat."""

    def __init__(self, studies: Sequence[Consistency], runs: RunSet, folder: Path) -> None:
        self._studies, self._runs, self._folder = studies, runs, folder
        self._metrics = metric_columns(studies)
        self._texts: list[dict[str, str]] = [{} for _ in studies]
        self._missing = Counter[str]()
        self._unstable: list[list[Any]] = []

    def write(self) -> Iterator[WrittenTable]:
        self._folder.mkdir(parents=True, exist_ok=True)
        details = (*DETAILS, *(f"{name} (check)" if name in DETAILS else name for name in self._metrics))
        yield self._write("run_details", details, self._details())
        studies = list(zip(self._studies, self._texts, strict=True))
        turns = (row for study, texts in studies for row in turn_rows(study, texts))
        yield self._write("turn_summary", TURNS, _cells(turns, TURNS))
        flips = (row for study, texts in studies for row in flip_rows(study, texts))
        yield self._write("metric_flips", FLIPS, _cells(flips, FLIPS))
        yield self._write("flip_details", details, self._unstable)
        benchmarks = map(benchmark_row, self._studies)
        yield self._write("benchmark_summary", BENCHMARKS, _cells(benchmarks, BENCHMARKS))
        sanity = sanity_rows(self._studies, self._missing)
        yield self._write("sanity_checks", SANITY, _cells(sanity, SANITY))
        write_file(self._folder, SUMMARY, to_markdown(summary_of(self._studies)))
        yield WrittenTable(file=str(self._folder / SUMMARY))

    def _write(self, name: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> WrittenTable:
        path, count = _table(self._folder, name), 0
        with replacing(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(map(_cell, header))
            for count, row in enumerate(rows, 1):  # noqa: B007
                writer.writerow(map(_cell, row))
        return WrittenTable(file=str(path), rows=count)

    def _details(self) -> Iterator[list[Any]]:
        for study, texts in zip(self._studies, self._texts, strict=True):
            unstable = unstable_cases(study)
            kept: list[tuple[int, int, list[Any]]] = []
            for column, attempt, row in self._rows(study):
                metrics = dict(metrics_of(attempt))
                cells = [row[name] for name in DETAILS] + [metrics.get(name, "na") for name in self._metrics]
                self._missing.update(name for name in MAY_BE_MISSING if row[name] == "")
                texts.setdefault(attempt.case, row["user_text"])
                if attempt.case in unstable:
                    kept.append((unstable[attempt.case], column.index, cells))
                yield cells
            self._unstable += [cells for _, _, cells in sorted(kept, key=lambda one: one[:2])]

    def _rows(self, study: Consistency) -> Iterator[tuple[StudyColumn, Attempt, Row]]:
        columns = {(one.stored.pk, one.epoch or 1): one for one in study.columns}
        for stored in study.runs:
            attempts = self._runs.counted_attempts(stored, steps=True)
            every = (one for one in with_epochs(attempts) if one[1].execution != NOT_TRIED)
            while chunk := list(islice(every, CHUNK)):
                keys = {attempt.case for _, attempt in chunk}
                cases = {case.key: case for case in self._runs.cases_named(stored, keys)}
                for epoch, attempt in chunk:
                    column = columns[stored.pk, epoch]
                    own = self._runs.case_for(stored, attempt) if attempt.case_version else None
                    yield column, attempt, detail_row(study, column, attempt, own or cases.get(attempt.case))


def _cells(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[list[Any]]:
    return ([row[name] for name in columns] for row in rows)


def _cell(value: Any) -> str:
    """Numbers and truths as they are; a text as it may leave the machine, and never as a formula."""
    if not isinstance(value, str):
        return str(value)
    return _remembered(value) if len(value) < SHORT else _cell_text(value)


def _cell_text(text: str) -> str:
    return cell_for_others(text)


# most cells are a status, a name or a path that occurs in many rows
_remembered = lru_cache(4096)(_cell_text)


SHOWN = 20
NOTHING = "Nothing."


def summary_of(studies: Sequence[Consistency]) -> Document:
    """Of one subject. The sections of the harness's own summary, in its words; then what k tries give."""
    return Document(
        title="Consistency Summary",
        facts=(("subject", line(Code(studies[0].subject))), ("benchmarks", line(str(len(studies))))),
        sections=(
            _section("Benchmarks", map(_benchmark, studies)),
            _section("Inputs", (one for study in studies for one in _inputs(study))),
            _section("Most Unstable Turns", _most_unstable(studies)),
            _section("Metric Flips", (one for study in studies for one in _flips(study))),
            Section(title="Reliability", blocks=(_reliability(studies),)),
            _section("Left Out", (one for study in studies for one in _left_out(study))),
        ),
    )


def _section(title: str, lines: Iterator[Line]) -> Section:
    rows = list(lines)
    block: Block = items(rows) if rows else paragraph(NOTHING)
    return Section(title=title, blocks=(block,))


def _benchmark(study: Consistency) -> Line:
    row = benchmark_row(study)
    return line(
        Code(study.benchmark),
        f": unstable_overall_turns={row['unstable_overall_turns']}/{row['turns']}, "
        f"unstable_metric_turns={row['unstable_metric_turns']}/{row['turns']}, "
        f"pass_run_range={row['min_pass_runs']}-{row['max_pass_runs']}",
    )


def _inputs(study: Consistency) -> Iterator[Line]:
    for column in study.columns:
        yield line(Code(study.benchmark), f" run {column.index}: ", Code(column.run_id))


def _most_unstable(studies: Sequence[Consistency]) -> Iterator[Line]:
    def standing(pair: tuple[Consistency, CaseTries]) -> tuple[int, int]:
        return -len(pair[1].flips), -len(set(pair[1].repeated.statuses))

    every = [(study, one) for study in studies for one in study.study.cases]
    unstable = [(study, one) for study, one in every if one.flips or one.repeated.is_unstable]
    for study, tries in sorted(unstable, key=standing)[:SHOWN]:
        flips = ",".join(flip.metric for flip in tries.flips) or "none"
        yield line(*_turn(study, tries.case), f": overall={tries.pattern}; metric_flips={flips}")
    if len(unstable) > SHOWN:
        yield line(f"and {len(unstable) - SHOWN} more in ", Code("consistency_turn_summary.csv"))


def _flips(study: Consistency) -> Iterator[Line]:
    for case, flip in study.study.flips:
        yield line(*_turn(study, case), " ", Code(flip.metric), f": {flip.pattern}")


def _turn(study: Consistency, case: str) -> tuple[Code, str, Code]:
    return Code(study.benchmark), " turn ", Code(str(turn_of(study, case)))


def _reliability(studies: Sequence[Consistency]) -> Table:
    rows = tuple(
        (
            line(Code(study.benchmark)),
            line(str(group.k)),
            line(f"{group.any:.4f}"),
            line(f"{group.all:.4f}"),
            line(str(group.cases)),
        )
        for study in studies
        for group in study.study.reliability
    )
    return Table(("benchmark", "k", "pass@k", "pass^k", "turns"), rows, right=("k", "pass@k", "pass^k", "turns"))


def _left_out(study: Consistency) -> Iterator[Line]:
    for column, case in study.study.duplicates:
        yield line(*_turn(study, case), f", run {column}: several rows, and it is unclear which one counts")
    for case in study.study.changed:
        yield line(*_turn(study, case), ": not the same task in all runs")
    for column, case in study.study.absent:
        yield line(*_turn(study, case), f", run {column}: no row")
