"""Text for suspect tasks: what speaks against each, and no more than the evidence shows."""

from errata.model.suspects import (
    FEWEST,
    EvidenceKind,
    SuspectCategory,
    SuspectTask,
    SuspectTasks,
    TaskEvidence,
    TaskReview,
)
from errata.render.figures import plural

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
