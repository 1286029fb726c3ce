"""Records as flat rows: one column for each value, the same columns whatever the rows hold."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import inspect

from errata.model.codec import to_whole
from errata.model.record import Record

ColumnKind = Literal["text", "integer", "number", "boolean", "texts", "json"]
NOT_COLUMNS = frozenset(("extra", "ref"))
"""Fields of every record that hold what only one harness has."""


class TableColumn(NamedTuple):
    name: str
    kind: ColumnKind
    path: tuple[str, ...]
    """The keys that lead to the value in the JSON form of a row."""


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
    """The values in the order of the columns."""
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
