"""Results and scores of models. Each category is a run; its accuracy is in the first line of the scores."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from errata.model import FileConflict, Item, Reported, Run, Scorer, SourceInfo, SourceRef, Subject, Unreadable
from errata.model.identity import fingerprint
from errata.sources.base import Row, convert_each, head_of, json_lines, of_run, unreadable
from errata.sources.bfcl import FILE, GROUPS, HEAD, NAME, files_below, is_score
from errata.sources.bfcl.attempts import CategoryScores, items_of
from errata.sources.shared.row_groups import Key, Lines, lines_of
from errata.sources.shared.values import as_text, count, mapping, name_of, number, rest
from errata.text.lazy_regex import lazy_regex


class ScoreFields(msgspec.Struct):
    """The fields of a score row that show which result it belongs to."""

    id: Any = None
    prompt: Any = None
    model_result_raw: Any = None
    model_result: Any = None


class ScoreJoin:
    """The keys of score rows among those of the results, and what could not be joined."""

    def __init__(self, results: Lines | None, path: Path | None, total: int | None) -> None:
        self._results, self._path, self._total = results, path, total
        self._answers: _Answers | None = None
        self.matched: set[str] = set()
        self.only_scored: set[str] = set()
        """Failures in the scores without a row in the results."""
        self.unplaced = 0
        """Numbered score rows that can't be traced to a result."""

    def key(self, row: ScoreFields) -> Any:
        if row.id is None:
            return None
        names = names_in(row)
        if self._results is None:
            key = names[0] if names else as_text(row.id)
            self.only_scored.add(key)
            return key
        for name in names:
            if name in self._results:
                self.matched.add(name)
                return name
        if names:
            self.only_scored.add(names[0])
            return names[0]
        scored = self._scored_answer(row)
        if scored is None:
            self.unplaced += 1
            return None
        self.matched.add(scored)
        return scored

    @property
    def listed(self) -> int:
        """How many cases the scores list as failed, apart from those that can't be placed."""
        return len(self.matched) + len(self.only_scored)

    def _scored_answer(self, row: ScoreFields) -> str | None:
        if self._answers is None:
            self._answers = _Answers(self._path)
        raw = row.model_result_raw if row.model_result_raw is not None else row.model_result
        number = row.id if isinstance(row.id, int) and len(self._answers.names) == self._total else None
        return self._answers.name_of(raw, number)


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

    @property
    def total(self) -> int | None:
        return count(self.data.get("total_count"))


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
        header = header_of(category.score, root)
        results = _lines(category.result, root, stack, _Id, _Id.key)
        join = ScoreJoin(results, category.result, header.total)
        scores = _lines(category.score, root, stack, ScoreFields, join.key)
        tally = _ScoreTally(header, join, None if results is None else results.key_count)
        run = run_of(category, header, root, tally)
        yield run
        if join.unplaced and category.result is not None:
            # a failure must never be counted as a pass too
            ref = SourceRef(file=_relative(category.result, root))
            yield from of_run(run.id, [unreadable(NAME, ref, _CANT_JOIN.format(join.unplaced))])
            results = None
        rows = _CategoryRows(
            run, CategoryScores(header.ref is not None, tally.names_all, category.checker), results, scores
        )
        yield from of_run(run.id, rows.items())


_CANT_JOIN = (
    "{} of the score rows have a number for an id, and neither their prompt nor their answer shows "
    "which result they belong to: only the scores were read"
)


class _ScoreTally(NamedTuple):
    """Whether results and listed failures add up to the counts in the first line of the scores."""

    header: ScoreHeader
    join: ScoreJoin
    result_count: int | None
    """How many cases the results have; None if there are no results."""

    @property
    def not_listed(self) -> int:
        return (self.result_count or 0) - len(self.join.matched)

    @property
    def reads_scores_alone(self) -> bool:
        return self.result_count is None or self.join.unplaced > 0

    @property
    def lists_too_many(self) -> bool:
        """More failures are listed than the first line has: one of the two is wrong."""
        correct, total = self.header.correct, self.header.total
        return correct is not None and total is not None and correct + self.join.listed > total

    @property
    def names_all(self) -> bool:
        """The list holds every failure, so the other results are correct."""
        correct, total = self.header.correct, self.header.total
        if self.reads_scores_alone or correct is None or total is None:
            return False
        return self.join.listed >= total - correct and self.not_listed <= correct

    def conflicts(self) -> Iterator[FileConflict]:
        if self.header.ref is None or self.reads_scores_alone:
            return
        correct, total, listed = self.header.correct, self.header.total, self.join.listed
        stated = f"{correct} of {total} correct"
        if not self.names_all or self.lists_too_many:
            text = f"{self.result_count} results and {listed} listed failures do not add up to {stated}"
            certain = self.lists_too_many
            yield FileConflict(text=f"results and scores: {text}", is_certain=certain, ref=self.header.ref)
        if self.join.only_scored:
            first = min(self.join.only_scored)
            text = f"{len(self.join.only_scored)} of {listed} listed failures have no result row, such as {first}"
            yield FileConflict(text=f"results and scores: {text}", ref=self.header.ref)


