"""Failed checks by run, and the patterns that stand in place of an answer: an ended session, nothing, a limit."""

from collections.abc import Collection, Mapping

import msgspec

from errata.compare.matrix import Matrix
from errata.model import Attempt, Attribution
from errata.model.attempt import EMPTY_RESPONSE


class CountByRun(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    """A check, or the reason for a missing answer."""
    by_run: tuple[int, ...]
    """In how many attempts, a number for each column."""
    cases: int
    """Over how many cases."""

    @property
    def total(self) -> int:
        return sum(self.by_run)


def failed_dimensions(
    matrix: Matrix, failed: Mapping[int, Mapping[str, Mapping[str, int]]], order: Collection[str] = ()
) -> tuple[CountByRun, ...]:
    """`failed`: a run's number → check → case → in how many attempts it failed.

    In the harness's order where it has one, else the most frequent first.
    """
    counts: dict[str, list[int]] = {}
    cases: dict[str, set[str]] = {}
    for at, column in enumerate(matrix.columns):
        for name, by_case in failed.get(column.pk, {}).items():
            here = by_case.keys() & matrix.rows.keys()
            if here:
                counts.setdefault(name, [0] * len(matrix.columns))[at] = sum(map(by_case.__getitem__, here))
                cases.setdefault(name, set()).update(here)
    listed = {name: at for at, name in enumerate(order)}
    dimensions = [CountByRun(name=name, by_run=tuple(those), cases=len(cases[name])) for name, those in counts.items()]
    return tuple(sorted(dimensions, key=lambda one: (listed.get(one.name, len(listed)), -one.total, one.name)))


ENDED, ENDED_EARLY, EMPTY = "MODEL_ENDED_SESSION", "MODEL_ENDED_SESSION_EARLY", EMPTY_RESPONSE
NO_GENERATION, FILTERED, CUT_OFF, LIMIT = "NO_GENERATION", "CONTENT_FILTER", "CUT_OFF", "LIMIT_REACHED"

PATTERNS = (ENDED, ENDED_EARLY, EMPTY, NO_GENERATION, FILTERED, CUT_OFF, LIMIT)

_STATED = frozenset((ENDED, ENDED_EARLY, EMPTY))
"""What a harness writes in the place of an answer."""

_SIGNALS = {
    "provider_empty_response": EMPTY,
    "provider_no_answer": NO_GENERATION,
    "no_generation": NO_GENERATION,
    "crash_before_generation": NO_GENERATION,
    "provider_content_filter": FILTERED,
    "token_limit": CUT_OFF,
}


def pattern_of(attempt: Attempt, attribution: Attribution | None) -> str:
    """One of the patterns; empty for an answer like any other."""
    if attempt.native_status in _STATED:
        return attempt.native_status
    if attempt.answered_nothing:
        return EMPTY
    if attribution is None:
        return LIMIT if attempt.execution == "limit" else ""
    seen = {_SIGNALS[signal.name] for signal in attribution.signals if signal.name in _SIGNALS}
    if attempt.execution == "limit":
        seen.add(LIMIT)
    return _first(seen)


def counted_patterns(matrix: Matrix, patterns: Mapping[int, Mapping[str, Mapping[str, int]]]) -> tuple[CountByRun, ...]:
    """`found`: a run's number → case → pattern → how often. Only patterns that occur."""
    counts = [_counted(pattern, matrix, patterns) for pattern in PATTERNS]
    return tuple(one for one in counts if one.total)


def _counted(pattern: str, matrix: Matrix, patterns: Mapping[int, Mapping[str, Mapping[str, int]]]) -> CountByRun:
    by_run = []
    cases: set[str] = set()
    for column in matrix.columns:
        those = [
            (case, often[pattern])
            for case, often in patterns.get(column.pk, {}).items()
            if pattern in often and case in matrix.rows
        ]
        by_run.append(sum(count for _, count in those))
        cases.update(case for case, _ in those)
    return CountByRun(name=pattern, by_run=tuple(by_run), cases=len(cases))


def _first(seen: Collection[str]) -> str:
    return next((pattern for pattern in PATTERNS if pattern in seen), "")
