"""What errata show shows: a run or an attempt, with everything that is known of it."""

from collections import Counter
from contextlib import suppress

import msgspec

from errata.errors import NotReadyError, StoreError
from errata.model import (
    Attempt,
    Attribution,
    BucketCounts,
    BucketPlace,
    Case,
    FailureKey,
    Finding,
    Observation,
    StoredRun,
)
from errata.model.counts import lacks_rows
from errata.model.history import History
from errata.model.identity import split_attempt_id
from errata.model.output.memory import CaseHistoryOutput
from errata.model.output.show import (
    ExplanationOutput,
    SameFailureOutput,
    ShownAttemptOutput,
    ShownBucketOutput,
    ShownRunOutput,
)
from errata.model.run import case_name
from errata.model.standing import AttemptReview
from errata.runs.addresses import locate
from errata.runs.bucketing import FEW, ensure_all_buckets
from errata.runs.explanation import Explanation, effect_of, explain
from errata.runs.failures import refused_below
from errata.runs.history import is_same_subject
from errata.runs.standings import is_stale, standing_of
from errata.runs.view import RunView
from errata.store.attempts import case_of, run_with_texts
from errata.store.attributions import each_attribution
from errata.store.buckets import count_bucket
from errata.store.database import Store
from errata.store.runs import all_runs, findings_of
from errata.triage.keys import is_informative, lists_only_names

MOST_RUNS = 50
MOST_LOOKED_AT = 20_000
"""Failures of other runs, the newest run first."""


def failing_alike(stored: StoredRun, store: Store, key: FailureKey) -> tuple[SameFailureOutput, ...]:
    """Models that fail in the same way, those that do so most often first.

    A key without words of its own, such as `unresolved`, is not a likeness, nor is a list of failed checks; a run
    without a model is no other model.
    """
    if not is_informative(key) or lists_only_names(key):
        return ()
    often: Counter[str] = Counter()
    newest: dict[str, str] = {}
    left = MOST_LOOKED_AT
    named = (other for other in all_runs(store, suite=stored.run.suite) if other.run.subject.model)
    others = [other for other in named if other.run.id != stored.run.id and not is_same_subject(other.run, stored.run)]
    for other in others[:MOST_RUNS] if stored.run.suite else ():
        left -= other.counts.failures
        if other.run.excluded is not None or left < 0:
            continue
        alike_there = sum(said.failure_key.exact == key.exact for said, _ in each_attribution(store, other.pk))
        if alike_there:
            often[other.run.subject.model] += alike_there
            newest.setdefault(other.run.subject.model, other.run.native_id)
    return tuple(SameFailureOutput(model=model, count=count, run=newest[model]) for model, count in often.most_common())


class ShownRun(msgspec.Struct, frozen=True):
    stored: StoredRun
    findings: tuple[Finding, ...]
    cost_of_subject: float | None = None
    """Both only of a run with a simulated user."""
    cost_of_simulator: float | None = None

    def as_json(self) -> ShownRunOutput:
        return ShownRunOutput(run=self.stored.run, counts=self.stored.counts, findings=self.findings)


class ShownAttempt(msgspec.Struct, frozen=True):
    stored: StoredRun
    handle: str
    attempt: Attempt
    case: Case | None
    of: int
    children: tuple[Attempt, ...]
    earlier: tuple[Attempt, ...]
    """Those of earlier sessions, which this one supersedes."""
    refused: Attempt | None = None
    """A failed run below it with a judge's reason, where its own checks have none; else one of an earlier session."""
    rows: tuple[Attempt, ...] = ()
    """This one among the rows of the same attempt, where the log has several."""
    failed: tuple[int, ...] = ()
    """Which other attempts at the case failed in this session, where this one passed."""
    attribution: Attribution | None = None
    explanation: Explanation | None = None
    review: AttemptReview | None = None
    stale: bool = False
    bucket: BucketPlace | None = None
    bucket_counts: BucketCounts | None = None
    before: History | None = None
    alike: tuple[SameFailureOutput, ...] = ()
    """Other models that fail in the same way."""
    evidence_log: tuple[Observation, ...] = ()
    """What the steps of a failure show by themselves."""

    @property
    def place(self) -> str:
        """`attempt 2 of 3`; where the log has several rows of one attempt, which row it is and whether they agree."""
        if not self.rows:
            return f"attempt {self.attempt.index} of {self.of}"
        ids = [row.id for row in self.rows]
        *others, last = map(str, range(1, len(ids) + 1))
        which = f"rows {', '.join(others)} and {last}"
        disagree = len({(row.outcome, row.failed_checks) for row in self.rows}) > 1
        agreement = f"contradictory: {which} disagree" if disagree else f"{which} agree"
        return f"row {ids.index(self.attempt.id) + 1} of {last}, {agreement}"

    @property
    def case_name(self) -> str:
        return case_name(self.stored.run, self.attempt.case)

    def as_json(self) -> ShownAttemptOutput:
        standing = self.review.standing if self.review else None
        return ShownAttemptOutput(
            attempt=self.attempt,
            origin=self.attempt.origin,
            case=self.case,
            children=tuple(child.id for child in self.children),
            earlier=tuple(attempt.id for attempt in self.earlier),
            attribution=self.attribution,
            explanation=msgspec.convert(self.explanation, ExplanationOutput | None, from_attributes=True),
            verdicts=self.review.verdicts if self.review else (),
            standing=standing,
            stale=self.stale,
            bucket=self._bucket_output(),
            before=CaseHistoryOutput.of(self.before) if self.before else None,
            alike=self.alike,
            evidence_log=self.evidence_log,
        )

    def _bucket_output(self) -> ShownBucketOutput | None:
        place, counts = self.bucket, self.bucket_counts
        if place is None or counts is None:
            return None
        counted = {"mistakes": counts.mistakes, "reviewed": counts.read}
        return msgspec.convert(msgspec.structs.asdict(place) | counted, ShownBucketOutput)


