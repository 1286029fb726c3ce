"""All that a report about runs without a judge says: what lies there, and what to look at first."""

import msgspec

from errata.model.output.report.comparison import Call

OWNERS = (
    "real_model_error",
    "grader_or_strict_matching_issue",
    "reference_or_ground_truth_issue",
    "other_pipeline_or_runtime_issue",
    "mixed_contract_and_model_issue",
)
BUCKETS = (
    "tool_selection_failure",
    "error_recovery_failure",
    "constraint_violation",
    "incomplete_correction",
    "tool_arg_string_normalization",
    "optional_tool_detail_omitted",
    "system_vs_golden_conflict",
    "closing_turn_contract_mismatch",
    "response_contamination",
    "missing_transcript_turn",
    "empty_response_execution_failure",
)
"""What whoever reads the rows by hand may write into the columns `owner` and `bucket`."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One turn as it was recorded."""

    run: str
    """The native id of its run."""
    label: str
    model: str
    case: str
    turn: int | None
    flags: tuple[str, ...]
    """Why it should be looked at; none of them makes it a failure."""
    input: str
    output: str
    calls: tuple[Call, ...]
    calls_json: str
    results_json: str
    expected: str
    """The reference, as the benchmark has it."""
    required_json: str


class Run(msgspec.Struct, frozen=True, kw_only=True):
    label: str
    native_id: str
    model: str
    rows: int
    expected: int | None
    """Turns that the benchmark has; none where that is not known."""
    missing: tuple[str, ...]
    repeated: tuple[str, ...]
    patterns: dict[str, int]
    """What stood in the place of an answer, and how often."""
    findings: tuple[str, ...]
    flagged: int


class TranscriptReport(msgspec.Struct, frozen=True, kw_only=True):
    suite: str
    made: str
    case_word: str
    runs: tuple[Run, ...]
    rows: tuple[Row, ...]
    """Every row, run by run, in the order of the conversation."""

    @property
    def flagged(self) -> list[Row]:
        return [one for one in self.rows if one.flags]
