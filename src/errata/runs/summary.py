"""The first summary of a run: how healthy it is, its score, and its failures by owner, cause and check."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

import msgspec

from errata.buckets.opinions import summarise_causes
from errata.compare.categories import overlap_of
from errata.model import Attempt, Attribution, CauseSummary, Finding, StoredRun
from errata.model.cells import is_failed
from errata.model.check import ScorerCount, scorer_count
from errata.model.counts import CategoryOverlap, Doubt, NoEstimate, WithoutFailures
from errata.model.output.memory import RepeatsOutput
from errata.model.run import case_name
from errata.model.standing import Standing
from errata.model.suspects import SuspectTasks
from errata.model.words import Owner, Proof, ProofReason
from errata.render.figures import cost_parts, money, plural, simulator_cost
from errata.render.proof import proof_counts
from errata.runs.explanation import BY_DEFAULT, meaning_of
from errata.runs.first_page import (
    ALL_PASSED,
    fit_words,
    may_say,
    severities_in_words,
    why_no_estimate,
    without_failures,
    words_without_failures,
)
from errata.runs.history import RunHistory
from errata.runs.scores import Scores
from errata.runs.standings import owner_of
from errata.runs.suspicions import SuspiciousCount
from errata.text.clean import one_line

if TYPE_CHECKING:
    from errata.runs.view import RunView


KNOWN_GAP = "known_gap"


class Health(msgspec.Struct, frozen=True):
    fit: bool
    findings: tuple[Finding, ...]
    doubts: tuple[Doubt, ...] = ()
    """What speaks against calm words: of the findings, and in an overview also of passes and of the score."""

    @property
    def counts_in_words(self) -> str:
        """`2 problems and 1 note`."""
        *others, last = severities_in_words(one.severity for one in self.findings)
        return f"{', '.join(others)} and {last}" if others else last

    @property
    def summary(self) -> str:
        return fit_words(self.doubts, (one.severity for one in self.findings))

    @property
    def word(self) -> str:
        return "fit" if may_say("fit", self.doubts) else "with care" if self.fit else "not fit"


class Owned(msgspec.Struct, frozen=True):
    owner: Owner
    count: int
    reasons: dict[str, int]
    """The meanings of the rules that decided, with their failures, the most frequent first; none for verdicts."""
    shown: int = 0
    """Of the owner `model`: failures that are shown to be the model's."""
    presumed: dict[ProofReason, int] = {}
    """Of the owner `model`: why → failures that are only presumed to be the model's."""

    def note(self, *, repeated: bool = False) -> str:
        """`1 supported, 5 presumed: …`, or `the rate limit was reached`; with counts where that is not all of it."""
        if proofs := proof_counts(self.shown, self.presumed, repeated=repeated):
            return proofs
        reasons = [(often, one_line(reason)) for reason, often in self.reasons.items()]
        if len(reasons) == 2 and sum(self.reasons.values()) == self.count:
            return "; ".join(f"{often:,}: {reason}" for often, reason in reasons)
        for often, reason in reasons[:1]:
            return reason if often == self.count else f"{often:,} of {self.count:,}: {reason}"
        return ""


class CategoryFailures(NamedTuple):
    name: str
    failed: int
    cases: int
    """All that were planned, with missing ones."""
    unscored: int = 0


