"""What is known of the same cases from elsewhere: earlier reports, recorded gaps, other runs, verdicts on them."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from errata.memory.known_gaps import gap_for
from errata.model import KnownGap, StoredRun, Verdict
from errata.model.history import History, Mention
from errata.model.standing import standing
from errata.model.times import moment_of
from errata.runs.history import RunHistory
from errata.store.case_versions import tasks_apart
from errata.store.database import Store
from errata.store.elsewhere import Elsewhere, elsewhere, failed_checks_of, verdicts_on
from errata.store.memory import known_gaps

SHOWN = 8
"""Other runs, and reports, that are shown one by one; all runs are counted."""
CHECKS = 8

HistoryEntries = tuple[dict[str, Any], ...]


class PacketHistory:
    def __init__(self, stored: StoredRun, store: Store) -> None:
        self._stored, self._store = stored, store
        self._history, self._gaps = RunHistory(stored, store), known_gaps(store, stored.run.suite)

    def of(self, keys: Collection[str]) -> dict[str, HistoryEntries]:
        """By case. Verdicts on this very run are left out: reviewers judge for themselves."""
        runs = _in_runs(self._stored, self._store, keys)
        return {key: (*self._on_record(key), *runs.get(key, ())) for key in keys}

    def _on_record(self, key: str) -> Iterator[dict[str, Any]]:
        yield from _gap(gap_for(key, self._gaps))
        yield from _in_reports(self._history.before(key))


def _gap(gap: KnownGap | None) -> Iterator[dict[str, Any]]:
    if gap is not None:
        yield {"known_gap": gap.text, "since": gap.since}


def _in_reports(before: History) -> Iterator[dict[str, Any]]:
    """Those of the same model first; each with what was done about it since."""
    done = [
        f"{mention.action.date} {mention.action.path} {mention.action.what}: {mention.why}"
        for mention in before.actions
    ]
    for mention in before.reports[:SHOWN]:
        yield _mention(mention) | {"action": "; ".join(done) or None}
    for mention in before.others[: SHOWN - len(before.reports[:SHOWN])]:
        yield _mention(mention) | {"model": mention.model}


def _mention(mention: Mention) -> dict[str, Any]:
    label = "suggested_label" if mention.by_rule else "label"
    return {
        "report": mention.report,
        "line": mention.line,
        "date": mention.date or None,
        label: mention.label or None,
        "text": mention.text,
    }


def _in_runs(stored: StoredRun, store: Store, keys: Collection[str]) -> dict[str, HistoryEntries]:
    run = stored.run
    if not run.suite:  # cases of no suite are not known to be the same
        return {}
    tried = elsewhere(store, stored, keys)
    shown = {key: _varied(tries)[:SHOWN] for key, tries in tried.items()}
    failed = failed_checks_of(store, [one for some in shown.values() for one in some])
    own = moment_of(run.started_at or stored.imported_at)
    before = [one for some in tried.values() for one in some if moment_of(one.started_at) <= own]
    read = verdicts_on(store, before)
    entries: dict[str, HistoryEntries] = {}
    for key, tries in tried.items():
        standings = ((one, standing(read.get(one.attempt, ()))) for one in tries if one in before)
        verdicts = [_verdict(one, stood.verdict) for one, stood in standings if stood is not None]
        edited = [key in tasks_apart(store, (stored.pk, one.pk)) for one in shown[key]]
        outcomes = [_outcome(one, failed, is_edited=is_other) for one, is_other in zip(shown[key], edited, strict=True)]
        entries[key] = (*verdicts[:SHOWN], *_summary(tries), *outcomes)
    return entries


def _varied(tries: Iterable[Elsewhere]) -> list[Elsewhere]:
    """The newest of each model first, then the second of each."""
    seen: Counter[str] = Counter()
    ranked = []
    for place, attempt in enumerate(tries):
        ranked.append((seen[attempt.model], place, attempt))
        seen[attempt.model] += 1
    return [attempt for _, _, attempt in sorted(ranked, key=lambda entry: entry[:2])]


def _summary(tries: list[Elsewhere]) -> Iterator[dict[str, Any]]:
    if len(tries) > SHOWN:
        yield {"other_runs": len(tries), "outcomes": dict(sorted(Counter(one.outcome for one in tries).items()))}


def _outcome(attempt: Elsewhere, failed: dict[tuple[int, int], list[str]], *, is_edited: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {"run": attempt.run, "model": attempt.model, "outcome": attempt.outcome}
    entry["failed_checks"] = failed.get((attempt.pk, attempt.seq), [])[:CHECKS]
    if attempt.execution != "completed":
        entry["execution"] = attempt.execution
    if is_edited:
        entry["task_differs"] = True
    return entry


def _verdict(attempt: Elsewhere, verdict: Verdict) -> dict[str, Any]:
    return {
        "verdict": verdict.label,
        "owner": verdict.owner,
        "cause": verdict.cause,
        "run": attempt.run,
        "model": attempt.model,
        "date": (verdict.at or "")[:10] or None,
        "reviewer": verdict.reviewer.kind,
    }
