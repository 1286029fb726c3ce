"""Whether runs measured the same thing in the same way, and else what differs."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec

from errata.compare.matrix import Column, Matrix
from errata.compare.sets import Cases
from errata.model import Run, Scorer

EXPERIMENT = "experiment"


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    what: str
    values: dict[str, tuple[str, ...]] = {}
    """What each value is → the labels of the runs that have it."""
    cases: Cases = ()
    refuses: bool = True
    """Whether it keeps the runs from being compared as they stand."""


def differences(matrix: Matrix, edited: Cases) -> tuple[Difference, ...]:
    """Those that keep runs from being compared first. `edited`: cases of which the logs tell different tasks."""
    columns = matrix.columns
    found = [
        *_of_values("suite", columns, lambda run: run.suite),
        *_of_values("suite version", columns, lambda run: run.suite_version),
        *_of_values("experiment", columns, lambda run: run.variant.get(EXPERIMENT, "")),
        *_of_scorers(columns),
        *_of_case_sets(matrix),
        # a task is often edited for the sake of the comparison; where most of them are, it is another suite
        *([Difference(what="tasks", cases=edited, refuses=2 * len(edited) > len(matrix.rows))] if edited else []),
    ]
    return tuple(sorted(found, key=lambda one: not one.refuses))


def _of_values(what: str, columns: Sequence[Column], value: Callable[[Run], str]) -> Iterator[Difference]:
    """A value that a log does not tell differs from none."""
    values: dict[str, tuple[str, ...]] = {}
    for column in columns:
        if told := value(column.run):
            values[told] = (*values.get(told, ()), column.label)
    if len(values) > 1:
        yield Difference(what=what, values=values)


def _of_scorers(columns: Sequence[Column]) -> Iterator[Difference]:
    """Who judged, and from which value on something passes; of each scorer that several runs name."""
    for name in dict.fromkeys(scorer.name for column in columns for scorer in column.run.scorers):
        yield from _of_values(f"judge {name}", columns, partial(_described, name, _judge))
        yield from _of_values(f"threshold of {name}", columns, partial(_described, name, _threshold))
    sets = [{scorer.name for scorer in column.run.scorers} for column in columns if column.run.scorers]
    for one in _of_values("scorers", columns, _names):
        yield msgspec.structs.replace(one, refuses=not set.intersection(*sets))


def _described(name: str, aspect: Callable[[Scorer], str], run: Run) -> str:
    return ", ".join(sorted({told for one in run.scorers if one.name == name and (told := aspect(one))}))


def _judge(scorer: Scorer) -> str:
    version = f"v{scorer.version.removeprefix('v')}" if scorer.version else ""
    return " ".join(part for part in (scorer.model, version) if part)


def _threshold(scorer: Scorer) -> str:
    return "" if scorer.threshold is None else f"{scorer.threshold:g}"


def _names(run: Run) -> str:
    return ", ".join(sorted({scorer.name for scorer in run.scorers}))


def _of_case_sets(matrix: Matrix) -> Iterator[Difference]:
    """By how many cases a run has of all; the cases are those that not every run has."""
    if len(matrix.shared) == len(matrix.rows):
        return
    values: dict[str, tuple[str, ...]] = {}
    for at, column in enumerate(matrix.columns):
        has = f"{sum(row[at] is not None for row in matrix.rows.values()):,} of {len(matrix.rows):,}"
        values[has] = (*values.get(has, ()), column.label)
    lacking = tuple(case for case, row in matrix.rows.items() if None in row)
    yield Difference(what="cases", values=values, cases=lacking)
