"""A session of a coding agent → a run with one case and one unmeasured attempt."""

from collections.abc import Iterator
from pathlib import Path

from errata.model import Attempt, Case, Item, Output, Run, SourceInfo, SourceRef, Step, Subject, UsageByRole, case_key
from errata.sources.base import describe, of_run, unreadable
from errata.sources.coding_sessions import NAME
from errata.sources.shared.transcripts import SessionTranscript, transcript_at

SUITE = "sessions"


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    ref = SourceRef(file=path.name)
    try:
        transcript = transcript_at(path, source=NAME, root=path.parent)
    except (OSError, ValueError) as error:
        yield unreadable(NAME, ref, describe(error))
        return
    if transcript is None:
        yield unreadable(NAME, ref, "not a session")
        return
    run = _run(transcript, path, ref)
    request = next((step for step in transcript.steps if _is_user_request(step)), None)
    yield run
    yield Case(
        run=run.id,
        suite=run.suite,
        native_id=run.native_id,
        input=request.text if request else None,
        ref=request.ref if request and request.ref else ref,
    )
    yield _attempt(run, transcript, ref)
    yield from of_run(run.id, transcript.unreadable)


def _run(transcript: SessionTranscript, path: Path, ref: SourceRef) -> Run:
    return Run(
        native_id=transcript.session or path.stem,
        source=SourceInfo(name=NAME, format_version=transcript.agent),
        name=transcript.session or path.stem,
        subject=Subject(model=transcript.model, agent=transcript.agent, agent_version=transcript.version),
        suite=SUITE,
        started_at=transcript.started_at,
        finished_at=transcript.finished_at,
        origin=str(path.parent),
        ref=ref,
    )


def _attempt(run: Run, transcript: SessionTranscript, ref: SourceRef) -> Attempt:
    return Attempt(
        run=run.id,
        case=case_key(run.suite, run.native_id),
        native_id=transcript.session,
        execution=transcript.execution,
        measurement="not_run",
        outcome="none",
        output=Output(text=transcript.answer),
        stop_reason=transcript.stop_reason,
        limit=transcript.limit,
        errors=transcript.errors,
        steps=transcript.steps,
        usage=UsageByRole(subject=transcript.usage),
        started_at=transcript.started_at,
        finished_at=transcript.finished_at,
        ref=ref,
        extra=transcript.extra,
    )


def _is_user_request(step: Step) -> bool:
    """A prompt by a person, not one that the agent adds itself."""
    return step.actor.role == "user" and bool(step.text) and not step.extra.get("isMeta")
