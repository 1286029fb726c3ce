"""Steps of a transcript: in the order of the log with each result at its call, or flattened from nested steps."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from errata.model import Actor, SourceRef, Step, ToolCall, ToolError, ToolResult
from errata.sources.shared.values import mapping, sequence

STEPS_CAP = 100_000
NESTED_CAP = 10_000


class TranscriptBuilder:
    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._asked: dict[str, int] = {}
        self.left_out = 0
        """Steps beyond the cap for one attempt."""

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(self._steps)

    @property
    def next(self) -> int:
        return len(self._steps)

    def add(self, step: Step) -> None:
        if len(self._steps) >= STEPS_CAP:
            self.left_out += 1
            return
        # ids can repeat: a result belongs to the latest call with its id
        self._asked |= {call.id: len(self._steps) for call in step.tool_calls if call.id}
        self._steps.append(replace(step, index=len(self._steps)))

    def step_of_call(self, ident: str) -> int | None:
        return self._asked.get(ident)

    def answer(self, ident: str, result: ToolResult, ref: SourceRef | None, error: ToolError | None = None) -> None:
        """Add the result of a call; a result without a call becomes a step of its own."""
        at = self._asked.get(ident) if ident else None
        if at is None:
            extra = {"tool_call_id": ident} if ident else {}
            step = Step(index=0, actor=Actor(role="tool"), kind="tool_result", text=result.text, ref=ref, extra=extra)
            self.add(step)
            return
        self.complete(ident, lambda call: replace(call, result=result, error=error or call.error))

    def complete(self, ident: str, update: Callable[[ToolCall], ToolCall]) -> None:
        """Update a call that was made with what the log has about it later."""
        at = self._asked[ident]
        calls = tuple(update(call) if call.id == ident else call for call in self._steps[at].tool_calls)
        self._steps[at] = replace(self._steps[at], tool_calls=calls)


Make = Callable[[dict[str, Any], int, int | None, SourceRef], Step]
"""A step's fields, its index, the index of its parent, and its position in the log."""


def nested_steps(holder: dict[str, Any], below: str, make: Make, ref: SourceRef) -> tuple[Step, ...]:
    """`below` is the field with the children of a step; the outermost object has it, too."""
    steps: list[Step] = []
    for fields, parent, here in _walk(holder, below, None, ref, steps):
        steps.append(make(fields, len(steps), parent, here))
    return tuple(steps)


def _walk(
    holder: dict[str, Any], below: str, parent: int | None, ref: SourceRef, steps: list[Step]
) -> Iterator[tuple[dict[str, Any], int | None, SourceRef]]:
    for at, fields in enumerate(map(mapping, sequence(holder.get(below)))):
        if len(steps) >= NESTED_CAP:
            return
        index, here = len(steps), ref.below(below, at)
        yield fields, parent, here
        yield from _walk(fields, below, index, here, steps)
