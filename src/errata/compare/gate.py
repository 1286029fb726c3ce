"""The gate of a CI job: what changed, does a run fail where its baseline passed, is its score too low or lower, is it
fit?"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Literal

import msgspec

from errata.compare.comparison import Comparison, left_out_of_clean
from errata.compare.intervals import Interval
from errata.compare.scores import Policy, Score
from errata.errors import SettingsError
from errata.model import StoredRun
from errata.model.cells import Cell, CellState
from errata.model.gate import GateVerdict
from errata.model.output.compare import RunPairOutput, TallyOutput
from errata.model.output.gate import DropOutput
from errata.model.record import Struct
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
    "lower",
    "higher",
]
_Result = Literal["pass", "fail", "mixed", "infrastructure", "unknown"]


class CaseFailure(Struct):
    """Why a case fails in the run."""

    owner: str = ""
    is_presumed: bool = False
    """Only presumed to be the model's."""
    reason: str = ""
    attempt: str = ""


NO_FAILURE = CaseFailure()


class CaseChange(Struct):
    case: str
    name: str
    fails: bool
    """Whether it fails in the run, in some of its attempts at least."""
    failure: CaseFailure = NO_FAILURE
    before: tuple[int, int] | None = None
    """Attempts that passed, and how many there were; None where the baseline does not have the case."""
    after: tuple[int, int] | None = None
    values: tuple[float, float] | None = None


class Changes(Struct):
    cases: dict[ChangeKind, tuple[CaseChange, ...]]
    shared: int
    """Cases that pass or fail in both runs, without infrastructure failures and edited tasks."""
    test: TallyOutput
    """Exact McNemar over these cases."""
    drop: DropOutput | None = None
    """None where they share no case."""

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
        values = _values(before, after)
        if values is not None and kind not in (None, "edited"):
            kind = "lower" if values[1] < values[0] else "higher" if values[1] > values[0] else None
        if kind is not None:
            cases.setdefault(kind, []).append(
                CaseChange(
                    case=case,
                    name=comparison.cases[case].name,
                    fails=after is not None and after.fails > 0,
                    failure=failure,
                    before=_passes(before),
                    after=_passes(after),
                    values=values,
                )
            )
    if "lower" in cases:
        cases["lower"].sort(key=lambda one: one.values[1] - one.values[0] if one.values else 0.0)
    (pair,) = comparison.pairings
    cells = chain.from_iterable(matrix.rows.values())
    drop = _drop(pair, of_numbers=any(cell is not None and cell.value is not None for cell in cells))
    return Changes(
        cases={kind: tuple(those) for kind, those in cases.items()},
        shared=pair.clean.shared,
        test=pair.clean,
        drop=drop,
    )


def _drop(pair: RunPairOutput, *, of_numbers: bool) -> DropOutput | None:
    if (shares := pair.shares) is not None:
        value, between = shares.mean, shares.interval
        if shares.lower_is_better:
            value, between = -value, (-between[1], -between[0]) if between is not None else None
        return DropOutput(
            value=value,
            interval=between,
            cases=shares.cases,
            p=shares.p,
            of_numbers=of_numbers,
            by_attempts=True,
        )
    tally = pair.clean
    if tally.difference is None:
        return None
    return DropOutput(
        value=tally.difference, interval=tally.interval, cases=tally.shared, p=tally.p, of_numbers=of_numbers
    )


def _values(before: Cell | None, after: Cell | None) -> tuple[float, float] | None:
    if before is None or after is None or before.value is after.value is None:
        return None
    return (before.share, after.share) if before.share is not None and after.share is not None else None


_WITHOUT_RESULT: dict[CellState, str] = {"unscored": "not scored", "partial": "partial credit without a pass rule"}


def _unmeasured(cell: Cell, failure: CaseFailure) -> CaseFailure:
    """Why a case has no result. Of rows that disagree, the reason and owner of one are not the case's."""
    if cell.state == "contradictory":
        return CaseFailure(reason=f"{cell.attempts:,} rows disagree", attempt=failure.attempt)
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


GateCode = Literal[
    "new_failures",
    "missing_cases",
    "score_below",
    "score_dropped",
    "not_fit",
    "stale_allowances",
    "not_comparable",
    "nothing_shared",
    "no_score",
    "no_baseline",
    "too_few_cases",
    "drop_in_doubt",
    "baseline_not_fit",
]
_FAILED: tuple[GateCode, ...] = (
    "not_fit",
    "new_failures",
    "missing_cases",
    "score_below",
    "score_dropped",
    "stale_allowances",
)


class AllowedCase(msgspec.Struct, frozen=True):
    """A case that may fail."""

    name: str
    reason: str = ""
    line: int = 0


class GateRules(Struct):
    owners: frozenset[str] = frozenset(("model",))
    """Whose new failures count."""
    without_presumed: bool = False
    """Without failures that are only presumed to be the model's."""
    fail_on_missing: bool = False
    min_score: float | None = None
    max_drop: float | None = None
    """By how much the score may drop; nothing where a score drops without new failures, else not asked."""
    policy: Policy = "clean"
    allowed: tuple[AllowedCase, ...] = ()
    needs_baseline: bool = True
    """Whether a gate without a baseline is not comparable; else only the fit and the score are checked."""


class GateInput(Struct):
    """What is known about a run and its baseline."""

    run: StoredRun
    scores: dict[Policy, Score]
    fit: bool
    problems: tuple[str, ...] = ()
    """Findings that make the run unfit."""
    case_states: dict[str, bool] = {}
    """Name of a case → whether it passes; only looked at where some are allowed to fail."""
    baseline: StoredRun | None = None
    baseline_scores: dict[Policy, Score] = {}
    baseline_problems: tuple[str, ...] = ()
    doubted: tuple[str, ...] = ()
    """Findings that doubt results which count, of the run or of its baseline."""
    changes: Changes | None = None
    refusal: str = ""
    """Why the two can't be compared."""
    differences: tuple[str, ...] = ()
    """The same in detail."""


