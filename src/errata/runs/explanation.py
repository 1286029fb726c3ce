"""Why a failure has its owner: what decided, what speaks for and against it, and what it does to the score."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from errata import triage
from errata.compare.policies import POLICIES, latest_measured
from errata.compare.scores import Policy
from errata.compare.trials import Opinions, Trials
from errata.model import Attempt, Attribution, Case, Run, Signal
from errata.model.record import Struct
from errata.model.standing import Standing
from errata.model.words import Owner
from errata.runs.standings import counts
from errata.transcript.error_text import ReasonQuote
from errata.triage.expected import expected_of
from errata.triage.not_used import NotUsed, not_used
from errata.triage.reasons import reason_of
from errata.triage.rulesets import rules_in_use

ASKED: tuple[Policy, ...] = ("strict", "as_reported", "clean")
OF_THE_SUBJECT: tuple[Policy, ...] = ("clean", "reviewed")
"""Policies that leave out infrastructure failures, and may use an earlier session's result instead."""


class ScoreEffect(Struct):
    """`reviewed` is among the policies only where somebody has read the failure."""

    counted_in: tuple[Policy, ...]
    left_out_of: dict[Policy, str] = {}
    recovered: bool = False
    stood_in_for: tuple[Policy, ...] = ()
    """Where an earlier session's result takes its place."""
    from_session: int | None = None
    unknown: tuple[Policy, ...] = ()
    """Scores that the run does not have, because most of its rows are not in the log."""
    unsettled: bool = False
    """It was read, but reviewed goes by triage until a second reader agrees."""

    @property
    def text(self) -> str:
        """In a line: `in strict and as_reported, not in clean`."""
        counted = _listed([*self.counted_in])
        parts = [f"in {counted}" if counted else "in no score"]
        out = [policy for policy in self.left_out_of if policy in OF_THE_SUBJECT]
        parts += [f"not in {_listed(out)}"] if out else []
        if self.stood_in_for:
            use = "uses" if len(self.stood_in_for) == 1 else "use"
            parts.append(f"{_listed([*self.stood_in_for])} {use} session {self.from_session}'s result")
        if self.unknown:
            parts.append(f"{_listed([*self.unknown])} unknown: rows are missing from the log")
        if self.unsettled:
            parts.append("reviewed goes by triage until a second reader agrees")
        return ", ".join(parts)


def effect_of(
    run: Run,
    attempt: Attempt,
    same: Iterable[Attempt],
    attribution: Attribution,
    *,
    broken: bool,
    stood: Standing | None = None,
    unknown: tuple[Policy, ...] = (),
) -> ScoreEffect:
    """The policies themselves are asked, about this attempt alone and what belongs to it.

    `unknown`: the scores that the whole run does not have.
    """
    verdicts = {attempt.id: stood.verdict} if stood and counts(stood) else {}
    asked: tuple[Policy, ...] = (*ASKED, "reviewed") if verdicts else ASKED
    unsettled = stood is not None and not verdicts
    if run.excluded is not None:
        return ScoreEffect(counted_in=(), left_out_of=dict.fromkeys(asked, "excluded"), unsettled=unsettled)
    rows = [attempt, *(one for one in same if one.id != attempt.id and _belongs(one, attempt))]
    alone = msgspec.structs.replace(run, expected_cases=None, measured_attempts=None, measured_passes=None)
    opinions = Opinions(
        attributions={attempt.id: attribution}, broken={attempt.id} if broken else (), verdicts=verdicts
    )
    trials = Trials(alone, rows, opinions)
    scores = {policy: POLICIES[policy](trials) for policy in asked}
    stood_in = tuple(policy for policy in OF_THE_SUBJECT if policy in scores and scores[policy].recovered)
    earlier = latest_measured(attempt.case, trials)
    return ScoreEffect(
        counted_in=tuple(
            policy for policy, score in scores.items() if score.total and policy not in (*stood_in, *unknown)
        ),
        left_out_of={policy: next(iter(score.left_out)) for policy, score in scores.items() if score.left_out},
        unknown=unknown,
        recovered="clean" in stood_in,
        stood_in_for=stood_in,
        from_session=earlier.session if stood_in and earlier is not None else None,
        unsettled=unsettled,
    )


def _belongs(other: Attempt, attempt: Attempt) -> bool:
    return other.superseded_by == attempt.id or other.duplicate_of == attempt.id or other.id == attempt.duplicate_of


def _listed(names: list[Policy]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


BY_DEFAULT = ("check_failed", "phase", "nothing known")
"""What decides where no rule does; their meanings say so themselves."""

_ELSEWHERE: dict[str, Owner] = {
    "cascade": "collateral",
    "disk_still_full": "collateral",
    "ended_by_another": "collateral",
    "all_fail": "task",
    "reference_fails": "task",
    "known_gap": "task",
}
"""The owner of signals that need other attempts or runs; all other signals can be observed again."""


HarnessFact = Literal["harness_counted_it", "harness_left_it_out"]


class Reason(Struct):
    text: str
    signal: Signal | None = None
    points_to: Owner | None = None
    fact: HarnessFact | None = None


class Explanation(Struct):
    meaning: str
    because: ReasonQuote
    """The most informative quote with its place; where possible, the one that decided."""
    decided: Signal | None
    supports: tuple[Reason, ...] = ()
    against: tuple[Reason, ...] = ()
    not_used: tuple[NotUsed, ...] = ()
    effect: ScoreEffect

    @property
    def repeatable(self) -> bool:
        """Whether `errata rerun` repeats it by default; it skips what an earlier session measured."""
        return "clean" in self.effect.left_out_of and not self.effect.recovered


def explain(
    run: Run, name: str, attempt: Attempt, case: Case | None, attribution: Attribution, effect: ScoreEffect
) -> Explanation:
    rules = rules_in_use()
    observed = triage.observe(run, attempt, case, None, rules)
    owners = _ELSEWHERE | {one.signal.name: one.owner for one in observed}
    deciding = next((one for one in attribution.signals if one.name == attribution.decided_by), None)
    rest = list(
        {one.name: one for one in reversed(attribution.signals) if one.name != attribution.decided_by}.values()
    )[::-1]
    doubts = [one for one in rest if owners.get(one.name) not in (None, attribution.owner)]
    return Explanation(
        meaning=meaning_of(attribution.decided_by),
        because=reason_of(attempt, attribution, expected_of(case)),
        decided=deciding,
        supports=tuple(Reason(text=meaning_of(one.name), signal=one) for one in rest if one not in doubts),
        against=(*(_doubt(one, owners[one.name]) for one in doubts), *_facts_against(attempt, attribution, effect)),
        not_used=not_used(name, attempt, case, rules.book, used={one.name for one in attribution.signals}),
        effect=effect,
    )


def meaning_of(rule: str) -> str:
    book = rules_in_use().book
    return book.rules[rule].means if rule in book.rules else triage.MEANS.get(rule, rule)


def _doubt(signal: Signal, owner: Owner | None) -> Reason:
    if signal.name == "check_failed":
        text = f"a failed check normally points to the {owner}"
    else:
        text = f"{meaning_of(signal.name)}, which points to the {owner}"
    return Reason(text=text, signal=signal, points_to=owner)


def _facts_against(attempt: Attempt, attribution: Attribution, effect: ScoreEffect) -> list[Reason]:
    if attempt.reported_counted and "clean" in effect.left_out_of:
        return [Reason(text="the harness itself scored it as not passed", fact="harness_counted_it")]
    if attempt.reported_counted is False and attribution.owner == "model":
        text = "the harness left it out of its own count"
        return [Reason(text=text, fact="harness_left_it_out")]
    return []
