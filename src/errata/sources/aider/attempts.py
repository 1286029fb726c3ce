"""One exercise as an attempt: what its results say, and what was said about it."""

from pathlib import Path
from typing import Any

from errata.model import Attempt, Check, ErrorInfo, Limit, Output, Run, SourceRef, Usage, UsageByRole, case_key
from errata.sources.aider.chat_history import steps_of
from errata.sources.aider.layout import HISTORY, RESULTS
from errata.sources.shared.chat import last_answer
from errata.sources.shared.documents import Documents, is_file
from errata.sources.shared.facts import MISSING, Facts
from errata.sources.shared.values import count, known, number, parts, rest, sequence, text
from errata.text.redact import redact

_HOMES = frozenset(
    [
        "testdir",
        "testcase",
        "model",
        "edit_format",
        "tests_outcomes",
        "cost",
        "duration",
        "commit_hash",
        "prompt_tokens",
        "completion_tokens",
        "thinking_tokens",
        "exception",
        "test_timeouts",
        "num_malformed_responses",
    ]
)


def attempt_of(run: Run, name: str, exercise: Path, documents: Documents) -> Attempt:
    told = documents.get(exercise / RESULTS)
    ref = documents.ref(exercise / RESULTS)
    facts = _facts(exercise, told)
    log = documents.artefact(exercise / HISTORY, "transcript", clean=True)
    steps = steps_of(log.text or "", documents.ref(exercise / HISTORY)) if log else ()
    passed = facts.outcome == "pass"
    is_there = is_file(exercise / RESULTS)
    return Attempt(
        run=run.id,
        case=case_key(run.suite, name),
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        native_status="exception" if "exception" in told else "",
        reported=float(passed) if is_there else None,
        reported_counted=is_there,
        output=Output(text=last_answer(steps)),
        limit=_limit(told) if facts.execution == "limit" else None,
        errors=_errors(told, ref),
        checks=_checks(told, ref),
        steps=steps,
        artefacts=(log,) if log and log.truncated else (),
        usage=UsageByRole(subject=_usage(told)),
        duration=number(told.get("duration")),
        ref=ref,
        extra=rest(told, _HOMES) | _other(told, run, exercise),
    )


def _facts(exercise: Path, told: dict[str, Any]) -> Facts:
    if not is_file(exercise / RESULTS):
        return MISSING
    if "exception" in told:
        return Facts("error", "not_run", "none")
    outcomes = sequence(told.get("tests_outcomes"))
    if not outcomes:
        return Facts("completed", "unscored", "none")
    if outcomes[-1] is True:
        return Facts("completed", "scored", "pass")
    # an answer that no longer fits ends a try, and the next one may still have room
    return Facts("limit" if count(told.get("num_exhausted_context_windows")) else "completed", "scored", "fail")


def _limit(told: dict[str, Any]) -> Limit:
    return Limit(type="context", reason=f"{told.get('num_exhausted_context_windows')} exhausted context windows")


def _errors(told: dict[str, Any], ref: SourceRef) -> tuple[ErrorInfo, ...]:
    """An exception is kept as its traceback alone."""
    if "exception" not in told:
        return ()
    traceback = text(told.get("exception")).strip()
    kind, _, message = traceback.rpartition("\n")[2].partition(": ")
    return (
        ErrorInfo(
            type=kind or "Exception",
            message=redact(message or kind),
            traceback=redact(traceback),
            phase="subject",
            ref=ref.below("exception"),
        ),
    )


def _checks(told: dict[str, Any], ref: SourceRef) -> tuple[Check, ...]:
    """The last try decides; the others, and what went wrong on the way, are told beside it."""
    outcomes = sequence(told.get("tests_outcomes"))
    tries = [
        Check(
            name=f"try {at + 1}",
            kind="tests",
            status="pass" if passed is True else "fail",
            order=at,
            counts=at == len(outcomes) - 1,
            ref=ref.below("tests_outcomes", at),
        )
        for at, passed in enumerate(outcomes)
    ]
    beside = [
        Check(
            name=key,
            status="fail" if found else "pass",
            value=found,
            counts=False,
            order=len(tries),
            ref=ref.below(key),
        )
        for key in ("test_timeouts", "num_malformed_responses")
        if (found := count(told.get(key))) is not None
    ]
    return (*tries, *beside)


def _usage(told: dict[str, Any]) -> Usage:
    """A model without a price costs 0 in the log."""
    tokens = count(told.get("prompt_tokens"))
    cost = number(told.get("cost")) or None
    return Usage(
        input=tokens,
        output=count(told.get("completion_tokens")),
        reasoning=count(told.get("thinking_tokens")),
        cost=cost,
        cost_source="reported" if cost is not None else "unknown",
    )


def _other(told: dict[str, Any], run: Run, exercise: Path) -> dict[str, Any]:
    """What the run says already is kept where it differs."""
    return known(
        model=told.get("model") if told.get("model") != run.subject.model else None,
        edit_format=told.get("edit_format") if told.get("edit_format") != run.variant.get("edit_format") else None,
        commit_hash=told.get("commit_hash") if run.code is None or told.get("commit_hash") != run.code.commit else None,
        testcase=told.get("testcase") if told.get("testcase") != exercise.name else None,
        testdir=told.get("testdir") if parts(told.get("testdir"))[-1:] != [exercise.name] else None,
    )
