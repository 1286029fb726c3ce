"""The tables of runs and comparisons, their texts redacted as in `--json`."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import msgspec

from errata.compare.comparison import Comparison
from errata.compare.scores import Score
from errata.compare.trials import Timeouts
from errata.export.data_table import DataTable
from errata.model import Attempt, Check
from errata.model.codec import to_whole
from errata.model.filters import Filters
from errata.model.output.failures import FailureOutput
from errata.model.run import case_name
from errata.model.tables import AttemptRow, CellRow, CheckRow, PairRow, ScoreRow
from errata.runs.failures import refuse_unknown
from errata.runs.view import RunView
from errata.text.outgoing import tree_for_user

Row = TypeVar("Row", bound=msgspec.Struct)
Views = Callable[[], Iterable[RunView]]
"""The runs of a table, loaded each time it is read: the store may have changed since."""


def failures_table(views: Views, filters: Filters | None = None) -> DataTable[FailureOutput]:
    """The rows of `errata failures --json`. A filter by a name that no run has is an error, as there."""

    def read_rows() -> Iterator[FailureOutput]:
        is_empty, loaded = True, list(views())
        for view in loaded:
            for failure in view.failures(filters):
                is_empty = False
                yield redact_row(failure.as_json())
        if is_empty and filters is not None:
            refuse_unknown(filters, loaded)

    preview = ("run", "model", "case", "attempt", "owner", "confidence", "failed_checks", "reason", "verdict_label")
    return DataTable("failures", FailureOutput, read_rows, preview=preview)


def attempts_table(views: Views) -> DataTable[AttemptRow]:
    def read_rows() -> Iterator[AttemptRow]:
        for view in views():
            for attempt in view.attempts(counted=True, by_position=True):
                yield redact_row(_attempt_row(attempt, view))

    preview = ("run", "model", "case", "attempt", "execution", "measurement", "outcome", "failed_checks", "duration")
    return DataTable("attempts", AttemptRow, read_rows, preview=preview)


def checks_table(views: Views) -> DataTable[CheckRow]:
    def read_rows() -> Iterator[CheckRow]:
        for view in views():
            for attempt in view.attempts(counted=True, by_position=True):
                for check in attempt.checks:
                    yield redact_row(_check_row(check, attempt, view))

    preview = ("run", "model", "case", "attempt", "check", "status", "value", "value_text", "explanation")
    return DataTable("checks", CheckRow, read_rows, preview=preview)


def scores_table(views: Views, timeouts: Timeouts) -> DataTable[ScoreRow]:
    """Each run under each policy, as a whole and by category."""

    def read_rows() -> Iterator[ScoreRow]:
        for view in views():
            scores = view.scores(timeouts=timeouts)
            for score in scores.scores.values():
                yield redact_row(score_row(score, view))
            for category, parts in scores.categories.items():
                for score in parts.values():
                    yield redact_row(score_row(score, view, category))

    preview = ("run", "model", "policy", "category", "passed", "total", "rate", "low", "high", "left_out")
    return DataTable("scores", ScoreRow, read_rows, preview=preview)


def redact_row(row: Row) -> Row:
    """Without secrets, as every command prints it."""
    return msgspec.convert(tree_for_user(to_whole(row)), type(row))


def score_row(score: Score, view: RunView, category: str | None = None) -> ScoreRow:
    low, high = score.interval or (None, None)
    return ScoreRow(
        run=view.run.native_id,
        run_id=view.run.id,
        model=view.run.subject.model,
        policy=score.policy,
        category=category,
        passed=score.passed,
        total=score.total,
        rate=score.rate,
        mean=score.mean,
        low=low,
        high=high,
        left_out=sum(score.left_out.values()),
        stated=score.stated,
    )


def cell_rows(comparison: Comparison) -> Iterator[CellRow]:
    for case, cells in comparison.matrix.rows.items():
        facts = comparison.cases[case]
        for column, cell in zip(comparison.matrix.columns, cells, strict=True):
            row = CellRow(
                run=column.run.native_id,
                run_id=column.run.id,
                label=column.label,
                model=column.run.subject.model,
                case=facts.name,
                case_key=case,
                categories=facts.categories,
                is_edited=case in comparison.edited,
                state=cell.state if cell else None,
                attempts=cell.attempts if cell else None,
                passes=cell.passes if cell else None,
            )
            yield redact_row(row)


def pair_rows(comparison: Comparison) -> Iterator[PairRow]:
    """Each pair over all shared cases, and without infrastructure failures."""
    for pair in comparison.pairings:
        for tally, is_clean in ((pair.all, False), (pair.clean, True)):
            low, high = tally.interval or (None, None)
            row = PairRow(
                first=pair.first,
                second=pair.second,
                is_clean=is_clean,
                shared=tally.shared,
                only_first_fails=tally.only_first_fails,
                only_second_fails=tally.only_second_fails,
                p=tally.p,
                adjusted=tally.adjusted,
                difference=tally.difference,
                low=low,
                high=high,
                is_significant=tally.differs,
            )
            yield redact_row(row)


def _attempt_fields(attempt: Attempt, view: RunView) -> dict[str, Any]:
    run = view.run
    return {
        "run": run.native_id,
        "run_id": run.id,
        "model": run.subject.model,
        "case": case_name(run, attempt.case),
        "case_key": attempt.case,
        "attempt": attempt.index,
        "session": attempt.session,
        "attempt_id": attempt.id,
    }


def _attempt_row(attempt: Attempt, view: RunView) -> AttemptRow:
    error = next((error for error in attempt.errors if not error.recovered), None)
    subject = attempt.usage.subject
    return AttemptRow(
        **_attempt_fields(attempt, view),
        category=next(iter(view.categories.get(attempt.case, ())), None),
        execution=attempt.execution,
        measurement=attempt.measurement,
        outcome=attempt.outcome,
        is_failure=attempt.is_failure,
        native_status=attempt.native_status or None,
        failed_checks=attempt.failed_checks,
        value=attempt.value if attempt.value is not None else {"pass": 1.0, "fail": 0.0}.get(attempt.outcome),
        reported=attempt.reported,
        threshold=attempt.threshold,
        output=attempt.output.text,
        answer=attempt.output.answer,
        stop_reason=attempt.stop_reason or None,
        error_type=error.type if error else None,
        error_message=error.message if error else None,
        started_at=attempt.started_at,
        finished_at=attempt.finished_at,
        duration=attempt.duration,
        input_tokens=subject.input,
        output_tokens=subject.output,
        cost=attempt.usage.cost,
    )


def _check_row(check: Check, attempt: Attempt, view: RunView) -> CheckRow:
    is_text = isinstance(check.value, str)
    return CheckRow(
        **_attempt_fields(attempt, view),
        check=check.name,
        status=check.status,
        is_failed=check.failed,
        counts=check.counts,
        kind=check.kind,
        is_primary=check.is_primary,
        scorer=check.scorer or None,
        judge=check.judge or None,
        value=None if is_text or check.value is None else float(check.value),
        value_text=str(check.value) if is_text else None,
        achieved=check.achieved,
        max=check.max,
        threshold=check.threshold,
        explanation=check.explanation or None,
        reason_code=check.reason_code or None,
        duration=check.duration,
    )
