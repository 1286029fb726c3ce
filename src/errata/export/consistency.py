"""A consistency study as files: six tables and a summary, one set for each subject."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from errata.compare.consistency import NOT_TRIED, metrics_of
from errata.compare.consistency_study import Column, Consistency, numbered
from errata.errors import SettingsError
from errata.export import consistency_tables as tables
from errata.export.consistency_summary import summary_of
from errata.model import Attempt
from errata.render.markdown import to_markdown
from errata.render.slugs import key_slug
from errata.store.case_outcomes import cases_named
from errata.store.database import Store
from errata.text.private import for_others
from errata.text.spreadsheet import one_kind_of_line_end, quoted

TABLES = ("run_details", "turn_summary", "metric_flips", "flip_details", "benchmark_summary", "sanity_checks")
SUMMARY = "consistency_summary.md"
CHUNK = 500
"""Attempts whose cases are looked up together."""
SHORT = 200


class Written(msgspec.Struct, frozen=True, kw_only=True):
    file: str
    rows: int | None = None
    """None for a text."""


def write_studies(studies: Sequence[Consistency], store: Store, folder: Path, *, force: bool = False) -> list[Written]:
    """Into the folder itself; where there are several subjects, into a folder below it for each."""
    by_subject: dict[str, list[Consistency]] = {}
    for one in studies:
        by_subject.setdefault(one.subject, []).append(one)
    folders = _folders(list(by_subject), folder)
    files = (path for home in folders.values() for path in (*(_table(home, name) for name in TABLES), home / SUMMARY))
    there = next((path for path in files if path.exists()), None)
    if there is not None and not force:
        raise SettingsError(f"`{there}` is there already", hint="another folder, or `--force`")
    return [one for subject, those in by_subject.items() for one in _Files(those, store, folders[subject]).write()]


def _folders(subjects: Sequence[str], folder: Path) -> dict[str, Path]:
    if len(subjects) < 2:
        return dict.fromkeys(subjects, folder)
    often = Counter(key_slug(subject).lower() for subject in subjects)
    names = {subject: key_slug(subject) for subject in subjects}
    return {
        subject: folder / (name if often[name.lower()] == 1 else f"{name}-{number}")
        for number, (subject, name) in enumerate(names.items(), 1)
    }


def _table(folder: Path, name: str) -> Path:
    return folder / f"consistency_{name}.csv"


class _Files:
    """Of one subject. The attempts are read once; of their texts only those stay that other tables repeat."""

    def __init__(self, studies: Sequence[Consistency], store: Store, folder: Path) -> None:
        self._studies, self._store, self._folder = studies, store, folder
        self._metrics = tables.metric_columns(studies)
        self._texts: list[dict[str, str]] = [{} for _ in studies]
        self._missing = Counter[str]()
        self._unstable: list[list[Any]] = []

    def write(self) -> Iterator[Written]:
        self._folder.mkdir(parents=True, exist_ok=True)
        details = (*tables.DETAILS, *(f"{name} (check)" if name in tables.DETAILS else name for name in self._metrics))
        yield self._write("run_details", details, self._details())
        told = list(zip(self._studies, self._texts, strict=True))
        turns = (row for study, texts in told for row in tables.turn_rows(study, texts))
        yield self._write("turn_summary", tables.TURNS, _cells(turns, tables.TURNS))
        flips = (row for study, texts in told for row in tables.flip_rows(study, texts))
        yield self._write("metric_flips", tables.FLIPS, _cells(flips, tables.FLIPS))
        yield self._write("flip_details", details, self._unstable)
        benchmarks = map(tables.benchmark_row, self._studies)
        yield self._write("benchmark_summary", tables.BENCHMARKS, _cells(benchmarks, tables.BENCHMARKS))
        sanity = tables.sanity_rows(self._studies, self._missing)
        yield self._write("sanity_checks", tables.SANITY, _cells(sanity, tables.SANITY))
        (self._folder / SUMMARY).write_text(to_markdown(summary_of(self._studies)), encoding="utf-8")
        yield Written(file=str(self._folder / SUMMARY))

    def _write(self, name: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Written:
        path, count = _table(self._folder, name), 0
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(map(_cell, header))
            for count, row in enumerate(rows, 1):  # noqa: B007
                writer.writerow(map(_cell, row))
        return Written(file=str(path), rows=count)

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

    def _rows(self, study: Consistency) -> Iterator[tuple[Column, Attempt, tables.Row]]:
        columns = {(one.stored.pk, one.epoch or 1): one for one in study.columns}
        for stored in study.runs:
            every = (one for one in numbered(stored, self._store, steps=True) if one[1].execution != NOT_TRIED)
            while chunk := list(islice(every, CHUNK)):
                keys = {attempt.case for _, attempt in chunk}
                cases = {case.key: case for case in cases_named(self._store, stored.pk, keys)}
                for epoch, attempt in chunk:
                    column = columns[stored.pk, epoch]
                    yield column, attempt, tables.detail_row(study, column, attempt, cases.get(attempt.case))


def _cells(rows: Iterable[tables.Row], columns: Sequence[str]) -> Iterator[list[Any]]:
    return ([row[name] for name in columns] for row in rows)


def _cell(value: Any) -> str:
    """Numbers and truths as they are; a text as it may leave the machine, and never as a formula."""
    if not isinstance(value, str):
        return str(value)
    return _remembered(value) if len(value) < SHORT else _told(value)


def _told(text: str) -> str:
    return quoted(one_kind_of_line_end(for_others(text)))


# most cells are a status, a name or a path that stands in many rows
_remembered = lru_cache(4096)(_told)
