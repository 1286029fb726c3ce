"""What earlier and other runs of the store say of the same cases: how they did, and what reviewers found there."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from errata.model import Case, StoredRun, Verdict
from errata.model.times import moment_of
from errata.review.standing import standing
from errata.store.database import Store
from errata.store.elsewhere import Elsewhere, elsewhere, failed_checks_of, verdicts_on

SHOWN = 8
"""Other runs that are told of one by one; all are counted."""
CHECKS = 8

History = tuple[dict[str, Any], ...]


def recall(
    stored: StoredRun, store: Store, cases: Collection[Case | None], keys: Collection[str]
) -> dict[str, History]:
    """Case → what is known of it from elsewhere. Verdicts on this very run are not: reviewers read for themselves."""
    run = stored.run
    if not run.suite:  # cases of no suite are not known to be the same
        return {}
    digests = {case.key: case.digest for case in cases if case is not None}
    tried = elsewhere(store, run.suite, run.id, keys)
    shown = {key: _varied(tries)[:SHOWN] for key, tries in tried.items()}
    failed = failed_checks_of(store, [one for some in shown.values() for one in some])
    own = moment_of(run.started_at or stored.imported_at)
    before = [one for some in tried.values() for one in some if moment_of(one.started_at) <= own]
    read = verdicts_on(store, before)
    told: dict[str, History] = {}
    for key, tries in tried.items():
        found = ((one, standing(read.get(one.attempt, ()))) for one in tries if one in before)
        verdicts = [_verdict(one, stood.verdict) for one, stood in found if stood is not None]
        outcomes = [_outcome(one, failed, digests.get(key, "")) for one in shown[key]]
        told[key] = (*verdicts[:SHOWN], *_summary(tries), *outcomes)
    return told


def _varied(tries: Iterable[Elsewhere]) -> list[Elsewhere]:
    """The newest of each model first, then the second of each."""
    seen: Counter[str] = Counter()
    ranked = []
    for place, one in enumerate(tries):
        ranked.append((seen[one.model], place, one))
        seen[one.model] += 1
    return [one for _, _, one in sorted(ranked, key=lambda entry: entry[:2])]


def _summary(tries: list[Elsewhere]) -> Iterator[dict[str, Any]]:
    if len(tries) > SHOWN:
        yield {"other_runs": len(tries), "outcomes": dict(sorted(Counter(one.outcome for one in tries).items()))}


def _outcome(one: Elsewhere, failed: dict[tuple[int, int], list[str]], digest: str) -> dict[str, Any]:
    told: dict[str, Any] = {"run": one.run, "model": one.model, "outcome": one.outcome}
    told["failed_checks"] = failed.get((one.pk, one.seq), [])[:CHECKS]
    if one.execution != "completed":
        told["execution"] = one.execution
    if digest and one.digest and digest != one.digest:
        told["task_differs"] = True
    return told


def _verdict(one: Elsewhere, said: Verdict) -> dict[str, Any]:
    return {
        "verdict": said.label,
        "owner": said.owner,
        "cause": said.cause,
        "run": one.run,
        "model": one.model,
        "date": (said.at or "")[:10] or None,
        "reviewer": said.reviewer.kind,
    }
