"""The facts of a report about runs without a judge: what lies there, and what to look at first."""

from typing import Literal

from errata.model.output.report.comparison import CallText
from errata.model.output.report.shared import FindingFact
from errata.model.record import Struct
from errata.model.words import Owner

FlagKind = Literal[
    "no_row", "in_place_of_answer", "several_rows", "empty", "tool_failed", "no_call", "other_calls", "extra_call",
]  # fmt: skip


class Flag(Struct):
    """Why a row should be looked at; none makes it a failure."""

    kind: FlagKind
    pattern: str = ""
    """The marker in place of an answer."""


class TranscriptVerdict(Struct):
    """What a reviewer found in a row."""

    label: str
    owner: Owner
    cause: str
    decisive_step: int | None
    decisive_agent: str
    second_candidate: int | None


class TranscriptRow(Struct):
    """One turn as it was recorded."""

    run: str
    """The native id of its run."""
    label: str
    model: str
    case: str
    turn: int | None
    flags: tuple[Flag, ...]
    input: str
    output: str
    calls: tuple[CallText, ...]
    calls_json: str
    results_json: str
    expected: str
    """The reference, as the benchmark has it."""
    required_json: str
    verdict: TranscriptVerdict | None = None


class TranscriptRun(Struct):
    label: str
    native_id: str
    model: str
    rows: int
    expected: int | None
    """Turns that the benchmark has; none where that is not known."""
    missing: tuple[str, ...]
    repeated: tuple[str, ...]
    patterns: dict[str, int]
    """Marker in place of an answer → how often."""
    findings: tuple[FindingFact, ...]
    flagged: int


class TranscriptReport(Struct):
    suite: str
    made: str
    case_word: str
    runs: tuple[TranscriptRun, ...]
    rows: tuple[TranscriptRow, ...]
    """Every row, run by run, in the order of the conversation."""

    @property
    def reviewed(self) -> list[TranscriptRow]:
        return [one for one in self.rows if one.verdict is not None]

    @property
    def flagged(self) -> list[TranscriptRow]:
        return [one for one in self.rows if one.flags]
