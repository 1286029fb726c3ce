"""`rerun`: which cases to run again, and the commands of their harness for it. Runs nothing (`runner/` does)."""

from collections.abc import Iterable, Iterator, Sequence

from errata.errors import NotFoundError, did_you_mean
from errata.model import Attempt
from errata.model.run import case_name
from errata.model.words import NOT_THE_SUBJECTS
from errata.rerun.selection import VERDICT, Rerun, RerunChoice, TriagedFailure, select_rerun
from errata.runs.names import are_judged_turns, runs_named
from errata.runs.view import RunView
from errata.store.database import Store
from errata.text.shell import shell_word


def plan_reruns(
    selectors: Iterable[str], store: Store, *, cases: Sequence[str] = (), owners: Sequence[str] = ()
) -> Iterator[tuple[RunView, Rerun]]:
    for stored in runs_named(selectors, store):
        view = RunView(stored, store)
        yield view, plan_rerun(view, cases=cases, owners=owners)


def plan_rerun(view: RunView, *, cases: Iterable[str] = (), owners: Iterable[str] = ()) -> Rerun:
    """By default what failed for reasons that are not the subject's, and what no session measured."""
    triaged = {
        attempt: TriagedFailure(attribution.owner, attribution.decided_by, attempt in view.broken)
        for attempt, attribution in view.attributions.items()
    }
    # a verdict that counts decides, as it does for the score
    triaged |= {attempt: TriagedFailure(one.owner, VERDICT) for attempt, one in view.counting_verdicts.items()}
    scores = view.scores()
    keys = frozenset(_key_of(case, view) for case in cases)
    chosen = frozenset(owners)
    choice = RerunChoice(
        owners=chosen or NOT_THE_SUBJECTS,
        only_owners=bool(chosen),
        cases=keys or None,
        recovered=frozenset(scores.scores[scores.repeated_by].recovered),
        judges_later=are_judged_turns([view.stored]),
    )

    def attempts(*, case: str = "") -> Iterator[Attempt]:
        return view.attempts(counted=True, case=case, by_position=not case)

    return select_rerun(view.stored, attempts, triaged, choice)


def _key_of(case: str, view: RunView) -> str:
    run = view.run
    for key in (case, f"{run.suite}/{case}"):
        if next(view.attempts(counted=True, case=key), None) is not None:
            return key
    names = (case_name(run, attempt.case) for attempt in view.attempts(counted=True))
    meant = did_you_mean(case, dict.fromkeys(names))
    raise NotFoundError(
        f"Run `{run.native_id}` has no case `{case}`",
        hint=meant or f"`errata failures {shell_word(run.id)}` lists those that failed",
    )
