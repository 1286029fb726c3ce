"""Rows of the tables for data analysis: attempts, checks, scores, and the cells and pairs of a comparison."""

from errata.model.cells import CellState
from errata.model.output.failures import AttemptRowOutput
from errata.model.output.runs import NamedRun
from errata.model.record import Struct
from errata.model.words import CheckKind, CheckStatus, Execution, Measurement, Outcome


class AttemptRow(AttemptRowOutput):
    """A counted attempt."""

    category: str | None
    execution: Execution
    measurement: Measurement
    outcome: Outcome
    is_failure: bool
    native_status: str | None
    """The harness's own status."""
    failed_checks: tuple[str, ...]
    value: float | None
    """The result as a number: where it is none, 1 for a pass and 0 for a failure."""
    reported: float | None
    """The value that the harness put into its headline."""
    threshold: float | None
    output: str | None
    """The text of the answer."""
    answer: str | None
    """The part of it that the harness graded, where the log has it."""
    stop_reason: str | None
    error_type: str | None
    """Of the first error that the attempt did not recover from, like the next one."""
    error_message: str | None
    started_at: str | None
    finished_at: str | None
    duration: float | None
    """In seconds."""
    input_tokens: int | None
    """Of the subject, like the next one; judges are not included."""
    output_tokens: int | None
    cost: float | None
    """Of subject, judges and simulator together."""


class CheckRow(AttemptRowOutput):
    """A check of a counted attempt."""

    check: str
    status: CheckStatus
    is_failed: bool
    """Failed, and counted by the harness."""
    counts: bool
    """False for checks that the harness reports but leaves out of the outcome."""
    kind: CheckKind
    is_primary: bool
    scorer: str | None
    judge: str | None
    value: float | None
    """The value as a number; 1 and 0 for true and false."""
    value_text: str | None
    """The value, where it is a text."""
    achieved: float | None
    max: float | None
    threshold: float | None
    explanation: str | None
    reason_code: str | None
    duration: float | None


class ScoreRow(NamedRun):
    """The score of a run under one policy, as a whole or in one category."""

    model: str
    policy: str
    """`strict`, `as_reported`, `clean` or `reviewed`."""
    category: str | None
    """None for the run as a whole."""
    passed: int
    total: int
    rate: float | None
    mean: float | None
    """Of results that are numbers; then it is the rate, too."""
    low: float | None
    """The 95 % interval of the rate, with `high`."""
    high: float | None
    left_out: int
    """Cases or attempts that this policy does not count."""
    stated: float | None
    """The harness's own number."""


class RunRow(NamedRun):
    """A run of the store."""

    name: str
    """The shortest name that commands and `RunStore.run` accept."""
    model: str
    agent: str | None
    source: str
    suite: str
    started_at: str | None
    imported_at: str
    cases: int
    attempts: int
    passed: int
    mean: float | None
    """Where results are numbers that no rule makes a pass or a failure."""
    failures: int
    is_excluded: bool


class CellRow(NamedRun):
    """One case in one run of a comparison."""

    label: str
    """The name of the run in the comparison."""
    model: str
    case: str
    case_key: str
    categories: tuple[str, ...]
    is_edited: bool
    """The task is not the same in all runs."""
    state: CellState | None
    """None where the run does not have the case."""
    attempts: int | None
    passes: int | None


class PairRow(Struct):
    """Two runs of a comparison, over the cases that both passed or failed."""

    first: str
    second: str
    is_clean: bool
    """Without infrastructure failures of either run."""
    shared: int
    only_first_fails: int
    only_second_fails: int
    p: float
    """Exact McNemar, two-sided."""
    adjusted: float
    """Corrected for the number of pairs (Holm)."""
    difference: float | None
    """Pass rate of the first minus pass rate of the second."""
    low: float | None
    high: float | None
    is_significant: bool
