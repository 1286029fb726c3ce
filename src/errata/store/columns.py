"""Rows of a table, column by column: small rows mostly differ in few columns, and the others are kept as one value."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import Any

import msgspec

from errata.model.codec import fitting


class Columns(msgspec.Struct, array_like=True, eq=False):
    count: int = 0
    columns: list[Any] = []
    """Of each column a list, or the value that all rows have."""

    @classmethod
    def of(cls, rows: Sequence[Sequence[Any]]) -> "Columns":
        if len(rows) == 1:  # very many runs have only one
            return cls(1, [[value] if type(value) is list else value for value in rows[0]])
        return cls(len(rows), [_shortened(list(column)) for column in zip(*rows, strict=True)])

    @classmethod
    def joined(cls, parts: Sequence["Columns"]) -> "Columns":
        """The rows of several parts, one after the other."""
        filled = [part for part in parts if part.count]
        if len(filled) < 2:
            return filled[0] if filled else cls()
        return cls(sum(map(len, filled)), [_joined(filled, at) for at in range(len(filled[0].columns))])

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return zip(*map(self.column, range(len(self.columns))), strict=True)

    def __eq__(self, other: object) -> bool:
        """By their rows: a column may or may not be shortened to one value."""
        return isinstance(other, Columns) and self.count == other.count and list(self) == list(other)

    def column(self, at: int) -> Iterable[Any]:
        column = self.columns[at]
        return column if type(column) is list else repeat(column, self.count)

    def counts(self, *places: int) -> Counter[tuple[Any, ...]]:
        """How often each combination of values is in these columns."""
        chosen = [self.columns[at] for at in places]
        varying = [column for column in chosen if type(column) is list]
        often: Counter[tuple[Any, ...]] = Counter(zip(*varying, strict=True)) if varying else Counter({(): self.count})
        counts: Counter[tuple[Any, ...]] = Counter()
        for values, count in often.items():
            given = iter(values)
            counts[tuple([next(given) if type(column) is list else column for column in chosen])] += count
        return counts

    def part(self, start: int, end: int) -> list[Any]:
        """The columns of some rows."""
        return [column[start:end] if type(column) is list else column for column in self.columns]

    def fitting(self) -> "Columns":
        """With values that a database can hold."""
        return Columns(self.count, [list(map(fitting, self.column(at))) for at in range(len(self.columns))])


def _shortened(column: list[Any]) -> Any:
    value = column[0]
    if (value is not column[-1] and value != column[-1]) or column.count(value) < len(column):
        return column
    # 1, 1.0 and True are equal
    is_one = value is None or type(value) is str or len(set(map(type, column))) == 1
    return value if is_one and type(value) is not list else column


def _joined(parts: Sequence[Columns], at: int) -> Any:
    first = parts[0].columns[at]
    if type(first) is not list:
        others = [part.columns[at] for part in parts]
        if all(type(other) is type(first) and other == first for other in others):
            return first
    return list(chain.from_iterable(part.column(at) for part in parts))
