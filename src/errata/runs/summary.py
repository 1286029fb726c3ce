"""The first summary of a run: how healthy it is, its score, and its failures by owner, cause and check."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from errata.model import Attempt, Attribution, Counts, Finding, Run, StoredRun
from errata.model.counts import not_in_log
from errata.model.output.analyze import NoFailures, WithoutFailuresOutput
from errata.model.run import case_name
from errata.model.words import Owner
from errata.runs.causes import Causes, causes_of
from errata.runs.explanation import BY_DEFAULT, meaning_of
from errata.runs.history import Remembered
from errata.runs.scores import Scores
from errata.store.attempts import with_texts
from errata.store.database import Store
from errata.triage.reasons import LogLine, error_lines, has_logs

if TYPE_CHECKING:
    from errata.runs.view import RunView


ALL_PASSED = "All passed: nothing to analyse"
_SHARES = {
    "passed": "passed",
    "not_in_log": "measured, but not in the log",
    "missing": "missing",
    "unfinished": "not finished",
    "skipped": "skipped",
    "partial": "in part",
    "no_verdict": "without a verdict",
}


def all_passed(stored: StoredRun) -> bool:
    """Every expected case was measured, and passed."""
    counts, expected = stored.counts, stored.run.expected_cases or 0
    whole = counts.counted and counts.outcomes.get("pass", 0) == counts.counted
    return bool(whole) and counts.cases >= expected and not untold_of(stored)


def untold_of(stored: StoredRun) -> int:
    """What was measured, as the harness says, and has no row in the log."""
    return not_in_log(stored.run, cases=stored.counts.cases, executions=stored.counts.executions)


def without_failures_of(stored: StoredRun) -> WithoutFailuresOutput:
    """Why there are no failures, and how the cases ended instead."""
    return WithoutFailuresOutput(state=_state(stored), counts=_shares(stored))


def _state(stored: StoredRun) -> NoFailures:
    if all_passed(stored):
        return "all_passed"
    if not stored.counts.made and untold_of(stored):
        return "not_in_log"
    return "not_all_passed" if stored.counts.measurements.get("scored") else "nothing_measured"


def told_without_failures(stored: StoredRun) -> str:
    """The same as a sentence without its full stop."""
    state = _state(stored)
    if state == "all_passed":
        return ALL_PASSED
    if state == "not_in_log":
        return f"No rows to analyse: {harness_says(stored.run)}, but the log does not hold them"
    if state == "nothing_measured":
        return f"Nothing was measured: {_unmeasured(stored.counts)}"
    shares = (f"{often:,} {_SHARES[name]}" for name, often in _shares(stored).items())
    return f"Nothing failed, but not all passed: {', '.join(shares)}"


def harness_says(run: Run) -> str:
    """Its own count in words, for where no rows can be counted."""
    if run.stated_passes is not None:
        passed, total = run.stated_passes
        return f"by the harness's own count {passed:,} of {total:,} passed and {total - passed:,} failed"
    headline = next((one for one in run.reported if one.headline and one.value is not None), None)
    n = run.measured_attempts if headline is None or headline.n is None else headline.n
    if headline is None:
        return f"the harness measured {n:,}"
    name = " ".join(dict.fromkeys(filter(None, (headline.name, headline.metric))))
    return f"the harness says {name} {headline.value:.4g}{f' over {n:,}' if n else ''}"


def _unmeasured(counts: Counts) -> str:
    if not counts.made:
        return f"{counts.missing:,} planned and missing" if counts.missing else "the log holds not one attempt"
    missing = f", {counts.missing:,} missing" if counts.missing else ""
    return f"{counts.made:,} attempt{'' if counts.made == 1 else 's'}{missing}, and not one verdict"


def _shares(stored: StoredRun) -> dict[str, int]:
    counts, untold = stored.counts, untold_of(stored)
    unnamed = max(0, (stored.run.expected_cases or 0) - counts.cases - untold)
    ended = {name: counts.executions.get(name, 0) for name in ("unfinished", "skipped")}
    shares = {
        "passed": counts.outcomes.get("pass", 0),
        "not_in_log": untold,
        "missing": counts.missing + unnamed,
        **ended,
        "partial": counts.outcomes.get("partial", 0),
        "no_verdict": counts.outcomes.get("none", 0) - counts.missing - sum(ended.values()),
    }
    return {name: often for name, often in shares.items() if often > 0}


KNOWN_GAP = "known_gap"
LOGS_READ = 1_000
"""Failures whose own logs are searched for what they share."""


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


class Owned(msgspec.Struct, frozen=True):
    """The failures of one owner."""

    owner: Owner
    count: int
    reason: str
    """What the rule that decided most of them says; empty where none did."""
    because_of_it: int


class Repeated(msgspec.Struct, frozen=True):
    """How many of the failures were known before."""

    in_reports: int = 0
    """Their cases are named in earlier reports about the model."""
    in_runs: int = 0
    """Their cases failed in earlier runs of the model."""
    should_be_gone: int = 0
    """Something was done about them in the meantime."""


class Tally:
    """One pass over the counted attempts."""

    def __init__(self, categories: Mapping[str, str]) -> None:
        self._categories = categories
        self.first_failed: Counter[str] = Counter()
        self.in_steps = True
        self.failed: Counter[str] = Counter()
        """Cases, and how many of their attempts failed."""
        self.failed_in: Counter[str] = Counter()
        self.tried_in: Counter[str] = Counter()
        self.first_case = ""
        self.repeated = False
        self._passed: dict[int, bool] = {}
        self._logged: list[Attempt] = []

    @property
    def passed_cases(self) -> int:
        return sum(self._passed.values())

    def add(self, attempt: Attempt) -> None:
        if not attempt.counted:
            return
        category = self._categories.get(attempt.case, "")
        self._note_pass(attempt)
        self.tried_in[category] += 1
        if not attempt.is_failure:
            return
        self.first_case = self.first_case or attempt.case
        if has_logs(attempt) and len(self._logged) < LOGS_READ:
            self._logged.append(attempt)
        self.failed[attempt.case] += 1
        self.failed_in[category] += 1
        failed = next((check for check in attempt.checks if check.failed), None)
        self.first_failed[failed.name if failed else ""] += 1
        self.in_steps = self.in_steps and (failed is None or failed.kind == "step")

    def log_lines(self, store: Store) -> dict[str, list[LogLine]]:
        """What the logs of the failures say, by attempt."""
        return {attempt.id: list(error_lines(with_texts(store, attempt))) for attempt in self._logged}

    def _note_pass(self, attempt: Attempt) -> None:
        """A case counts as passed where every row that repeats the same try agrees."""
        key = hash(attempt.case)
        passes = attempt.outcome == "pass"
        if attempt.duplicate_of is not None:
            self._passed[key] = self._passed.get(key, True) and passes
        else:
            self.repeated = self.repeated or attempt.index > 1
            self._passed[key] = self._passed.get(key, False) or passes


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """What `analyze` says of one run before anybody has looked at its failures."""

    stored: StoredRun
    handle: str
    """The shortest name by which the store finds the run."""
    reviewed: int = 0
    """Failures with a verdict that counts."""
    health: Health
    passed: int
    total: int
    unit: Literal["cases", "attempts"]
    """`cases`; `attempts` where a case was tried several times."""
    without_failures: str = ""
    """What is to be said where nothing failed: that all passed, or else what is the case."""
    by_harness: bool
    """The log holds only a part of the cases, so that the harness's own count is all there is."""
    first_failed: tuple[tuple[str, int], ...]
    """Check → of how many failures it is the first that failed; empty for those without one."""
    in_steps: bool
    """Whether these checks are the steps of a pipeline."""
    categories: tuple[tuple[str, int, int], ...]
    """Name, failures, attempts."""
    first_case: str
    scores: Scores
    owners: tuple[Owned, ...] = ()
    causes: Causes = Causes((), 0)
    remembered: Remembered
    repeated: Repeated

    @property
    def all_passed(self) -> bool:
        return self.without_failures == ALL_PASSED

    @property
    def unavailable(self) -> Finding | None:
        return next((finding for finding in self.health.findings if finding.name == "unavailable"), None)

    @property
    def not_judged(self) -> bool:
        return any(finding.name == "not_judged" for finding in self.health.findings)


