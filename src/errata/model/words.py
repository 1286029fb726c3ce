"""The closed vocabularies of the records; their meanings are in docs/glossary.md."""

from enum import Enum
from typing import Literal, get_args

Execution = Literal["completed", "error", "limit", "cancelled", "skipped", "unfinished", "missing"]
Measurement = Literal["scored", "unscored", "error", "not_run"]
Outcome = Literal["pass", "fail", "partial", "number", "none"]
"""`number`: `reported`, and the harness has no threshold. `partial` without a threshold is in part, by a word."""
CheckStatus = Literal["pass", "fail", "partial", "number", "error", "unscored", "not_applicable", "not_run", "skipped"]
CheckKind = Literal["step", "dimension", "assertion", "tests", "reward", "criterion", "limit"]
CheckWeakness = Literal["", "no_criteria", "nothing_changed"]
"""Why a pass of it means little: it has nothing to look at, or it only demands that nothing was changed."""
Provenance = Literal["first", "repeat", "retry", "requeue", "regrade", "edit", "copy"]
"""Where an attempt comes from. Only a first try and a repeat are trials; a retry and a requeue take the place of one,
and the others hold the same work again."""
NO_TRIAL: dict[Provenance, str] = {
    "retry": "retry: it takes the place of a try before it",
    "requeue": "requeued: it takes the place of a try before it",
    "regrade": "regrade: work of another attempt, judged again; together they are one trial",
    "edit": "its score was edited after the run",
    "copy": "copy of another attempt; together they are one trial",
}
Owner = Literal[
    "model",
    "budget",
    "provider",
    "environment",
    "harness",
    "grader",
    "task",
    "simulator",
    "collateral",
    "unknown",
]
Confidence = Literal["certain", "likely", "weak"]
Proof = Literal["", "shown", "presumed"]
"""Whether a failure is shown to be the model's, or only presumed to be; empty for other owners."""
ProofReason = Literal[
    "",
    "passed_elsewhere",
    "self_evident",
    "no_other_result",
    "task_differs",
    "nobody_passed",
    "in_doubt",
    "simulated_user",
    "no_answer_logged",
]
Severity = Literal["info", "warning", "error"]
ErrorText = Literal["type", "message"]
UnreadReason = Literal[
    "unknown_format", "unknown_table", "git_lfs_pointer", "git_annex_pointer", "broken_link", "link_not_followed",
    "empty", "truncated", "damaged", "temporary", "archive", "no_access", "part_of_run", "other_format",
]  # fmt: skip
"""Why a file below an imported folder was not read."""
PromptFault = Literal["empty", "reference", "unresolved", "without_variables"]
"""Nothing was sent; the name of a prompt in place of its text; a variable's name in place of its value; no variable."""
Phase = Literal["", "setup", "subject", "tool", "environment", "simulator", "scoring", "aggregation"]
ActorRole = Literal["system", "user", "assistant", "tool", "environment", "judge", "simulator"]
StepKind = Literal["message", "model_call", "tool_call", "tool_result", "log", "state", "handoff", "score"]
ArtefactRole = Literal[
    "output", "expected", "grader", "task", "log", "patch", "config", "transcript", "screenshot", "context"
]
CostSource = Literal["reported", "estimated", "unknown"]
ScorerKind = Literal["code", "judge", "human"]
MeasuredUnit = Literal["attempts", "cases"]
ReviewerKind = Literal["llm", "command", "agent", "person", "file"]
CallState = Literal["intended", "answered", "failed", "lost"]
BatchState = Literal["intended", "submitted", "downloaded", "closed", "lost"]
"""Of a batch of calls. Downloaded: its answers are in the ledger, and not all of them are judged yet."""
RecommendationGroup = Literal["eval", "config", "guidelines", "model", "none"]
"""What to change: the eval, its configuration, or the guidelines that models are given; else a note on the model."""
BucketStatus = Literal["provisional", "reviewed", "final"]
NamedBy = Literal["rule", "reviewer", "person"]
MemberRole = Literal["reviewed", "inherited", "assigned"]

ObservationKind = Literal[
    "call_failed",
    "call_repeated",
    "call_returned_nothing",
    "action_differs",
    "action_missing",
    "action_unexpected",
    "action_blocks",
    "contradicts_result",
    "unsupported_claim",
    "answer_overlooked",
    "action_not_made",
    "data_assumed",
    "unchecked_confirmation",
    "speaks_for_another",
    "ended_early",
    "user_stopped_early",
    "user_contradicts_task",
    "user_invents",
    "value_named",
]
"""What the evidence log of an attempt can hold; docs/evidence-log.md explains each that is still observed."""
Strength = Literal["strong", "moderate", "weak"]

LeftOutCode = Literal[
    "excluded", "same_work", "unavailable", "only_failures", "no_rows", "not_scored", "not_judged", "no_run_folder"
]
"""Why a run is left out of a comparison, a pooled score or an exported folder."""

EXECUTIONS: tuple[str, ...] = get_args(Execution)
MEASUREMENTS: tuple[str, ...] = get_args(Measurement)
OUTCOMES: tuple[str, ...] = get_args(Outcome)
OWNERS: tuple[Owner, ...] = get_args(Owner)

NOT_THE_SUBJECTS: frozenset[str] = frozenset(("provider", "environment", "harness", "simulator", "collateral"))
"""Owners whose failures are not the subject's: infrastructure, and what only follows from another failure."""


class CostNote(Enum):
    """Why there is no cost of a pass; as text, in words."""

    NOTHING_PASSED = "nothing_passed"
    NO_COST = "no_cost"
    NO_FRONTIER = "no_frontier"
    PASSES_WITHOUT_ROWS = "passes_without_rows"
    SIMULATOR_ONLY = "simulator_only"

    def __str__(self) -> str:
        return _COST_NOTES[self]


_COST_NOTES = {
    CostNote.NOTHING_PASSED: "nothing passed",
    CostNote.NO_COST: "the log has no cost",
    CostNote.NO_FRONTIER: "no frontier is known",
    CostNote.PASSES_WITHOUT_ROWS: "the passes have no row in the log",
    CostNote.SIMULATOR_ONLY: "the agent's cost is unknown",
}
