"""The verb `show`: find what is meant, with everything that is known of it."""

from typing import Any

import msgspec

from errata.buckets.suggest import bucket_of_one
from errata.memory.recurrence import Before
from errata.model import Attempt, Attribution, Case, Finding, StoredRun
from errata.model.identity import split_attempt_id
from errata.model.run import case_name
from errata.model.standing import AttemptReview
from errata.runs.explanation import Explanation, explain
from errata.runs.history import remember
from errata.runs.locate import locate
from errata.runs.names import handle_of
from errata.runs.same_failure import Alike, failing_alike
from errata.runs.score_effect import effect_of
from errata.runs.stale_quotes import is_stale
from errata.runs.standings import standing_of
from errata.runs.triaging import triage_if_needed
from errata.store.attempts import attempts_of, case_of, run_with_texts
from errata.store.attributions import attributions_of, broken_measurements
from errata.store.buckets import Slip
from errata.store.database import Store
from errata.store.runs import findings_of


class ShownRun(msgspec.Struct, frozen=True):
    stored: StoredRun
    findings: tuple[Finding, ...]

    def as_json(self) -> dict[str, Any]:
        return {"kind": "run", "run": self.stored.run, "counts": self.stored.counts, "findings": self.findings}


class ShownAttempt(msgspec.Struct, frozen=True):
    stored: StoredRun
    handle: str
    """The shortest name by which the store finds the run."""
    attempt: Attempt
    case: Case | None
    of: int
    """How many attempts the case has in this session."""
    children: tuple[Attempt, ...]
    earlier: tuple[Attempt, ...]
    """Those of earlier sessions, which this one supersedes."""
    attribution: Attribution | None = None
    explanation: Explanation | None = None
    said: AttemptReview | None = None
    """What reviewers found."""
    stale: bool = False
    """What they went by has changed since."""
    bucket: Slip | None = None
    before: Before | None = None
    """What was known of the failure before the run."""
    alike: tuple[Alike, ...] = ()
    """Other models that fail in the same way."""

    @property
    def case_name(self) -> str:
        return case_name(self.stored.run, self.attempt.case)

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": "attempt",
            "attempt": self.attempt,
            "case": self.case,
            "children": [child.id for child in self.children],
            "earlier": [attempt.id for attempt in self.earlier],
            "attribution": self.attribution,
            "explanation": self.explanation,
            "verdicts": self.said.verdicts if self.said else (),
            "standing": self.said.standing if self.said else None,
            "stale": self.stale,
            "bucket": self.bucket,
            "before": self.before.as_json() if self.before else None,
            "alike": self.alike,
        }


def short_name(shown: ShownAttempt, attempt_id: str) -> str:
    """Another attempt as `errata show` takes it: RUN/CASE where that is enough, else its id."""
    parts = split_attempt_id(attempt_id)
    if parts.run != shown.stored.run.id or parts.case == shown.attempt.case:
        return attempt_id
    return f"{shown.handle}/{case_name(shown.stored.run, parts.case)}"


def find_shown(thing: str, store: Store) -> ShownRun | ShownAttempt:
    """A run as RUN, an attempt by its id, or as RUN/CASE with `#2` for the second attempt."""
    found = locate(thing, store)
    if found.attempt is not None:
        return _shown_attempt(found.stored, found.attempt, store)
    full = msgspec.structs.replace(found.stored, run=run_with_texts(store, found.stored))
    return ShownRun(full, tuple(findings_of(store, found.stored.pk)))


def _shown_attempt(stored: StoredRun, attempt: Attempt, store: Store) -> ShownAttempt:
    same = list(attempts_of(store, stored.pk, case=attempt.case))
    of = sum(one.parent == attempt.parent and one.session == attempt.session for one in same)
    children = tuple(one for one in same if one.parent == attempt.id)
    earlier = tuple(one for one in same if one.superseded_by == attempt.id)
    case = case_of(store, stored.pk, attempt.case)
    shown = ShownAttempt(stored, handle_of(stored, store), attempt, case, max(of, 1), children, earlier)
    if not attempt.is_failure:
        return shown
    triage_if_needed(stored, store)
    attributed = attributions_of(store, stored.pk)
    read = standing_of(store, stored.run.id, attempt=attempt.id, attributed=attributed).get(attempt.id)
    stale = read is not None and is_stale(read.standing.verdict, stored, store)
    shown = msgspec.structs.replace(shown, said=read, stale=stale, bucket=bucket_of_one(stored, attempt.id, store))
    said = attributed.get(attempt.id)
    if said is None:
        return shown
    broken = attempt.id in broken_measurements(store, stored.pk)
    effect = effect_of(stored.run, attempt, same, said, broken=broken, stood=read.standing if read else None)
    explanation = explain(stored.run, shown.case_name, attempt, case, said, effect)
    before, alike = remember(stored, store).before(attempt.case), failing_alike(stored, store, said.failure_key)
    told = {"attribution": said, "explanation": explanation, "before": before, "alike": alike}
    return msgspec.structs.replace(shown, **told)
