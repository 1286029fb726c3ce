"""Suspect tasks: tasks that hardly any subject passes, and the evidence against each of them."""

from typing import Literal

from errata.model.record import Struct
from errata.model.words import Owner

EvidenceKind = Literal[
    "reference_fails",
    "tests_cannot_run",
    "unreachable",
    "unnamed_demand",
    "agree_on_another",
    "contradiction",
    "refused_alike",
    "strict_grader",
    "other_tasks_checks",
]
SuspectStrength = Literal["likely", "weak", "counts"]
"""`likely` and `weak` come from the evidence; `counts` means that only the number of failures speaks against it."""
TASKS = "tasks"
"""The taxonomy of verdicts on tasks."""
FEWEST = 3
"""Subjects that must be measured on a task before its counts are evidence."""
ONE_IN, MOST_PASSES = 10, 2
NOT_THE_CASES = frozenset(("provider", "environment", "harness", "simulator", "collateral", "budget"))
"""Owners of failures that do not show how hard a task is."""
FAULTS_OF_TESTS = ("broken_test", "verifier_never_ran")
"""Signals that decide an owner for a fault of the tests themselves."""


def allowed_passes(subjects: int) -> int:
    """Passes that do not keep a task from being suspect: 1 of 10 subjects, 2 of 20 or more."""
    return min(subjects // ONE_IN, MOST_PASSES)


class TaskEvidence(Struct):
    """One thing that speaks against a task."""

    kind: EvidenceKind
    strength: Literal["likely", "weak"]
    subjects: int = 0
    """Subjects whose attempts show it; 0 where the task itself does."""
    failed: int = 0
    """Subjects whose failures were looked at."""
    where: str = ""
    quote: str = ""
    stated: str = ""
    """What errata states from facts of the log."""
    attempt: str = ""
    """The id of an attempt that shows it."""


class TaskReview(Struct):
    """The standing verdict of a reader on a task."""

    label: str
    owner: Owner
    cause: str
    reviewer: str
    id: str
    final: bool
    """Whether it counts: a text that addresses the reader needs a second one."""


class SuspectTask(Struct):
    case: str
    """As its harness names it."""
    case_key: str
    category: str = ""
    subjects: int
    """Subjects that were measured on it."""
    passed: int
    """Subjects that passed it, at most one in ten."""
    attempts: int
    passes: int
    """Attempts that passed."""
    p: float
    """Probability that at most `passed` subjects pass a task of average difficulty, each at its own pass rate."""
    evidence: tuple[TaskEvidence, ...] = ()
    """The strongest first; empty where only the counts speak against the task."""
    attempt_ids: tuple[str, ...] = ()
    """A failed attempt of each subject, for some subjects."""
    review: TaskReview | None = None

    @property
    def strength(self) -> SuspectStrength:
        return self.evidence[0].strength if self.evidence else "counts"


class SuspectCategory(Struct):
    """A category with more tasks that nobody passes than its pass rates explain."""

    name: str
    cases: int
    failed_by_all: int
    expected: float
    """Tasks that nobody would pass, by the subjects' pass rates in the category and the surplus in the others."""
    p: float
    adjusted: float
    """Corrected for the number of categories (Holm)."""


class SuspectTasks(Struct):
    suite: str = ""
    subjects: tuple[str, ...] = ()
    cases: int = 0
    """Tasks that at least three subjects were measured on."""
    failed_by_all: int = 0
    """Of these, tasks that no subject passes."""
    passed_by_nobody: tuple[str, ...] = ()
    """Their case keys; a task that was edited counts once for each version."""
    expected: float = 0.0
    """Tasks that no subject would pass if all tasks were equally difficult, by the subjects' pass rates."""
    total: int = 0
    """Suspect tasks; `tasks` holds the first of them where there are very many."""
    tasks: tuple[SuspectTask, ...] = ()
    """Ordered by strength of the evidence, then by the counts."""
    categories: tuple[SuspectCategory, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.tasks)
