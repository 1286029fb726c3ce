"""An attempt as one that is like it: a table may have a million rows of a few kinds."""

from typing import NamedTuple

from errata.model.attempt import Attempt


class AlikeAttempt(NamedTuple):
    """An attempt by another that differs from it only in id, case, number, place and the texts of checks."""

    attempt: Attempt
    """The first of its kind, or itself."""
    case: str
    number: int
    """Its index."""
    id: str
    """Empty for another that passed and ran to its end: nobody asks for it."""
    is_itself: bool


def itself(attempt: Attempt) -> AlikeAttempt:
    return AlikeAttempt(attempt, attempt.case, attempt.index, attempt.id, True)
