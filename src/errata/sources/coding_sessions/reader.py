"""A session of a coding agent → a run with one case and one attempt, which nobody measured."""

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
        found = transcript_at(path, source=NAME, root=path.parent)
    except (OSError, ValueError) as error:
        yield unreadable(NAME, ref, describe(error))
        return
    if found is None:
        yield unreadable(NAME, ref, "no session")
        return
    run = _run(found, path, ref)
    asked = next((step for step in found.steps if _is_asked(step)), None)
    yield run
    yield Case(
        run=run.id,
        suite=run.suite,
        native_id=run.native_id,
        input=asked.text if asked else None,
        ref=asked.ref if asked and asked.ref else ref,
    )
    yield _attempt(run, found, ref)
    yield from of_run(run.id, found.unreadable)


def _run(found: SessionTranscript, path: Path, ref: SourceRef) -> Run:
    return Run(
        native_id=found.session or path.stem,
        source=SourceInfo(name=NAME, format_version=found.agent),
        name=found.session or path.stem,
        subject=Subject(model=found.model, agent=found.agent, agent_version=found.version),
        suite=SUITE,
        started_at=found.started_at,
        finished_at=found.finished_at,
        origin=str(path.parent),
        ref=ref,
    )


def _attempt(run: Run, found: SessionTranscript, ref: SourceRef) -> Attempt:
    return Attempt(
        run=run.id,
        case=case_key(run.suite, run.native_id),
        native_id=found.session,
        execution=found.execution,
        measurement="not_run",
        outcome="none",
        output=Output(text=found.answer),
        stop_reason=found.stop_reason,
        limit=found.limit,
        errors=found.errors,
        steps=found.steps,
        usage=UsageByRole(subject=found.usage),
        started_at=found.started_at,
        finished_at=found.finished_at,
        ref=ref,
        extra=found.extra,
    )


def _is_asked(step: Step) -> bool:
    """What a person said, not what the agent adds for itself."""
    return step.actor.role == "user" and bool(step.text) and not step.extra.get("isMeta")
