"""Whether runs measured the same thing in the same way, what differs, and when a comparison is refused."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec

from errata.compare.matrix import Matrix, RunColumn, columns_of
from errata.compare.sets import Cases
from errata.errors import NotComparableError
from errata.model import Run, Scorer, StoredRun
from errata.model.cells import Cell
from errata.model.counts import holds_only_failures
from errata.model.run import WhyLeftOut

EXPERIMENT = "experiment"
CASES = "cases"
"""The difference of runs where one has cases that another lacks."""


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    what: str
    values: dict[str, tuple[str, ...]] = {}
    """What each value is → the labels of the runs that have it."""
    cases: Cases = ()
    refuses: bool = True
    """Whether it keeps the runs from being compared as they stand."""


def differences(matrix: Matrix, edited: Cases) -> tuple[Difference, ...]:
    """Those that prevent a comparison first. `edited`: cases whose task differs between the logs."""
    columns = matrix.columns
    listed = [
        *_of_values("suite", columns, lambda run: run.suite),
        *_of_values("suite version", columns, lambda run: run.suite_version),
        *_of_values("experiment", columns, lambda run: run.variant.get(EXPERIMENT, "")),
        *_of_scorers(columns),
        *_of_case_sets(matrix),
        # a task is often edited for the sake of the comparison; where most of them are, it is another suite
        *([Difference(what="tasks", cases=edited, refuses=2 * len(edited) > len(matrix.rows))] if edited else []),
    ]
    return tuple(sorted(listed, key=lambda one: not one.refuses))


def _of_values(what: str, columns: Sequence[RunColumn], value: Callable[[Run], str]) -> Iterator[Difference]:
    """A value that a log does not tell differs from none."""
    values: dict[str, tuple[str, ...]] = {}
    for column in columns:
        if text := value(column.run):
            values[text] = (*values.get(text, ()), column.label)
    if len(values) > 1:
        yield Difference(what=what, values=values)


def _of_scorers(columns: Sequence[RunColumn]) -> Iterator[Difference]:
    """Who judged, and from which value on something passes; of each scorer that several runs name."""
    for name in dict.fromkeys(scorer.name for column in columns for scorer in column.run.scorers):
        yield from _of_values(f"judge {name}", columns, partial(_described, name, _judge))
        yield from _of_values(f"threshold of {name}", columns, partial(_described, name, _threshold))
    sets = [{scorer.name for scorer in column.run.scorers} for column in columns if column.run.scorers]
    for difference in _of_values("scorers", columns, _names):
        yield msgspec.structs.replace(difference, refuses=not set.intersection(*sets))


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
    yield Difference(what=CASES, values=values, cases=lacking)


NOT_MEASURED = frozenset(("missing", "unscored", "contradictory"))
SHOWN = 5


def common_cases(matrix: Matrix) -> frozenset[str]:
    """The cases that every run was measured on."""
    return frozenset(case for case, row in matrix.rows.items() if all(map(_is_measured, row)))


def _is_measured(cell: Cell | None) -> bool:
    return cell is not None and cell.state not in NOT_MEASURED


def refuse_too_few(left: int, left_out: Sequence[tuple[StoredRun, WhyLeftOut]], least: int = 2) -> None:
    if left >= least:
        return
    runs_by_reason: dict[str, list[str]] = {}
    for stored, why in left_out:
        runs_by_reason.setdefault(str(why), []).append(stored.run.native_id)
    lines = []
    for reason, names in runs_by_reason.items():
        lines += [f"{name} is left out: {reason}" for name in names[:SHOWN]]
        if len(names) > SHOWN:
            lines.append(f"left out: {len(names) - SHOWN:,} more runs for the same reason")
    remaining = "Only one run is" if left else "No run is"
    raise NotComparableError(f"{remaining} left to compare", hint="\n".join(lines))


def refuse_unequal(all_differences: Sequence[Difference], matrix: Matrix) -> None:
    """Where runs did not measure the same thing, unless only the cases they share were asked for."""
    refusing = [one for one in all_differences if one.refuses]
    if refusing:
        *others, last = (one.what for one in refusing)
        what = f"{', '.join(others)} and {last}" if others else last
        lines = [describe_difference(one) for one in refusing]
        raise NotComparableError(
            f"These runs can't be compared: they differ in {what}",
            hint="\n".join([*lines, _way_out(len(common_cases(matrix)))]),
        )


def may_differ(runs: Sequence[StoredRun]) -> bool:
    """Whether it is plain, before anything is counted, that these runs are compared and measured something else.

    Where it depends on the results whether a run is compared at all, nothing is plain.
    """
    if not all(one.counts.outcomes.get("pass") and not holds_only_failures(one) for one in runs):
        return False
    columns = columns_of([(one.run, one.pk) for one in runs])
    by_facts = any(one.refuses for one in differences(Matrix(columns, {}), ()))
    return by_facts or len({one.counts.cases for one in runs}) > 1


def refuse_nothing_shared(matrix: Matrix, all_differences: Sequence[Difference]) -> None:
    if not matrix.rows:
        lines = [describe_difference(one) for one in all_differences]
        raise NotComparableError("No case was measured in every one of these runs", hint="\n".join(lines))


def describe_difference(difference: Difference) -> str:
    if difference.values:
        values = "; ".join(f"{value} in {_some(labels)}" for value, labels in difference.values.items())
        return f"{difference.what}: {values}"
    return f"{difference.what} edited in between: {_some(difference.cases)}"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _way_out(shared: int) -> str:
    if not shared:
        return "they share no case that all of them were measured on"
    cases = "case" if shared == 1 else "cases"
    return f"`--common` compares the {shared:,} {cases} that every run measured"
