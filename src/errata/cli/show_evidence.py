"""Where an attempt failed, and the evidence: checks, errors, judgements, task, output, transcript and files."""

from collections.abc import Sequence
from typing import Any

from errata.cli.fitting import WIDTH, columns, cut, padded
from errata.cli.output import put, put_quote, value_of, wash
from errata.model import Attempt, Check, ErrorInfo, Observation, Step
from errata.render.figures import PHASE_WORDS, percent, share_passed
from errata.runs.show import ShownAttempt
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex
from errata.text.tool_output import key_line

BRIEF_LINES = 12
BRIEF_STEPS = 8
BRIEF_CHECKS = 20
NAME = 32
"""A longer name has a line of its own."""
LOG_INDENT = 12
ROLE, SPEAKER = 11, 32
"""Columns for the speaker of a step, at least and at most."""


def put_evidence(shown: ShownAttempt, *, full: bool, raw: bool) -> None:
    attempt = shown.attempt
    _checks(attempt.checks, full=full, raw=raw)
    for error in attempt.errors:
        _error(error, full=full, raw=raw)
    for judgement in attempt.judgements:
        valid = "" if judgement.valid else " (invalid)"
        name = judgement.model or judgement.judge if judgement.judge == "judge" else judgement.judge or judgement.model
        heading = "judge" if name == "judge" else f"judge {name}"
        _block(f"{heading}{valid}", judgement.reasoning, full=full, raw=raw)
    if shown.case is not None and shown.case.input:
        _block("task", _readable(shown.case.input), full=full, raw=raw)
    if shown.case is not None and shown.case.expected not in (None, ""):
        _block("expected", _readable(shown.case.expected), full=full, raw=raw)
    if attempt.output.text is not None:
        _block("output", attempt.output.text or "(empty)", full=full, raw=raw)
    _evidence_log(shown.evidence_log, full=full, raw=raw)
    _steps(attempt.steps, full=full, raw=raw)
    _files(shown, full=full, raw=raw)
    _children(shown.children, full=full, raw=raw)


def _checks(checks: tuple[Check, ...], *, full: bool, raw: bool) -> None:
    if not checks:
        return
    noted = [check for check in checks if check.status != "pass"]
    shown = checks if full or len(checks) <= BRIEF_CHECKS else tuple(noted[:BRIEF_CHECKS])
    put()
    put("checks" + ("" if len(shown) == len(checks) else f" ({len(shown)} of {len(checks)}; --full shows all)"))
    status = max((len(check.status) for check in shown), default=0)
    names = [one_line(wash(check.name, raw=raw)) + (" (total)" if _is_total(check, checks) else "") for check in shown]
    width = max((size for name in names if (size := columns(name)) <= NAME), default=0)
    for check, name in zip(shown, names, strict=True):
        reason = " · ".join(filter(None, (_value(check, raw=raw), _explanation(check, raw=raw))))
        head = f"  {check.status:<{status}}  "
        if columns(name) > width:
            put(f"{head}{name}", raw=True, colour=[check.status], hang=columns(head))
            head, name = " " * columns(head), ""
        if name or reason:
            put(cut(f"{head}{padded(name, width)}  {reason}".rstrip(), WIDTH), raw=True, colour=[check.status])


def _is_total(check: Check, checks: tuple[Check, ...]) -> bool:
    """The score of the whole row, listed after the checks that it is made of."""
    return check.kind == "reward" and check.is_primary and not check.counts and any(one.counts for one in checks)


def _value(check: Check, *, raw: bool) -> str:
    """`(67 % passed)` for a share of tests; `(100 %)` where all did."""
    if check.share_passed is not None:
        return f"({percent(check.share_passed, 0) if check.status == 'pass' else share_passed(check.share_passed)})"
    return (
        ""
        if check.value is None or isinstance(check.value, bool)
        else one_line(wash(value_of(check.value), raw=raw), 40)
    )


def _explanation(check: Check, *, raw: bool) -> str:
    """Without a sentence that only repeats the name and the status: `eslint failed`."""
    if check.status == "pass":
        return ""
    broke = check.error.message or check.error.type if check.error else ""
    line = key_line(wash(check.explanation or broke, raw=raw))
    bare = _SHARE.sub("", line)
    return "" if bare == f"{check.name} failed" else line


_SHARE = lazy_regex(r" \(\d+ ?%\)$")


