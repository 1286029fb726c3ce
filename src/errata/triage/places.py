"""Where a rule may look. A word in a task, a path or an answer is no evidence; the same word in an error field is."""

from collections.abc import Iterator
from typing import NamedTuple

from errata.model import Attempt, SourceRef
from errata.model.words import Phase

HEAD, TAIL = 4_000, 16_000
"""Of a long log the end tells why it ended."""


class Place(NamedTuple):
    kind: str
    """error, traceback, check, assertion, status, judge, log or stop: what rules name in `where`."""
    where: str
    text: str
    ref: SourceRef | None
    phase: Phase | None = None


def places(attempt: Attempt) -> Iterator[Place]:
    """Everything about an attempt that its harness, not its subject, wrote."""
    for at, error in enumerate(attempt.errors):
        if error.recovered:
            continue
        # one by one, so that a quote is found in the log as it stands there
        for name, text in (("message", error.message), ("type", error.type), ("code", error.code)):
            if text:
                yield Place("error", f"errors[{at}].{name}", text, error.ref, error.phase)
        if error.traceback:
            yield Place("traceback", f"errors[{at}].traceback", error.traceback[-TAIL:], error.ref, error.phase)
    for check in attempt.checks:
        if check.status in ("fail", "error", "unscored"):
            if check.error is not None and check.error not in attempt.errors:
                error = check.error
                yield Place("error", f"checks[{check.name}].error", error.message, error.ref, error.phase)
            # what a test says of the subject's work is no evidence; what a step of the pipeline says of itself is
            kind = "check" if check.kind == "step" else "assertion" if check.status == "error" else ""
            if check.explanation and kind:
                yield Place(kind, f"checks[{check.name}].explanation", check.explanation, check.ref)
    if attempt.native_status:
        yield Place("status", "native_status", attempt.native_status, attempt.ref)
    if attempt.stop_reason:
        yield Place("stop", "stop_reason", attempt.stop_reason, attempt.ref)
    for judgement in attempt.judgements:
        if not judgement.valid:
            yield Place("judge", f"judgements[{judgement.judge}].reasoning", judgement.reasoning, judgement.ref)
    yield from _logs(attempt)


def _logs(attempt: Attempt) -> Iterator[Place]:
    for artefact in attempt.artefacts:
        if artefact.role == "log" and artefact.text:
            text = artefact.text
            if len(text) > HEAD + TAIL:
                text = f"{text[:HEAD]}\n{text[-TAIL:]}"
            yield Place("log", artefact.path, text, artefact.ref)
