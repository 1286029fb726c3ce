"""An attempt on the terminal: where it failed, who has to act by its verdict and by triage, then all the evidence."""

from errata.cli.output import money, number, put, value_of
from errata.cli.render.history import put_before
from errata.cli.show_evidence import put_evidence
from errata.cli.show_owner import put_owner
from errata.cli.show_verdict import put_verdict
from errata.model import Attempt, Check
from errata.runs.show import ShownAttempt, short_name

NAMED = 3


def show_attempt(shown: ShownAttempt, *, full: bool, raw: bool) -> None:
    attempt = shown.attempt
    session = f"session {attempt.session}" if attempt.session is not None else ""
    parts = [shown.case_name, f"attempt {attempt.index} of {shown.of}", session, where_it_failed(attempt)]
    put(" · ".join(part for part in parts if part), raw=raw)
    put(" · ".join(_facts(attempt)), raw=raw)
    for told in _relations(shown):
        put(told, raw=raw)
    if shown.review is not None:
        put()
        put_verdict(shown.review, stale=shown.stale, raw=raw)
    if shown.attribution is not None and shown.explanation is not None:
        put()
        put_owner(shown, shown.attribution, shown.explanation, raw=raw)
    if shown.before is not None:
        put_before(shown.before, shown.alike, raw=raw)
    put_evidence(shown, full=full, raw=raw)
    put()
    if shown.bucket is not None:
        put(f"bucket   {shown.bucket.slug} ({shown.bucket.status})", hang=9, raw=raw)
    put(f"id       {attempt.id}", hang=9, raw=raw)
    if attempt.ref is not None:
        put(f"from     {attempt.ref}", hang=9, raw=raw)
    if attempt.native_status:
        put(f"status   {attempt.native_status}   (the harness's own word)", hang=9, raw=raw)


def _facts(attempt: Attempt) -> list[str]:
    spent = attempt.usage.subject
    facts = [f"execution {attempt.execution}", f"measurement {attempt.measurement}", f"outcome {attempt.outcome}"]
    if spent.tokens is not None:
        facts.append(f"{number(spent.tokens)} tokens")
    if attempt.usage.cost is not None:
        facts.append(f"{money(attempt.usage.cost)} {spent.cost_source}")
    return facts


def _relations(shown: ShownAttempt) -> list[str]:
    """What this attempt has to do with others."""
    attempt = shown.attempt
    named = (
        ("follows from", attempt.follows),
        ("superseded by", attempt.superseded_by),
        ("repeats the row of", attempt.duplicate_of),
        ("part of", attempt.parent),
    )
    told = [f"{word} {short_name(shown, other)}" for word, other in named if other]
    for one in shown.earlier:
        told.append(f"in session {one.session} it was {one.execution}/{one.measurement}/{one.outcome} · id {one.id}")
    return told


def where_it_failed(attempt: Attempt) -> str:
    """`failed at install (step 2 of 6; 4 never started)`, or the other ways in which an attempt can end."""
    failed = [check for check in attempt.checks if check.failed]
    if not attempt.is_failure:
        return ""
    if failed and failed[0].kind == "step":
        return f"failed at {failed[0].name} ({_step(failed[0], attempt.checks)})"
    if len(failed) == 1 and failed[0].kind == "reward":
        return f"reward {value_of(failed[0].value)}{_tests(attempt.checks)}"
    if failed:
        more = f" and {len(failed) - NAMED} more" if len(failed) > NAMED else ""
        return f"failed {', '.join(check.name for check in failed[:NAMED])}{more}{_of_how_many(failed, attempt.checks)}"
    if attempt.execution == "limit":
        return f"ran into a limit{f' ({attempt.limit.type})' if attempt.limit else ''}"
    if attempt.execution == "cancelled":
        return "was cancelled"
    if attempt.execution == "error":
        return f"ended in an error ({attempt.errors[0].phase})" if attempt.errors else "ended in an error"
    return "" if attempt.measurement == "scored" else "not measured"


def _step(failed: Check, checks: tuple[Check, ...]) -> str:
    never = sum(check.status == "not_run" for check in checks)
    at = next(at for at, check in enumerate(checks) if check is failed)
    told = f"step {at + 1} of {len(checks)}{f'; {never} never started' if never else ''}"
    partly = isinstance(failed.value, float) and 0 < failed.value < 1
    return f"{failed.value:.0%}; {told}".replace("%", " %") if partly else told


def _tests(checks: tuple[Check, ...]) -> str:
    """What stands behind a reward, where the log keeps it."""
    tests = [check for check in checks if check.kind == "tests"]
    return f" ({sum(check.status == 'fail' for check in tests)} of {len(tests)} tests failed)" if tests else ""


def _of_how_many(failed: list[Check], checks: tuple[Check, ...]) -> str:
    kind = failed[0].kind
    same = [check for check in checks if check.kind == kind and check.status not in ("not_applicable", "skipped")]
    if len(same) < 2 or any(one.kind != kind for one in failed):
        return ""
    return f" ({len(failed)} of {len(same)} {_PLURALS.get(kind, f'{kind}s')})"


_PLURALS = {"tests": "tests", "criterion": "criteria"}
