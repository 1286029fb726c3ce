"""What a failure does to the score: in which policies it counts, and why not in the others."""

from collections.abc import Iterable

import msgspec

from errata.compare.policies import POLICIES
from errata.compare.scores import Policy
from errata.compare.trials import Opinions, Trials
from errata.model import Attempt, Attribution, Run

ASKED: tuple[Policy, ...] = ("strict", "as_reported", "clean")


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    counted_in: tuple[Policy, ...]
    left_out_of: dict[Policy, str] = {}
    """Policy → why."""
    recovered: bool = False
    """Whether clean takes the result of an earlier session in its place."""

    @property
    def told(self) -> str:
        """In a line: `in strict and as_reported, not in clean`."""
        counted = _listed([*self.counted_in])
        parts = [f"in {counted}" if counted else "in no score"]
        parts += [f"not in {policy}" for policy in self.left_out_of if policy == "clean"]
        if self.recovered:
            parts.append("in clean an earlier session's result stands in")
        return ", ".join(parts)


def effect_of(run: Run, attempt: Attempt, same: Iterable[Attempt], said: Attribution, *, broken: bool) -> Effect:
    """The policies themselves are asked, about this attempt alone and what belongs to it."""
    if run.excluded is not None:
        return Effect(counted_in=(), left_out_of=dict.fromkeys(ASKED, "excluded"))
    rows = [attempt, *(one for one in same if one.id != attempt.id and _belongs(one, attempt))]
    alone = msgspec.structs.replace(run, expected_cases=None)
    opinions = Opinions(attributions={attempt.id: said}, broken={attempt.id} if broken else ())
    trials = Trials(alone, rows, opinions)
    scores = {policy: POLICIES[policy](trials) for policy in ASKED}
    return Effect(
        counted_in=tuple(
            policy for policy, score in scores.items() if score.total and not (policy == "clean" and score.recovered)
        ),
        left_out_of={policy: next(iter(score.left_out)) for policy, score in scores.items() if score.left_out},
        recovered=bool(scores["clean"].recovered),
    )


def _belongs(one: Attempt, attempt: Attempt) -> bool:
    return one.superseded_by == attempt.id or one.duplicate_of == attempt.id or one.id == attempt.duplicate_of


def _listed(names: list[Policy]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
