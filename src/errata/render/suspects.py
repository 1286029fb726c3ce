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
    "contradiction": "the task and its reference contradict each other",
    "unnamed_demand": "the tests demand a name that the task does not mention",
    "agree_on_another": "subjects agree on another answer than the reference",
    "strict_grader": "answers rejected for their form",
    "refused_alike": "the same check rejects the subjects alike",
}
NOTE = "Suspect means worth reading: a hard task and a broken task look the same in the counts."


def heading(suspects: SuspectTasks) -> str:
    """`9 suspect tasks, 4 with evidence beyond the counts · 5 subjects · nobody passes 8 of 33 tasks, 5.2 expected`."""
    if not suspects.total:
        return f"No task is suspect · {_subjects_and_cases(suspects)}"
    count = plural(suspects.total, "suspect task")
    shown = sum(bool(task.evidence) for task in suspects.tasks)
    if shown < suspects.total:
        count += f", {shown:,} with evidence beyond the counts" if shown else " by the counts alone"
    return f"{count} · {_subjects_and_cases(suspects)}"


def _subjects_and_cases(suspects: SuspectTasks) -> str:
    subjects = plural(len(suspects.subjects), "subject")
    if not suspects.cases:
        return subjects
    tasks = f"{plural(suspects.cases, 'task')} that {FEWEST} or more subjects were measured on"
    nobody = f"nobody passes {suspects.failed_by_all:,} of {tasks}"
    return f"{subjects} · {nobody}, {suspects.expected:.1f} expected if all were equally difficult"


def counts_in_words(task: SuspectTask) -> str:
    """`0 of 65 attempts by 13 subjects pass`."""
    if not task.subjects:
        return "no subject was measured on it"
    subjects = plural(task.subjects, "subject")
    attempts = f"{task.passes:,} of {plural(task.attempts, 'attempt')} by {subjects}"
    return f"{attempts} {'passes' if task.attempts == 1 else 'pass'}"


def only_counts(task: SuspectTask) -> str:
    return f"only the counts: {counts_in_words(task)}, {chance(task.p)} at their pass rates"


def evidence_in_words(evidence: TaskEvidence) -> str:
    """`the tests can't run (in 4 of 4 subjects' failures)`; a doubt is called one."""
    subjects = f" (in {evidence.subjects} of {evidence.failed} subjects' failures)" if evidence.subjects else ""
    doubt = "" if evidence.strength == "likely" else "perhaps: "
    return f"{doubt}{_WORDS[evidence.kind]}{subjects}"


def review_in_words(review: TaskReview) -> str:
    return f"reviewed as {review.label} ({review.owner}) by {review.reviewer}: {review.cause}"


def category_in_words(category: SuspectCategory) -> str:
    return (
        f"{category.name}: nobody passes {category.failed_by_all:,} of {category.cases:,} tasks, "
        f"{category.expected:.1f} expected ({chance(category.adjusted)})"
    )


def chance(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
