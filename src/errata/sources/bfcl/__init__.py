"""BFCL, the Berkeley Function-Calling Leaderboard: results of models and the scores beside them."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from errata.model import Item, Run, Unreadable
from errata.sources.base import Row, convert_each, head_of, of_run
from errata.sources.bfcl.layout import NAME, Named, files_below, named
from errata.sources.bfcl.recognition import HEAD, is_score, recognise
from errata.sources.bfcl.rows import Scored, items_of
from errata.sources.bfcl.runs import Category, header_of, run_of
from errata.sources.shared.row_groups import Lines, lines_of
from errata.sources.shared.values import as_text

__all__ = ["NAME", "TITLE", "read", "recognise"]

TITLE = "BFCL: the folder with `result` and `score`, or one file of either"


class _Id(msgspec.Struct):
    id: Any = None

    def key(self) -> Any:
        return None if self.id is None else as_text(self.id)


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    if path.is_file():
        told = named(path) or Named("", "", path.stem, "", "")
        scored = is_score(head_of(path, HEAD))
        alone = Category(told, None, path) if scored else Category(told, path, None)
        yield from _category(alone, path.parent)
        return
    for category in _categories(path):
        yield from _category(category, path)


def _categories(root: Path) -> list[Category]:
    """Results and scores of one model and one category together, wherever they lie."""
    found: dict[tuple[str, str], Category] = {}
    for file in files_below(root):
        told = named(file)
        if told is None:
            continue
        before = found.get((told.model, told.category), Category(told, None, None))
        is_result = told.kind == "result"
        after = before._replace(result=file) if is_result else before._replace(score=file)
        found[told.model, told.category] = after
    return list(found.values())


def _category(category: Category, root: Path) -> Iterator[Item]:
    with ExitStack() as stack:
        results, scores = (_lines(path, root, stack) for path in (category.result, category.score))
        header = header_of(category.score, root)
        failed = scores.named if scores else 0
        names_all = results is not None and header.correct == results.named - failed
        run = run_of(category, header, root, names_all=names_all)
        yield run
        rows = _Rows(run, Scored(header.ref is not None, names_all, category.checker), results, scores)
        yield from of_run(run.id, rows.items())


def _lines(path: Path | None, root: Path, stack: ExitStack) -> Lines | None:
    try:
        return stack.enter_context(lines_of(path, _Id, _Id.key, source=NAME, root=root)) if path else None
    except OSError:
        return None


class _Rows:
    """The rows of a category: those of the results with what the scores say of them, then what only the scores have."""

    def __init__(self, run: Run, scored: Scored, results: Lines | None, scores: Lines | None) -> None:
        self._run, self._scored, self._results, self._scores = run, scored, results, scores

    def items(self) -> Iterator[Item]:
        if self._results is not None:
            yield from convert_each(self._results.together(), self._of_result, source=NAME)
        if self._scores is not None:
            rows = (row for row in self._scores.together() if not _is_header(row))
            yield from convert_each(rows, self._of_score, source=NAME)

    def _of_result(self, row: Row) -> Iterator[Item]:
        failed = self._scores.of(as_text(row.data[0].data["id"])) if self._scores is not None else ()
        return items_of(self._run, self._scored, row.data, failed)

    def _of_score(self, row: Row) -> Iterator[Item]:
        return items_of(self._run, self._scored, (), row.data)


def _is_header(row: Row | Unreadable) -> bool:
    return isinstance(row, Row) and isinstance(row.data[0].data, dict) and "accuracy" in row.data[0].data
