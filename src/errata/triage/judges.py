"""Signals of judges who contradict each other, or a program that was asked the same: doubts, no verdicts."""

import re
from collections.abc import Iterator

from errata.model import Attempt, Case, Check, Judgement
from errata.triage.observed import Observed, Rule, signal


def judges_disagree(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """Judges who were asked the same and say the opposite: a doubt, not a verdict."""
    if len(attempt.judgements) < 2:
        return
    valid = [judgement for judgement in attempt.judgements if judgement.valid and judgement.passed is not None]
    if len({judgement.passed for judgement in valid}) > 1:
        quote = ", ".join(f"{one.judge or one.model}: {one.passed}" for one in valid)
        if _is_tie(valid) or _contradict(valid):
            seen = signal("judges_contradict", "likely", "judgements", quote, attempt.ref)
            yield Observed(signal=seen, owner="grader")
        else:
            yield _doubt(attempt, "judges_disagree", "judgements", quote)
        return
    failed = {check.name: check.judge for check in attempt.checks if check.failed and check.judge}
    for check in attempt.checks:
        if check.status == "pass" and check.judge and failed.get(check.name, check.judge) != check.judge:
            quote = f"{check.name}: {failed[check.name]} fail, {check.judge} pass"
            yield _doubt(attempt, "judges_disagree", f"checks[{check.name}]", quote)
            return


FAR_APART = 0.7


def _is_tie(judgements: list[Judgement]) -> bool:
    """As many judges passed it as failed it, so that a rule for ties decided, not the judges."""
    return 2 * sum(one.passed is True for one in judgements) == len(judgements)


def _contradict(judgements: list[Judgement]) -> bool:
    """Judges of the same work who give it nearly everything and nearly nothing can't all have looked at it."""
    scores = [one.score for one in judgements if one.score is not None]
    return len(scores) > 1 and max(scores) - min(scores) >= FAR_APART


_RIGHT = re.compile(
    r"^(?:includes?|exact(?:_?match)?|match|equals|i?contains|choice|answer|accuracy|acc|em|correct(?:ness)?"
    r"|quasi_exact_match|nl_assertions?|model_graded_(?:qa|fact)|model-graded-(?:closedqa|factuality)|factuality|closedqa)$",
    re.IGNORECASE,
)


def judge_and_program_disagree(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """A judge and a program were both asked whether the answer is right, and say the opposite."""
    checks = attempt.checks
    judges = sum(1 for check in checks if check.judge)
    if not judges or judges == len(checks) or attempt.outcome not in ("fail", "partial"):
        return
    measured = [one for one in checks if one.status in ("pass", "fail")]
    judged = {one.status: one for one in measured if one.judge and _asks_whether_right(one)}
    programs = {one.status: one for one in measured if not one.judge and _asks_whether_right(one)}
    if len(judged) == 1 and len(programs) == 1 and judged.keys() != programs.keys():
        (judge,), (program,) = judged.values(), programs.values()
        quote = judge.explanation or f"{judge.name}: {judge.status}, {program.name}: {program.status}"
        yield _doubt(attempt, "judge_contradicts", f"checks[{judge.name}]", quote)


def _asks_whether_right(check: Check) -> bool:
    """A program is no evidence about other things judges are asked, such as tone."""
    if check.kind == "reward":
        return check.counts
    return _RIGHT.match(check.scorer or check.name) is not None


RULES: tuple[Rule, ...] = (judges_disagree, judge_and_program_disagree)


def _doubt(attempt: Attempt, name: str, where: str, quote: str) -> Observed:
    return Observed(signal=signal(name, "weak", where, quote, attempt.ref), owner="grader")
