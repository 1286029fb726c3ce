"""The verbs `check` and `analyze`: a run's health and the first summary of its failures."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from errata import checkup, triage
from errata.errors import StoreError
from errata.model import Attempt, Finding, StoredRun
from errata.pipeline.failures import case_name
from errata.pipeline.importing import OnItems, PathSummary, import_paths
from errata.pipeline.scoring import Scores, score_run
from errata.pipeline.selecting import handle_of
from errata.store.attempts import attempts_of, categories_of
from errata.store.attributions import attributions_of
from errata.store.database import Store
from errata.store.runs import keep_findings, run_by_id, unreadables_of
from errata.text.clean import one_line

ERROR_WIDTH = 88


class Health(msgspec.Struct, frozen=True):
    fit: bool
    findings: tuple[Finding, ...]

    @property
    def summary(self) -> str:
        kinds: Counter[str] = Counter(finding.severity for finding in self.findings)
        parts = [
            f"{kinds[severity]} {word}{'' if kinds[severity] == 1 else 's'}"
            for severity, word in (("error", "problem"), ("warning", "warning"), ("info", "note"))
            if kinds[severity]
        ]
        listed = ", ".join(parts) or "nothing to remark"
        return f"fit for analysis: {listed}" if self.fit else f"NOT FIT for comparison as it stands: {listed}"


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """What `analyze` says of one run before anybody has looked at its failures."""

    stored: StoredRun
    handle: str
    """The shortest name by which the store finds the run."""
    health: Health
    passed: int
    total: int
    unit: str
    """`cases`; `attempts` where a case was tried several times."""
    by_harness: bool
    """The log holds only a part of the cases, so that the harness's own count is all there is."""
    first_failed: tuple[tuple[str, int], ...]
    facts: tuple[tuple[str, int], ...]
    categories: tuple[tuple[str, int, int], ...]
    """Name, failures, attempts."""
    repeated_errors: tuple[tuple[str, int], ...]
    first_case: str
    scores: Scores | None = None
    owners: tuple[tuple[str, int, str], ...] = ()
    """Owner, failures, and the commonest reason among them."""

    @property
    def unavailable(self) -> Finding | None:
        return next((finding for finding in self.health.findings if finding.name == "unavailable"), None)

    @property
    def not_judged(self) -> bool:
        return any(finding.name == "not_judged" for finding in self.health.findings)


class _Attempts:
    """A run's attempts, as often as one likes."""

    def __init__(self, store: Store, pk: int) -> None:
        self._store, self._pk = store, pk

    def __iter__(self) -> Iterator[Attempt]:
        return attempts_of(self._store, self._pk)


def check_run(stored: StoredRun, store: Store, *, now: datetime | None = None) -> Health:
    """Examine a run, and keep what was found."""
    unreadables = unreadables_of(store, stored.pk)
    findings = checkup.examine(stored.run, _Attempts(store, stored.pk), unreadables, now=now or datetime.now(UTC))
    with suppress(StoreError):  # a store that can only be read still tells
        keep_findings(store, stored.pk, findings)
    return Health(checkup.is_fit(findings), findings)


def analyze(
    paths: Iterable[Path],
    store: Store,
    *,
    source: str = "",
    map_path: Path | None = None,
    on_items: OnItems = lambda _: None,
    on_summary: Callable[[PathSummary], None] = lambda _: None,
) -> list[Analysis]:
    """Import, check and summarise everything at the paths."""
    summaries = import_paths(paths, store, source=source, map_path=map_path, on_items=on_items)
    for summary in summaries:
        on_summary(summary)
    ids = dict.fromkeys(run.id for summary in summaries for run in summary.runs)
    return [summarise(run_by_id(store, run_id), store) for run_id in ids]


def summarise(stored: StoredRun, store: Store, *, now: datetime | None = None) -> Analysis:
    health = check_run(stored, store, now=now)
    categories = categories_of(store, stored.pk)
    tally = _Tally()
    for attempt in attempts_of(store, stored.pk, counted=True):
        tally.add(attempt, categories.get(attempt.case, ""))
    score = _score(stored, tally)
    scores = score_run(stored, store)
    return Analysis(
        stored=stored,
        handle=handle_of(stored, store),
        health=health,
        passed=score.passed,
        total=score.total,
        unit=score.unit,
        by_harness=score.by_harness,
        first_failed=tuple(sorted(tally.first_failed.items(), key=lambda pair: (-pair[1], not pair[0]))),
        facts=tuple(tally.facts.most_common()),
        categories=tuple(
            (name, tally.failed_in[name], tally.tried_in[name]) for name in sorted(tally.failed_in) if name
        ),
        repeated_errors=tuple((text, often) for text, often in tally.errors.most_common(20) if often > 1),
        first_case=case_name(stored.run, tally.first_case),
        scores=scores,
        owners=_owners(stored, store),
    )


def _owners(stored: StoredRun, store: Store) -> tuple[tuple[str, int, str], ...]:
    book = triage.built_in()
    reasons: dict[str, Counter[str]] = {}
    for said in attributions_of(store, stored.pk).values():
        reasons.setdefault(said.owner, Counter())[said.decided_by] += 1
    counted = sorted(reasons.items(), key=lambda pair: -pair[1].total())
    named = []
    for owner, deciding in counted:
        first = deciding.most_common(1)[0][0]
        told = book.rules[first].means if first in book.rules else triage.MEANS.get(first, first)
        named.append((owner, deciding.total(), told))
    return tuple(named)


class _Score(NamedTuple):
    passed: int
    total: int
    unit: str = "cases"
    by_harness: bool = False


def _score(stored: StoredRun, tally: "_Tally") -> _Score:
    """Of all cases that were planned, where the log holds them all."""
    counts, expected = stored.counts, stored.run.expected_cases
    if tally.repeated:
        return _Score(counts.outcomes.get("pass", 0), counts.counted, "attempts")
    if expected is None or counts.cases >= expected:
        return _Score(tally.passed_cases, expected or counts.cases)
    for one in stored.run.reported:
        if one.metric == "pass_rate" and not one.filter and one.value is not None and one.n == expected:
            return _Score(round(one.value * expected), expected, by_harness=True)
    return _Score(tally.passed_cases, counts.cases)


class _Tally:
    """One pass over the counted attempts."""

    def __init__(self) -> None:
        self.first_failed: Counter[str] = Counter()
        self.facts: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.failed_in: Counter[str] = Counter()
        self.tried_in: Counter[str] = Counter()
        self.first_case = ""
        self.repeated = False
        self._passed: dict[int, bool] = {}

    @property
    def passed_cases(self) -> int:
        return sum(self._passed.values())

    def add(self, attempt: Attempt, category: str) -> None:
        self._note_pass(attempt)
        self.tried_in[category] += 1
        if not attempt.is_failure:
            return
        self.first_case = self.first_case or attempt.case
        self.first_failed[next(iter(attempt.failed_checks), "")] += 1
        self.facts[f"{attempt.execution}/{attempt.measurement}/{attempt.outcome}"] += 1
        self.failed_in[category] += 1
        self.errors.update({one_line(error.message, ERROR_WIDTH) for error in attempt.errors})

    def _note_pass(self, attempt: Attempt) -> None:
        """A case counts as passed where every row that repeats the same try agrees."""
        key = hash(attempt.case)
        passes = attempt.outcome == "pass"
        if attempt.duplicate_of is not None:
            self._passed[key] = self._passed.get(key, True) and passes
        else:
            self.repeated = self.repeated or attempt.index > 1
            self._passed[key] = self._passed.get(key, False) or passes