def short_name(shown: ShownAttempt, attempt_id: str) -> str:
    parts = split_attempt_id(attempt_id)
    if parts.run != shown.stored.run.id or parts.case == shown.attempt.case:
        return attempt_id
    return f"{shown.handle}/{case_name(shown.stored.run, parts.case)}"


def find_shown(thing: str, store: Store, *, may_lack_owner: bool = False) -> ShownRun | ShownAttempt:
    """A run as RUN, an attempt by its id, or as RUN/CASE with `#2` for the second attempt.

    `may_lack_owner`: of a run that a server still triages, without what triage finds.
    """
    location = locate(thing, store)
    if location.attempt is not None:
        return _shown_attempt(location.stored, location.attempt, store, may_lack_owner=may_lack_owner)
    full = msgspec.structs.replace(location.stored, run=run_with_texts(store, location.stored))
    return ShownRun(full, tuple(findings_of(store, location.stored.pk)), *_costs(location.stored, store))


def _costs(stored: StoredRun, store: Store) -> tuple[float | None, float | None]:
    if "user" not in stored.run.roles or stored.counts.cost is None:
        return None, None
    usages = [one.usage for one in RunView(stored, store).attempts() if one.counted]
    subject = [one.subject.cost for one in usages if one.subject.cost is not None]
    simulator = [one.simulator.cost for one in usages if one.simulator.cost is not None]
    return sum(subject) if subject else None, sum(simulator) if simulator else None


def _shown_attempt(stored: StoredRun, attempt: Attempt, store: Store, *, may_lack_owner: bool) -> ShownAttempt:
    view = RunView(stored, store)
    same = list(view.attempts(case=attempt.case))
    of = sum(one.parent == attempt.parent and one.session == attempt.session for one in same)
    children = tuple(one for one in same if one.parent == attempt.id)
    earlier = tuple(one for one in same if one.superseded_by == attempt.id)
    case = case_of(store, stored.pk, attempt.case, attempt.case_version)
    first = attempt.duplicate_of or attempt.id
    rows = tuple(one for one in same if first in (one.id, one.duplicate_of))
    shown = ShownAttempt(
        stored, view.handle, attempt, case, max(of, 1), children, earlier, rows=rows if len(rows) > 1 else ()
    )
    if not attempt.is_failure:
        beside = (one for one in same if (one.parent, one.session) == (attempt.parent, attempt.session))
        return msgspec.structs.replace(shown, failed=tuple(one.index for one in beside if one.is_failure))
    from errata.transcript.evidence_log import evidence_log  # noqa: PLC0415 its patterns take long to compile

    shown = msgspec.structs.replace(shown, refused=refused_below(attempt, same))
    observations = evidence_log(attempt, case, run_with_texts(store, stored).context)
    shown = msgspec.structs.replace(shown, evidence_log=observations)
    try:
        view.ensure_triaged()
    except NotReadyError:
        if not may_lack_owner:
            raise
        return shown
    attribution = view.attributions.get(attempt.id)
    review = standing_of(store, stored.run.id, attempt=attempt.id, attributed=view.attributions).get(attempt.id)
    stale = review is not None and is_stale(review.standing.verdict, stored, store)
    bucket, counts = _counted_bucket(view, attempt.id)
    shown = msgspec.structs.replace(shown, review=review, stale=stale, bucket=bucket, bucket_counts=counts)
    if attribution is None:
        return shown
    standing = review.standing if review else None
    effect = effect_of(
        stored.run,
        attempt,
        same,
        attribution,
        broken=attempt.id in view.broken,
        stood=standing,
        unknown=("strict", "as_reported") if lacks_rows(stored) else (),
    )
    return msgspec.structs.replace(
        shown,
        attribution=attribution,
        explanation=explain(stored.run, shown.case_name, attempt, case, attribution, effect),
        before=view.history.before(attempt.case),
        alike=failing_alike(stored, store, attribution.failure_key),
    )


def _counted_bucket(view: RunView, attempt: str) -> tuple[BucketPlace | None, BucketCounts | None]:
    """The bucket of a failure, with verdicts on its failures in other runs, unless these runs have many failures."""
    place = view.bucket_of(attempt)
    known = view.known_buckets.get(place.id) if place else None
    if place is None or known is None:
        return place, None
    counts = count_bucket(view.store, known)
    others = [one for one in all_runs(view.store, suite=view.run.suite) if one.run.id in counts.runs]
    if len(others) < 2 or sum(one.counts.failures for one in others) > FEW:
        return place, counts
    with suppress(StoreError):  # a store that can only be read still shows the rest
        ensure_all_buckets([RunView(one, view.store) for one in others], view.store)
    return view.bucket_of(attempt), count_bucket(view.store, known)
