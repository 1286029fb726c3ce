"""What changed from a baseline to a run, case by case: regressed, infrastructure, flaky, fixed, missing and more."""

from collections.abc import Collection, Mapping
from typing import Literal

import msgspec

from errata.compare.comparison import Comparison
from errata.compare.one_run import left_out_of_clean
from errata.compare.pairs import PairTally
from errata.model.cells import Cell, CellState
from errata.model.words import NOT_THE_SUBJECTS

ChangeKind = Literal[
    "regressed",
    "infrastructure",
    "flaky",
    "fixed",
    "missing",
    "added",
    "edited",
    "not_measured",
    "no_baseline_result",
    "still_failing",
    "still_passing",
]
_Result = Literal["pass", "fail", "mixed", "infrastructure", "unknown"]


class CaseFailure(msgspec.Struct, frozen=True, kw_only=True):
    """Why a case fails in the run."""

    owner: str = ""
    is_presumed: bool = False
    """Only presumed to be the model's."""
    reason: str = ""
    attempt: str = ""
    file: str = ""
    """The place in the log."""


NO_FAILURE = CaseFailure()


class CaseChange(msgspec.Struct, frozen=True, kw_only=True):
    case: str
    name: str
    fails: bool
    """Whether it fails in the run, in some of its attempts at least."""
    failure: CaseFailure = NO_FAILURE
    before: tuple[int, int] | None = None
    """Attempts that passed, and how many there were; None where the baseline does not have the case."""
    after: tuple[int, int] | None = None


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    cases: dict[ChangeKind, tuple[CaseChange, ...]]
    shared: int
    """Cases that pass or fail in both runs, without infrastructure failures and edited tasks."""
    test: PairTally
    """Exact McNemar over these cases."""

    def of(self, kind: ChangeKind) -> tuple[CaseChange, ...]:
        return self.cases.get(kind, ())


def failing_cases(comparison: Comparison) -> list[str]:
    """Cases that fail in the second of two runs, in some of their attempts at least."""
    return [case for case, row in comparison.matrix.rows.items() if (cell := row[1]) is not None and cell.fails]


def passed_before(comparison: Comparison) -> list[str]:
    """Of these, the cases that the first run passes: only they can have regressed."""
    rows = comparison.matrix.rows
    return [case for case in failing_cases(comparison) if (cell := rows[case][0]) is not None and cell.passed]


def changes_between(
    comparison: Comparison, failures: Mapping[str, CaseFailure], unstable: Collection[str] = ()
) -> Changes:
    """From the first of two runs to the second. `failures`: why cases fail in the second.

    `unstable`: cases with mixed outcomes over equivalent attempts in other runs.
    """
    matrix = comparison.matrix
    out = left_out_of_clean(matrix, [one.scores["clean"] for one in comparison.runs])
    pks = [column.pk for column in matrix.columns]
    cases: dict[ChangeKind, list[CaseChange]] = {}
    for case, (before, after) in matrix.rows.items():
        failure = failures.get(case, NO_FAILURE)
        then = _result(before, is_out=(pks[0], case) in out)
        now = _result(after, is_out=_is_infrastructure(failure, is_out=(pks[1], case) in out))
        kind = _kind((before, then), (after, now), is_edited=case in comparison.edited, is_unstable=case in unstable)
        if kind == "not_measured" and after is not None and now == "unknown":
            failure = _unmeasured(after, failure)
        if kind is not None:
            cases.setdefault(kind, []).append(
                CaseChange(
                    case=case,
                    name=comparison.cases[case].name,
                    fails=after is not None and after.fails > 0,
                    failure=failure,
                    before=_passes(before),
                    after=_passes(after),
                )
            )
    (pair,) = comparison.pairings
    return Changes(
        cases={kind: tuple(those) for kind, those in cases.items()},
        shared=pair.clean.shared,
        test=pair.clean,
    )


_WITHOUT_RESULT: dict[CellState, str] = {"unscored": "not scored", "partial": "partial credit without a pass rule"}


def _unmeasured(cell: Cell, failure: CaseFailure) -> CaseFailure:
    """Why a case has no result. Of rows that disagree, the reason and owner of one are not the case's."""
    if cell.state == "contradictory":
        return CaseFailure(reason=f"{cell.attempts:,} rows disagree", attempt=failure.attempt, file=failure.file)
    return failure if failure.reason else msgspec.structs.replace(failure, reason=_WITHOUT_RESULT.get(cell.state, ""))


def _is_infrastructure(failure: CaseFailure, *, is_out: bool) -> bool:
    """By its owner, which a verdict may have corrected; else as the clean score counts it."""
    return failure.owner in NOT_THE_SUBJECTS if failure.owner else is_out


def _result(cell: Cell | None, *, is_out: bool) -> _Result:
    if cell is None:
        return "unknown"
    if cell.fails and is_out:
        return "infrastructure"
    if cell.decided:
        return "pass" if cell.passed else "fail"
    return "mixed" if cell.state == "mixed" else "unknown"


def _kind(
    before: tuple[Cell | None, _Result], after: tuple[Cell | None, _Result], *, is_edited: bool, is_unstable: bool
) -> ChangeKind | None:
    """None for a case that neither run has a result of."""
    (cell_then, then), (cell_now, now) = before, after
    if cell_now is None or cell_now.state == "missing":
        return "missing" if cell_then is not None and cell_then.state != "missing" else None
    if cell_then is None:
        return "added"
    if is_edited:
        return "edited"
    return _change(then, now, is_unstable=is_unstable)


def _change(then: _Result, now: _Result, *, is_unstable: bool) -> ChangeKind:
    if now == "unknown":
        return "not_measured"
    if now == "infrastructure":
        return "infrastructure" if then in ("pass", "mixed") else "not_measured"
    if now == "pass":
        return "fixed" if then == "fail" else "still_passing"
    if now == "mixed" or then == "mixed":
        return "flaky"
    if then == "fail":
        return "still_failing"
    if then == "pass":
        return "flaky" if is_unstable else "regressed"
    return "no_baseline_result"


def _passes(cell: Cell | None) -> tuple[int, int] | None:
    return None if cell is None else (cell.passes, cell.attempts)
