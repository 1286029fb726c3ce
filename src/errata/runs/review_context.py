"""What a review takes from the other stages about a run: attributions, taxonomies, history, buckets."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from errata.errors import SettingsError, did_you_mean
from errata.memory.known_gaps import gap_for
from errata.model import KnownGap, LabelChoice, Question, StoredRun, Verdict
from errata.model.attribution import Taxonomy
from errata.model.history import History as CaseHistory
from errata.model.history import Mention
from errata.model.standing import standing
from errata.model.times import moment_of
from errata.review.labels import OWNERS, RULE
from errata.review.material import History, RunContext
from errata.runs.history import RunHistory
from errata.runs.names import short
from errata.store.case_versions import tasks_apart
from errata.store.database import Store
from errata.store.elsewhere import Elsewhere, elsewhere, failed_checks_of, verdicts_on
from errata.store.memory import known_gaps
from errata.triage.rulesets import rules_in_use

if TYPE_CHECKING:
    from errata.runs.view import RunView


def context_of(view: "RunView") -> RunContext:
    """The run is triaged when this returns; history and buckets are worked out when they are first needed."""
    stored = view.stored

    @cache
    def packet_history() -> PacketHistory:
        return PacketHistory(stored, view.store)

    def history(keys: Collection[str]) -> Mapping[str, History]:
        return packet_history().of(keys)

    return RunContext(
        stored=stored,
        handle=short(stored.run.native_id),
        attributions=view.attributions,
        buckets=lambda: {attempt: place.slug for attempt, place in view.buckets.items()},
        question=lambda taxonomy: question_for(stored.run.source.name, taxonomy),
        history=history,
    )


def question_for(source: str, taxonomy: str = "") -> Question:
    """The labels of a taxonomy by name; else the source's own, else one that names the source, else the owners."""
    known = {one.name: one for one in rules_in_use().taxonomies}
    if taxonomy and taxonomy not in known and taxonomy != OWNERS.taxonomy:
        names = [*known, OWNERS.taxonomy]
        hints = [did_you_mean(taxonomy, names), f"known are: {', '.join(names)}"]
        raise SettingsError(f"No taxonomy is named `{taxonomy}`", hint="\n".join(hint for hint in hints if hint))
    naming = (one for one in known.values() if source in one.sources and not one.opt_in)
    question = known.get(taxonomy) if taxonomy else known.get(source) or next(naming, None)
    return OWNERS if question is None else as_question(question)


def labels_by_taxonomy() -> dict[str, tuple[str, ...]]:
    listed = sorted(rules_in_use().taxonomies, key=lambda one: one.opt_in)
    known = {one.name: tuple(label.name for label in one.label) for one in listed}
    return {OWNERS.taxonomy: tuple(choice.label for choice in OWNERS.labels)} | known


def as_question(taxonomy: Taxonomy) -> Question:
    labels = tuple(
        LabelChoice(label=label.name, owner=label.owner, meaning=label.meaning, general=label.is_general)
        for label in taxonomy.label
    )
    return Question(taxonomy=taxonomy.name, version=taxonomy.version, labels=labels, rule=RULE)


# --- what is known of the same cases from elsewhere


SHOWN = 8
"""Other runs, and reports, that are shown one by one; all runs are counted."""
CHECKS = 8


class PacketHistory:
    def __init__(self, stored: StoredRun, store: Store) -> None:
        self._stored, self._store = stored, store
        self._history, self._gaps = RunHistory(stored, store), known_gaps(store, stored.run.suite)

    def of(self, keys: Collection[str]) -> dict[str, History]:
        """By case. Verdicts on this very run are left out: reviewers judge for themselves."""
        runs = _in_runs(self._stored, self._store, keys)
        return {key: (*self._on_record(key), *runs.get(key, ())) for key in keys}

    def _on_record(self, key: str) -> Iterator[dict[str, Any]]:
        yield from _gap(gap_for(key, self._gaps))
        yield from _in_reports(self._history.before(key))


def _gap(gap: KnownGap | None) -> Iterator[dict[str, Any]]:
    if gap is not None:
        yield {"known_gap": gap.text, "since": gap.since}


def _in_reports(before: CaseHistory) -> Iterator[dict[str, Any]]:
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


def _in_runs(stored: StoredRun, store: Store, keys: Collection[str]) -> dict[str, History]:
    run = stored.run
    if not run.suite:  # cases of no suite are not known to be the same
        return {}
    tried = elsewhere(store, stored, keys)
    shown = {key: _varied(tries)[:SHOWN] for key, tries in tried.items()}
    failed = failed_checks_of(store, [one for some in shown.values() for one in some])
    own = moment_of(run.started_at or stored.imported_at)
    before = [one for some in tried.values() for one in some if moment_of(one.started_at) <= own]
    read = verdicts_on(store, before)
    entries: dict[str, History] = {}
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
