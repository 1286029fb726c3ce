"""Rows of a table are checked in one test: a test per row costs far more than what most rows check.

A parametrised test whose rows need nothing set up for each of them becomes one test that goes through all rows and
reports every row that fails, by its name. With `-k` or a name like `test_x[row]` on the command line, every row is a
test of its own again.
"""

import inspect
from collections.abc import Callable, Collection, Iterator
from itertools import product
from typing import Any, NamedTuple

import pytest
from hypothesis import is_hypothesis_test

SHARED = frozenset({"fixtures", "nothing_is_left_in_the_repository", "snapshot_check"})
"""Fixtures that all rows may share although each test gets its own."""
LONGEST_NAME = 100


class Row(NamedTuple):
    name: str
    values: dict[str, Any]


def pytest_pycollect_makeitem(collector: Any, name: str, obj: Any) -> list[pytest.Function] | None:
    if not isinstance(collector, pytest.Module) or not name.startswith("test_") or not inspect.isfunction(obj):
        return None
    if _one_row_is_chosen(collector.config) or is_hypothesis_test(obj):
        return None
    marks = [mark for mark in getattr(obj, "pytestmark", ()) if mark.name == "parametrize"]
    if not marks or not all(_is_plain(mark) for mark in marks):
        return None
    tables = [_rows(mark) for mark in marks]
    parametrised = {argument for table in tables for row in table for argument in row.values}
    needed = [argument for argument in inspect.signature(obj).parameters if argument not in parametrised]
    used = [fixture for mark in obj.pytestmark if mark.name == "usefixtures" for fixture in mark.args]
    if not all(_is_shared(fixture, collector) for fixture in (*needed, *used, *_autouse(collector))):
        return None
    together = _go_through(obj, tables, needed)
    return [pytest.Function.from_parent(collector, name=name, callobj=together)]


def _one_row_is_chosen(config: pytest.Config) -> bool:
    return bool(config.option.keyword) or any("[" in argument for argument in config.args)


def _is_plain(mark: pytest.Mark) -> bool:
    """Names and rows, perhaps names of the rows; no row with a mark of its own."""
    if len(mark.args) != 2 or set(mark.kwargs) - {"ids"} or not isinstance(mark.args[1], Collection):
        return False
    return bool(mark.args[1]) and not any(isinstance(row, _PARAM) and row.marks for row in mark.args[1])


_PARAM: Any = type(pytest.param())


def _rows(mark: pytest.Mark) -> list[Row]:
    names, rows = mark.args
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
    given = mark.kwargs.get("ids")
    ids = (
        [None] * len(rows) if given is None or callable(given) else [None if one is None else str(one) for one in given]
    )
    params = [
        row if isinstance(row, _PARAM) else pytest.param(*([row] if len(names) == 1 else row), id=name)
        for row, name in zip(rows, ids, strict=True)
    ]
    return [Row(str(param.id or ""), dict(zip(names, param.values, strict=True))) for param in params]


def _autouse(collector: Any) -> Iterator[str]:
    return collector.session._fixturemanager._getautousenames(collector)


def _is_shared(fixture: str, collector: Any) -> bool:
    definitions = collector.session._fixturemanager.getfixturedefs(fixture, collector)
    return fixture in SHARED or (bool(definitions) and definitions[-1].scope in ("module", "package", "session"))


def _go_through(test: Callable[..., None], tables: list[list[Row]], needed: list[str]) -> Callable[..., None]:
    def all_rows(**fixtures: Any) -> None:
        failures: list[BaseException] = []
        skipped: list[BaseException] = []
        number = 0
        for rows in product(*reversed(tables)):
            values = {name: value for row in rows for name, value in row.values.items()}
            number += 1
            try:
                test(**values, **fixtures)
            except pytest.skip.Exception as reason:
                skipped.append(reason)
            except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001 whatever a row raises is its failure
                failure.add_note(f"row: {_name(rows)}")
                failures.append(failure)
        if len(failures) == 1:
            raise failures[0]
        if failures:
            raise BaseExceptionGroup(f"{len(failures)} of {number} rows fail", failures)
        if len(skipped) == number:
            raise skipped[0]

    all_rows.__name__, all_rows.__doc__ = test.__name__, test.__doc__
    all_rows.__module__, all_rows.__wrapped__ = test.__module__, test
    all_rows.__signature__ = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in needed]
    )
    all_rows.pytestmark = [mark for mark in test.pytestmark if mark.name != "parametrize"]
    return all_rows


def _name(rows: tuple[Row, ...]) -> str:
    shown = (
        row.name or ", ".join(f"{name}={value!r}"[:LONGEST_NAME] for name, value in row.values.items()) for row in rows
    )
    return "; ".join(shown)
