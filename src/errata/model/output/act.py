"""What `errata rerun --json` and `errata writeback --json` print."""

from typing import Literal

from errata.model.record import Struct

WhyNoCommand = Literal[
    "command_like_secret",
    "continuous_conversation",
    "export_without_folder",
    "field_like_option",
    "field_like_secret",
    "field_missing",
    "field_too_long",
    "field_unsafe",
    "folder_name",
    "no_dataset",
    "no_description",
    "no_planner",
    "no_subtest",
    "path_like_secret",
    "path_unsafe",
    "task_in_script",
]
"""Why errata gives no command that repeats an attempt."""

RerunNoteName = Literal[
    "agent_settings_left_out",
    "every_prompt",
    "judge_only",
    "keys_from_env_file",
    "latest_dataset",
    "new_results_folder",
    "new_run",
    "options_not_in_log",
    "other_model_in_logs",
    "regrade",
    "resumes_in_place",
    "retry_uses_log_settings",
    "run_in_checkout",
    "run_in_config_folder",
    "run_where_stored",
    "service_not_in_log",
    "settings_left_out",
]

AlsoWhy = Literal["all_errors", "all_errors_and_missing", "cancelled_trials"]
"""Which other attempts a harness's own retry repeats."""

FillIn = Literal["dataset_not_in_log", "model_not_in_log"]


class RerunReason(Struct):
    why: str
    signal: str | None
    attempts: int


class RerunCommand(Struct):
    argv: tuple[str, ...]
    env: dict[str, str]
    line: str
    cases: tuple[str, ...]
    attempts: int
    reasons: tuple[RerunReason, ...]
    also: int
    """How many other attempts it repeats, because the harness can't select more narrowly."""
    also_why: AlsoWhy | None
    fill_in: dict[str, FillIn]
    """Placeholders in the command that the user replaces, and why."""


class RerunByHand(Struct):
    case: str
    attempt: int
    why: str
    signal: str | None
    why_not: WhyNoCommand
    about: str | None
    """The field, path, test or source that `why_not` is about."""


class RerunNote(Struct):
    note: RerunNoteName
    values: tuple[str, ...]
    """Names that belong to the note, such as the settings that are left out."""


class RerunCost(Struct):
    total: float
    each: float
    basis: int
    """How many measured attempts have a known cost."""


class RerunOutput(Struct):
    run: str
    run_id: str
    model: str
    source: str
    attempts: int
    recovered: tuple[str, ...]
    """Cases that an earlier session measured: not rerun, unless `--case` or `--owner` asks for them."""
    commands: tuple[RerunCommand, ...]
    by_hand: tuple[RerunByHand, ...]
    notes: tuple[RerunNote, ...]
    cost: RerunCost | None


WhyLeft = Literal[
    "duplicate_row",
    "export_changed",
    "invalidated_already",
    "needs_second_reviewer",
    "no_uuid",
    "not_certain",
    "not_graded",
    "not_importable",
    "not_reviewed",
    "old_export",
    "other_export",
    "owner_budget",
    "owner_model",
    "owner_unknown",
    "reviewers_disagree",
    "unscored_already",
    "verdict_inherited",
    "verdict_stale",
]
"""Why a failure is not written back."""


class WritebackRun(Struct):
    run: str
    run_id: str


class WritebackChange(Struct):
    do: Literal["invalidate", "unscore", "comment"]
    run_id: str
    case: str
    attempt: int
    owner: str
    by: Literal["verdict", "rule"]
    author: str
    """The reviewer, or the name of the rule."""
    version: str
    """Of the taxonomy, or of the rules."""
    confidence: str
    cause: str | None
    """As the reviewer wrote it; null for a rule."""


class WritebackOutput(Struct):
    runs: tuple[WritebackRun, ...]
    source: str
    log: str
    changes: tuple[WritebackChange, ...]
    left: dict[WhyLeft, int]
    """How many failures are not written back, by reason."""
    files: tuple[str, ...]
    command: tuple[str, ...]


class ExecutedCommand(Struct):
    argv: tuple[str, ...]
    exit_code: int


class RepeatedCaseOutput(Struct):
    case: str
    why: str
    """Why it was repeated: an owner, or what was missing."""
    after: Literal["passed", "failed", "mixed", "not_measured", "not_repeated"]
    flaky: bool
    """It failed and passes when it is repeated unchanged."""


class RerunExecutedOutput(Struct):
    run: str
    run_id: str
    commands: tuple[ExecutedCommand, ...]
    skipped: int
    """Commands with a placeholder that the user has to fill in."""
    new_runs: tuple[str, ...]
    """Ids of the runs that hold the new attempts."""
    cases: tuple[RepeatedCaseOutput, ...]


SHAPES: dict[str, type] = {
    "rerun": RerunOutput,
    "rerun --execute": RerunExecutedOutput,
    "writeback": WritebackOutput,
}