def _lines(path: Path | None, root: Path, stack: ExitStack, fields: type[msgspec.Struct], key: Key) -> Lines | None:
    try:
        return stack.enter_context(lines_of(path, fields, key, source=NAME, root=root)) if path else None
    except OSError:
        return None


class _CategoryRows:
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
        name = as_text(row.data[0].data["id"])
        failed = self._scores.of(name) if self._scores is not None else ()
        return items_of(self._run, self._category_scores, name_of(row.data[0].data["id"]), row.data, failed)

    def _of_score(self, row: Row) -> Iterator[Item]:
        return items_of(self._run, self._category_scores, name_of_score(row.data[0].data), (), row.data)


def _is_header(row: Row | Unreadable) -> bool:
    return isinstance(row, Row) and isinstance(row.data[0].data, dict) and "accuracy" in row.data[0].data


def header_of(score: Path | None, root: Path) -> ScoreHeader:
    first = _first(score, root)
    is_header = isinstance(first, Row) and isinstance(first.data, dict) and "accuracy" in first.data
    return ScoreHeader(first.data, first.ref) if isinstance(first, Row) and is_header else ScoreHeader({}, None)


def run_of(category: Category, header: ScoreHeader, root: Path, tally: _ScoreTally) -> Run:
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
        expected_cases=header.total,
        measured_attempts=header.total,
        measured_unit="cases",
        measured_passes=header.correct,
        conflicts=tuple(tally.conflicts()),
        reported=tuple(_reported(header, tally)),
        scorers=(Scorer(name=category.checker),),
        origin=str(root),
        extra=rest({"group": parts.group}) | rest(header.data, _HEADER),
        ref=ref,
    )


def _reported(header: ScoreHeader, tally: _ScoreTally) -> Iterator[Reported]:
    if header.ref is None:
        return
    # scores list only failures: if these and the results do not add up, the correct rows are unknown
    how = "accuracy" if tally.names_all or tally.reads_scores_alone else "accuracy of rows that are not named"
    value, ref = number(header.data.get("accuracy")), header.ref.below("accuracy")
    yield Reported(name="accuracy", metric=how, value=value, n=header.total, headline=True, ref=ref)
    yield Reported(name="correct_count", metric="count", value=header.correct, ref=header.ref.below("correct_count"))


def _mark(category: Category, root: Path) -> str:
    """BFCL writes no run name or time; the latency in the first row distinguishes runs."""
    first = _first(category.result or category.score, root)
    return fingerprint(first.data if isinstance(first, Row) else None, size=3)


def _first(path: Path | None, root: Path) -> Any:
    return next(json_lines(path, source=NAME, root=root), None) if path else None


def _relative(path: Path | None, root: Path) -> str:
    return path.relative_to(root).as_posix() if path is not None and path != root else root.name


# --- find the result row of each score row
# Score files of current releases name a case by its text id. Older releases number the results from 1 and keep the
# text id in the prompt. Where the prompt has none either, only the answer shows which result was scored.


_DIGITS = lazy_regex(r"(\d+)")


def names_in(row: ScoreFields) -> list[str]:
    """The text ids of a score row, its own first; none where it has only a number."""
    prompt_id = mapping(row.prompt).get("id")
    return [one for one in (row.id, prompt_id) if isinstance(one, str) and one]


def name_of_score(data: dict[str, Any]) -> str:
    names = names_in(ScoreFields(id=data.get("id"), prompt=data.get("prompt")))
    return names[0] if names else name_of(data["id"])


class _Answers:
    """The answers in a result file and whose they are."""

    def __init__(self, path: Path | None) -> None:
        rows = json_lines(path, source=NAME, root=path.parent) if path else iter(())
        self.names: list[str] = []
        self._by_answer: dict[bytes, set[str]] = {}
        for row in rows:
            if isinstance(row, Row) and isinstance(row.data, dict) and row.data.get("id") is not None:
                self._add(as_text(row.data["id"]), row.data.get("result"))
        self._sorted = sorted(self.names, key=_as_counted)

    def _add(self, name: str, answer: Any) -> None:
        self.names.append(name)
        # some score rows have the answer as Python prints it
        for spelling in {_spelled(answer), _spelled(str(answer))}:
            self._by_answer.setdefault(spelling, set()).add(name)

    def name_of(self, answer: Any, number: int | None) -> str | None:
        """Whose answer it is. Of several equal ones the result at `number`, if all orders agree on it."""
        names = self._by_answer.get(_spelled(answer), set())
        if len(names) < 2:
            return next(iter(names), None)
        if number is None or not 0 < number <= len(self.names):
            return None
        numbered = {order[number - 1] for order in (self.names, self._sorted)} & names
        return numbered.pop() if len(numbered) == 1 else None


def _spelled(answer: Any) -> bytes:
    return msgspec.json.encode(answer, order="deterministic")


def _as_counted(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _DIGITS.split(name) if part]