def _error(error: ErrorInfo, *, full: bool, raw: bool) -> None:
    recovered = ", recovered" if error.recovered else ""
    place = f" · {error.ref}" if error.ref else ""
    kind = "" if error.type == "error" or "type" in error.derived else f" {error.type}"
    _block(f"{f'error{kind} {PHASE_WORDS[error.phase]}'.rstrip()}{recovered}{place}", error.message, full=full, raw=raw)
    if full and error.traceback:
        _block("traceback", error.traceback, full=True, raw=raw)


def _readable(given: Any) -> str:
    """A task or an answer as text: messages with their role, other fields one per line."""
    if isinstance(given, list) and all(isinstance(one, dict) and "content" in one for one in given):
        return "\n".join(f"{one.get('role', '')}: {value_of(one['content'])}" for one in given)
    if isinstance(given, dict):
        return "\n".join(f"{name}: {value_of(value)}" for name, value in given.items())
    return value_of(given)


def _evidence_log(observations: tuple[Observation, ...], *, full: bool, raw: bool) -> None:
    """Step, speaker and sentence, then the quote."""
    if not observations:
        return
    listed = observations if full else observations[:BRIEF_STEPS]
    more = "" if len(listed) == len(observations) else f" ({len(listed)} of {len(observations)}; --full shows all)"
    put()
    put(f"evidence log{more}")
    for observation in listed:
        head = f"  step {observation.step:>3}  {one_line(wash(observation.speaker, raw=raw), SPEAKER)}: "
        put(head + one_line(wash(observation.text, raw=raw)), hang=LOG_INDENT, raw=True)
        quote = wash(observation.quote, raw=raw)
        put_quote(quote if full else cut(one_line(quote), WIDTH - LOG_INDENT - 2), indent=LOG_INDENT, raw=True)


def _steps(steps: tuple[Step, ...], *, full: bool, raw: bool) -> None:
    if not steps:
        return
    shown = steps if full else steps[-BRIEF_STEPS:]
    put()
    put(
        "transcript"
        + ("" if len(shown) == len(steps) else f" (last {len(shown)} of {len(steps)} steps; --full shows all)")
    )
    speakers = [one_line(wash(step.speaker, raw=raw)) for step in shown]
    width = min(max(ROLE, *map(columns, speakers)), SPEAKER)
    for step, speaker in zip(shown, speakers, strict=True):
        if full and columns(speaker) > ROLE:  # a long name beside the text would leave it no room
            put(f"  {step.index:>3} {speaker}", hang=6, raw=True)
            _line("      ", step.text, full=True, raw=raw)
        else:
            _line(f"  {step.index:>3} {padded(cut(speaker, width), width)} ", step.text, full=full, raw=raw)
        for call in step.tool_calls:
            _line("      → ", f"{call.name} {value_of(call.arguments)}", full=full, raw=raw)
            if call.result is not None:
                result = call.result.text or value_of(call.result.structured)
                _line("      ← ", result, full=full, raw=raw)


def _line(head: str, text: str, *, full: bool, raw: bool) -> None:
    """The whole text, or as much of it as fits one line."""
    washed = wash(text, raw=raw)
    if full:
        put(head + washed.replace("\n", "\n" + " " * len(head)), hang=len(head), raw=True, lines=True)
    else:
        put(cut(head + one_line(washed), WIDTH).rstrip(), raw=True)


def _files(shown: ShownAttempt, *, full: bool, raw: bool) -> None:
    files = [*shown.attempt.artefacts, *(shown.case.artefacts if shown.case else ())]
    if not files:
        return
    put()
    put("files" + ("" if full else " (--full shows their texts)"))
    for artefact in files:
        size = f"  {artefact.size:,} bytes" if artefact.size is not None else ""
        put(f"  {artefact.role:<10} {artefact.path}{size}", hang=13, raw=raw)
        if full and artefact.text:
            _block(artefact.path, artefact.text, full=True, raw=raw)


def _children(children: tuple[Attempt, ...], *, full: bool, raw: bool) -> None:
    if not children:
        return
    listed = children if full else children[:BRIEF_STEPS]
    put()
    put("parts" + ("" if len(listed) == len(children) else f" ({len(listed)} of {len(children)}; --full lists all)"))
    for child in listed:
        put(f"  {child.outcome:<8} {child.id}", hang=11, raw=raw)


def _block(title: str, text: str, *, full: bool, raw: bool) -> None:
    put()
    put(one_line(title), raw=raw)
    put_quote(text.strip("\n"), indent=2, most=0 if full else BRIEF_LINES, raw=raw)


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
        return f"ended in an error {PHASE_WORDS[error.phase] if error is not None else ''}".rstrip()
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
