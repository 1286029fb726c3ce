"""What was done about a failure, and what is accepted as it is."""

from collections.abc import Sequence
from typing import Literal

from errata.model.counts import StoredRun
from errata.model.identity import fingerprint
from errata.model.record import Record, SourceRef, Struct


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


def action_id(date: str, path: str, what: str, addresses: Sequence[str]) -> str:
    """What makes an action this one: recorded twice, it is the same."""
    return fingerprint(date, path, what, sorted(addresses))


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


class RecordedGap(Struct):
    """Where a known gap of a case is recorded, and its text."""

    where: str
    quote: str
    ref: SourceRef | None = None
    checks: frozenset[str] = frozenset()
    """The checks that failed there; empty where that is unknown, or does not matter."""
    keys: frozenset[str] | None = None
    """For a gap of another model: the exact failure keys that it is about."""
    model: str = ""
    """Of the report."""
    date: str = ""
    """Of the report: a later verdict outweighs it."""


class CaseAddress(Struct):
    """What a user means by CASE: a case or a bucket."""

    key: str
    """A case's key, or a bucket's slug."""
    suite: str = ""
    run: StoredRun | None = None
    """Where the user named one."""
    cases: tuple[str, ...] = ()
    """A bucket's cases; of a case, itself."""

    @property
    def name(self) -> str:
        return self.key.removeprefix(f"{self.suite}/") if self.suite else self.key
