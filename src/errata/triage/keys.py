"""Failure keys: an exact and a coarse fingerprint, so that a thousand identical crashes are one thing to look at.

Names lose their secrets before they are joined: the `+` or `:` behind a token may look like a part of it.
"""

import re
from functools import lru_cache
from typing import get_args

from errata.model import Attempt, FailureKey
from errata.model.words import Phase
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex
from errata.text.mask import LONGEST as MASKED
from errata.text.mask import mask, steady
from errata.text.outgoing import name_without_secrets
from errata.text.tool_output import key_line
from errata.transcript.error_text import error_lines, has_logs, says_more

LONGEST = 160
HELD = 20_000
"""Failures that differ in long numbers only have one key; it is made once."""
FEWEST_WORDS = 3
"""A check whose reason has fewer words than this, besides the name of the check, explains nothing."""
_PHASES: tuple[str, ...] = tuple(filter(None, get_args(Phase)))
_WORD = lazy_regex(r"(?<![<A-Za-z])[A-Za-z]{3,}(?![>A-Za-z])")
_EMPTY = frozenset(("fail", "failed", "fails", "failure", "pass", "passed", "test", "tests", "unset", "none", "scored"))
_NOT_PASSED = ("fail", "error", "unscored")


def failure_key(attempt: Attempt) -> FailureKey:
    """By the first error that was not recovered; else by the checks that failed and the shape of their reasons.

    A reason that only states the failure, such as `tests failed (67%)`, gives way to the first error in the logs.
    """
    error = attempt.lasting_error if attempt.errors else None
    if error is not None and attempt.outcome != "fail":
        return _of_error(error.phase or "subject", error.type, error.template, steady(error.message), error.frame)
    failed = [check for check in attempt.checks if check.status in _NOT_PASSED and check.counts]
    # what only informs is not part of it, unless nothing else was measured at all
    failed = failed or [check for check in attempt.checks if check.status in ("error", "unscored")]
    if not failed:
        return _of_words(f"{attempt.execution}:{attempt.measurement}", attempt.native_status, attempt.outcome)
    names = "+".join(sorted([name_without_secrets(check.name) for check in failed]))
    reason = next((check.explanation for check in failed if check.explanation), "")
    if not reason and attempt.judgements:
        reason = next((one.reasoning for one in attempt.objections), "")
    line = key_line(reason)
    if has_logs(attempt) and not says_more(steady(line), attempt):
        line = next((one.shared for one in error_lines(attempt)), line)
    return key_of_check(names, line) if line else _of_checks(names, name_without_secrets(attempt.native_status))


def key_of_check(names: str, line: str) -> FailureKey:
    # of a short line, the mask makes long numbers equal by itself
    return _of_checks(names, mask(steady(line) if len(line) > MASKED else line))


@lru_cache(maxsize=HELD)
def _of_error(phase: str, kind: str, template: str, message: str, frame: str) -> FailureKey:
    kind, shape = name_without_secrets(kind), name_without_secrets(template) or mask(message, strings=False)
    at = f"@{mask(frame)}" if frame else ""
    coarse = f"{phase}:{kind or shape.split(':')[0]}"
    return FailureKey(exact=one_line(f"{phase}:{kind}:{shape}{at}", LONGEST), coarse=one_line(coarse, 80))


@lru_cache(maxsize=HELD)
def _of_words(word: str, status: str, outcome: str) -> FailureKey:
    return FailureKey(exact=one_line(f"{word}:{mask(status) or outcome}", LONGEST), coarse=word)


@lru_cache(maxsize=HELD)
def _of_checks(names: str, shape: str) -> FailureKey:
    return FailureKey(exact=one_line(f"{names}:{shape}", LONGEST), coarse=names)


def text_in_key(key: FailureKey) -> str:
    """The masked text of an error or of a check's reason."""
    return key.exact.removeprefix(f"{key.coarse}:").strip(": ")


# `expected call missing or different: send_certificate, book_reservation`
_LIST_OF_NAMES = lazy_regex(
    r"(?:not met|expected call missing or different|the agent never stated|not passed|failed|missing): *"
    r"[\w.\[\]<>-]+(?:, [\w.\[\]<>-]+)*…?$",
    re.IGNORECASE,
)


def lists_only_names(key: FailureKey) -> bool:
    """Whether the reason is only a list of checks that failed; in another case that is another mistake."""
    return _LIST_OF_NAMES.match(text_in_key(key)) is not None


def is_informative(key: FailureKey) -> bool:
    """True for an error; for a check only where its reason states more than that it failed."""
    if key.exact.partition(":")[0] in _PHASES:
        return True
    own = {word.lower() for word in _WORD.findall(key.coarse)} | _EMPTY
    return sum(word.lower() not in own for word in _WORD.findall(text_in_key(key))) >= FEWEST_WORDS
