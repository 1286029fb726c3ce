"""Attributions of a run: its failures with what they need to be judged, in two passes, written into the store."""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from msgspec.structs import replace

from errata.model import Attempt, Case, StoredRun
from errata.model.attempt import stand_in_of
from errata.model.codec import unpack
from errata.store.attempts import attempts_of, case_of, failures_to_triage
from errata.store.attributions import AttributionSpool, Kept, attributions_of_thinned, rules_version_of
from errata.store.database import Store
from errata.triage import observe
from errata.triage.across import (
    Across,
    KnownGaps,
    not_the_models,
)
from errata.triage.attribution import attribute
from errata.triage.dialogues import compares_writes
from errata.triage.rulesets import Rules
from errata.triage.run_wide import PatternSurvey, RunWide
from errata.triage.stored.peers import across_version, look_across
from errata.triage.strictness import compares_calls
from errata.triage.turn_mistakes import is_judged_turn

CASES_HELD = 256


class CaseLookup:
    """What else is needed to judge a failure: its case where the log has it, and its transcript where that decides."""

    def __init__(self, stored: StoredRun, store: Store) -> None:
        self._stored, self._store = stored, store
        self._whole_case = lru_cache(CASES_HELD)(lambda key, version: case_of(store, stored.pk, key, version))
        self._unpacked = lru_cache(CASES_HELD)(lambda packed: unpack(packed, Case))

    def of(self, attempt: Attempt, packed_case: bytes | None) -> tuple[Attempt, Case | None]:
        case = self._unpacked(packed_case) if packed_case is not None and _wants_its_case(attempt) else None
        if case is not None and (case.artefacts or attempt.case_version):
            case = self._whole_case(attempt.case, attempt.case_version)
        if attempt.steps:
            return attempt, case
        decides = (compares_calls, compares_writes)
        if attempt.execution == "limit" or any(one(attempt, case) for one in decides):
            return _with_transcript(attempt, self._stored, self._store), case
        return attempt, case


def _wants_its_case(attempt: Attempt) -> bool:
    """A crash while calling the subject is not evidence about its task."""
    if attempt.outcome in ("fail", "partial") or attempt.artefacts or attempt.execution == "limit":
        return True
    return any(error.phase not in ("", "subject", "tool", "simulator") for error in attempt.errors)


def _with_transcript(attempt: Attempt, stored: StoredRun, store: Store) -> Attempt:
    """The steps alone: what else was loaded for triage, such as the texts of logs, stays."""
    attempts = attempts_of(store, stored.pk, case=attempt.case, steps=True)
    return replace(attempt, steps=next((one.steps for one in attempts if one.id == attempt.id), ()))


def triage_run(
    stored: StoredRun,
    store: Store,
    rules: Rules,
    gaps: KnownGaps,
    *,
    on_failure: Callable[[int], None] | None = None,
) -> int:
    """Attribute every failure again; how many there are. `on_failure` hears the number of each in its pass."""
    across = look_across(stored, store)
    survey = PatternSurvey()
    settled = attributions_of_thinned(store, stored.pk)  # rules can't see any more what they saw in these
    with AttributionSpool() as spool:
        first = _attributed(stored, store, rules, (across, gaps), survey=survey)
        spool.fill(_settled(_heard(first, on_failure), settled))
        if survey.crashes.has_followers:
            for attempt in attempts_of(store, stored.pk):
                if attempt.counted and attempt.outcome == "pass":
                    survey.crashes.add_working(attempt)
        wide = survey.result(stored.counts.attempts_in_log)
        if wide:  # what only the whole run shows is rare: it is worth a second pass, not one for every run
            second = _attributed(stored, store, rules, (across, gaps), wide=wide)
            spool.fill(_settled(_heard(second, on_failure), settled))
        spool.write(store, stored.pk, _version(stored, rules, across.version, gaps.version))
        return spool.count


def _settled(kept: Iterator[Kept], settled: Mapping[int, Kept]) -> Iterator[Kept]:
    return (settled.get(made[0], made) for made in kept) if settled else kept


def _heard(kept: Iterator[Kept], on_failure: Callable[[int], None] | None) -> Iterator[Kept]:
    return kept if on_failure is None else _announced(kept, on_failure)


def _announced(kept: Iterator[Kept], on_failure: Callable[[int], None]) -> Iterator[Kept]:
    for number, attributed in enumerate(kept, 1):
        on_failure(number)
        yield attributed


def is_stale(stored: StoredRun, store: Store, rules: Rules, gaps: KnownGaps) -> bool:
    """Not triaged yet, or with other rules, or other runs or reports show something new since."""
    known = rules_version_of(store, stored.pk)
    return known is None or known != _version(stored, rules, across_version(stored, store), gaps.version)


def _version(stored: StoredRun, rules: Rules, across: str, gaps: str) -> str:
    """A run that grew in place keeps its number, so its revision is part of the version."""
    parts = [rules.version, f"+{across}" if across else "", f"+gaps-{gaps}" if gaps else ""]
    return "".join([*parts, f"+revision-{stored.run.revision}" if stored.run.revision > 1 else ""])


def _attributed(
    stored: StoredRun,
    store: Store,
    rules: Rules,
    context: tuple[Across, KnownGaps],
    *,
    survey: PatternSurvey | None = None,
    wide: RunWide | None = None,
) -> Iterator[Kept]:
    source, (across, gaps) = stored.run.source.name, context
    is_reference, has_gaps, passed_by = stand_in_of(stored.run) == "reference", bool(gaps), across.passed_by
    evidence = CaseLookup(stored, store)
    for seq, listed, packed in failures_to_triage(store, stored.pk, with_steps=is_judged_turn):
        attempt, case = evidence.of(listed, packed)
        if survey is not None:
            survey.add(attempt)
        observed = observe(stored.run, attempt, case, wide, rules)
        if across.may_observe(attempt):
            observed += across.observe(attempt, case)
        if has_gaps:
            observed += gaps.observe(attempt)
        if is_reference:
            observed = not_the_models(observed)
        passer, differs = passed_by.get(attempt.case), attempt.case in across.differing
        attribution = attribute(attempt, observed, source=source, rules=rules, passed_by=passer, is_other_task=differs)
        yield seq, attribution, any(one.breaks for one in observed)