class FailureTally:
    def __init__(self, categories: Mapping[str, Sequence[str]]) -> None:
        self._categories = categories
        self.first_failed: Counter[str] = Counter()
        self.in_steps = True
        self.failed: Counter[str] = Counter()
        self._cases: set[str] = set()
        """Cases that have a category, with missing ones."""
        self._failed_cases: set[str] = set()
        self._unscored_cases: set[str] = set()
        self.first_case = ""
        self.step_order: dict[str, int] = {}
        """Step of a pipeline → its place; `has_other_checks` where others count, too."""
        self.has_other_checks = False
        self.given: dict[str, list[bool | float]] = {}
        self.beside: set[str] = set()
        """Those that do not decide the outcome, or failed where it is a pass."""
        self.pending: list[str] = []
        self.missing: list[str] = []
        self.failures: list[tuple[str, str]] = []

    def add(self, attempt: Attempt) -> None:
        if not attempt.counted:
            return
        self._note_checks(attempt)
        if attempt.case in self._categories:
            self._cases.add(attempt.case)
        if not attempt.is_failure:
            return
        self.first_case = self.first_case or attempt.case
        self.failures.append((attempt.id, attempt.case))
        self.failed[attempt.case] += 1
        (self._failed_cases if is_failed(attempt) else self._unscored_cases).add(attempt.case)
        failed = next((check for check in attempt.checks if check.failed), None)
        self.first_failed[failed.name if failed else ""] += 1
        self.in_steps = self.in_steps and (failed is None or failed.kind == "step")

    @property
    def categories(self) -> tuple[CategoryFailures, ...]:
        names = self._categories
        failed, cases = (
            Counter(chain.from_iterable(names.get(case, ()) for case in some))
            for some in (self._failed_cases, self._cases)
        )
        unscored = Counter(
            chain.from_iterable(names.get(case, ()) for case in self._unscored_cases - self._failed_cases)
        )
        return tuple(
            CategoryFailures(name, failed[name], cases[name], unscored[name]) for name in sorted({*failed, *unscored})
        )

    @property
    def overlap(self) -> CategoryOverlap:
        return overlap_of(dict.fromkeys(self._failed_cases, 1), self._categories)

    def _note_checks(self, attempt: Attempt) -> None:
        if attempt.execution in ("unfinished", "skipped"):
            self.pending.append(attempt.case)
        elif attempt.execution == "missing":
            self.missing.append(attempt.case)
        for check in attempt.checks:
            if check.kind == "step":
                self.step_order[check.name] = min(self.step_order.get(check.name, check.order), check.order)
            elif check.counts:
                self.has_other_checks = True
            if (given := check.given) is not None:
                self.given.setdefault(check.name, []).append(given)
                if not check.counts or (check.failed and attempt.outcome == "pass"):
                    self.beside.add(check.name)


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    stored: StoredRun
    handle: str
    reviewed: int = 0
    """Failures that somebody read, and whose evidence has not changed since."""
    inherited: int = 0
    """Failures with the verdict of an identical crash."""
    need_second: int = 0
    """Of the reviewed ones, those whose verdict does not count before a second reader agrees."""
    unknown_to_triage: int = 0
    health: Health
    passed: int
    total: int
    unit: Literal["cases", "attempts"]
    """`cases`; `attempts` where a case was tried several times."""
    nothing_failed: WithoutFailures | None = None
    suspicious: SuspiciousCount = SuspiciousCount()
    by_harness: bool
    """The log holds only a part of the cases, so that the harness's own count is all there is."""
    first_failed: tuple[tuple[str, int], ...]
    """Check → of how many failures it is the first that failed; empty for those without one."""
    in_steps: bool
    other_checks: dict[str, ScorerCount] = {}
    """Those that do not decide the outcome, or failed where it is a pass."""
    categories: tuple[CategoryFailures, ...]
    """Those with a failure; a case counts in each of its categories."""
    overlap: CategoryOverlap = CategoryOverlap()
    first_case: str
    scores: Scores
    owners: tuple[Owned, ...] = ()
    passed_by_nobody: tuple[str, ...] = ()
    """Failed cases that no subject in the store has passed, where at least three were measured."""
    suspects: SuspectTasks = SuspectTasks()
    """Tasks that hardly any subject in the store passes; of these, the ones that this run failed."""
    causes: tuple[CauseSummary, ...] = ()
    """Buckets, the largest first; empty where nothing failed, or too much to be grouped along with other work."""
    remembered: RunHistory
    repeated: RepeatsOutput

    @property
    def without_failures(self) -> str:
        """Where nothing failed, a sentence about the result, without its full stop."""
        return words_without_failures(self.nothing_failed) if self.nothing_failed is not None else ""

    @property
    def all_passed(self) -> bool:
        return self.without_failures == ALL_PASSED

    @property
    def cost_words(self) -> str:
        """`$0.4480 (agent $0.40 · judge $0.05), unknown for 1 attempt`; empty where the log states no cost."""
        counts, cost = self.stored.counts, self.scores.cost
        if counts.cost is None:
            return ""
        unknown = counts.counted - counts.cost_known - counts.executions.get("missing", 0)
        currency = self.stored.run.extra.get("currency", "USD")
        if cost.is_simulator_only:
            return simulator_cost(counts.cost, unknown, currency)
        rest = f", unknown for {plural(unknown, 'attempt')}" if unknown else ""
        return f"{money(counts.cost, 2 if counts.cost >= 1 else 4, currency)}{cost_parts(cost, currency)}{rest}"

    @property
    def no_estimate(self) -> NoEstimate | None:
        """Why the last score that is shown is not the best estimate; none where it is."""
        best = self.scores.scores["reviewed" if self.reviewed else "clean"]
        return why_no_estimate(self.stored, best, findings=self.health.findings, doubts=self.health.doubts)

    @property
    def unavailable(self) -> Finding | None:
        return next((finding for finding in self.health.findings if finding.name == "unavailable"), None)

    @property
    def not_judged(self) -> bool:
        return any(finding.name == "not_judged" for finding in self.health.findings)


