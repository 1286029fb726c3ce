"""What stood in the place of an answer: an ended session, nothing, a filter, a limit. From fields and signals alone."""

from collections.abc import Collection

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


def _first(seen: Collection[str]) -> str:
    return next((pattern for pattern in PATTERNS if pattern in seen), "")