def summarise(view: "RunView") -> Analysis:
    stored, attributions = view.stored, view.attributions
    overview, _ = view.overview, view.buckets
    tally = overview.tally
    score = _score(stored, tally)
    remembered = view.history
    return Analysis(
        stored=stored,
        handle=view.handle,
        reviewed=sum(attempt in attributions for attempt in view.counting_verdicts),
        health=overview.health,
        passed=score.passed,
        total=score.total,
        unit=score.unit,
        without_failures="" if stored.counts.failures else told_without_failures(stored),
        by_harness=score.by_harness,
        first_failed=tuple(sorted(tally.first_failed.items(), key=lambda pair: (-pair[1], not pair[0]))),
        in_steps=tally.in_steps,
        categories=tuple(
            (name, tally.failed_in[name], tally.tried_in[name]) for name in sorted(tally.failed_in) if name
        ),
        first_case=case_name(stored.run, tally.first_case),
        scores=overview.scores,
        owners=_owners(attributions.values()),
        causes=causes_of(stored.run, attributions.values(), tally.log_lines(view.store)),
        remembered=remembered,
        repeated=_repeated(remembered, tally.failed),
    )


def _repeated(remembered: Remembered, failed: Counter[str]) -> Repeated:
    found = [(often, remembered.before(case)) for case, often in failed.items()]
    return Repeated(
        sum(often for often, before in found if before.reports),
        sum(often for often, before in found if before.runs),
        sum(often for often, before in found if before.should_be_gone),
    )


def _owners(attributions: Iterable[Attribution]) -> tuple[Owned, ...]:
    reasons: dict[Owner, Counter[str]] = {}
    records: set[str] = set()
    for said in attributions:
        reasons.setdefault(said.owner, Counter())[said.decided_by] += 1
        records.update(one.ref.file for one in said.signals if one.name == KNOWN_GAP and one.ref is not None)
    named = []
    for owner, deciding in sorted(reasons.items(), key=lambda pair: -pair[1].total()):
        rule, often = deciding.most_common(1)[0]
        reason = "" if rule in BY_DEFAULT else meaning_of(rule)
        if rule == KNOWN_GAP and records:
            reason = f"gap recorded in {len(records)} earlier report{'' if len(records) == 1 else 's'}"
        named.append(Owned(owner, deciding.total(), reason, often))
    return tuple(named)


class _Score(NamedTuple):
    passed: int
    total: int
    unit: Literal["cases", "attempts"] = "cases"
    by_harness: bool = False


def _score(stored: StoredRun, tally: Tally) -> _Score:
    """Of all cases that were planned, where the log holds them all."""
    counts, expected = stored.counts, stored.run.expected_cases
    if tally.repeated:
        return _Score(counts.outcomes.get("pass", 0), counts.counted, "attempts")
    if expected is None or counts.cases >= expected:
        return _Score(tally.passed_cases, expected or counts.cases)
    stated = stored.run.stated_passes
    if stated is not None and stated[1] == expected:
        return _Score(*stated, by_harness=True)
    return _Score(tally.passed_cases, counts.cases)
