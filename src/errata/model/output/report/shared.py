"""What the reports of every profile have in common."""

import msgspec


class ScoreLine(msgspec.Struct, frozen=True, kw_only=True):
    """One policy of the bracket."""

    policy: str
    passed: int
    total: int
    rate: float | None
    low: float | None = None
    high: float | None = None
    if_failed: float | None = None
    """The rate if everything left out had failed; `if_passed` if it had passed."""
    if_passed: float | None = None
    left_out: str = ""
    """In words: how many, and why."""
    note: str = ""


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A quote and its place."""

    place: str
    quote: str
    means: str = ""
    """What it shows, where the quote itself does not say so."""


class Snippets(msgspec.Struct, frozen=True, kw_only=True):
    """What the model wrote beside what was expected of it."""

    model: str = ""
    expected: str = ""
    path: str = ""
    """Of the file they are from."""
    language: str = ""
    differ: bool = False
    """Found by comparing the two, and not chosen by a reader."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """How far the failures of a report were read."""

    failures: int
    read: int
    by: tuple[str, ...] = ()
    second: int = 0
    """Those with a second reader."""
    inherited: int = 0
    disputed: int = 0

    @property
    def status(self) -> str:
        if not self.failures:
            return "final"
        if self.read + self.inherited < self.failures:
            return "provisional"
        return "reviewed"
