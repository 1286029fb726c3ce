"""Sessions of Claude Code and Codex read alone: what was done, before anybody measured it."""

import re
from collections.abc import Iterator
from pathlib import Path

from errata.model import Attempt, Case, Item, Output, Run, SourceInfo, SourceRef, Step, Subject, UsageByRole, case_key
from errata.sources.base import Match, describe, head_of, of_run, unreadable
from errata.sources.shared.transcripts import Transcript, is_part, kind_of, transcript_at

NAME = "coding-sessions"
TITLE = "Claude Code and Codex: sessions; a mapping joins them to a file of results"

SUITE = "sessions"
ABOVE = 3
LOOKS = 10
HEAD = 16 * 1024

_JOINS = re.compile(rb"^transcript\s*=", re.MULTILINE)


def recognise(path: Path) -> Match | None:
    try:
        kind = kind_of(path)
        if kind is None or _mapping_above(path) is not None:
            return None
    except (OSError, ValueError):
        return None
    return Match.sure(f"a session of {kind}")


def explain(path: Path) -> str | None:
    """A hint for a part of a session, and for one that belongs to results."""
    try:
        if is_part(path):
            return "this is what a subagent did: name the session that called it, which is read with it"
        above = _mapping_above(path) if kind_of(path) else None
    except (OSError, ValueError):
        return None
    return f"it belongs to the results that `{above.name}` describes: name these" if above else None


def _mapping_above(path: Path) -> Path | None:
    """A mapping that joins sessions to results; they are then no runs of their own."""
    for folder in path.absolute().parents[:ABOVE]:
        for found in sorted(folder.glob("*.map.toml"))[:LOOKS]:
            if _JOINS.search(head_of(found, HEAD)):
                return found
    return None


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


def _run(found: Transcript, path: Path, ref: SourceRef) -> Run:
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


def _attempt(run: Run, found: Transcript, ref: SourceRef) -> Attempt:
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
