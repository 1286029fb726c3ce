"""Verdicts on tasks that a run inherits when it is analysed after its tasks were reviewed."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING

from errata.model.times import to_text
from errata.review.stored.task_reviews import reviews_of_tasks
from errata.runs.suspect_tasks import runs_beside
from errata.store.runs import run_by_id

if TYPE_CHECKING:
    from errata.review.material import RunContext
    from errata.runs.view import RunView


def inherit_task_verdicts(view: "RunView") -> int:
    """How many failures of the suite have a verdict on their task now; one small query where no task was reviewed."""
    store = view.store
    if not view.stored.counts.failures:
        return 0
    run_ids = [one.run.id for one in runs_beside(view.stored, store)]
    reviewed = reviews_of_tasks(store, run_ids)
    return _pass_on(reviewed, run_ids, view) if reviewed else 0


def _pass_on(reviewed: Iterable[str], run_ids: Sequence[str], view: "RunView") -> int:
    from errata.review.stored.tasks import pass_on  # noqa: PLC0415 packets are heavy, and this is rare
    from errata.runs.review_context import context_of  # noqa: PLC0415
    from errata.runs.view import RunView  # noqa: PLC0415 the view asks for this

    store = view.store

    @cache
    def context(run_id: str) -> "RunContext":
        return context_of(view if run_id == view.run.id else RunView(run_by_id(store, run_id), store))

    at = to_text(datetime.now(UTC))
    return sum(pass_on(case, context, store, run_ids, at=at) for case in reviewed)
