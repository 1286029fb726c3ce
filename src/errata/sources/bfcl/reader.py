"""Results and scores of models. Each category is a run; its accuracy is in the first line of the scores."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from errata.model import Item, Reported, Run, Scorer, SourceInfo, SourceRef, Subject, Unreadable
from errata.model.identity import fingerprint
from errata.sources.base import Row, convert_each, head_of, json_lines, of_run
from errata.sources.bfcl import FILE, GROUPS, HEAD, NAME, files_below, is_score
from errata.sources.bfcl.attempts import CategoryScores, items_of
from errata.sources.shared.row_groups import Lines, lines_of
from errata.sources.shared.values import as_text, count, number, rest

_HEADER = ("accuracy", "correct_count", "total_count")


class PathParts(NamedTuple):
    """The parts of a file's path."""

    model: str
    group: str
    category: str
    version: str
    kind: str
    """`result` or `score`."""


class Category(NamedTuple):
    parts: PathParts
    result: Path | None
    score: Path | None

    @property
    def checker(self) -> str:
        """The BFCL checker for this category."""
        name = self.parts.category
        if "relevance" in name:
            return "irrelevance_checker" if "irrelevance" in name else "relevance_checker"
        if name.startswith("multi_turn"):
            return "multi_turn_checker"
        return "agentic_checker" if name.startswith(("web_search", "memory")) else "ast_checker"


class ScoreHeader(NamedTuple):
    """The first line of the scores; `ref` is None if there are no scores."""

    data: dict[str, Any]
    ref: SourceRef | None

    @property
    def correct(self) -> int | None:
        return count(self.data.get("correct_count"))


class _Id(msgspec.Struct):
    id: Any = None

    def key(self) -> Any:
        return None if self.id is None else as_text(self.id)


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    if path.is_file():
        parts = parts_of(path) or PathParts("", "", path.stem, "", "")
        holds_scores = is_score(head_of(path, HEAD))
        alone = Category(parts, None, path) if holds_scores else Category(parts, path, None)
        yield from _category(alone, path.parent)
        return
    for category in _categories(path):
        yield from _category(category, path)


def _categories(root: Path) -> list[Category]:
    """Pair the results and scores of each model and category, in any folder."""
    categories: dict[tuple[str, str], Category] = {}
    for file in files_below(root):
        parts = parts_of(file)
        if parts is None:
            continue
        before = categories.get((parts.model, parts.category), Category(parts, None, None))
        is_result = parts.kind == "result"
        after = before._replace(result=file) if is_result else before._replace(score=file)
        categories[parts.model, parts.category] = after
    return list(categories.values())


def parts_of(file: Path) -> PathParts | None:
    """Model and category come from the path: result rows contain neither."""
    match = FILE.fullmatch(file.name)
    if match is None:
        return None
    folder, groups = file.parent, []
    while folder.name in GROUPS:
        groups.append(folder.name)
        folder = folder.parent
    return PathParts(folder.name, "/".join(reversed(groups)), match["category"], match["version"] or "", match["kind"])


def _category(category: Category, root: Path) -> Iterator[Item]:
    with ExitStack() as stack:
        results, scores = (_lines(path, root, stack) for path in (category.result, category.score))
        header = header_of(category.score, root)
        failed = scores.key_count if scores else 0
        names_all = results is not None and header.correct == results.key_count - failed
        run = run_of(category, header, root, names_all=names_all)
        yield run
        rows = _Rows(run, CategoryScores(header.ref is not None, names_all, category.checker), results, scores)
        yield from of_run(run.id, rows.items())


def _lines(path: Path | None, root: Path, stack: ExitStack) -> Lines | None:
    try:
        return stack.enter_context(lines_of(path, _Id, _Id.key, source=NAME, root=root)) if path else None
    except OSError:
        return None


class _Rows:
    """The rows of a category: results with their scores, then failures that only the scores list."""

    def __init__(self, run: Run, category_scores: CategoryScores, results: Lines | None, scores: Lines | None) -> None:
        self._run, self._category_scores, self._results, self._scores = run, category_scores, results, scores

    def items(self) -> Iterator[Item]:
        if self._results is not None:
            yield from convert_each(self._results.together(), self._of_result, source=NAME)
        if self._scores is not None:
            rows = (row for row in self._scores.together() if not _is_header(row))
            yield from convert_each(rows, self._of_score, source=NAME)

    def _of_result(self, row: Row) -> Iterator[Item]:
        failed = self._scores.of(as_text(row.data[0].data["id"])) if self._scores is not None else ()
        return items_of(self._run, self._category_scores, row.data, failed)

    def _of_score(self, row: Row) -> Iterator[Item]:
        return items_of(self._run, self._category_scores, (), row.data)


def _is_header(row: Row | Unreadable) -> bool:
    return isinstance(row, Row) and isinstance(row.data[0].data, dict) and "accuracy" in row.data[0].data


def header_of(score: Path | None, root: Path) -> ScoreHeader:
    first = _first(score, root)
    is_header = isinstance(first, Row) and isinstance(first.data, dict) and "accuracy" in first.data
    return ScoreHeader(first.data, first.ref) if isinstance(first, Row) and is_header else ScoreHeader({}, None)


def run_of(category: Category, header: ScoreHeader, root: Path, *, names_all: bool) -> Run:
    parts = category.parts
    main = category.result or category.score
    ref = header.ref or SourceRef(file=_relative(main, root))
    return Run(
        native_id="_".join(filter(None, (parts.category, parts.model, _mark(category, root)))),
        group=parts.model,
        source=SourceInfo(name=NAME, format_version=parts.version),
        name=parts.category,
        subject=Subject(model=parts.model),
        suite=f"{parts.version}_{parts.category}" if parts.version else parts.category,
        expected_cases=count(header.data.get("total_count")),
        measured_attempts=count(header.data.get("total_count")),
        reported=tuple(_reported(header, names_all=names_all)),
        scorers=(Scorer(name=category.checker),),
        origin=str(root),
        extra=rest({"group": parts.group}) | rest(header.data, _HEADER),
        ref=ref,
    )


def _reported(header: ScoreHeader, *, names_all: bool) -> Iterator[Reported]:
    if header.ref is None:
        return
    # scores list only failures: if these and the results do not add up, the correct rows are unknown
    how = "accuracy" if names_all else "accuracy of rows that are not named"
    n = count(header.data.get("total_count"))
    value = number(header.data.get("accuracy"))
    yield Reported(name="accuracy", metric=how, value=value, n=n, headline=True, ref=header.ref.below("accuracy"))
    yield Reported(name="correct_count", metric="count", value=header.correct, ref=header.ref.below("correct_count"))


def _mark(category: Category, root: Path) -> str:
    """BFCL writes no run name or time; the latency in the first row distinguishes runs."""
    first = _first(category.result or category.score, root)
    return fingerprint(first.data if isinstance(first, Row) else None, size=3)


def _first(path: Path | None, root: Path) -> Any:
    return next(json_lines(path, source=NAME, root=root), None) if path else None


def _relative(path: Path | None, root: Path) -> str:
    return path.relative_to(root).as_posix() if path is not None and path != root else root.name
