"""The records of a leaderboard: suites, the subjects ranked in each, and every run of a subject."""

from collections.abc import Mapping

import msgspec

from errata.compare.scores import Policy, Score
from errata.model import StoredRun


class BoardRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run of a subject, with its scores."""

    stored: StoredRun
    scores: Mapping[Policy, Score]
    why_not: str = ""
    """Why it has no rank; empty for a run that can be ranked."""

    @property
    def day(self) -> str:
        return (self.stored.run.started_at or self.stored.imported_at)[:10]


class BoardRow(msgspec.Struct, frozen=True, kw_only=True):
    label: str
    newest: BoardRun
    """The newest fit run; of a subject without one, its newest run."""
    history: tuple[BoardRun, ...]
    """Every run, the oldest first."""
    best: int | None = None
    """The ranks that the data leave open; none where the subject has no fit run, or where nothing can be ranked."""
    worst: int | None = None


class SuiteBoard(msgspec.Struct, frozen=True, kw_only=True):
    suite: str
    version: str
    experiment: str
    cases: int
    """Of the run with most of them."""
    ranked: tuple[BoardRow, ...]
    """The best clean score first."""
    unranked: tuple[BoardRow, ...]
    shared: int | None = None
    """On how many cases the ranks rest, where the runs do not have the same."""
    why_no_ranks: str = ""
    waiting: tuple[StoredRun, ...] = ()
    """Runs that are left out because a server still works out their owners."""
