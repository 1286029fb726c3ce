"""What the lines of ProjectScylla's loggers mean for a test.

The level does not decide: many decisive lines are warnings, and many errors are overcome. The logger's name gives the
phase, the text what happened and what shows that it was overcome.
"""

import re
from typing import NamedTuple

from errata.model.words import Phase
from errata.text.lazy_regex import lazy_regex

AT_SETUP, AT_AGENT, AT_JUDGED = 1, 2, 3
"""How far a test or a part of it has come."""
NEVER = 9


class LineMeaning(NamedTuple):
    type: str
    """The type of the error that such a line becomes."""
    shape: re.Pattern[str]
    phase: Phase
    overcome_at: int = NEVER
    """The progress that shows, in a later line, that it was overcome."""
    is_fatal: bool = False
    """The whole test or a tier was given up, not only a part."""


def _meaning(kind: str, shape: str, phase: Phase, overcome_at: int = NEVER, *, is_fatal: bool = False) -> LineMeaning:
    return LineMeaning(kind, re.compile(shape), phase, overcome_at, is_fatal)


ALL_JUDGES_FAILED, JUDGE_FAILED, JUDGE_UNPARSED = "AllJudgesFailed", "JudgeFailed", "JudgeUnparsed"
JUDGE_RATE_LIMIT, JUDGE_NOT_EQUIPPED = "JudgeRateLimit", "JudgeNotEquipped"
INTERRUPTED, FAILED_IN_STATE, LOW_RESOURCES = "Interrupted", "FailedInState", "LowResources"

MEANINGS = (
    _meaning(ALL_JUDGES_FAILED, r"All judges failed to produce valid results", "scoring"),
    _meaning(ALL_JUDGES_FAILED, r"No valid judge results found for |No valid scores for ", "scoring"),
    _meaning(JUDGE_FAILED, r"Judge (?P<judge>\d+) failed with model ", "scoring"),
    _meaning(JUDGE_UNPARSED, r"Judge \d+ parse failed \(attempt|Judge parse failure on attempt ", "scoring", AT_JUDGED),
    _meaning(JUDGE_RATE_LIMIT, r"All \d+ judges failed with rate-limit errors", "scoring", AT_JUDGED),
    # what the judges run on the work lacks a program: they rate what they could not see
    _meaning(
        JUDGE_NOT_EQUIPPED,
        r"(?:Judge|Build|Judging)\b[^:]{0,40}\b(?:pipeline|container|sandbox|environment)\b.{0,200}?"
        r"(?:command not found|exited 12[67]\b|not installed|\[Errno 2\] No such file|daemon\b)",
        "scoring",
    ),
    _meaning("AgentNeverWorked", r"\[AGENT\] Infrastructure failure detected", "environment", AT_JUDGED),
    _meaning("AgentNeverWorked", r"Invalid result detected at .*zero token stats", "environment", AT_JUDGED),
    _meaning("SubtestSkipped", r"\[SKIP\] Subtest \S+ skipped due to infrastructure failure", "environment", AT_JUDGED),
    _meaning("CloneFailed", r"Git clone failed \(attempt ", "setup", AT_SETUP, is_fatal=True),
    _meaning("RateLimit", r"\[\S+\] Rate limit encountered in tier state machine", "subject", AT_JUDGED, is_fatal=True),
    _meaning("RateLimit", r"Rate limit detected for model ", "subject", AT_SETUP, is_fatal=True),
    _meaning("RateLimit", r"Experiment failed due to rate limit", "subject", is_fatal=True),
    _meaning("ModelMissing", r"Model '[^']*' not found on server", "subject", AT_AGENT, is_fatal=True),
    _meaning("ModelMissing", r"Validation (?:failed|error) for model '", "subject", AT_SETUP, is_fatal=True),
    _meaning("Zombie", r"Zombie (?:experiment )?detected", "aggregation", AT_AGENT, is_fatal=True),
    _meaning("ResumeFailed", r"Failed to resume from checkpoint", "aggregation", AT_AGENT, is_fatal=True),
    _meaning("ResumeFailed", r"Resuming .*\bbut\b.* missing", "aggregation", AT_AGENT, is_fatal=True),
    _meaning("ResumeFailed", r"Unknown .*state '[^']*', treating as ", "aggregation", AT_AGENT, is_fatal=True),
    _meaning("ResumeFailed", r"Previously completed run is invalid", "aggregation", AT_AGENT),
    _meaning(INTERRUPTED, r".*Shutdown interrupted at |.*Checkpoint saved after interrupt", "aggregation"),
    _meaning(INTERRUPTED, r"Shutdown requested|Experiment interrupted - ", "aggregation"),
    # only a hint: it explains a test that ended without any other reason
    _meaning(LOW_RESOURCES, r"Low (?:memory|disk) warning", "environment", AT_AGENT),
)
"""The lines of the runner that explain a failure, at whatever level; the first that fits counts."""

