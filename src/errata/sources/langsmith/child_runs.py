"""What a run did: the runs below it, each a step."""

from typing import Any

from errata.model import Actor, SourceRef, Step
from errata.model.words import ActorRole, StepKind
from errata.sources.shared.exceptions import error_of, raised_as
from errata.sources.shared.scores import answer_of
from errata.sources.shared.steps import nested_steps
from errata.sources.shared.values import as_text, known, moment, rest, text

_KINDS: dict[str, tuple[ActorRole, StepKind]] = {
    "llm": ("assistant", "model_call"),
    "tool": ("tool", "tool_result"),
    "retriever": ("tool", "tool_result"),
}
_CHILD = frozenset(("id", "name", "run_type", "outputs", "error", "start_time", "end_time", "child_runs", "inputs"))


def steps_of(run: dict[str, Any], ref: SourceRef) -> tuple[Step, ...]:
    return nested_steps(run, "child_runs", _step, ref)


def _step(child: dict[str, Any], index: int, parent: int | None, ref: SourceRef) -> Step:
    role, kind = _KINDS.get(text(child.get("run_type")), ("environment", "log"))
    said, error = child.get("outputs"), child.get("error")
    shown = as_text(error).partition("\n\n")[0] if error else ""
    return Step(
        index=index,
        actor=Actor(role=role, name=text(child.get("name"))),
        kind=kind,
        parent=parent,
        text=answer_of(said) or ("" if said is None else as_text(said)),
        error=error_of(raised_as(shown), "tool" if role == "tool" else "subject", ref=ref) if shown else None,
        started_at=moment(child.get("start_time")),
        ended_at=moment(child.get("end_time")),
        span_id=text(child.get("id")),
        ref=ref,
        extra=rest(child, _CHILD) | known(inputs=child.get("inputs"), run_type=child.get("run_type")),
    )
