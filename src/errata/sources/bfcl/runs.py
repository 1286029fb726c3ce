"""A category that a model was tested on → its run, with the number that the scores begin with."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Reported, Run, Scorer, SourceInfo, SourceRef, Subject
from errata.model.identity import fingerprint
from errata.sources.base import Row, json_lines
from errata.sources.bfcl.layout import NAME, Named
from errata.sources.shared.values import count, number, rest

_HEADER = ("accuracy", "correct_count", "total_count")


class Category(NamedTuple):
    named: Named
    result: Path | None
    score: Path | None

    @property
    def checker(self) -> str:
        """Which of BFCL's checkers compares the answers of this category."""
        name = self.named.category
        if "relevance" in name:
            return "irrelevance_checker" if "irrelevance" in name else "relevance_checker"
        if name.startswith("multi_turn"):
            return "multi_turn_checker"
        return "agentic_checker" if name.startswith(("web_search", "memory")) else "ast_checker"


class Header(NamedTuple):
    """The first line of the scores; without a place where there are none."""

    data: dict[str, Any]
    ref: SourceRef | None

    @property
    def correct(self) -> int | None:
        return count(self.data.get("correct_count"))


def header_of(score: Path | None, root: Path) -> Header:
    first = _first(score, root)
    is_header = isinstance(first, Row) and isinstance(first.data, dict) and "accuracy" in first.data
    return Header(first.data, first.ref) if isinstance(first, Row) and is_header else Header({}, None)


def run_of(category: Category, header: Header, root: Path, *, names_all: bool) -> Run:
    told = category.named
    main = category.result or category.score
    ref = header.ref or SourceRef(file=_relative(main, root))
    return Run(
        native_id="_".join(filter(None, (told.category, told.model, _mark(category, root)))),
        group=told.model,
        source=SourceInfo(name=NAME, format_version=told.version),
        name=told.category,
        subject=Subject(model=told.model),
        suite=f"{told.version}_{told.category}" if told.version else told.category,
        expected_cases=count(header.data.get("total_count")),
        measured_attempts=count(header.data.get("total_count")),
        reported=tuple(_reported(header, names_all=names_all)),
        scorers=(Scorer(name=category.checker),),
        origin=str(root),
        extra=rest({"group": told.group}) | rest(header.data, _HEADER),
        ref=ref,
    )


def _reported(header: Header, *, names_all: bool) -> Iterator[Reported]:
    if header.ref is None:
        return
    # the scores name the failures alone: where these and the results do not add up, nobody can tell what was right
    how = "accuracy" if names_all else "accuracy of rows that are not named"
    n = count(header.data.get("total_count"))
    value = number(header.data.get("accuracy"))
    yield Reported(name="accuracy", metric=how, value=value, n=n, headline=True, ref=header.ref.below("accuracy"))
    yield Reported(name="correct_count", metric="count", value=header.correct, ref=header.ref.below("correct_count"))


def _mark(category: Category, root: Path) -> str:
    """BFCL gives a run no name and no time; what the first row took is not the same twice."""
    first = _first(category.result or category.score, root)
    return fingerprint(first.data if isinstance(first, Row) else None, size=3)


def _first(path: Path | None, root: Path) -> Any:
    return next(json_lines(path, source=NAME, root=root), None) if path else None


def _relative(path: Path | None, root: Path) -> str:
    return path.relative_to(root).as_posix() if path is not None and path != root else root.name
