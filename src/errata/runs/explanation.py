"""Why a failure was attributed as it was: what decided, what supports it, what speaks against it, what was not used."""

import msgspec

from errata import triage
from errata.model import Attempt, Attribution, Case, Run, Signal
from errata.model.words import Owner
from errata.runs.expectations import expected_of
from errata.runs.score_effect import Effect
from errata.triage.not_used import NotUsed, not_used
from errata.triage.reasons import Quote, reason_of
from errata.triage.rulesets import rules_in_use

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


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """A signal or a fact, in words."""

    told: str
    signal: Signal | None = None


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    meaning: str
    """In words, what the deciding rule says has happened."""
    because: Quote
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
        return Reason(told=f"it was measured and failed, which by itself points to the {owner}", signal=signal)
    return Reason(told=f"{meaning_of(signal.name)}, which points to the {owner}", signal=signal)


def _facts_against(attempt: Attempt, said: Attribution, effect: Effect) -> list[Reason]:
    if attempt.reported_counted and "clean" in effect.left_out_of:
        return [Reason(told="the harness counted it as failed (reported_counted)")]
    if attempt.reported_counted is False and said.owner == "model":
        return [Reason(told="the harness left it out of its own count (reported_counted)")]
    return []
