"""Where an attempt failed: what the first line of its page states."""

from collections.abc import Sequence

from errata.cli.output import value_of
from errata.model import Attempt, Check
from errata.render.figures import PHASE_WORDS, share_passed

NAMED = 3


def where_it_failed(attempt: Attempt) -> str:
    """`failed at install (step 2 of 6; 4 never started)`, or how else the attempt ended."""
    failed = [check for check in attempt.checks if check.failed]
    if not attempt.is_failure:
        return ""
    if failed and failed[0].kind == "step":
        return f"failed at {failed[0].name} ({_step(failed[0], attempt.checks)})"
    if len(failed) == 1 and failed[0].kind == "reward":
        return f"reward {value_of(failed[0].value)}{_tests(attempt.checks)}"
    if len(failed) == 1 and failed[0].is_primary and failed[0].name == "passed":
        judge = failed[0].judge
        return f"failed by {'the judge' if judge == 'judge' else judge}" if judge else "failed"
    if failed:
        return f"failed {_failed(failed, attempt.checks)}"
    if attempt.execution == "limit":
        return f"reached a limit{f' ({attempt.limit.type})' if attempt.limit else ''}"
    if attempt.execution == "cancelled":
        return "was cancelled"
    if attempt.execution == "error":
        error = attempt.ending_error
        return f"ended in an error {PHASE_WORDS[error.phase]}" if error is not None else "ended in an error"
    return "" if attempt.measurement == "scored" else "not measured"


def _step(failed: Check, checks: tuple[Check, ...]) -> str:
    never = sum(check.status == "not_run" for check in checks)
    at = next(at for at, check in enumerate(checks) if check is failed)
    place = f"step {at + 1} of {len(checks)}{f'; {never} never started' if never else ''}"
    share = failed.share_passed
    return place if share is None else f"{share_passed(share)}; {place}"


def _tests(checks: tuple[Check, ...]) -> str:
    """The tests behind a reward, if the log has them."""
    tests = [check for check in checks if check.kind == "tests"]
    return f" ({sum(check.status == 'fail' for check in tests)} of {len(tests)} tests failed)" if tests else ""


def _failed(failed: list[Check], checks: tuple[Check, ...]) -> str:
    """`2 of 3 assertions: format, politeness`; without numbers where the checks are of several kinds."""
    kind = failed[0].kind
    same = [check for check in checks if check.kind == kind and check.status not in ("not_applicable", "skipped")]
    if len(same) < 2 or any(one.kind != kind for one in failed):
        return f"{_names(failed)}{_beside(failed, checks)}"
    if kind == "tests" and not all(check.counts for check in same):
        count = _in_groups([check for check in same if check.counts])
        return count if count and _names(failed) == kind else ": ".join(filter(None, (count, _names(failed))))
    # a check that does not count can fail, too
    failing = [*failed, *(check for check in same if check.status == "fail" and not check.counts)]
    return f"{len(failing)} of {len(same)} {_PLURALS.get(kind, f'{kind}s')}: {_names(failing)}"


_PLURALS = {"tests": "tests", "criterion": "criteria", "reward": "checks"}
_SCORERS = ("assertion", "criterion", "dimension")


def _names(checks: Sequence[Check]) -> str:
    more = f" and {len(checks) - NAMED} more" if len(checks) > NAMED else ""
    return f"{', '.join(check.name for check in checks[:NAMED])}{more}"


def _beside(failed: list[Check], checks: tuple[Check, ...]) -> str:
    """Other scorers that failed and do not decide the outcome."""
    if failed[0].kind not in _SCORERS:
        return ""
    others = [one for one in checks if one.status == "fail" and not one.counts and one.kind in _SCORERS]
    return f"; not counted: {_names(others)}" if others else ""


def _in_groups(groups: list[Check]) -> str:
    """Checks that stand for many tests, as the runner counts them: the log may list only the tests that failed."""
    total = sum(group.max or 0 for group in groups)
    missed = total - sum(group.achieved or 0 for group in groups)
    is_known = all(group.max is not None and group.achieved is not None for group in groups) and missed > 0
    return f"{missed:g} of {total:g} tests" if is_known else ""
