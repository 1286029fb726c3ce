"""An attempt as one that is like it: a table may have a million rows of a few kinds."""

from typing import NamedTuple

from errata.model.attempt import Attempt
from errata.model.attribution import Attribution


class AlikeKind:
    """Attempts that differ only in id, case, number, place and the texts of checks, with equal attributions."""

    __slots__ = ("attempt", "attribution", "comes_together")

    def __init__(self, attempt: Attempt, attribution: Attribution | None) -> None:
        self.attempt = attempt
        """The first of its kind."""
        self.attribution = attribution
        self.comes_together = False
        """Set by whoever counts the first ones: from then on, those of one case may come as one."""


class AlikeAttempt(NamedTuple):
    """An attempt by another that is like it, or several at one case."""

    attempt: Attempt
    """The first of its kind, or itself."""
    case: str
    number: int
    """Its index."""
    id: str
    """Empty for another that passed and ran to its end, and for several: nobody asks for it."""
    is_itself: bool
    kind: AlikeKind | None = None
    """None for one that is itself."""
    often: int = 1


def itself(attempt: Attempt) -> AlikeAttempt:
    return AlikeAttempt(attempt, attempt.case, attempt.index, attempt.id, True)
