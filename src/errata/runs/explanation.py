"""Why a failure has its owner: what decided, what speaks for and against it, and what it does to the score."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from errata import triage
from errata.compare.policies import POLICIES
from errata.compare.scores import Policy
from errata.compare.trials import Opinions, Trials
from errata.model import Attempt, Attribution, Case, Run, Signal
from errata.model.standing import Standing
from errata.model.words import Owner
from errata.runs.standings import counts
from errata.triage.expected import expected_of
from errata.triage.not_used import NotUsed, not_used
from errata.triage.reasons import ReasonQuote, reason_of
from errata.triage.rulesets import rules_in_use

ASKED: tuple[Policy, ...] = ("strict", "as_reported", "clean")
OF_THE_SUBJECT: tuple[Policy, ...] = ("clean", "reviewed")
"""Those that leave out what says nothing about it, and may take an earlier session's result instead."""


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """`reviewed` is among the policies only where somebody has read the failure."""

    counted_in: tuple[Policy, ...]
    left_out_of: dict[Policy, str] = {}
    """Policy → why."""
    recovered: bool = False
    """Whether clean takes the result of an earlier session in its place."""
    stood_in_for: tuple[Policy, ...] = ()
    """Where an earlier session's result takes its place."""
    unsettled: bool = False
    """It was read, but reviewed goes by triage until a second reader agrees."""

    @property
    def told(self) -> str:
        """In a line: `in strict and as_reported, not in clean`."""
        counted = _listed([*self.counted_in])
        parts = [f"in {counted}" if counted else "in no score"]
        out = [policy for policy in self.left_out_of if policy in OF_THE_SUBJECT]
        parts += [f"not in {_listed(out)}"] if out else []
        if self.stood_in_for:
            parts.append(f"in {_listed([*self.stood_in_for])} an earlier session's result stands in")
        if self.unsettled:
            parts.append("reviewed goes by triage until a second reader agrees")
        return ", ".join(parts)


def effect_of(
    run: Run,
    attempt: Attempt,
    same: Iterable[Attempt],
    said: Attribution,
    *,
    broken: bool,
    stood: Standing | None = None,
) -> Effect:
    """The policies themselves are asked, about this attempt alone and what belongs to it."""
    verdicts = {attempt.id: stood.verdict} if stood and counts(stood) else {}
    asked: tuple[Policy, ...] = (*ASKED, "reviewed") if verdicts else ASKED
    unsettled = stood is not None and not verdicts
    if run.excluded is not None:
        return Effect(counted_in=(), left_out_of=dict.fromkeys(asked, "excluded"), unsettled=unsettled)
    rows = [attempt, *(one for one in same if one.id != attempt.id and _belongs(one, attempt))]
    alone = msgspec.structs.replace(run, expected_cases=None, measured_attempts=None)
    opinions = Opinions(attributions={attempt.id: said}, broken={attempt.id} if broken else (), verdicts=verdicts)
    scores = {policy: POLICIES[policy](Trials(alone, rows, opinions)) for policy in asked}
    stood_in = tuple(policy for policy in OF_THE_SUBJECT if policy in scores and scores[policy].recovered)
    return Effect(
        counted_in=tuple(policy for policy, score in scores.items() if score.total and policy not in stood_in),
        left_out_of={policy: next(iter(score.left_out)) for policy, score in scores.items() if score.left_out},
        recovered="clean" in stood_in,
        stood_in_for=stood_in,
        unsettled=unsettled,
    )


def _belongs(one: Attempt, attempt: Attempt) -> bool:
    return one.superseded_by == attempt.id or one.duplicate_of == attempt.id or one.id == attempt.duplicate_of


def _listed(names: list[Policy]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


BY_DEFAULT = ("check_failed", "phase", "nothing known")
"""What decides where no rule does; their meanings say so themselves."""

_ELSEWHERE: dict[str, Owner] = {
    "cascade": "collateral",
    "unavailable_run": "provider",
    "all_fail": "task",
    "all_agree_on_another": "task",
    "reference_fails": "task",
    "known_gap": "task",
}
"""Whom those signals name that one attempt alone does not show; all others are observed anew."""


HarnessFact = Literal["harness_counted_it", "harness_left_it_out"]


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """A signal or a fact, in words."""

    told: str
    signal: Signal | None = None
    points_to: Owner | None = None
    """Set where that is not the owner."""
    fact: HarnessFact | None = None
    """Set where it is no signal."""


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    meaning: str
    """In words, what the deciding rule says has happened."""
    because: ReasonQuote
    """The place and the words that tell most; what decided, wherever that says anything."""
    decided: Signal | None
    supports: tuple[Reason, ...] = ()
    against: tuple[Reason, ...] = ()
    """What points to somebody else."""
    not_used: tuple[NotUsed, ...] = ()
    effect: Effect

    @property
    def repeatable(self) -> bool:
        """Whether trying again may give a result that says something about the subject."""
        return "clean" in self.effect.left_out_of or self.effect.recovered


def explain(run: Run, name: str, attempt: Attempt, case: Case | None, said: Attribution, effect: Effect) -> Explanation:
    rules = rules_in_use()
    observed = triage.observe(run, attempt, case, None, rules)
    owners = _ELSEWHERE | {one.signal.name: one.owner for one in observed}
    deciding = next((one for one in said.signals if one.name == said.decided_by), None)
    rest = list({one.name: one for one in reversed(said.signals) if one.name != said.decided_by}.values())[::-1]
    doubts = [one for one in rest if owners.get(one.name) not in (None, said.owner)]
    return Explanation(
        meaning=meaning_of(said.decided_by),
        because=reason_of(attempt, said, expected_of(case)),
        decided=deciding,
        supports=tuple(Reason(told=meaning_of(one.name), signal=one) for one in rest if one not in doubts),
        against=(*(_doubt(one, owners[one.name]) for one in doubts), *_facts_against(attempt, said, effect)),
        not_used=not_used(name, attempt, case, rules.book, used={one.name for one in said.signals}),
        effect=effect,
    )


def meaning_of(rule: str) -> str:
    """What a rule says in words: those that are data bring their sentence along."""
    book = rules_in_use().book
    return book.rules[rule].means if rule in book.rules else triage.MEANS.get(rule, rule)


def _doubt(signal: Signal, owner: Owner | None) -> Reason:
    if signal.name == "check_failed":
        told = f"it was measured and failed, which by itself points to the {owner}"
    else:
        told = f"{meaning_of(signal.name)}, which points to the {owner}"
    return Reason(told=told, signal=signal, points_to=owner)


def _facts_against(attempt: Attempt, said: Attribution, effect: Effect) -> list[Reason]:
    if attempt.reported_counted and "clean" in effect.left_out_of:
        return [Reason(told="the harness counted it as failed (reported_counted)", fact="harness_counted_it")]
    if attempt.reported_counted is False and said.owner == "model":
        told = "the harness left it out of its own count (reported_counted)"
        return [Reason(told=told, fact="harness_left_it_out")]
    return []
