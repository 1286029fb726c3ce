"""The tables of runs and comparisons, their texts redacted as in `--json`."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import inspect

from errata.compare.comparison import Comparison
from errata.compare.scores import Score
from errata.compare.trials import Timeouts
from errata.errors import SettingsError, extra_hint
from errata.model import Attempt, Check
from errata.model.codec import to_whole
from errata.model.filters import Filters
from errata.model.output.failures import FailureOutput
from errata.model.record import Record
from errata.model.run import case_name
from errata.model.tables import AttemptRow, CellRow, CheckRow, PairRow, ScoreRow
from errata.render.files import replacing
from errata.render.html import html_table
from errata.runs.failures import refuse_unknown
from errata.runs.view import RunView
from errata.text.outgoing import cell_for_user, tree_for_user

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


ColumnKind = Literal["text", "integer", "number", "boolean", "texts", "json"]


class TableColumn(NamedTuple):
    name: str
    kind: ColumnKind
    path: tuple[str, ...]
    """The keys that lead to the value in the JSON form of a row."""


Row = TypeVar("Row", bound=msgspec.Struct)
BATCH = 2_000
"""Rows that are in memory at once while a table is written or streamed."""
PREVIEW = 20


class DataTable(Generic[Row]):
    """Rows are read from the store each time the table is iterated over; a table holds none itself.

    Any library that supports the Arrow PyCapsule interface accepts a table as it is: `polars.DataFrame(table)`,
    `pyarrow.table(table)`, `duckdb.sql("select * from table")`.
    """

    def __init__(
        self,
        name: str,
        row_type: type[Row],
        read_rows: Callable[[], Iterable[Row]],
        *,
        preview: Sequence[str] = (),
    ) -> None:
        """`preview` names the columns that a notebook shows; default: all."""
        self.name, self._row_type, self._read_rows = name, row_type, read_rows
        self._columns = columns_of(row_type)
        self._preview = preview
        self._size: int | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(column.name for column in self._columns)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._read_rows())

    def __len__(self) -> int:
        if self._size is None:
            self._size = sum(1 for _ in self)
        return self._size

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self):,} rows, {len(self._columns)} columns>"

    def _repr_html_(self) -> str:
        shown = [column for column in self._columns if not self._preview or column.name in self._preview]
        rows = [flat_row(row, tuple(shown)) for row in islice(self, PREVIEW)]
        hidden = len(self) - len(rows)
        note = f"{hidden:,} more rows" if hidden else ""
        return html_table([column.name for column in shown], rows, caption=f"{self.name}: {len(self):,}", note=note)

    # Arrow

    def __arrow_c_schema__(self) -> object:
        return self._schema().__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A stream of batches: a large table is never in memory as a whole."""
        arrow = _library("pyarrow", "parquet")
        reader = arrow.RecordBatchReader.from_batches(self._schema(), self._batches())
        return reader.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> "pyarrow.Table":
        arrow = _library("pyarrow", "parquet")
        return arrow.Table.from_batches(self._batches(), schema=self._schema())

    def to_pandas(self) -> "pandas.DataFrame":
        """Whole numbers and booleans stay what they are where values are missing."""
        library, arrow = _library("pandas", "pandas"), _library("pyarrow", "pandas")
        types = {arrow.int64(): library.Int64Dtype(), arrow.bool_(): library.BooleanDtype()}
        return self.to_arrow().to_pandas(types_mapper=types.get)

    def to_polars(self) -> "polars.DataFrame":
        frame: polars.DataFrame = _library("polars", "polars").DataFrame(self)
        return frame

    def _schema(self) -> Any:
        arrow = _library("pyarrow", "parquet")
        types = {
            "text": arrow.string(),
            "integer": arrow.int64(),
            "number": arrow.float64(),
            "boolean": arrow.bool_(),
            "texts": arrow.list_(arrow.string()),
            "json": arrow.string(),
        }
        return arrow.schema([(column.name, types[column.kind]) for column in self._columns])

    def _batches(self) -> Iterator[Any]:
        arrow, schema = _library("pyarrow", "parquet"), self._schema()
        rows = (flat_row(row, self._columns) for row in self)
        while batch := list(islice(rows, BATCH)):
            values_by_column = zip(*batch, strict=True)
            arrays = [arrow.array(values, field.type) for values, field in zip(values_by_column, schema, strict=True)]
            yield arrow.record_batch(arrays, schema=schema)

    # files

    def write_csv(self, path: Path | str) -> int:
        """The number of rows. No cell starts a formula in a spreadsheet; lists are written as JSON."""
        count = 0
        with replacing(Path(path)) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.columns)
            for row in self:
                cells = zip(flat_row(row, self._columns), self._columns, strict=True)
                writer.writerow([_csv_cell(value, column) for value, column in cells])
                count += 1
        return count

    def write_parquet(self, path: Path | str) -> int:
        parquet = _library("pyarrow.parquet", "parquet")
        count = 0
        with replacing(Path(path)) as unfinished, parquet.ParquetWriter(unfinished, self._schema()) as writer:
            for batch in self._batches():
                writer.write_batch(batch)
                count += batch.num_rows
        return count


