"""What a test did, as far as it told Allure: steps inside of steps, and what was attached to them."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from errata.model import Actor, Artefact, ErrorInfo, SourceRef, Step
from errata.model.words import ArtefactRole, Phase
from errata.sources.allure.layout import parameters_of
from errata.sources.shared.documents import Documents
from errata.sources.shared.exceptions import error_of, raised_in
from errata.sources.shared.steps import nested_steps
from errata.sources.shared.values import known, last_part, mapping, moment_since_1970, number, rest, sequence, text

BROKEN = ("failed", "broken")
_STEP = ("name", "status", "statusDetails", "start", "stop", "steps", "attachments", "parameters", "stage")


def steps_of(result: dict[str, Any], ref: SourceRef) -> tuple[Step, ...]:
    return nested_steps(result, "steps", _step, ref)


def _step(told: dict[str, Any], index: int, parent: int | None, ref: SourceRef) -> Step:
    status = text(told.get("status"))
    return Step(
        index=index,
        actor=Actor(role="environment"),
        kind="log",
        parent=parent,
        text=text(told.get("name")),
        error=error_in(told, "subject", ref) if status in BROKEN else None,
        started_at=time(told.get("start")),
        ended_at=time(told.get("stop")),
        ref=ref,
        extra=rest(told, _STEP) | known(status=status, parameters=parameters_of(told)),
    )


def error_in(told: dict[str, Any], phase: Phase, ref: SourceRef) -> ErrorInfo:
    details = mapping(told.get("statusDetails"))
    message, trace = text(details.get("message")).strip(), text(details.get("trace"))
    return error_of(raised_in(trace, message), phase, traceback=trace, ref=ref.below("statusDetails"))


def attached(holder: dict[str, Any], documents: Documents) -> Iterator[Artefact]:
    """Of a test and all its steps. A name that leads out of the folder is taken for the file of that name within."""
    for one in map(mapping, sequence(holder.get("attachments"))):
        kind, name = text(one.get("type")), last_part(one.get("source"))
        role: ArtefactRole = "screenshot" if kind.startswith("image/") else "transcript"
        found = documents.artefact(documents.root / name, role) if name else None
        told = known(name=one.get("name"), type=kind)
        if found is not None:
            yield replace(found, extra=found.extra | told)
        elif name:
            yield Artefact(role=role, path=name, extra=told | {"missing": True})
    for step in map(mapping, sequence(holder.get("steps"))):
        yield from attached(step, documents)


def time(milliseconds: Any) -> str | None:
    found = number(milliseconds)
    return None if found is None else moment_since_1970(found / 1000)
