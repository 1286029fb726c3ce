"""One pass and the one thing about it that deserves a second look."""

import msgspec

from errata.model import Attempt, Signal


class Suspicion(msgspec.Struct, frozen=True, gc=False):
    """Light enough to be held back until more of the run was seen."""

    attempt: str
    case: str
    index: int
    session: int | None
    signal: Signal


def suspicion(attempt: Attempt, seen: Signal) -> Suspicion:
    return Suspicion(attempt.id, attempt.case, attempt.index, attempt.session, seen)
