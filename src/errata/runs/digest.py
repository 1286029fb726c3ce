"""The digest of a run: the summary above its failures and in the list of runs, kept until the run changes."""

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

import msgspec

from errata.compare.scores import Score
from errata.model import Attempt, Finding, Run, SourceRef, StoredRun
from errata.model.listing import Dot, FindingLine, PolicyScore, RunDigest
from errata.model.run import case_name, is_running
from errata.model.times import moment_of
from errata.runs.first_page import estimate_words
from errata.runs.listing import ensure_indexed, past_counts, past_of
from errata.runs.standings import owner_of
from errata.runs.summary import Analysis
from errata.runs.suspect_tasks import inherit_task_verdicts
from errata.runs.triaging import is_left_to_background
from errata.runs.view import RunView
from errata.store.attempts import attempts_of
from errata.store.database import Store
from errata.store.failure_list import all_rows
from errata.store.index_file import keep_digest, kept_digest, kept_digests, marks_of, without_buckets

SHOWN = 3
MOST_NAMED = 50
MOST_DOTS = 4_000
STUCK = "stuck"
"""The status of a run whose runner has not reported for long."""
QUICK = 3_000
"""Attempts up to which a page waits for the digest; of a larger run it shows what it has."""


def digest_of(stored: StoredRun, store: Store) -> tuple[RunDigest, bool]:
    """The digest for the present state, and whether it was there; computes it where it is stale."""
    mark = without_buckets(ensure_indexed(stored, store))
    kept = kept_digest(store, stored.run.id)
    if kept is not None and kept[0] == mark:
        return msgspec.msgpack.decode(kept[1], type=RunDigest), True
    made = _digest(RunView(stored, store))
    mark = without_buckets(ensure_indexed(stored, store))
    keep_digest(store, stored.run.id, mark, msgspec.msgpack.encode(made))
    return made, False


def known_digest(stored: StoredRun, store: Store) -> tuple[RunDigest | None, bool]:
    """What there is, and whether it is for the present state; of a small run it is computed at once."""
    if stored.counts.attempts <= QUICK and not is_left_to_background(stored, store):
        return digest_of(stored, store)[0], True
    kept = kept_digest(store, stored.run.id)
    if kept is None:
        return None, False
    now = without_buckets(marks_of(store, [stored.run.id])[stored.run.id][1])
    return msgspec.msgpack.decode(kept[1], type=RunDigest), kept[0] == now


def known_digests(store: Store) -> dict[str, RunDigest]:
    return {run_id: msgspec.msgpack.decode(kept, type=RunDigest) for run_id, (_, kept) in kept_digests(store).items()}


def _digest(view: RunView) -> RunDigest:
    view.ensure_triaged()
    if not view.store.is_read_only:
        inherit_task_verdicts(view)
    summary, tally = view.summary, view.overview.tally
    run, scores = view.run, summary.scores
    usage = run.usage.subject
    owners: dict[str, int] = {one.owner: one.count for one in summary.owners}
    counts = view.stored.counts
    repeated = counts.attempts_in_log > counts.cases and bool(run.suite)
    return RunDigest(
        fit=summary.health.fit,
        health=_health(run, summary),
        findings=tuple(_finding_lines(view, summary.health.findings)),
        no_estimate=estimate_words(summary.no_estimate) if summary.no_estimate else "",
        scores=tuple(_policy_scores(scores.scores)),
        by_category=tuple(_policy_scores({name: parts["clean"] for name, parts in scores.categories.items()}))
        if scores.scores["strict"].spread is not None
        else (),
        lower_is_better=run.lower_is_better,
        unit=summary.unit,
        owners=owners,
        notes={one.owner: one.note(repeated=repeated) for one in summary.owners},
        reviewed=summary.reviewed,
        inherited=summary.inherited,
        open_reviews=sum(owners.values()) - summary.reviewed - summary.inherited,
        suspicious=summary.suspicious.suspicious,
        to_repeat=scores.to_repeat,
        without_failures=summary.without_failures,
        unavailable=_first_quote(summary.unavailable),
        pending=tuple(case_name(run, case) for case in tally.pending[:MOST_NAMED]),
        missing=tuple(case_name(run, case) for case in tally.missing[:MOST_NAMED]),
        dots=tuple(_dots(view)),
        sessions=len(run.sessions),
        past=past_counts(view, past_of(view)),
        tokens_in=usage.input,
        tokens_out=usage.output,
        cost=summary.cost_words,
    )


def _health(run: Run, summary: Analysis) -> str:
    if summary.unavailable is not None:
        return "unavailable"
    if summary.not_judged:
        return "not judged"
    if run.native_status == STUCK:
        return STUCK
    if is_running(run):
        return "running"
    return summary.health.word


def _first_quote(finding: Finding | None) -> str:
    if finding is None:
        return ""
    return next((one.quote for one in finding.evidence if one.quote), finding.text)


def _policy_scores(scores: Mapping[Any, Score]) -> Iterable[PolicyScore]:
    for policy, score in scores.items():
        low, high = score.interval or (None, None)
        yield PolicyScore(
            policy=policy,
            passed=score.passed,
            total=score.total,
            rate=score.rate,
            low=low,
            high=high,
            left_out=score.left_out,
            note=score.note,
            is_mean=score.mean is not None,
            spread=score.spread,
        )


def _finding_lines(view: RunView, findings: Iterable[Finding]) -> Iterable[FindingLine]:
    known = {name for row in all_rows(view.store, view.run.id) for name in row.signals.split()}
    for at, finding in enumerate(findings):
        proof = next((one for one in finding.evidence if one.quote and one.ref is not None), None)
        attempt, step = _place(view, proof.ref) if proof is not None and at < SHOWN and proof.ref else ("", None)
        count = next(iter(finding.numbers.values()), None)
        yield FindingLine(
            name=finding.name,
            text=finding.text,
            severity=finding.severity,
            breaks=finding.breaks,
            count=int(count) if count is not None and count == int(count) else None,
            signal=finding.name if finding.name in known else "",
            quote=proof.quote if proof is not None else "",
            attempt=attempt,
            step=step,
        )


def _place(view: RunView, ref: SourceRef) -> tuple[str, int | None]:
    holder = next((one for one in view.attempts(counted=True) if _holds(one, ref)), None)
    if holder is None:
        return "", None
    [*same] = attempts_of(view.store, view.stored.pk, case=holder.case, steps=True)
    steps = next((one.steps for one in same if one.id == holder.id), ())
    return holder.id, next((step.index for step in steps if step.ref == ref), None)


def _holds(attempt: Attempt, ref: SourceRef) -> bool:
    own = attempt.ref
    if own is None:
        return False
    if own.file == ref.file and own.member == ref.member:
        return own.line == ref.line and ref.pointer.startswith(own.pointer)
    folder = str(PurePosixPath(own.file).parent)
    return folder not in ("", ".") and ref.file.startswith(f"{folder}/") and not own.pointer


def _dots(view: RunView) -> Iterable[Dot]:
    """When each failure ended; of very many, a regular sample."""
    every = max(1, view.stored.counts.failures // MOST_DOTS)
    for at, attempt in enumerate(view.attempts(failures=True)):
        ended = attempt.finished_at or attempt.started_at
        if at % every or not ended:
            continue
        moment = moment_of(ended)
        if moment.year == 1:  # not a time
            continue
        review = view.standings.get(attempt.id)
        owner = owner_of(view.attributions.get(attempt.id), review.standing if review else None)
        yield Dot(owner or "unknown", moment.timestamp())
