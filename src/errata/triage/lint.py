"""Attempts that only a linter rejects."""

import re
from collections.abc import Iterator
from functools import lru_cache

from errata.model import Attempt, Case
from errata.text.lazy_regex import lazy_regex
from errata.text.tool_output import key_line
from errata.triage.expected import task_text
from errata.triage.observed import Observed, signal

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


_RULE = lazy_regex(r"^\s*\d+:\d+\s+error\s.*\s{2}(?:@[\w.-]+/)?(?P<rule>[\w./-]+)$", re.MULTILINE)


def _asks_for_it(task: str, outputs: list[str]) -> bool:
    """The task states that the code is linted, or names every rule that was broken."""
    if _ASKED.search(task):
        return True
    rules = {match["rule"].rpartition("/")[2] for output in outputs for match in _RULE.finditer(output)}
    return bool(rules) and all(re.search(rf"(?<![\w-]){re.escape(rule)}(?![\w-])", task) for rule in rules)


@lru_cache(maxsize=1_000)
def _is_lint(check: str) -> bool:
    return any(word in check.lower() for word in LINTERS)
