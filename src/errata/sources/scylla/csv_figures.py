"""What an export says of subtests, in `subtests.csv`, and of tiers, in `summary.json`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from errata.model import Part, SourceRef, Unreadable
from errata.sources.base import Row, csv_rows, unreadable
from errata.sources.scylla.csv_join import KEY, row_key
from errata.sources.scylla.layout import NAME
from errata.sources.scylla.values import number, whole
from errata.sources.shared.values import known, mapping


class Figures:
    """Rows of `subtests.csv` by experiment, model, tier and subtest; each is asked for once."""

    def __init__(self, root: Path) -> None:
        self.problems: list[Unreadable] = []
        self._rows: dict[tuple[str, ...], Row] = {}
        path = root / "subtests.csv"
        for row in csv_rows(path, source=NAME, root=root) if path.is_file() else ():
            if isinstance(row, Row):
                self._rows.setdefault(row_key(row)[:4], row)
            else:
                self.problems.append(row)

    def of_model(self, model: str) -> Iterator[tuple[tuple[str, ...], Row]]:
        return ((key, row) for key, row in self._rows.items() if key[1] == model)

    def take(self, key: tuple[str, ...]) -> Row | None:
        return self._rows.pop(key, None)

    def left(self) -> Iterator[Unreadable]:
        """Subtests of which `runs.csv` has no run."""
        for row in self._rows.values():
            yield unreadable(NAME, row.ref, "no such subtest in runs.csv", excerpt=repr(row.data))


def subtest_parts(figures: Figures, model: str, names: dict[str, str]) -> Iterator[Part]:
    """`names` are the tests by experiment; a subtest stands under its test and tier, as its case does."""
    for (experiment, _, tier, subtest), row in figures.of_model(model):
        if experiment in names:
            yield _part(f"{names[experiment]}/{tier}/{subtest}", row.data, row.ref)


def tier_parts(summary: dict[str, Any]) -> Iterator[Part]:
    for tier, told in mapping(summary.get("by_tier")).items():
        yield _part(tier, mapping(told), _SUMMARY)


def other_figures(data: dict[str, Any]) -> dict[str, Any]:
    """Everything of a row but its key, for `extra`."""
    told = {name: found if (found := number(value)) is not None else value for name, value in data.items()}
    return known(**{name: value for name, value in told.items() if name not in KEY})


_SUMMARY = SourceRef(file="summary.json")


def _part(path: str, told: dict[str, Any], ref: SourceRef) -> Part:
    return Part(
        path=path,
        score=number(told.get("mean_score")),
        made=whole(told.get("total_runs")),
        pass_rate=number(told.get("pass_rate")),
        cost=number(told.get("total_cost")),
        cost_of_pass=number(told.get("cop")),
        ref=ref,
    )
