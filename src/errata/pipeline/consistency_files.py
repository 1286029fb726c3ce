"""A consistency study as files: six tables and a summary, one set for each subject."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import IO, Any

import msgspec

from errata.compare.consistency import NOT_TRIED, metrics_of
from errata.errors import SettingsError
from errata.issues.manifest import slug
from errata.model import Attempt, Case
from errata.pipeline.consistency import Column, Consistency, numbered
from errata.pipeline.consistency_summary import summary_of
from errata.pipeline.consistency_tables import (
    BENCHMARKS,
    DETAILS,
    FLIPS,
    MAY_BE_MISSING,
    SANITY,
    TURNS,
    Row,
    benchmark_row,
    detail_row,
    flip_rows,
    is_unstable,
    metric_columns,
    sanity_rows,
    turn_rows,
)
from errata.report.markdown import to_markdown
from errata.store.case_outcomes import cases_named
from errata.store.database import Store
from errata.text.private import for_others
from errata.text.spreadsheet import one_kind_of_line_end, quoted

TABLES = ("run_details", "turn_summary", "metric_flips", "flip_details", "benchmark_summary", "sanity_checks")
CHUNK = 500


class Written(msgspec.Struct, frozen=True, kw_only=True):
    file: str
    rows: int | None
    """None for a text."""


def write_studies(studies: Sequence[Consistency], store: Store, folder: Path, *, force: bool = False) -> list[Written]:
    """Into the folder itself, or where there are several subjects into one below it for each."""
    by_subject: dict[str, list[Consistency]] = {}
    for one in studies:
        by_subject.setdefault(one.subject, []).append(one)
    folders = _folders(list(by_subject), folder)
    _refuse_existing(folders.values(), force=force)
    return [written for subject, those in by_subject.items() for written in _Files(those, store, folders[subject]).write()]


def _folders(subjects: Sequence[str], folder: Path) -> dict[str, Path]:
    if len(subjects) < 2:
        return dict.fromkeys(subjects, folder)
    often = Counter(slug(subject).lower() for subject in subjects)
    found = {}
    for number, subject in enumerate(subjects, 1):
        name = slug(subject)
        found[subject] = folder / (name if often[name.lower()] == 1 else f"{name}-{number}")
    return found


def _refuse_existing(folders: Iterable[Path], *, force: bool) -> None:
    files = [path for folder in folders for path in (*map(_table(folder), TABLES), _summary(folder))]
    there = next((path for path in files if path.exists()), None)
    if there is not None and not force:
        raise SettingsError(f"`{there}` is there already", hint="another folder, or `--force`")
