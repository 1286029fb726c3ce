"""What the stored runs of a test show about its result: a score of 0 is a verdict only where a judgment is valid."""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from errata.model import Attempt, ErrorInfo
from errata.sources.scylla.batch_tests import NO_VERDICT, facts_of_score
from errata.sources.shared.facts import NOT_MADE, Facts

MOST_ERRORS = 20
WITHOUT_REASON = frozenset(("ExitCode", "NoResult", "NothingSpent"))
"""Errors that only state that a test has no result."""


class RunVerdicts(NamedTuple):
    has_verdict: bool
    judged_in_vain: bool
    errors: tuple[ErrorInfo, ...]
    """Of the runs without a verdict; equal ones once, with the runs that they hit."""


def verdicts_of(runs: Iterable[tuple[str, Attempt]]) -> RunVerdicts:
    """Each run with its name, one by one."""
    has_verdict = judged_in_vain = False
    by_text: dict[tuple[str, str], ErrorInfo] = {}
    for name, run in runs:
        if run.measurement == "scored" and run.outcome in ("pass", "fail"):
            has_verdict = True
        judged_in_vain = judged_in_vain or run.measurement == "error"
        for error in run.errors:
            key = (error.type, error.message)
            if key in by_text or len(by_text) < MOST_ERRORS:
                known = by_text.get(key, error)
                ref = known.ref or run.ref
                by_text[key] = msgspec.structs.replace(known, hits=(*known.hits, name), ref=ref)
    return RunVerdicts(has_verdict, judged_in_vain, tuple(by_text.values()))


def corrected(attempt: Attempt, verdicts: RunVerdicts) -> Attempt:
    """A failure without any points is the subject's only where somebody judged it."""
    if verdicts.has_verdict:
        return _as_measured(attempt) if attempt.measurement == "error" else attempt
    if not verdicts.errors:
        return attempt
    facts = NO_VERDICT if verdicts.judged_in_vain else NOT_MADE
    return _with_facts(attempt, facts, (*verdicts.errors, *attempt.errors))


def is_in_doubt(attempt: Attempt) -> bool:
    """Whether only the stored runs show if the result counts."""
    return (attempt.outcome == "fail" or attempt.measurement == "error") and not attempt.reported


def is_unexplained(attempt: Attempt) -> bool:
    """It ended, and neither the summary nor the log has more than how."""
    error = attempt.lasting_error
    return attempt.execution == "error" and error is not None and error.type in WITHOUT_REASON


def explained(attempt: Attempt, verdicts: RunVerdicts) -> Attempt:
    """The errors of its runs come first: they name what ended the test."""
    return msgspec.structs.replace(attempt, errors=(*verdicts.errors, *attempt.errors))


def _as_measured(attempt: Attempt) -> Attempt:
    errors = tuple(msgspec.structs.replace(error, recovered=True) for error in attempt.errors)
    return _with_facts(attempt, facts_of_score(attempt.reported or 0), errors)


def _with_facts(attempt: Attempt, facts: Facts, errors: tuple[ErrorInfo, ...]) -> Attempt:
    checks = attempt.checks
    if facts.outcome == "none":
        checks = tuple(msgspec.structs.replace(check, status="not_run", counts=False) for check in checks)
    return msgspec.structs.replace(attempt, **facts._asdict(), errors=errors, checks=checks)