def _csv_cell(value: Any, column: TableColumn) -> str:
    if value is None:
        return ""
    if column.kind == "texts":
        value = msgspec.json.encode(value).decode("utf-8")
    if isinstance(value, str):
        return cell_for_user(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _library(module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise SettingsError(f"{module.partition('.')[0]} is not installed", hint=extra_hint(extra)) from error


# --- records as flat rows: one column for each value, the same columns whatever the rows hold


NOT_COLUMNS = frozenset(("extra", "ref"))
"""Fields of every record that hold what only one harness has."""


def columns_of(row_type: type[msgspec.Struct]) -> tuple[TableColumn, ...]:
    """Objects become columns with their name in front (`verdict_label`); what is nested deeper becomes JSON."""
    columns: list[TableColumn] = []
    for field in _fields(row_type):
        plain = _without_null(field.type)
        if isinstance(plain, inspect.StructType):
            columns += (
                TableColumn(f"{field.encode_name}_{inner.encode_name}", _kind(inner.type), _path(field, inner))
                for inner in _fields(plain.cls)
            )
        else:
            columns.append(TableColumn(field.encode_name, _kind(field.type), _path(field)))
    return tuple(columns)


def flat_row(row: msgspec.Struct, columns: tuple[TableColumn, ...]) -> list[Any]:
    record = to_whole(row)
    return [_value(record, column) for column in columns]


def _value(record: Mapping[str, Any], column: TableColumn) -> Any:
    value: Any = record
    for key in column.path:
        value = value.get(key) if value is not None else None
    if column.kind == "json" and value is not None:
        return msgspec.json.encode(value).decode("utf-8")
    if column.kind == "number" and value is not None:
        return float(value)
    return value


def _fields(row_type: type[msgspec.Struct]) -> list[inspect.Field]:
    described = inspect.type_info(row_type)
    assert isinstance(described, inspect.StructType)
    is_record = issubclass(row_type, Record)
    return [field for field in described.fields if not is_record or field.name not in NOT_COLUMNS]


def _path(*fields: inspect.Field) -> tuple[str, ...]:
    return tuple(field.encode_name for field in fields)


def _without_null(described: inspect.Type) -> inspect.Type:
    if not isinstance(described, inspect.UnionType):
        return described
    others = [part for part in described.types if not isinstance(part, inspect.NoneType)]
    return others[0] if len(others) == 1 else described


def _kind(described: inspect.Type) -> ColumnKind:
    plain = _without_null(described)
    if isinstance(plain, inspect.StrType | inspect.LiteralType):
        return "text"
    if isinstance(plain, inspect.BoolType):
        return "boolean"
    if isinstance(plain, inspect.IntType):
        return "integer"
    if isinstance(plain, inspect.FloatType):
        return "number"
    if isinstance(plain, inspect.VarTupleType) and _kind(plain.item_type) == "text":
        return "texts"
    return "json"


Views = Callable[[], Iterable[RunView]]
"""The runs of a table, loaded each time it is read: the store may have changed since."""


def failures_table(views: Views, filters: Filters | None = None) -> DataTable[FailureOutput]:
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