_FAILED_IN_STATE = lazy_regex(
    r"(?:Run (?P<part>T\d+/\w+)/run_\d+ failed in state (?P<state>\w+)|Experiment failed in state (?P<whole>\w+)"
    r"|Unexpected exception in judge worker for (?P<judged>T\d+/\w+)/run_\d+(?: judge_\d+)?): (?P<what>.*)$",
    re.DOTALL,
)

_PHASES: tuple[tuple[re.Pattern[str], Phase], ...] = (
    (lazy_regex(r"judge|stage_finalization|grading"), "scoring"),
    (lazy_regex(r"workspace|repo_detection"), "setup"),
    (lazy_regex(r"agent_runner|\.stages$|adapters|model_validation|rate_limit"), "subject"),
)
_PARTS = (
    lazy_regex(r"\((T\d+)/(\w+)\)"),
    lazy_regex(r"\[(T\d+)/(\w+)/run_\d+\]"),
    lazy_regex(r"\b(T\d+)/(\w+)/(?:\.failed/)?run_\d+"),
)
_TIER = lazy_regex(r"^\[(T\d+)\]")


# what the agent's program reports of its provider; a word in the agent's own work is not in these lines
_REFUSED = lazy_regex(
    r"\bAPI [Ee]rror\b|\bis_error\b|\b[Rr]ate.?limit|\bhit your (?:usage )?limit|\b[Uu]sage limit|\b(?:429|529)\b"
    r"|[Oo]verloaded|[Ii]nvalid API key|authentication_error|OAuth token|[Cc]redit balance"
)
_OF_PROVIDER = LineMeaning("ApiError", re.compile(""), "subject", AT_JUDGED)


def meaning_of(message: str, logger: str = "") -> LineMeaning | None:
    known = next((one for one in MEANINGS if one.shape.match(message)), None)
    if known is None and phase_of_logger(logger) == "subject" and _REFUSED.search(message):
        return _OF_PROVIDER
    return known


def phase_of_logger(logger: str) -> Phase:
    """The part of the runner that wrote a line; everything that is not set-up, agent or judging is the harness."""
    return next((phase for shape, phase in _PHASES if shape.search(logger)), "aggregation")


def part_of(message: str) -> str:
    """`T0/00`, or `T1` for a whole tier, where the line names one."""
    for shape in _PARTS:
        if match := shape.search(message):
            return f"{match[1]}/{match[2]}"
    tier = _TIER.match(message)
    return tier[1] if tier else ""


class FailedInState(NamedTuple):
    """`Run T0/00/run_01 failed in state worktree_created: …`; the exception's own text may name another owner."""

    part: str
    """Empty for the whole experiment."""
    what: str


def failed_in_state(message: str) -> FailedInState | None:
    match = _FAILED_IN_STATE.match(message)
    return FailedInState(match["part"] or match["judged"] or "", match["what"]) if match else None


class Progress(NamedTuple):
    """A line that shows how far a test or a part of it has come."""

    level: int
    part: str = ""


_PROGRESS: tuple[tuple[re.Pattern[str], int], ...] = (
    (lazy_regex(r"(?<!\S)\S+Z \[(?P<tier>T\d+)_(?P<sub>\w+)\] Stage: JUDGE - Complete"), AT_JUDGED),
    (lazy_regex(r"(?<!\S)\S+Z \[(?P<tier>T\d+)_(?P<sub>\w+)\] Stage: (?:AGENT|JUDGE)"), AT_AGENT),
    (lazy_regex(r"\[(?P<tier>T\d+)/(?P<sub>\w+)/run_\d+\] \w+ -> judge_complete"), AT_JUDGED),
    (lazy_regex(r"\[(?P<tier>T\d+)/(?P<sub>\w+)/run_\d+\] \w+ -> agent_complete"), AT_AGENT),
    (lazy_regex(r"(?:(?<!\S)\S+Z )?\[JUDGE\] (?:- )?Complete"), AT_JUDGED),
    (lazy_regex(r"(?:(?<!\S)\S+Z )?(?:\[AGENT\] (?:- )?(?:Complete|Executing)|\[JUDGE\] (?:- )?Running)"), AT_AGENT),
    (
        lazy_regex(r"Base repo setup complete|.{0,99}Model '[^']*' validated successfully|Reusing existing base repo"),
        AT_SETUP,
    ),
)


def progress_of(message: str) -> Progress | None:
    for shape, level in _PROGRESS:
        if match := shape.match(message):
            named = match.groupdict()
            return Progress(level, f"{named['tier']}/{named['sub']}" if named.get("tier") else "")
    return None
