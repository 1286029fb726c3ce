"""What a failure does to the score: in which policies it counts, and why not in the others."""

from collections.abc import Iterable

import msgspec

from errata.compare.policies import POLICIES
from errata.compare.scores import Policy
from errata.compare.trials import Opinions, Trials
from errata.model import Attempt, Attribution, Run
from errata.model.standing import Standing
from errata.runs.standings import counts

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
