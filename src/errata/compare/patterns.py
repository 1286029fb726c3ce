"""What stood in the place of an answer: an ended session, nothing, a filter, a limit. From fields and signals alone."""

from collections.abc import Collection, Mapping

from errata.compare.dimensions import CountByRun
from errata.compare.matrix import Matrix
from errata.model import Attempt, Attribution

ENDED, ENDED_EARLY, EMPTY = "MODEL_ENDED_SESSION", "MODEL_ENDED_SESSION_EARLY", "EMPTY_RESPONSE"
NO_GENERATION, FILTERED, CUT_OFF, LIMIT = "NO_GENERATION", "CONTENT_FILTER", "CUT_OFF", "LIMIT_REACHED"

PATTERNS = (ENDED, ENDED_EARLY, EMPTY, NO_GENERATION, FILTERED, CUT_OFF, LIMIT)

_STATED = frozenset((ENDED, ENDED_EARLY, EMPTY))
"""What a harness writes in the place of an answer."""

_SIGNALS = {
    "provider_empty_response": EMPTY,
    "provider_no_answer": EMPTY,
    "no_generation": NO_GENERATION,
    "crash_before_generation": NO_GENERATION,
    "provider_content_filter": FILTERED,
    "token_limit": CUT_OFF,
}


def pattern_of(attempt: Attempt, said: Attribution | None) -> str:
    """One of the patterns; empty for an answer like any other."""
    if attempt.native_status in _STATED:
        return attempt.native_status
    seen = {_SIGNALS[signal.name] for signal in (said.signals if said else ()) if signal.name in _SIGNALS}
    if attempt.execution == "limit":
        seen.add(LIMIT)
    return _first(seen)


def counted_patterns(matrix: Matrix, found: Mapping[int, Mapping[str, Mapping[str, int]]]) -> tuple[CountByRun, ...]:
    """`found`: a run's number → case → pattern → how often. Only patterns that occur."""
    counts = [_counted(pattern, matrix, found) for pattern in PATTERNS]
    return tuple(one for one in counts if one.total)


def _counted(pattern: str, matrix: Matrix, found: Mapping[int, Mapping[str, Mapping[str, int]]]) -> CountByRun:
    by_run = []
    cases: set[str] = set()
    for column in matrix.columns:
        those = [
            (case, often[pattern])
            for case, often in found.get(column.pk, {}).items()
            if pattern in often and case in matrix.rows
        ]
        by_run.append(sum(count for _, count in those))
        cases.update(case for case, _ in those)
    return CountByRun(name=pattern, by_run=tuple(by_run), cases=len(cases))


def _first(seen: Collection[str]) -> str:
    return next((pattern for pattern in PATTERNS if pattern in seen), "")