class Gate(Struct):
    verdict: GateVerdict
    codes: tuple[GateCode, ...]
    """Why it did not pass."""
    notes: tuple[GateCode, ...]
    """What has to be known beside the verdict."""
    rules: GateRules
    given: GateInput
    new: tuple[CaseChange, ...] = ()
    """Cases that passed in the baseline and fail now, of the chosen owners."""
    allowed: tuple[CaseChange, ...] = ()
    """The same, but allowed to fail."""
    others: tuple[CaseChange, ...] = ()
    """The same, of other owners."""
    infrastructure: tuple[CaseChange, ...] = ()
    """Cases that passed in the baseline and were kept from passing by infrastructure."""
    stale: tuple[AllowedCase, ...] = ()
    """Entries of the allow-list whose case passes, or is not in the run."""

    @property
    def score(self) -> Score:
        return self.given.scores[self.rules.policy]


def decide(given: GateInput, rules: GateRules) -> Gate:
    regressed, infrastructure = (
        (given.changes.of("regressed"), given.changes.of("infrastructure")) if given.changes is not None else ((), ())
    )
    counting = [one for one in (*regressed, *infrastructure) if _counts(one, rules)]
    names = {one.name for one in rules.allowed}
    new = tuple(one for one in counting if one.name not in names)
    stale = tuple(_stale(given, rules))
    codes = tuple(_codes(given, rules, new=bool(new), stale=bool(stale)))
    return Gate(
        verdict=_verdict(codes),
        codes=codes,
        notes=tuple(_notes(given, rules)),
        rules=rules,
        given=given,
        new=new,
        allowed=tuple(one for one in counting if one.name in names),
        others=tuple(one for one in regressed if not _counts(one, rules)),
        infrastructure=tuple(one for one in infrastructure if not _counts(one, rules)),
        stale=stale,
    )


def _verdict(codes: Sequence[GateCode]) -> GateVerdict:
    """A failure that was found stays one, whatever could not be compared."""
    if any(code in _FAILED for code in codes):
        return "failed"
    return "not_comparable" if codes else "passed"


def _counts(change: CaseChange, rules: GateRules) -> bool:
    failure = change.failure
    owner = failure.owner or "unknown"
    return owner in rules.owners and not (rules.without_presumed and failure.is_presumed)


def _codes(given: GateInput, rules: GateRules, *, new: bool, stale: bool) -> Iterator[GateCode]:
    if not given.fit:
        yield "not_fit"
    if given.refusal:
        yield "not_comparable"
    elif given.changes is None:
        if rules.needs_baseline:
            yield "no_baseline"
    elif not (given.changes.shared or given.changes.drop):
        yield "nothing_shared"
    if new:
        yield "new_failures"
    if rules.fail_on_missing and given.changes is not None and given.changes.of("missing"):
        yield "missing_cases"
    if rules.min_score is not None:
        between = _interval(given.scores[rules.policy])
        if between is None:
            yield "no_score"
        elif between[1] < rules.min_score:
            yield "score_below"
    if (drop := _drop_to_judge(given, rules)) is not None and _low(drop) > (rules.max_drop or 0.0):
        yield "score_dropped"
    if stale:
        yield "stale_allowances"


def _drop_to_judge(given: GateInput, rules: GateRules) -> DropOutput | None:
    drop = given.changes.drop if given.changes is not None else None
    return drop if drop is not None and (drop.by_attempts or rules.max_drop is not None) else None


def _low(drop: DropOutput) -> float:
    return drop.interval[0] if drop.interval is not None else 0.0


def _notes(given: GateInput, rules: GateRules) -> Iterator[GateCode]:
    between = _interval(given.scores[rules.policy])
    if rules.min_score is not None and between is not None and between[0] < rules.min_score <= between[1]:
        yield "too_few_cases"
    bar, drop = rules.max_drop or 0.0, _drop_to_judge(given, rules)
    if drop is not None and _low(drop) <= bar < drop.value:
        yield "drop_in_doubt"
    if given.baseline_problems:
        yield "baseline_not_fit"
    if given.changes is None and not given.refusal and not rules.needs_baseline:
        yield "no_baseline"


def _interval(score: Score) -> Interval | None:
    """Of a single graded value there is no interval: then the rate itself."""
    if score.rate is None:
        return None
    return score.interval or (score.rate, score.rate)


def _stale(given: GateInput, rules: GateRules) -> Iterator[AllowedCase]:
    """What fails in the baseline too is still needed; what was not measured may be."""
    for entry in rules.allowed:
        if given.case_states.get(entry.name, True):
            yield entry


def parse_allowed(text: str, *, place: str) -> tuple[AllowedCase, ...]:
    """A case on each line; after ` # ` the reason. Empty lines and lines that begin with `#` are skipped."""
    entries: dict[str, AllowedCase] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, _, reason = line.partition(" # ")
        entry = AllowedCase(name.strip(), reason.strip(), number)
        if entry.name in entries:
            first = entries[entry.name].line
            raise SettingsError(
                f"`{place}` lists `{entry.name}` twice: in lines {first} and {number}", hint="remove one of them"
            )
        entries[entry.name] = entry
    return tuple(entries.values())


INFRASTRUCTURE = "infrastructure"


def owners_of(words: Sequence[str]) -> frozenset[str]:
    """`infrastructure` means all of its owners."""
    chosen = frozenset(word for word in words if word != INFRASTRUCTURE)
    return chosen | (NOT_THE_SUBJECTS if INFRASTRUCTURE in words else frozenset())
