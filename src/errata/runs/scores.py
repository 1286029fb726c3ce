"""One run under every policy, as a whole and by category, with what was left out and why."""

from collections.abc import Container, Mapping, Sequence
from typing import Literal

import msgspec

from errata.compare.after_fixes import AfterFixes, score_after_fixes
from errata.compare.categories import members_of
from errata.compare.costs import Tiers, cost_of
from errata.compare.policies import NOT_SCORED, TIMED_OUT, scores_of
from errata.compare.scores import LeftOutGroup, Policy, Score
from errata.compare.trials import Opinions, Timeouts, Trials
from errata.model import Attribution, StoredRun, Verdict
from errata.model.output.score import AfterFixesOutput, CostOutput, FixedScoreOutput
from errata.model.run import case_name
from errata.runs.names import are_judged_turns
from errata.triage.rulebook import Rule
from errata.triage.rulesets import rules_in_use

NOT_REPEATED = frozenset(("skipped", NOT_SCORED, TIMED_OUT, "grader", "task", "known gap"))
"""Why an attempt may be left out of a score, and is to stay as it is."""


class Proof(msgspec.Struct, frozen=True):
    """One line of the log as an example for a group of attempts."""

    where: str
    quote: str
    case: str
    stated: str = ""


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    stored: StoredRun
    unit: Literal["cases", "attempts"]
    """`cases`; `attempts` where a case was tried several times."""
    unavailable: bool
    timeouts: Timeouts
    scores: dict[Policy, Score]
    categories: dict[str, dict[Policy, Score]]
    cost: CostOutput
    proofs: dict[tuple[str, str], Proof]
    after_fixes: AfterFixes | None = None
    """If failures of the grader or the task with an accepted fix passed; none where there are none."""

    @property
    def repeated_by(self) -> Policy:
        """The policy whose left-out attempts `errata rerun` repeats: verdicts decide as soon as there are some."""
        return "reviewed" if self.scores["reviewed"].total and not self.unavailable else "clean"

    @property
    def to_repeat(self) -> int:
        """How many of those that this policy leaves out `errata rerun` repeats; of judged turns, or judges."""
        stay = NOT_REPEATED - {NOT_SCORED} if are_judged_turns([self.stored]) else NOT_REPEATED
        return sum(len(group.members) for group in self.scores[self.repeated_by].groups if group.why not in stay)

    def after_fixes_output(self) -> AfterFixesOutput | None:
        after, run = self.after_fixes, self.stored.run
        if after is None:
            return None
        fixed = {str(policy): FixedScoreOutput(one.passed, one.total, one.rate) for policy, one in after.scores.items()}
        return AfterFixesOutput(cases=tuple(case_name(run, case) for case in after.cases), scores=fixed)

    def proof_of(self, group: LeftOutGroup) -> Proof | None:
        return self.proofs.get((group.why, group.signal))


def score_trials(
    stored: StoredRun, trials: Trials, tiers: Tiers, categories: Mapping[str, Sequence[str]], opinions: Opinions
) -> Scores:
    """Under every policy, as a whole and by category."""
    parts = {name: trials.only(cases) for name, cases in sorted(members_of(categories).items())}
    scores = scores_of(trials)
    return Scores(
        stored=stored,
        unit="attempts" if trials.repeated else "cases",
        unavailable=trials.unavailable,
        timeouts=trials.timeouts,
        scores=scores,
        categories={name: scores_of(part) for name, part in parts.items()},
        cost=cost_of(trials, parts, tiers),
        proofs=_proofs(scores, opinions.attributions),
        after_fixes=score_after_fixes(trials, scores, opinions.verdicts),
    )


def opinions_of(
    attributions: Mapping[str, Attribution],
    broken: Container[str],
    verdicts: Mapping[str, Verdict],
    reviewed: Container[str] | None,
) -> Opinions:
    rules = rules_in_use().book.rules
    quoting = {attempt: _quoting(attribution, rules) for attempt, attribution in attributions.items()}
    return Opinions(attributions=quoting, broken=broken, verdicts=verdicts, reviewed=reviewed)


def _quoting(attribution: Attribution, rules: Mapping[str, Rule]) -> Attribution:
    """Where a fact decided and a rule matched the log's own words, name the rule."""
    if attribution.owner == "model" or attribution.decided_by in rules:
        return attribution
    equal = (one for one in attribution.signals if one.strength == attribution.confidence and one.name in rules)
    better = next((one.name for one in equal if rules[one.name].owner == attribution.owner), "")
    return msgspec.structs.replace(attribution, decided_by=better) if better else attribution


def _proofs(scores: Mapping[Policy, Score], attributions: Mapping[str, Attribution]) -> dict[tuple[str, str], Proof]:
    proofs: dict[tuple[str, str], Proof] = {}
    for group in (group for score in scores.values() for group in (*score.groups, *score.beside) if group.signal):
        for member in group.members:
            signals = attributions[member.id].signals if member.id in attributions else ()
            signal = next((signal for signal in signals if signal.name == group.signal and signal.words), None)
            if signal is not None:
                proofs.setdefault(
                    (group.why, group.signal), Proof(signal.where, signal.quote, member.case, signal.stated)
                )
                break
    return proofs
