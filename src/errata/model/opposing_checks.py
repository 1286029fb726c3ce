"""A judge's and a program's verdict on the same attempt: which checks are a judge's, and which ask for the same."""

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from errata.model.attempt import Attempt
from errata.model.check import Check
from errata.model.run import Run
from errata.text.lazy_regex import lazy_regex

_RIGHT = lazy_regex(
    r"^(?:includes?|exact(?:_?match)?|match|equals|i?contains|choice|answer|accuracy|acc|em|correct(?:ness)?"
    r"|quasi_exact_match|nl_assertions?|model_graded_(?:qa|fact)|model-graded-(?:closedqa|factuality)|factuality|closedqa)$",
    re.IGNORECASE,
)
_WHOLE = lazy_regex(
    r"(?:judge[d]?|judge?ment|llm|model|gpt|grader|graded?|verdict|pass|passed|success|solved|resolved|correct|correctness"
    r"|right|match|matches|exact|accuracy|acc|answer|is|overall|final|result|outcome|score|check|tests?|unit|program)"
)
"""A name made of these words asks for the answer as a whole, not for its tone or style."""
_MEASURED = ("pass", "fail")


class OpposingChecks(NamedTuple):
    judge: Check
    program: Check


def asks_whether_right(check: Check) -> bool:
    """A program is not evidence about other things that judges are asked, such as tone."""
    if check.kind == "reward":
        return check.counts
    if check.is_primary:
        return True
    name = check.scorer or check.name
    return _RIGHT.match(name) is not None or _is_about_the_whole(name)


def _is_about_the_whole(name: str) -> bool:
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    return bool(words) and all(map(_WHOLE.fullmatch, words))


def judging_scorers(run: Run) -> frozenset[str]:
    """The scorers of a run that are judges."""
    return frozenset(scorer.name for scorer in run.scorers if scorer.kind == "judge")


def is_of_judge(check: Check, judges: Collection[str] = ()) -> bool:
    """Whether a judge gave it: the check names its judge, or its scorer is one."""
    return bool(check.judge) or (check.scorer or check.name) in judges


def measured_pairs(attempt: Attempt, judges: Collection[str] = ()) -> Iterator[OpposingChecks]:
    """Each judge's check with each program's, where both came to a verdict, whether or not they count."""
    measured = [check for check in attempt.checks if check.status in _MEASURED and check.kind != "limit"]
    by_judges = [check for check in measured if is_of_judge(check, judges)]
    if not by_judges or len(by_judges) == len(measured):
        return
    for program in measured:
        if not is_of_judge(program, judges):
            yield from (OpposingChecks(judge, program) for judge in by_judges)
