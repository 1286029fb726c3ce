"""The score after fixes: what it would be if failures of the grader or the task with an accepted fix passed."""

from collections.abc import Mapping

import msgspec

from errata.compare.policies import passes
from errata.compare.scores import Policy, Score
from errata.compare.trials import Trial, Trials
from errata.model import Verdict

POLICIES: tuple[Policy, ...] = ("strict", "as_reported", "clean")
_FIXABLE = frozenset(("grader", "task"))


class FixedScore(msgspec.Struct, frozen=True):
    passed: int
    total: int

    @property
    def rate(self) -> float:
        return self.passed / self.total


class AfterFixes(msgspec.Struct, frozen=True, kw_only=True):
    cases: tuple[str, ...]
    """Case keys of the failures that a fix is proposed for."""
    scores: dict[Policy, FixedScore]
    """By policy; without those that leave all of these failures out."""


def has_accepted_fix(verdict: Verdict) -> bool:
    """A fix of the eval itself; `verdict` is one that a score goes by."""
    return verdict.owner in _FIXABLE and verdict.fix is not None


def score_after_fixes(
    trials: Trials, scores: Mapping[Policy, Score], verdicts: Mapping[str, Verdict]
) -> AfterFixes | None:
    """`verdicts` are those that scores go by. None where no failure has an accepted fix."""
    firsts = [unit[0] for unit in trials.units if not passes(unit)]
    fixed = [one for one in firsts if one.id in verdicts and has_accepted_fix(verdicts[one.id])]
    if not fixed:
        return None
    counted = {policy: _with_fixes(scores[policy], fixed) for policy in POLICIES}
    return AfterFixes(
        cases=tuple(dict.fromkeys(one.case for one in fixed)),
        scores={policy: score for policy, score in counted.items() if score is not None},
    )


def _with_fixes(score: Score, fixed: list[Trial]) -> FixedScore | None:
    if not score.total or score.mean is not None:
        return None
    out = {member.id for group in score.groups for member in group.members}
    counted = sum(one.id not in out for one in fixed)
    return FixedScore(min(score.total, score.passed + counted), score.total) if counted else None
