"""Find the result row of each score row.

Score files of current releases name a case by its text id. Older releases number the results from 1 and keep the text
id in the prompt. Where the prompt has none either, only the answer shows which result was scored.
"""

from pathlib import Path
from typing import Any

import msgspec

from errata.sources.base import Row, json_lines
from errata.sources.bfcl import NAME
from errata.sources.shared.row_groups import Lines
from errata.sources.shared.values import as_text, mapping, name_of
from errata.text.lazy_regex import lazy_regex

_DIGITS = lazy_regex(r"(\d+)")


class ScoreFields(msgspec.Struct):
    """The fields of a score row that show which result it belongs to."""

    id: Any = None
    prompt: Any = None
    model_result_raw: Any = None
    model_result: Any = None


def names_in(row: ScoreFields) -> list[str]:
    """The text ids of a score row, its own first; none where it has only a number."""
    prompt_id = mapping(row.prompt).get("id")
    return [one for one in (row.id, prompt_id) if isinstance(one, str) and one]


def name_of_score(data: dict[str, Any]) -> str:
    """The name of a case that only the scores have."""
    names = names_in(ScoreFields(id=data.get("id"), prompt=data.get("prompt")))
    return names[0] if names else name_of(data["id"])


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
