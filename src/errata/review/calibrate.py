"""Compare each reviewer with labels that people gave in a table."""

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from errata.errors import NotFoundError, SettingsError
from errata.model import Question, Verdict
from errata.model.identity import split_attempt_id
from errata.model.output.review import WhyRowSkipped
from errata.review.agreement import cohen_kappa, ratings_of
from errata.review.answers import labels_to_give
from errata.text.clean import one_line

NAMES = ("attempt_id", "attempt", "case")
LONGEST = 100_000
WIDTH = 100
FindAttempt = Callable[[str], tuple[str, Question] | None]
"""RUN/CASE or an attempt's id → the id and its question; none if the text names only a run."""


class LabelMeasure(msgspec.Struct, frozen=True, kw_only=True):
    label: str
    given: int
    """How often the reviewer gave it."""
    true: int
    """How often people did."""
    right: int

    @property
    def precision(self) -> float | None:
        return self.right / self.given if self.given else None

    @property
    def recall(self) -> float | None:
        return self.right / self.true if self.true else None


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    labelled: int
    """Attempts that people labelled."""
    compared: int
    """Those of them that the reviewer has a verdict on."""
    right: int
    kappa: float | None
    labels: tuple[LabelMeasure, ...]
    confusion: dict[str, dict[str, int]]
    """People's label → the reviewer's label → how often."""
    misses: tuple[tuple[str, str, str], ...]
    """Attempt, people's label, the reviewer's label."""

    @property
    def accuracy(self) -> float | None:
        return self.right / self.compared if self.compared else None


def calibrate(people: Mapping[str, str], reviewer: Mapping[str, str]) -> Calibration:
    """Both map attempts to labels. Attempts that the reviewer has not reviewed count as neither right nor wrong."""
    both = [(attempt, label, reviewer[attempt]) for attempt, label in people.items() if attempt in reviewer]
    true, given = [label for _, label, _ in both], [label for _, _, label in both]
    right = Counter(label for _, label, reviewers in both if label == reviewers)
    counted_true, counted_given = Counter(true), Counter(given)
    confusion: dict[str, dict[str, int]] = {}
    for (label, reviewers), count in sorted(Counter(zip(true, given, strict=True)).items()):
        confusion.setdefault(label, {})[reviewers] = count
    return Calibration(
        labelled=len(people),
        compared=len(both),
        right=right.total(),
        kappa=cohen_kappa(true, given),
        labels=tuple(
            LabelMeasure(label=label, given=counted_given[label], true=counted_true[label], right=right[label])
            for label in sorted({*true, *given})
        ),
        confusion=confusion,
        misses=tuple(one for one in both if one[1] != one[2]),
    )


class SkippedRow(NamedTuple):
    """A row that can't be used."""

    line: int
    why: WhyRowSkipped
    value: str = ""
    """The case or label that `why` is about."""


class CalibrationResult(msgspec.Struct, frozen=True, kw_only=True):
    taxonomy: str
    labelled: int
    reviewers: dict[str, Calibration]
    """Kind and name → how they compare with people."""
    untaken: tuple[SkippedRow, ...]


def calibrate_reviewers(
    path: Path,
    find: FindAttempt,
    verdicts_of: Callable[[str], Iterable[Verdict]],
    *,
    run: str = "",
    taxonomy: str = "",
) -> CalibrationResult:
    """Compares only verdicts of one taxonomy: the given one, or that of the run's source.

    Cases in rows without a run belong to `run`; `verdicts_of` returns all verdicts on a run.
    """
    people: dict[str, str] = {}
    asked: dict[str, Question] = {}
    untaken: list[SkippedRow] = []
    for line, row in _rows(path):
        labelled = _labelled(line, row, run, find)
        if isinstance(labelled, SkippedRow):
            untaken.append(labelled)
            continue
        attempt, label, question = labelled
        asked.setdefault(split_attempt_id(attempt).run, question)
        if people.setdefault(attempt, label) != label:
            untaken.append(SkippedRow(line, "contradicts_earlier_row", people[attempt]))
    runs = sorted(asked)
    words = taxonomy or (asked[runs[0]].taxonomy if runs else "")
    verdicts = [verdict for each in runs for verdict in verdicts_of(each) if verdict.taxonomy == words]
    by_reviewer: dict[str, dict[str, str]] = {}
    for attempt, given in ratings_of(verdicts).items():
        for reviewer, label in given.items():
            by_reviewer.setdefault(reviewer, {})[attempt] = label
    measured = {reviewer: calibrate(people, labels) for reviewer, labels in sorted(by_reviewer.items())}
    return CalibrationResult(taxonomy=words, labelled=len(people), reviewers=measured, untaken=tuple(untaken))


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    csv.field_size_limit(LONGEST)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file)
            header = [name.strip().lower() for name in next(rows, [])]
            if "label" not in header or not set(NAMES) & set(header):
                columns = ", ".join(header[:12]) or "none"
                hint = "it needs `label`, and `attempt_id` or `case` (with `case`, give the RUN or add a column `run`)"
                raise SettingsError(f"`{path}` is not a table of labels: its columns are {columns}", hint=hint)
            for cells in rows:
                yield rows.line_num, {name: cell.strip() for name, cell in zip(header, cells, strict=False)}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SettingsError(f"`{path}` can't be read: {error}", hint="use a CSV file in UTF-8") from error


def _labelled(line: int, row: dict[str, str], run: str, find: FindAttempt) -> tuple[str, str, Question] | SkippedRow:
    """The attempt, its label by a person, and its question."""
    name = next((row[column] for column in NAMES if row.get(column)), "")
    if not name or not row.get("label"):
        return SkippedRow(line, "no_label" if name else "no_failure_named")
    run = row.get("run") or run
    is_id = bool(row.get("attempt_id") or ":" in name)
    if not is_id and not run:
        return SkippedRow(line, "no_run", one_line(name, WIDTH))
    try:
        attempt = find(name if is_id else f"{run}/{name}")
    except NotFoundError:
        return SkippedRow(line, "not_found", one_line(name, WIDTH))
    if attempt is None:
        return SkippedRow(line, "not_a_failure", one_line(name, WIDTH))
    known = labels_to_give(attempt[1])
    label = next((one for one in known if one.casefold() == row["label"].casefold()), "")
    if not label:
        return SkippedRow(line, "unknown_label", one_line(row["label"], WIDTH))
    return attempt[0], label, attempt[1]
