"""The verb `review calibrate`: each reviewer measured against labels that people gave in a table."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from errata.errors import NotFoundError, SettingsError
from errata.model import StoredRun
from errata.model.identity import split_attempt_id
from errata.review.agreement import ratings_of
from errata.review.answers import labels_to_give
from errata.review.calibration import Calibration, calibrate
from errata.review.packing import question_for
from errata.runs.names import known_run
from errata.runs.show import ShownAttempt, find_shown
from errata.store.database import Store
from errata.store.reviews import verdicts_of
from errata.store.runs import run_by_id
from errata.text.clean import one_line

NAMES = ("attempt_id", "attempt", "case")
LONGEST = 100_000


class Untaken(NamedTuple):
    """A row that says nothing, and why."""

    line: int
    why: str


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    taxonomy: str
    labelled: int
    reviewers: dict[str, Calibration]
    """Kind and name → how they compare with people."""
    untaken: tuple[Untaken, ...]


def calibrate_reviewers(path: Path, run: str, store: Store, *, taxonomy: str = "") -> Measured:
    """Only verdicts of one taxonomy are compared: the one that is named, else that of the run's source."""
    stored = known_run(run, store) if run else None
    people: dict[str, str] = {}
    untaken: list[Untaken] = []
    for line, row in _rows(path):
        found = _labelled(line, row, stored, store, taxonomy)
        if isinstance(found, Untaken):
            untaken.append(found)
        elif people.setdefault(found[0], found[1]) != found[1]:
            untaken.append(Untaken(line, f"another row gives the same failure the label `{people[found[0]]}`"))
    runs = sorted({split_attempt_id(attempt).run for attempt in people})
    words = taxonomy or (question_for(run_by_id(store, runs[0]).run.source.name).taxonomy if runs else "")
    verdicts = [one for each in runs for one in verdicts_of(store, each) if one.taxonomy == words]
    by_reviewer: dict[str, dict[str, str]] = {}
    for attempt, given in ratings_of(verdicts).items():
        for reviewer, label in given.items():
            by_reviewer.setdefault(reviewer, {})[attempt] = label
    measured = {reviewer: calibrate(people, labels) for reviewer, labels in sorted(by_reviewer.items())}
    return Measured(taxonomy=words, labelled=len(people), reviewers=measured, untaken=tuple(untaken))


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    csv.field_size_limit(LONGEST)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file)
            header = [name.strip().lower() for name in next(rows, [])]
            if "label" not in header or not set(NAMES) & set(header):
                columns = ", ".join(header[:12]) or "none"
                hint = "it needs `label`, and `attempt_id` or `case` (then name the RUN, or add a column `run`)"
                raise SettingsError(f"`{path}` is no table of labels: its columns are {columns}", hint=hint)
            for cells in rows:
                yield rows.line_num, {name: cell.strip() for name, cell in zip(header, cells, strict=False)}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SettingsError(f"`{path}` can't be read: {error}", hint="a CSV file in UTF-8") from error


def _labelled(
    line: int, row: dict[str, str], stored: StoredRun | None, store: Store, taxonomy: str
) -> tuple[str, str] | Untaken:
    name = next((row[column] for column in NAMES if row.get(column)), "")
    if not name or not row.get("label"):
        return Untaken(line, "there is no label" if name else "nothing says which failure it is about")
    run = row.get("run") or (stored.run.id if stored else "")
    is_id = bool(row.get("attempt_id") or ":" in name)
    if not is_id and not run:
        return Untaken(line, f"`{one_line(name, 100)}` is a case of no run: name the RUN, or add a column `run`")
    try:
        shown = find_shown(name if is_id else f"{run}/{name}", store)
    except NotFoundError as error:
        return Untaken(line, error.message)
    if not isinstance(shown, ShownAttempt):
        return Untaken(line, f"`{one_line(name, 100)}` names no failure")
    known = labels_to_give(question_for(shown.stored.run.source.name, taxonomy))
    label = next((one for one in known if one.casefold() == row["label"].casefold()), "")
    if not label:
        return Untaken(line, f"`{one_line(row['label'], 60)}` is no label: {', '.join(known)}")
    return shown.attempt.id, label
