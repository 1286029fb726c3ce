"""Signals of judges who contradict each other, or a program that was asked the same: doubts, no verdicts."""

from collections.abc import Iterator

from errata.model import Attempt, Case, Judgement
from errata.model.attempt import asks_whether_right, measured_pairs
from errata.triage.observed import Observed, Rule, signal


def judges_disagree(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """Judges who were asked the same and say the opposite: a doubt, not a verdict."""
    if len(attempt.judgements) < 2:
        return
    valid = [judgement for judgement in attempt.judgements if judgement.valid and judgement.passed is not None]
    if len({judgement.passed for judgement in valid}) > 1:
        quote = ", ".join(f"{one.judge or one.model}: {one.passed}" for one in valid)
        # their verdicts may be in another file than the attempt
        ref = next((one.ref for one in valid if not one.passed), None) or attempt.ref
        if _is_tie(valid) or _contradict(valid):
            yield Observed(signal=signal("judges_contradict", "likely", "judgements", quote, ref), owner="grader")
        else:
            yield Observed(signal=signal("judges_disagree", "weak", "judgements", quote, ref), owner="grader")
        return
    failed = {check.name: check.judge for check in attempt.checks if check.failed and check.judge}
    for check in attempt.checks:
        if check.status == "pass" and check.judge and failed.get(check.name, check.judge) != check.judge:
            quote = f"{check.name}: {failed[check.name]} fail, {check.judge} pass"
            yield _doubt(attempt, "judges_disagree", f"checks[{check.name}]", quote)
            return


FAR_APART = 0.7
A_THIRD = 3
"""One judge against three or more is outvoted; one of three is right too often (see bench/real)."""


def _is_tie(judgements: list[Judgement]) -> bool:
    """As many judges passed it as failed it, so that a rule for ties decided, not the judges."""
    return 2 * sum(one.passed is True for one in judgements) == len(judgements)


def _contradict(judgements: list[Judgement]) -> bool:
    """Judges of the same work who give it nearly everything and nearly nothing can't all have looked at it."""
    scores = [one.score for one in judgements if one.score is not None]
    passed = sum(one.passed is True for one in judgements)
    is_outvoted = A_THIRD * min(passed, len(judgements) - passed) < len(judgements)
    return len(scores) > 1 and max(scores) - min(scores) >= FAR_APART and not is_outvoted


def judge_and_program_disagree(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """A judge and a program were both asked whether the answer is right, and say the opposite."""
    if attempt.outcome not in ("fail", "partial"):
        return
    pairs = [pair for pair in measured_pairs(attempt) if all(map(asks_whether_right, pair))]
    judged = {pair.judge.status: pair.judge for pair in pairs}
    programs = {pair.program.status: pair.program for pair in pairs}
    if len(judged) == 1 and len(programs) == 1 and judged.keys() != programs.keys():
        (judge,), (program,) = judged.values(), programs.values()
        quote = judge.explanation or f"{judge.name}: {judge.status}, {program.name}: {program.status}"
        yield _doubt(attempt, "judge_contradicts", f"checks[{judge.name}]", quote)


RULES: tuple[Rule, ...] = (judges_disagree, judge_and_program_disagree)


def _doubt(attempt: Attempt, name: str, where: str, quote: str) -> Observed:
    return Observed(signal=signal(name, "weak", where, quote, attempt.ref), owner="grader")
