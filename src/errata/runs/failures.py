"""The failures of a run: which attempts failed, and everything that is known of each, joined."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from errata.errors import NotFoundError, did_you_mean
from errata.model import Attempt, Attribution, BucketPlace, Run, StoredRun
from errata.model.filters import Filters
from errata.model.history import History
from errata.model.output.failures import FailureOutput, SignalOutput, StandingVerdictOutput
from errata.model.output.memory import CaseHistoryOutput
from errata.model.run import case_name
from errata.model.standing import Standing
from errata.model.verdict import word_for
from errata.runs.history import RunHistory
from errata.runs.standings import owner_of
from errata.store.attempts import attempts_of, attempts_with_failed_check, case_of, cases_of, with_texts
from errata.store.database import Store
from errata.text.tool_output import key_line
from errata.transcript.error_text import has_logs, says_more
from errata.triage.expected import expected_of
from errata.triage.reasons import explained, reason_of

if TYPE_CHECKING:
    from errata.runs.view import RunView


FEW = 50
"""Up to this number, cases are looked up one by one; beyond it, all are loaded at once."""
MANY = 100_000


class Expectations:
    def __init__(self, stored: StoredRun, store: Store) -> None:
        self._stored, self._store = stored, store
        self._asked = 0
        self._all: dict[str, str] | None = None

    def of(self, attempt: Attempt) -> str:
        """Empty where the log has no expected answer in a form that can be shown."""
        self._asked += 1
        if self._all is None and self._asked > FEW and self._stored.counts.cases <= MANY:
            self._all = {case.key: expected_of(case) for case in cases_of(self._store, self._stored.pk)}
        if self._all is not None and not attempt.case_version:
            return self._all.get(attempt.case, "")
        return expected_of(case_of(self._store, self._stored.pk, attempt.case, attempt.case_version))


LISTED = 12


class Failure(msgspec.Struct, frozen=True):
    run: Run
    attempt: Attempt
    attribution: Attribution | None = None
    expected: str = ""
    """The expected answer, where that is the only explanation of a wrong answer."""
    standing: Standing | None = None
    bucket: BucketPlace | None = None
    remembered: RunHistory | None = None
    judge: str = ""
    """A judge's words about a run below it, where its own checks have none."""

    @property
    def times_reported(self) -> int | None:
        """How many earlier reports about the model name the case; none where there is no such report at all.

        A report that errata wrote about a run in the store counts as that run.
        """
        if self.remembered is None or not self.remembered.reports.same_model:
            return None
        is_named = self.attempt.case in self.remembered.mentions.cases
        return len(self.remembered.before(self.attempt.case).counted_reports) if is_named else 0

    @property
    def before(self) -> History | None:
        return self.remembered.before(self.attempt.case) if self.remembered else None

    @property
    def case_name(self) -> str:
        return case_name(self.run, self.attempt.case)

    @property
    def reason(self) -> str:
        return reason_of(self.attempt, self.attribution, self.expected).text or self.judge

    def as_json(self) -> FailureOutput:
        """The stable form; `bucket` and `verdict` are null until they are known."""
        attempt, attribution = self.attempt, self.attribution
        return FailureOutput(
            run=self.run.native_id,
            run_id=self.run.id,
            model=self.run.subject.model,
            case=self.case_name,
            case_key=attempt.case,
            attempt=attempt.index,
            session=attempt.session,
            attempt_id=attempt.id,
            execution=attempt.execution,
            measurement=attempt.measurement,
            outcome=attempt.outcome,
            native_status=attempt.native_status or None,
            failed_checks=attempt.failed_checks,
            reason=self.reason or None,
            follows=attempt.follows or (attribution.follows if attribution else None) or None,
            owner=attribution.owner if attribution else None,
            also=attribution.also if attribution else (),
            confidence=attribution.confidence if attribution else None,
            proof=(attribution.proof or None) if attribution else None,
            proof_reason=(attribution.proof_reason or None) if attribution else None,
            decided_by=attribution.decided_by if attribution else None,
            signals=tuple(
                SignalOutput(name=signal.name, where=signal.where, quote=signal.quote, stated=signal.stated)
                for signal in (attribution.signals if attribution else ())
            ),
            failure_key=attribution.failure_key if attribution else None,
            suggested_labels=attribution.suggested_labels if attribution else {},
            bucket=self.bucket,
            verdict=_verdict(self.standing),
            before=CaseHistoryOutput.of(before) if (before := self.before) else None,
        )


