"""Any file of deepeval in one form and one spelling: the fields of the test run, and its cases."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from errata.model import SourceRef, Unreadable
from errata.model.identity import fingerprint
from errata.sources.base import Row, describe, head_of, unreadable
from errata.sources.deepeval import CASES, CONVERSATIONS, HEAD, NAME, RESULTS, WRAPPER, is_result
from errata.sources.shared.json_rows import LongDocument, long_document
from errata.sources.shared.values import mapping, plain, sequence, text
from errata.text.lazy_regex import lazy_regex

_CAPITAL = lazy_regex(r"(?<=[a-z0-9])([A-Z])")
# fields with different names in the two forms
_ALIASES = {"input_token_count": "input_tokens", "output_token_count": "output_tokens", "order": "index"}


class TestRun:
    """Its cases are read twice: the run's id depends on all of them."""

    def __init__(self, document: LongDocument) -> None:
        self.ref: SourceRef = document.ref
        self.header: dict[str, Any] = {}
        self.problems: list[Unreadable] = list(document.problems())
        self._document = document
        for name in document.fields:
            try:
                self.header[snake(name)] = document.field(name)
            except ValueError as error:
                self.problems.append(unreadable(NAME, document.ref.below(name), describe(error)))
        self._conversations = sequence(self.header.pop(snake(CONVERSATIONS), None))

    def rows(self) -> Iterator[Row | Unreadable]:
        yield from self._document.rows()
        for at, conversation in enumerate(self._conversations):
            yield Row(conversation, self.ref.below(CONVERSATIONS, at))

    def cases(self) -> Iterator[dict[str, Any]]:
        return (fields(row.data) for row in self.rows() if isinstance(row, Row))

    @property
    def mark(self) -> str:
        """A fingerprint of the cases, equal in every form of the run; deepeval writes no id."""
        return fingerprint(sorted(map(_mark_of, self.cases())), size=6)


def results_at(path: Path, root: Path) -> TestRun | Unreadable:
    listed = RESULTS if is_result(head_of(path, HEAD)) else CASES
    document = long_document(path, listed, source=NAME, root=root)
    if isinstance(document, Unreadable):
        return document
    return TestRun(_unwrapped(document) if WRAPPER in document.fields else document)


def same_run(path: Path, other: Path) -> bool:
    first, second = results_at(path, path), results_at(other, other)
    return isinstance(first, TestRun) and isinstance(second, TestRun) and first.mark == second.mark


def _unwrapped(wrapper: LongDocument) -> LongDocument:
    inner = LongDocument(NAME, wrapper.ref.below(WRAPPER), CASES)
    try:
        inner.take_strictly(wrapper.fields[WRAPPER])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        inner.take_step_by_step(wrapper.fields[WRAPPER])
    return inner


def _mark_of(case: dict[str, Any]) -> str:
    """Expectations are excluded: a test run stores them elsewhere."""
    measured = [one for one in objects(case.get("metrics_data")) if not one.get("expectations_data")]
    scores = [[one.get("name"), one.get("score"), text(one.get("error"))] for one in measured]
    turns = [[one.get("role"), one.get("content")] for one in objects(case.get("turns"))]
    answer = [case.get(name) for name in ("name", "success", "input", "actual_output")]
    return fingerprint(plain([answer, turns, scores]))


def snake(name: str) -> str:
    snake_name = _CAPITAL.sub(r"_\1", name).lower()
    return _ALIASES.get(snake_name, snake_name)


def fields(value: Any) -> dict[str, Any]:
    """An object with its field names in snake case; values are unchanged."""
    return {snake(name): child for name, child in mapping(value).items()}


def objects(value: Any) -> list[dict[str, Any]]:
    return [fields(one) for one in sequence(value)]
