"""Judges who contradict each other or a program that was asked the same, and linters that alone reject a work."""

import re
from collections.abc import Iterator
from functools import lru_cache

from errata.model import Attempt, Case, Judgement
from errata.model.attempt import asks_whether_right, measured_pairs
from errata.text.lazy_regex import lazy_regex
from errata.text.tool_output import key_line
from errata.triage.expected import task_text
from errata.triage.observed import Observed, Rule, signal


def judges_disagree(attempt: Attempt, _case: Case | None) -> Iterator[Observed]:
    """Judges who were asked the same and say the opposite: a doubt, not a verdict."""
    if len(attempt.judgements) < 2:
        return
    valid = [judgement for judgement in attempt.judgements if judgement.valid and judgement.passed is not None]
    if len({judgement.passed for judgement in valid}) > 1:
        stated = ", ".join(f"{one.judge or one.model}: {one.passed}" for one in valid)
        # their verdicts may be in another file than the attempt
        ref = next((one.ref for one in valid if not one.passed), None) or attempt.ref
        if _is_tie(valid) or _contradict(valid):
            seen = signal("judges_contradict", "likely", "judgements", "", ref, stated=stated)
        else:
            seen = signal("judges_disagree", "weak", "judgements", "", ref, stated=stated)
        yield Observed(signal=seen, owner="grader")
        return
    failed = {check.name: check.judge for check in attempt.checks if check.failed and check.judge}
    for check in attempt.checks:
        if check.status == "pass" and check.judge and failed.get(check.name, check.judge) != check.judge:
            stated = f"{check.name}: {failed[check.name]} fail, {check.judge} pass"
            yield _doubt(attempt, "judges_disagree", f"checks[{check.name}]", stated=stated)
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
        stated = f"{judge.name}: {judge.status}, {program.name}: {program.status}" if not judge.explanation else ""
        yield _doubt(attempt, "judge_contradicts", f"checks[{judge.name}]", judge.explanation, stated=stated)


RULES: tuple[Rule, ...] = (judges_disagree, judge_and_program_disagree)


def _doubt(attempt: Attempt, name: str, where: str, quote: str = "", *, stated: str = "") -> Observed:
    return Observed(signal=signal(name, "weak", where, quote, attempt.ref, stated=stated), owner="grader")


# linters check for mistakes, too: these rules are about behaviour, and tests may pass by luck
DEFECTS = lazy_regex(
    r"\b(?:no-floating-promises|no-misused-promises|await-thenable|require-atomic-updates|no-async-promise-executor"
    r"|no-undef|no-unreachable|no-dupe-(?:keys|args|else-if|class-members)|no-const-assign|no-func-assign"
    r"|no-import-assign|no-self-compare|no-unsafe-(?:finally|negation|optional-chaining)|use-isnan|valid-typeof"
    r"|no-compare-neg-zero|no-cond-assign|no-constant-binary-expression|no-invalid-regexp|no-loss-of-precision"
    r"|no-obj-calls|no-setter-return|no-this-before-super|for-direction|getter-return|array-callback-return"
    r"|no-unmodified-loop-condition|rules-of-hooks)(?![\w-])"
    r"|\bParsing error: "
    r"|\b(?:F821|F822|F823|B006|B008|B023|E0602|E1101|E1120|RUF006|ASYNC\d{3})\b"
)
# `the code is linted with …`, `has to pass eslint`
_ASKED = lazy_regex(
    r"\b(?:is|are|be|gets?) (?:also )?(?:linted|checked (?:with|by) (?:eslint|ruff|flake8|pylint|clippy|rubocop))\b"
    r"|\bpass(?:es)? (?:the )?(?:eslint|ruff|flake8|pylint|clippy|rubocop|lint(?:er|ing)?)\b"
    r"|\b(?:no|without(?: any)?|free of) (?:lint(?:er|ing)?|eslint) (?:errors?|warnings?|complaints?)\b",
    re.IGNORECASE,
)
LINTERS = ("eslint", "lint", "ruff", "flake8", "prettier", "format", "style", "pylint", "clippy", "rubocop")


def only_lint_failed(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """Every test passed, and it was rejected for its style.

    A rule that names a defect is not about style, and a style that the task asks for is part of the task.
    """
    failed = [check for check in attempt.checks if check.status == "fail" and check.counts]
    if not failed or not all(_is_lint(check.name) for check in failed):
        return
    tests = [check for check in attempt.checks if check.name in ("tests", "test") or check.kind == "tests"]
    if not tests or not all(one.status == "pass" for one in tests):
        return
    where, quote = f"checks[{failed[0].name}]", key_line(failed[0].explanation) or failed[0].name
    names_a_defect = any(DEFECTS.search(check.explanation) for check in failed)
    is_asked_for = case is not None and _asks_for_it(task_text(case), [check.explanation for check in failed])
    if not names_a_defect and not is_asked_for:
        evidence = signal("lint_only", "likely", where, quote, attempt.ref)
        yield Observed(signal=evidence, owner="grader", is_specific=True)


_RULE = lazy_regex(r"^[^\S\n]*\d+:\d+[^\S\n]+error\s.*\s{2}(?:@[\w.-]+/)?(?P<rule>[\w./-]+)$", re.MULTILINE)


def _asks_for_it(task: str, outputs: list[str]) -> bool:
    """The task states that the code is linted, or names every rule that was broken."""
    if _ASKED.search(task):
        return True
    rules = {match["rule"].rpartition("/")[2] for output in outputs for match in _RULE.finditer(output)}
    return bool(rules) and all(re.search(rf"(?<![\w-]){re.escape(rule)}(?![\w-])", task) for rule in rules)


@lru_cache(maxsize=1_000)
def _is_lint(check: str) -> bool:
    return any(word in check.lower() for word in LINTERS)
