"""What was done about a failure, and what is accepted as it is."""

from typing import Literal

from errata.model.record import Record


class Action(Record):
    id: str
    what: str
    path: str = ""
    addresses: tuple[str, ...] = ()
    """Case keys, or a bucket's slug."""
    date: str
    at: str | None = None
    """When it was written down, where that was the same day: it was done no later."""
    author: str = ""
    expected_effect: str = ""
    worked: Literal["yes", "no", "unknown"] = "unknown"
    worked_in: str = ""
    """The run that showed it."""
    report: str = ""
    """The file it was read from or written into; empty where only the store has it."""


class KnownGap(Record):
    id: str = ""
    suite: str = ""
    """Empty for every suite."""
    case_key: str = ""
    pattern: str = ""
    """A glob over case keys, where the gap is of more than one case."""
    text: str
    since: str | None = None
    source: Literal["report", "person"] = "person"
    author: str = ""
    report: str = ""
