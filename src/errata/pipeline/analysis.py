"""The verbs `check` and `analyze`: a run's health and the first summary of its failures."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from errata import checkup
from errata.model import Attempt, Finding, StoredRun
from errata.pipeline.failures import case_name
from errata.pipeline.importing import OnItems, import_paths
from errata.store.attempts import attempts_of, categories_of
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
    health: Health
    passed: int
    """Cases with a passing attempt and no contradicting one."""
    expected: int | None
    first_failed: tuple[tuple[str, int], ...]
    facts: tuple[tuple[str, int], ...]
    categories: tuple[tuple[str, int, int], ...]
    repeated_errors: tuple[tuple[str, int], ...]
    first_case: str

    @property
    def unavailable(self) -> Finding | None:
        return next((finding for finding in self.health.findings if finding.name == "unavailable"), None)


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
    keep_findings(store, stored.pk, findings)
    return Health(checkup.is_fit(findings), findings)


def analyze(
    paths: Iterable[Path],
    store: Store,
    *,
    source: str = "",
    map_path: Path | None = None,
    on_items: OnItems = lambda _: None,
) -> list[Analysis]:
    """Import, check and summarise everything at the paths."""
    summaries = import_paths(paths, store, source=source, map_path=map_path, on_items=on_items)
    ids = dict.fromkeys(run.id for summary in summaries for run in summary.runs)
    return [summarise(run_by_id(store, run_id), store) for run_id in ids]


def summarise(stored: StoredRun, store: Store, *, now: datetime | None = None) -> Analysis:
    health = check_run(stored, store, now=now)
    first_failed: Counter[str] = Counter()
    facts: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    failed_in: Counter[str] = Counter()
    passed: dict[int, bool] = {}
    categories = categories_of(store, stored.pk)
    first_case = ""
    for attempt in attempts_of(store, stored.pk, counted=True):
        _note_pass(passed, attempt)
        if not attempt.is_failure:
            continue
        first_case = first_case or case_name(stored.run, attempt.case)
        first_failed[next(iter(attempt.failed_checks), "")] += 1
        facts[f"{attempt.execution}/{attempt.measurement}/{attempt.outcome}"] += 1
        failed_in[categories.get(attempt.case, "")] += 1
        errors.update({one_line(error.message, ERROR_WIDTH) for error in attempt.errors})
    totals = Counter(categories.values())
    return Analysis(
        stored=stored,
        health=health,
        passed=sum(passed.values()),
        expected=stored.run.expected_cases,
        first_failed=tuple(first_failed.most_common()),
        facts=tuple(facts.most_common()),
        categories=tuple((name, failed_in[name], totals[name]) for name in sorted(totals) if failed_in[name]),
        repeated_errors=tuple((text, often) for text, often in errors.most_common(20) if often > 1),
        first_case=first_case,
    )


def _note_pass(passed: dict[int, bool], attempt: Attempt) -> None:
    """A case counts as passed where every attempt that repeats the same try agrees."""
    key = hash(attempt.case)
    if attempt.duplicate_of is not None:
        passed[key] = passed.get(key, True) and attempt.outcome == "pass"
    else:
        passed[key] = passed.get(key, False) or attempt.outcome == "pass"
