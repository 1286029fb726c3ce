"""All that a report about several judged runs says: counts, causes with datapoints, what is shared and what is not."""

import msgspec

from errata.model.output.report.shared import ReviewCoverage, ScoreLine


class Run(msgspec.Struct, frozen=True, kw_only=True):
    label: str
    """`voice-alpha run 1`: its column in every table."""
    handle: str
    native_id: str
    model: str
    rows: int
    judged: int
    """Rows with a verdict."""
    passed: int
    failed: int
    no_verdict: tuple[str, ...]
    """Cases that were not judged."""
    missing: tuple[str, ...]
    patterns: dict[str, int]
    """What stood in the place of an answer, and how often."""
    dimensions: dict[str, int]
    """Failed dimension → failed rows, the most frequent first."""
    scores: tuple[ScoreLine, ...]


class Dimension(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    failed: tuple[int, ...]
    """A number for each run."""
    applicable: tuple[int, ...]


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call as it was made, and what came back."""

    call: str
    result: str = ""


class Datapoint(msgspec.Struct, frozen=True, kw_only=True):
    """One failed row, as it stands in the log."""

    run: str
    case: str
    input: str
    output: str
    calls: tuple[Call, ...] = ()
    judge: str = ""
    failed: tuple[str, ...] = ()
    read: bool = False
    cause: str = ""
    consequences: tuple[str, ...] = ()


class Mode(msgspec.Struct, frozen=True, kw_only=True):
    """A bucket: one cause, and the rows it explains."""

    title: str
    """In plain words."""
    label: str
    owner: str
    status: str
    rows: int
    """Without those that only follow."""
    followers: int
    cases: tuple[tuple[str, ...], ...]
    """For each run the cases of its rows."""
    following: tuple[tuple[str, ...], ...]
    dimensions: dict[str, int]
    """Which it causes, and in how many rows."""
    read: int
    needed: int
    """So many have to be read before it may be called final."""
    mistake: str
    """What is done wrong, in plain words."""
    triggers: tuple[str, ...]
    """What was asked where it happens."""
    datapoints: tuple[Datapoint, ...]
    parameters: str = ""
    rebucketed: int = 0
    """Rows that a reviewer put here from another bucket."""


class ModelMode(msgspec.Struct, frozen=True, kw_only=True):
    """One mode as a model shows it."""

    title: str
    label: str
    mistake: str
    """What this model does wrong."""
    cases: tuple[str, ...]
    following: tuple[str, ...]
    dimensions: dict[str, int]


class Model(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    runs: tuple[str, ...]
    failed: int
    followers: int
    modes: tuple[ModelMode, ...]
    """The most frequent first."""
    dimensions: dict[str, int]
    patterns: dict[str, int]
    unstable: tuple[str, ...] = ()
    failed_in_every_run: tuple[str, ...] = ()


class Unique(msgspec.Struct, frozen=True, kw_only=True):
    """What only one run or model does."""

    name: str
    whole_model: bool
    """Over all runs of a model; else of one run."""
    fails: tuple[str, ...]
    following: tuple[str, ...]
    """Those of its fails that only follow from another."""
    passes: tuple[str, ...]


class ComparisonReport(msgspec.Struct, frozen=True, kw_only=True):
    suite: str
    cases: int
    case_word: str
    """`turn` where all of them are turns of a conversation."""
    made: str
    reading: ReviewCoverage
    runs: tuple[Run, ...]
    models: tuple[Model, ...]
    dimensions: tuple[Dimension, ...]
    modes: tuple[Mode, ...]
    failed_by_all_runs: tuple[str, ...]
    failed_by_all_models: tuple[str, ...]
    uniques: tuple[Unique, ...]
    asks: dict[str, str]
    """What is asked in the cases that all fail."""
    chance: str
    """Whether any two differ beyond chance."""
    categories: tuple[tuple[str, int, int, str], ...] = ()
    """Name, cases, failed rows, and whether it is harder beyond chance."""
    grid: tuple[tuple[str, ...], ...] = ()
    """Cases that fail somewhere, and a string of letters for each run."""
    legend: dict[str, str] = {}
    doubts: tuple[str, ...] = ()
    """Of those who read the rows."""
    suspicious: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    not_included: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()

    @property
    def failed_rows(self) -> int:
        return sum(one.failed for one in self.runs)
