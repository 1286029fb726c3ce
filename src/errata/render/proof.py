"""Text about owners: whether evidence supports the model or it is only presumed; where the owners come from."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from errata.model import Attribution
from errata.model.suspects import (
    FEWEST,
    EvidenceKind,
    SuspectCategory,
    SuspectTask,
    SuspectTasks,
    TaskEvidence,
    TaskReview,
)
from errata.model.words import Proof, ProofReason
from errata.render.figures import plural

if TYPE_CHECKING:
    from errata.model.output.report.shared import ReviewCoverage

REASONS: dict[ProofReason, str] = {
    "passed_elsewhere": "another attempt or run passed {these}",
    "self_evident": "the mistake is self-evident",
    "no_other_result": "no other run of {these} is in the store",
    "task_differs": "other runs of {these} had another version of the task",
    "nobody_passed": "no other run passed {these}",
    "in_doubt": "some evidence points to another owner",
    "simulated_user": "another attempt or run passed {these}, but its simulated user may have acted differently",
    "no_answer_logged": "the log has no answer",
}
_NO_ATTEMPT = "all attempts at {these} failed, and no other run of {them} is in the store"
"""In place of `no_other_result` where a case has several attempts."""


PROOF_WORDS: dict[Proof, str] = {"": "", "shown": "supported", "presumed": "presumed"}
_SUPPORTED, _PRESUMED = "by the log or another attempt or run", "nothing shows whose fault it is"
PROOF_EXPLAINED = f"for the model: supported ({_SUPPORTED}) or presumed ({_PRESUMED})"


def proof_legend(shown: int, presumed: int) -> str:
    """Explains those of the two words that are used, below the first place where a page counts them."""
    parts = [f"supported: {_SUPPORTED}"] if shown else []
    return " · ".join([*parts, f"presumed: {_PRESUMED}"] if presumed else parts)


def proof_counts(shown: int, presumed: Mapping[ProofReason, int], *, repeated: bool = False) -> str:
    """`19 supported, 12 presumed: no other run of these cases is in the store`; empty where no rule decided.

    With several reasons: `3 presumed: 2 because no other run passed these cases; 1 because …`.
    """
    whole = sum(presumed.values())
    if not shown and not whole:
        return ""
    if not whole:
        return "supported" if shown == 1 else "all supported"
    no_other = _NO_ATTEMPT if repeated else ""
    reasons = sorted(((often, reason) for reason, often in presumed.items() if often), key=lambda pair: -pair[0])
    words = [_words(reason, several=often > 1, no_other=no_other) for often, reason in reasons]
    if len(reasons) > 1:
        words = [f"{often:,} because {one}" for one, (often, _) in zip(words, reasons, strict=True)]
    counts = f"{shown:,} supported, {whole:,} presumed" if shown else f"{'all ' if whole > 1 else ''}presumed"
    return f"{counts}: {'; '.join(words)}"


def proof_reason(reason: ProofReason, *, repeated: bool = False) -> str:
    """For one failure; `repeated` where its case has several attempts."""
    return _words(reason, several=False, no_other=_NO_ATTEMPT if repeated else "")


def _words(reason: ProofReason, *, several: bool, no_other: str) -> str:
    """`no_other` replaces the words for `no_other_result`."""
    words = no_other if no_other and reason == "no_other_result" else REASONS[reason]
    these, them = ("these cases", "them") if several else ("this case", "it")
    return words.format(these=these, them=them)


def sureness(words: Mapping[str, int]) -> str:
    """How sure the owner of some failures is: `likely`, or `2 likely, 1 weak` where they differ."""
    if len(words) == 1:
        return next(iter(words))
    return ", ".join(f"{count:,} {word}" for word, count in sorted(words.items(), key=lambda pair: -pair[1]))


def how_sure(attribution: Attribution) -> str:
    """`supported`, `presumed`, or the confidence of the rule that decided."""
    return PROOF_WORDS[attribution.proof] or attribution.confidence


def proof_words(attribution: Attribution, *, repeated: bool = False) -> str:
    """`presumed: some evidence points to the task`; the confidence where the owner is not the model."""
    others = " or ".join(attribution.also)
    if not attribution.proof:
        return f"{attribution.confidence}; possibly {others}" if others else attribution.confidence
    if attribution.proof_reason == "in_doubt" and others:
        weak = ", but not enough to decide" if attribution.decided_by == "check_failed" else ""
        return f"{PROOF_WORDS[attribution.proof]}: some evidence points to the {others}{weak}"
    reason = proof_reason(attribution.proof_reason, repeated=repeated)
    return f"{PROOF_WORDS[attribution.proof]}: {reason}{f'; possibly {others}' if others else ''}"


# --- where the owners of failures come from: rules, verdicts, or verdicts that still need a second reviewer


def owners_state(failures: int, *, by_rules: int, need_second: int) -> str:
    """`PROVISIONAL: 3 owners assigned by rules`; every command and report states it in these words."""
    if by_rules == failures:
        return "PROVISIONAL: owners assigned by rules"
    if by_rules:
        return f"PROVISIONAL: {plural(by_rules, 'owner')} assigned by rules"
    if need_second:
        still = "still needs" if need_second == 1 else "still need"
        return f"PROVISIONAL: owners come from verdicts, {need_second:,} {still} a second review"
    return "Owners come from verdicts"


def coverage_state(reading: "ReviewCoverage") -> str:
    """The same of a report, with the number of reviewed failures."""
    state = owners_state(
        reading.failures,
        by_rules=reading.failures - reading.read - reading.inherited,
        need_second=reading.read - reading.final,
    )
    inherited = f", {reading.inherited:,} inherited" if reading.inherited else ""
    return f"{state}; {reading.read:,} of {plural(reading.failures, 'failure')} reviewed{inherited}"


_WORDS: dict[EvidenceKind, str] = {
    "reference_fails": "the reference solution fails",
    "tests_cannot_run": "the tests can't run",
    "unreachable": "no test gets an answer from the service",
    "other_tasks_checks": "checked by the tests of another task",
    "contradiction": "the reference contradicts the task or the data of its tools",
    "unnamed_demand": "the tests demand a name that the task does not mention",
    "agree_on_another": "models agree on another answer than the reference",
    "strict_grader": "answers rejected for their form",
    "refused_alike": "the same check rejects the models alike",
}
MANY = 3
NOTE = "The counts alone do not distinguish a hard task from a broken one."


def heading(suspects: SuspectTasks) -> str:
    """`9 suspect tasks, 4 with evidence beyond the counts · no model passed 8 of the 33 tasks …`."""
    if not suspects.total:
        why = ": too many fail in every model to single one out" if suspects.failed_by_all >= MANY else ""
        return f"No suspect tasks{why} · {_models_and_tasks(suspects)}"
    count = plural(suspects.total, "suspect task")
    shown = sum(bool(task.evidence) for task in suspects.tasks)
    if shown == suspects.total:
        count += " with evidence in the log" if shown == 1 else ", all with evidence in the log"
    else:
        count += f", {shown:,} with evidence beyond the counts" if shown else " by the counts alone"
    return f"{count} · {_models_and_tasks(suspects)}"


def _models_and_tasks(suspects: SuspectTasks) -> str:
    models = plural(len(suspects.subjects), "model")
    if not suspects.cases:
        return f"{models} in the store"
    which = f"all {models}" if len(suspects.subjects) <= FEWEST else f"at least {FEWEST} of {models}"
    tasks = f"the {plural(suspects.cases, 'task')} with a result from {which}"
    return f"{_passed_by_none(suspects.failed_by_all, tasks)} ({by_chance(suspects.expected)})"


def _passed_by_none(count: int, tasks: str) -> str:
    return f"no model passed {count:,} of {tasks}"


def by_chance(expected: float) -> str:
    """How many tasks nobody would pass if all were equally difficult."""
    return f"{_about(expected)} expected by chance if all tasks were equally hard"


def _about(expected: float) -> str:
    return f"about {expected:,.{0 if expected >= 10 else 1}f}"


def counts_in_words(task: SuspectTask) -> str:
    """`passed by 0 of 13 models (0 of 65 attempts)`."""
    if not task.subjects:
        return "no model has a result"
    attempts = f" ({task.passes:,} of {plural(task.attempts, 'attempt')})" if task.attempts != task.subjects else ""
    return f"passed by {task.passed:,} of {plural(task.subjects, 'model')}{attempts}"


def only_counts(task: SuspectTask) -> str:
    """The test asks how likely it is that so few of these models pass, each at its own rate."""
    return f"no evidence beyond the counts (for a task of average difficulty, so few passes have {chance(task.p)})"


def evidence_in_words(evidence: TaskEvidence, task: SuspectTask) -> str:
    """`the tests can't run (in 4 of 4 models' failures)`; a doubt is called one.

    Failures by infrastructure or a limit do not count as results of the task, but they may hold evidence.
    """
    doubt = "" if evidence.strength == "likely" else "perhaps: "
    if not evidence.subjects:
        return f"{doubt}{_WORDS[evidence.kind]}"
    more = evidence.failed - task.subjects
    beside = f", {more:,} of them by infrastructure or a limit" if task.subjects and more > 0 else ""
    return f"{doubt}{_WORDS[evidence.kind]} (in {evidence.subjects} of {evidence.failed} models' failures{beside})"


def review_in_words(review: TaskReview) -> str:
    return f"reviewed as {review.label} ({review.owner}) by {review.reviewer}: {review.cause}"


def category_in_words(category: SuspectCategory) -> str:
    return (
        f"{category.name}: {_passed_by_none(category.failed_by_all, plural(category.cases, 'task'))}; "
        f"by the models' pass rates and the other categories, {_about(category.expected)} would be expected "
        f"({chance(category.adjusted)})"
    )


def chance(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
