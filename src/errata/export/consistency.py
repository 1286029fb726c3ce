"""A consistency study as files: six tables and a summary, one set for each subject."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from errata.compare.consistency import NOT_TRIED, CaseTries, Consistency, StudyColumn, metrics_of, with_epochs
from errata.errors import SettingsError
from errata.export import consistency_tables as tables
from errata.export.consistency_tables import benchmark_row, turn_of
from errata.model import Attempt
from errata.model.record import Struct
from errata.render.document import Block, Code, Document, Line, Section, Table, items, line, paragraph
from errata.render.files import replacing, slug, write_file
from errata.render.markdown import to_markdown
from errata.runs.runset import RunSet
from errata.text.outgoing import cell_for_others

TABLES = ("run_details", "turn_summary", "metric_flips", "flip_details", "benchmark_summary", "sanity_checks")
SUMMARY = "consistency_summary.md"
CHUNK = 500
"""Attempts whose cases are looked up together."""
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
        self._metrics = tables.metric_columns(studies)
        self._texts: list[dict[str, str]] = [{} for _ in studies]
        self._missing = Counter[str]()
        self._unstable: list[list[Any]] = []

    def write(self) -> Iterator[WrittenTable]:
        self._folder.mkdir(parents=True, exist_ok=True)
        details = (*tables.DETAILS, *(f"{name} (check)" if name in tables.DETAILS else name for name in self._metrics))
        yield self._write("run_details", details, self._details())
        studies = list(zip(self._studies, self._texts, strict=True))
        turns = (row for study, texts in studies for row in tables.turn_rows(study, texts))
        yield self._write("turn_summary", tables.TURNS, _cells(turns, tables.TURNS))
        flips = (row for study, texts in studies for row in tables.flip_rows(study, texts))
        yield self._write("metric_flips", tables.FLIPS, _cells(flips, tables.FLIPS))
        yield self._write("flip_details", details, self._unstable)
        benchmarks = map(tables.benchmark_row, self._studies)
        yield self._write("benchmark_summary", tables.BENCHMARKS, _cells(benchmarks, tables.BENCHMARKS))
        sanity = tables.sanity_rows(self._studies, self._missing)
        yield self._write("sanity_checks", tables.SANITY, _cells(sanity, tables.SANITY))
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
            unstable = tables.unstable_cases(study)
            kept: list[tuple[int, int, list[Any]]] = []
            for column, attempt, row in self._rows(study):
                metrics = dict(metrics_of(attempt))
                cells = [row[name] for name in tables.DETAILS] + [metrics.get(name, "na") for name in self._metrics]
                self._missing.update(name for name in tables.MAY_BE_MISSING if row[name] == "")
                texts.setdefault(attempt.case, row["user_text"])
                if attempt.case in unstable:
                    kept.append((unstable[attempt.case], column.index, cells))
                yield cells
            self._unstable += [cells for _, _, cells in sorted(kept, key=lambda one: one[:2])]

    def _rows(self, study: Consistency) -> Iterator[tuple[StudyColumn, Attempt, tables.Row]]:
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
                    yield column, attempt, tables.detail_row(study, column, attempt, own or cases.get(attempt.case))


def _cells(rows: Iterable[tables.Row], columns: Sequence[str]) -> Iterator[list[Any]]:
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
    """What is in no count, and why."""
    for column, case in study.study.duplicates:
        yield line(*_turn(study, case), f", run {column}: several rows, and it is unclear which one counts")
    for case in study.study.changed:
        yield line(*_turn(study, case), ": not the same task in all runs")
    for column, case in study.study.absent:
        yield line(*_turn(study, case), f", run {column}: no row")