def summarise(view: "RunView") -> Analysis:
    stored, attributions = view.stored, view.attributions
    overview = view.overview
    tally = overview.tally
    score = _score(stored, overview.scores)
    standings = {attempt: one.standing for attempt, one in view.standings.items() if attempt in attributions}
    own = [one for one in standings.values() if one.verdict.inherited_from is None]
    remembered = view.history
    return Analysis(
        stored=stored,
        handle=view.handle,
        reviewed=len(own),
        inherited=len(standings) - len(own),
        need_second=sum(not one.final for one in own),
        unknown_to_triage=sum(one.owner == "unknown" for one in attributions.values()),
        health=overview.health,
        passed=score.passed,
        total=score.total,
        unit=score.unit,
        nothing_failed=None
        if stored.counts.failures
        else without_failures(stored, suspicious=overview.suspicious.suspicious, findings=overview.health.findings),
        suspicious=overview.suspicious,
        by_harness=score.by_harness,
        first_failed=tuple(sorted(tally.first_failed.items(), key=lambda pair: (-pair[1], not pair[0]))),
        in_steps=tally.in_steps,
        other_checks={name: scorer_count(given) for name, given in tally.given.items() if name in tally.beside},
        categories=tally.categories,
        overlap=tally.overlap,
        first_case=case_name(stored.run, tally.first_case),
        scores=overview.scores,
        owners=_owners(attributions.values(), standings),
        passed_by_nobody=_passed_by_nobody(view),
        suspects=_failed_suspects(view),
        causes=tuple(
            summarise_causes(
                view.buckets,
                ((attempt, case_name(stored.run, case)) for attempt, case in tally.failures),
                {
                    attempt: owner_of(attribution, standings.get(attempt))
                    for attempt, attribution in attributions.items()
                },
            )
        ),
        remembered=remembered,
        repeated=_count_repeats(remembered, tally.failed),
    )


def _passed_by_nobody(view: "RunView") -> tuple[str, ...]:
    nobody = frozenset(view.suspects.passed_by_nobody)
    failed = dict.fromkeys(case for _, case in view.overview.tally.failures if case in nobody)
    return tuple(case_name(view.stored.run, case) for case in failed)


def _failed_suspects(view: "RunView") -> SuspectTasks:
    suspects, failed = view.suspects, view.overview.tally.failed
    tasks = tuple(task for task in suspects.tasks if task.case_key in failed)
    more = suspects.total - len(suspects.tasks)
    return msgspec.structs.replace(suspects, tasks=tasks, total=len(tasks) + more)


def _count_repeats(remembered: RunHistory, failed: Counter[str]) -> RepeatsOutput:
    histories = [(often, remembered.before(case)) for case, often in failed.items()]
    return RepeatsOutput(
        in_reports=sum(often for often, before in histories if before.reports),
        in_runs=sum(often for often, before in histories if before.runs),
        otherwise=sum(often for often, before in histories if before.failed_otherwise),
        should_be_gone=sum(often for often, before in histories if before.should_be_gone),
    )


def _owners(attributions: Iterable[Attribution], standings: Mapping[str, Standing]) -> tuple[Owned, ...]:
    totals: Counter[str] = Counter()
    proofs: Counter[tuple[Proof, ProofReason]] = Counter()
    rules: dict[str, Counter[str]] = {}
    records: set[str] = set()
    for attribution in attributions:
        standing = standings.get(attribution.attempt)
        owner = owner_of(attribution, standing)
        totals[owner] += 1
        if standing is None:
            rules.setdefault(owner, Counter())[attribution.decided_by] += 1
            proofs[attribution.proof, attribution.proof_reason] += 1
            records.update(one.ref.file for one in attribution.signals if one.name == KNOWN_GAP and one.ref is not None)
    named = []
    for owner, count in totals.most_common():
        reasons = Counter[str]()
        for rule, often in rules.get(owner, Counter()).items():
            if rule and rule not in BY_DEFAULT:
                gap = f"known gap in {len(records)} earlier report{'' if len(records) == 1 else 's'}"
                reasons[gap if rule == KNOWN_GAP and records else meaning_of(rule)] += often
        ranked = dict(reasons.most_common())
        if owner == "model":
            shown = sum(often for (proof, _), often in proofs.items() if proof == "shown")
            presumed = {why: often for (proof, why), often in proofs.items() if proof == "presumed"}
            named.append(Owned("model", count, ranked, shown, presumed))
        else:
            named.append(Owned(cast("Owner", owner), count, ranked))
    return tuple(named)


class _SummaryScore(NamedTuple):
    passed: int
    total: int
    unit: Literal["cases", "attempts"] = "cases"
    by_harness: bool = False


def _score(stored: StoredRun, scores: Scores) -> _SummaryScore:
    """The strict score, unless the log holds only a part of the cases and the harness states its own count."""
    stated, expected = stored.run.stated_passes, stored.run.expected_cases
    partial = expected is not None and stored.counts.cases < expected
    if scores.unit == "cases" and partial and stated is not None and stated[1] == expected:
        return _SummaryScore(*stated, by_harness=True)
    strict = scores.scores["strict"]
    return _SummaryScore(strict.passed, strict.total, scores.unit)
