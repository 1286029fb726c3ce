"""What the facts of every report have in common: scores, quotes, snippets, how far failures were reviewed."""

from msgspec import UNSET, UnsetType

from errata.model.output.runs import ProjectOutput
from errata.model.output.score import NoteOutput
from errata.model.record import Struct


class ScoreLine(Struct):
    """One policy of the bracket."""

    policy: str
    passed: int
    total: int
    rate: float | None
    mean: float | None = None
    """Of results that are numbers; then it is the rate, too."""
    low: float | None = None
    high: float | None = None
    if_failed: float | None = None
    """The rate if everything left out had failed; `if_passed` if it had passed."""
    if_passed: float | None = None
    left_out: dict[str, int] = {}
    """Why → how many, the commonest first."""
    recovered: int = 0
    """How many results were taken from an earlier session."""
    beside: dict[str, int] = {}
    """Owner that is not the model → how many of its failures count here, the most frequent first."""
    stated: float | None = None
    """The harness's own number; `reproduced` is whether it follows from the rows."""
    reproduced: bool | None = None
    note: NoteOutput | None = None


class QuotedEvidence(Struct):
    """A quote and its place."""

    place: str
    quote: str
    stated: str = ""
    """What errata states from facts of the log."""
    means: str = ""
    """The meaning of the rule that saw it, where the quote does not show it."""


class Snippets(Struct):
    """What the model wrote beside what was expected of it."""

    model: str = ""
    expected: str = ""
    path: str = ""
    """Of the file they are from."""
    language: str = ""
    line: int = 0
    """Of the model's file: the line that the error names."""
    differ: bool = False
    """Found by comparing the two, and not chosen by a reviewer."""


class ReviewCoverage(Struct):
    """How many failures of a report were reviewed."""

    failures: int
    """In a report about several runs, failed rows."""
    read: int
    """Those with a verdict of their own that is not stale."""
    final: int
    """Those of them that need no second reviewer, or have one."""
    by: tuple[str, ...] = ()
    second: int = 0
    """Those with a second reviewer."""
    inherited: int = 0
    by_default: int = 0
    """Those that nobody reviewed and that are the model's only because no rule names another owner."""
    disputed: int = 0
    project: ProjectOutput | UnsetType = UNSET
    """Absent unless a project's file decides about these results."""

    @property
    def status(self) -> str:
        if not self.failures:
            return "final"
        if self.final + self.inherited < self.failures:
            return "provisional"
        return "reviewed"


class FindingFact(Struct):
    """An error or a warning of the checkup."""

    name: str
    severity: str
    text: str
    run: str = ""
    """The label of the run, in a report about several."""


class SuspiciousPasses(Struct):
    """Passes that one should look at; they are not scored again."""

    name: str
    means: str
    """What is suspicious about them, by the rule."""
    cases: tuple[str, ...] = ()
    by_run: dict[str, int] = {}
    """In a report about several runs: label → how many."""


class DoneAction(Struct):
    """Something that was done about a failure, as it was recorded."""

    date: str
    path: str
    what: str
    report: str = ""
    """The earlier report that it was read from; empty where only the store has it."""
