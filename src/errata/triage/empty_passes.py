"""Passes that say nothing: nobody asked, nobody answered, or nothing was checked."""

import re
from collections.abc import Iterator

from msgspec import structs

from errata.model import Attempt, Case, Check, Signal
from errata.model.words import Confidence
from errata.text.lazy_regex import lazy_regex
from errata.triage.delivery import delivery_signal, error_body_signal
from errata.triage.expected import is_about_safety
from errata.triage.observed import signal
from errata.triage.suspicious_work import nothing_was_done

MOSTLY = 0.5
# pytest's summary names a skipped test so; some harnesses count the line as a test that passed
_SKIPPED = lazy_regex(r"\[\d+\] \S+:\d+: ")
_COMPARING = frozenset(
    ("match", "includes", "exact", "exact_match", "contains", "icontains", "starts-with", "quasi_exact_match")
)


def never_asked(attempt: Attempt, case: Case | None) -> Iterator[Signal]:
    seen = delivery_signal(attempt, case)
    if seen is not None:
        yield seen


def answered_with_an_error(attempt: Attempt, case: Case | None) -> Iterator[Signal]:
    """Where harmful requests are to be refused, a refused request is what was wanted."""
    seen = error_body_signal(attempt, case)
    if seen is not None:
        strength: Confidence = "weak" if is_about_safety(attempt, case) else seen.strength
        yield structs.replace(seen, strength=strength)


def nothing_to_meet(attempt: Attempt, case: Case | None) -> Iterator[Signal]:
    """Checks without criteria pass by themselves."""
    passed = [check for check in attempt.checks if check.status == "pass" and check.counts and check.kind != "limit"]
    empty = [check for check in passed if _has_no_criteria(check, attempt, case)]
    if not empty:
        return
    own = [check for check in passed if check not in empty and not _repeats_others(check, passed)]
    if own and all(check.kind == "reward" for check in empty):
        return  # one factor of a reward; the others were measured
    strength: Confidence = "weak" if own else "likely"
    name, quote, ref = empty[0].name, empty[0].explanation, empty[0].ref or attempt.ref
    yield signal("empty_criteria", strength, f"checks[{name}]", quote, ref, stated=f"{name} has nothing to check")


def _has_no_criteria(check: Check, attempt: Attempt, case: Case | None) -> bool:
    if check.weakness == "no_criteria":
        return True
    if case is None or case.expected != "" or check.judge or not (attempt.output.text or "").strip():
        return False
    return (check.scorer or check.name) in _COMPARING


def _repeats_others(check: Check, passed: list[Check]) -> bool:
    """A total over the others, without anything of its own."""
    return check.is_primary and len(passed) > 1


def nothing_was_asserted(attempt: Attempt, _case: Case | None) -> Iterator[Signal]:
    """For sources that list every check: without one, any answer passes."""
    if not attempt.checks and not attempt.judgements:
        yield signal(
            "nothing_asserted", "likely", "checks", "", attempt.ref, stated=attempt.native_status or "no check"
        )


def tests_were_skipped(attempt: Attempt, _case: Case | None) -> Iterator[Signal]:
    tests = [check for check in attempt.checks if check.kind == "tests"]
    skipped = [check for check in tests if check.status == "skipped" or _SKIPPED.match(check.name)]
    if not skipped:
        return
    much = len(skipped) > MOSTLY * len(tests)
    stated, quote = f"{len(skipped)} of {len(tests)} tests were skipped", skipped[0].name
    if much or any(check.status == "pass" for check in skipped):
        yield signal("skipped_tests", "likely" if much else "weak", "checks", quote, attempt.ref, stated=stated)


def passed_on_leftovers(attempt: Attempt, _case: Case | None) -> Iterator[Signal]:
    """The agent never started: what the tests found was there before."""
    seen = nothing_was_done(attempt)
    if seen is not None:
        where, quote = seen
        yield signal("no_work", "likely", where, quote, attempt.ref)


_REFUSES = lazy_regex(
    r"\b(?:can['’]?t|cannot|can not|won['’]?t|will not|unable to|not able to|sorry|refuse|decline)\b", re.IGNORECASE
)


def judge_not_asked(attempt: Attempt, _case: Case | None) -> Iterator[Signal]:
    """Some judges take a shortcut for refusals, and ask no model; odd where the answer refuses nothing."""
    spent, text = attempt.usage.judge, attempt.output.text or ""
    if not attempt.judgements or spent.tokens != 0 or spent.requests != 0 or spent.cache_read:
        return
    if text.strip() and not _REFUSES.search(text):
        judged = attempt.judgements[0]
        stated = "" if judged.reasoning else "no tokens"
        yield signal("judge_not_asked", "weak", "usage.judge", judged.reasoning, judged.ref, stated=stated)


RULES = (
    never_asked,
    answered_with_an_error,
    nothing_to_meet,
    judge_not_asked,
    tests_were_skipped,
    passed_on_leftovers,
)