def _verdict(stood: Standing | None) -> StandingVerdictOutput | None:
    if stood is None:
        return None
    verdict = stood.verdict
    return StandingVerdictOutput(
        id=verdict.id,
        taxonomy=verdict.taxonomy,
        label=verdict.label,
        owner=verdict.owner,
        cause=verdict.cause,
        decisive_step=verdict.decisive_step,
        decisive_agent=verdict.decisive_agent or None,
        second_candidate=verdict.second_candidate,
        confidence=verdict.confidence,
        reviewer=word_for(verdict.reviewer),
        at=verdict.at,
        final=stood.final,
        disputed=stood.is_disputed,
        inherited_from=verdict.inherited_from,
        changes=stood.changes,
    )


def join_failures(view: "RunView", filters: Filters, *, limit: int | None = None) -> Iterator[Failure]:
    stored, store = view.stored, view.store
    categories = view.categories if filters.category else {}
    expected = Expectations(stored, store)
    count = 0
    for attempt in _candidates(stored, store, filters):
        if limit is not None and count >= limit:
            return
        if not attempt.is_failure or not filters.fits(stored.run, attempt, categories):
            continue
        attribution, place = view.attributions.get(attempt.id), view.buckets.get(attempt.id)
        standing = view.standings[attempt.id].standing if attempt.id in view.standings else None
        if filters.owner and filters.owner != owner_of(attribution, standing):
            continue
        if filters.bucket and not _is_in(place, filters.bucket):
            continue
        count += 1
        if has_logs(attempt) and not says_more(reason_of(attempt, attribution).text, attempt):
            attempt = with_texts(store, attempt)
        asked = "" if explained(attempt, attribution) else expected.of(attempt)
        failure = Failure(stored.run, attempt, attribution, asked, standing, place, view.history)
        if not failure.reason and stored.counts.attempts > stored.counts.counted:
            judge = words_below(refused_below(attempt, list(view.attempts(case=attempt.case))))
            failure = msgspec.structs.replace(failure, judge=key_line(judge))
        yield failure


def refused_below(attempt: Attempt, same: Sequence[Attempt]) -> Attempt | None:
    """A failed run below it with a judge's reason, where its own checks have none; else one of an earlier session.

    A batch repeats the results of earlier sessions, and the judge's words stay with the session that ran them.
    """
    if attempt.measurement != "scored" or any(check.failed and check.explanation for check in attempt.checks):
        return None
    parents = {attempt.id, *(one.id for one in same if one.superseded_by == attempt.id)}
    below = [one for one in same if one.parent in parents and one.outcome == "fail"]
    return max((one for one in below if words_below(one)), key=lambda one: one.session or 0, default=None)


def words_below(below: Attempt | None) -> str:
    return next((judge.reasoning for judge in below.objections if judge.reasoning), "") if below else ""


def _is_in(place: BucketPlace | None, bucket: str) -> bool:
    return place is not None and place.slug.startswith(bucket)


def _candidates(stored: StoredRun, store: Store, filters: Filters) -> Iterator[Attempt]:
    if filters.failed_check:
        return attempts_with_failed_check(store, stored.pk, filters.failed_check)
    return attempts_of(store, stored.pk, failures=True, by_position=True)


def refuse_unknown(filters: Filters, views: Sequence["RunView"]) -> None:
    """Where nothing fits: a check, category, case or bucket that no run knows is a slip, and no empty answer."""
    if filters.failed_check:
        checks = dict.fromkeys(name for view in views for name in view.stored.counts.checks)
        _refuse("check", filters.failed_check, list(checks), filters.failed_check in checks)
    if filters.category:
        categories = {name for view in views for names in view.categories.values() for name in names}
        _refuse("category", filters.category, sorted(categories), filters.category in categories)
    if filters.case:
        cases = dict.fromkeys(name for view in views for name in case_names(view.stored, view.store))
        _refuse("case", filters.case, list(cases), any(filters.case in name for name in cases))
    if filters.bucket:
        slugs = dict.fromkeys(place.slug for view in views for place in view.buckets.values())
        _refuse("bucket", filters.bucket, list(slugs), any(slug.startswith(filters.bucket) for slug in slugs))


def _refuse(what: str, wanted: str, known: Sequence[str], is_known: bool) -> None:
    if is_known:
        return
    listed = f"known are: {', '.join(known)}" if 0 < len(known) <= LISTED else ""
    hints = [part for part in (did_you_mean(wanted, known), listed) if part]
    listing = f"`errata {'buckets list' if what == 'bucket' else 'failures RUN'}` lists what there is"
    raise NotFoundError(f"No {what} is named `{wanted}`", hint="\n".join(hints) or listing)


def case_names(stored: StoredRun, store: Store) -> Iterator[str]:
    keys = dict.fromkeys(attempt.case for attempt in attempts_of(store, stored.pk, counted=True))
    return (case_name(stored.run, key) for key in keys)
