"""A row of a table → its case and its attempt.

ragas has no rule for passing and leaves a gap if an evaluator raised: its mean is over the rows with a value. The first
measure decides here; the others are kept beside it.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import (
    Attempt,
    Case,
    Check,
    Item,
    Output,
    Reported,
    Run,
    Scorer,
    SourceInfo,
    SourceRef,
    Step,
    case_key,
)
from errata.model.identity import fingerprint
from errata.model.words import CheckStatus
from errata.sources.base import Row, convert_each, number_or_none, of_run
from errata.sources.ragas import ANSWER, INPUT, NAME, REFERENCE, RETRIEVED
from errata.sources.ragas.tables import RagasColumns, RagasTable
from errata.sources.shared.chat import last_answer, steps_of_chat
from errata.sources.shared.documents import context_artefacts
from errata.sources.shared.facts import Facts, outcome_of
from errata.sources.shared.runs import CaseNumbering
from errata.sources.shared.values import as_text, mapping, non_empty, plain, rest, text

_HOMES = frozenset((INPUT, ANSWER, REFERENCE, RETRIEVED, "reference_contexts", "rubrics", "reference_tool_calls"))


class TableContext(NamedTuple):
    run: Run
    columns: RagasColumns
    numbering: CaseNumbering


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    table = RagasTable(path, path.parent)
    run = Run(
        native_id=f"{NAME}-{table.mark}",
        source=SourceInfo(name=NAME),
        reported=tuple(_reported(table, SourceRef(file=path.name))),
        scorers=tuple(Scorer(name=name) for name in table.columns.measures),
        origin=str(path.parent),
        ref=SourceRef(file=path.name),
    )
    yield run
    context = TableContext(run, table.columns, CaseNumbering())
    yield from of_run(run.id, convert_each(table.rows(), partial(items_of, context), source=NAME))


def _reported(table: RagasTable, ref: SourceRef) -> Iterator[Reported]:
    """The means that ragas prints but does not write to a file, with the number of rows that have a value."""
    counts = dict.fromkeys(table.columns.measures, 0)
    for row in table.rows():
        data = row.data if isinstance(row, Row) and isinstance(row.data, dict) else {}
        for name in counts:
            counts[name] += number_or_none(data.get(name)) is not None
    for name, rows in counts.items():
        yield Reported(name=name, metric="mean", n=rows, headline=name == table.columns.primary, ref=ref)


def items_of(context: TableContext, row: Row) -> Iterator[Item]:
    data = row.data
    name = _name(context.columns, data)
    index = context.numbering.next(name)
    case = _case(context.run, name, row)
    if context.numbering.is_news(case):
        yield case
    yield _attempt(context, name, index, row)


def _name(columns: RagasColumns, data: dict[str, Any]) -> str:
    ident = data.get(columns.ident) if columns.ident else None
    if ident not in (None, ""):
        return as_text(ident)
    # `KeyError` for a row without an input
    return f"input-{fingerprint(plain(data[INPUT]), size=6)}"


def _case(run: Run, name: str, row: Row) -> Case:
    data = row.data
    expected = data.get(REFERENCE)
    return Case(
        run=run.id,
        suite=run.suite,
        native_id=name,
        input=plain(data.get(INPUT)),
        expected=plain(data.get("reference_tool_calls") if expected is None else expected),
        extra=non_empty(
            reference_contexts=data.get("reference_contexts"),
            rubrics=data.get("rubrics"),
            reference_tool_calls=None if expected is None else data.get("reference_tool_calls"),
        ),
        ref=row.ref,
    )


def _attempt(context: TableContext, name: str, index: int, row: Row) -> Attempt:
    data, columns = row.data, context.columns
    value = number_or_none(data.get(columns.primary))
    facts = _facts(value)
    steps = _steps(data.get(INPUT))
    answer = data.get(ANSWER)
    own = {key: one for key, one in data.items() if key not in columns.measures and key != columns.ident}
    return Attempt(
        run=context.run.id,
        case=case_key(context.run.suite, name),
        index=index,
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        reported=value,
        reported_counted=value is not None,
        output=Output(text=last_answer(steps) if answer is None else as_text(answer)),
        checks=tuple(_checks(columns, row)),
        steps=steps,
        artefacts=tuple(context_artefacts(data.get(RETRIEVED), row.ref, RETRIEVED)),
        extra=rest(own, _HOMES) | non_empty(retrieved_contexts=text(data.get(RETRIEVED))),
        ref=row.ref,
    )


def _facts(value: float | None) -> Facts:
    if value is None:
        return Facts("completed", "unscored", "none")
    return Facts("completed", "scored", outcome_of(value) if 0 <= value <= 1 else "none")


def _checks(columns: RagasColumns, row: Row) -> Iterator[Check]:
    for order, name in enumerate(columns.measures):
        value = number_or_none(row.data.get(name))
        yield Check(
            name=name,
            status=_status(value),
            order=order,
            kind="criterion",
            value=value,
            is_primary=name == columns.primary,
            counts=name == columns.primary,
            ref=row.ref.below(name),
        )


def _status(value: float | None) -> CheckStatus:
    """Values between 0 and 1 have no threshold to compare with."""
    if value is None:
        return "unscored"
    return "pass" if value == 1 else "fail" if value == 0 else "not_applicable"


def _steps(question: Any) -> tuple[Step, ...]:
    """The messages of a sample with several turns, which have a type, such as `human` and `ai`, instead of a role."""
    if not isinstance(question, list):
        return ()
    messages = [{"role": one.get("type"), **one} for one in map(mapping, question)]
    return steps_of_chat([{key: child for key, child in one.items() if key != "type"} for one in messages])
