"""The verdicts on tasks that are in the store; apart from packets, so that a summary does not load those."""

from collections.abc import Iterable, Sequence

from errata.model import Verdict
from errata.model.identity import split_attempt_id, task_id
from errata.model.standing import standing
from errata.model.suspects import SuspectTask, TaskReview
from errata.model.verdict import word_for
from errata.store.database import Store
from errata.store.reviews import task_verdicts


def review_of(verdicts: Sequence[Verdict]) -> TaskReview | None:
    stood = standing(verdicts)
    if stood is None:
        return None
    verdict = stood.verdict
    reviewer = word_for(verdict.reviewer)
    return TaskReview(
        label=verdict.label,
        owner=verdict.owner,
        cause=verdict.cause,
        reviewer=reviewer,
        id=verdict.id,
        final=stood.final,
    )


def reviews_of_tasks(store: Store, run_ids: Iterable[str]) -> dict[str, list[Verdict]]:
    """Case → the verdicts on its task, under whichever run they are stored, oldest first."""
    by_case: dict[str, list[Verdict]] = {}
    for verdict in task_verdicts(store, run_ids):
        by_case.setdefault(split_attempt_id(verdict.attempt).case, []).append(verdict)
    return by_case


def home_of(task: SuspectTask, verdicts: Sequence[Verdict] = ()) -> str:
    """The id of the task: with the run of its first verdict, else of its first failed attempt."""
    first = verdicts[0].attempt if verdicts else task.attempt_ids[0]
    return task_id(split_attempt_id(first).run, task.case_key)
