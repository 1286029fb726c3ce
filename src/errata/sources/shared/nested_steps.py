"""Steps inside of steps → a flat list in which each step knows the one above it."""

from collections.abc import Callable, Iterator
from typing import Any

from errata.model import SourceRef, Step
from errata.sources.shared.values import mapping, sequence

STEPS_CAP = 10_000

Make = Callable[[dict[str, Any], int, int | None, SourceRef], Step]
"""What is told of a step, its index, the index of the one above it, and its place."""


def nested_steps(holder: dict[str, Any], below: str, make: Make, ref: SourceRef) -> tuple[Step, ...]:
    """`below` is the field with what stands below a step, which is also that of the whole."""
    made: list[Step] = []
    for told, parent, here in _walk(holder, below, None, ref, made):
        made.append(make(told, len(made), parent, here))
    return tuple(made)


def _walk(
    holder: dict[str, Any], below: str, parent: int | None, ref: SourceRef, made: list[Step]
) -> Iterator[tuple[dict[str, Any], int | None, SourceRef]]:
    for at, told in enumerate(map(mapping, sequence(holder.get(below)))):
        if len(made) >= STEPS_CAP:
            return
        index, here = len(made), ref.below(below, at)
        yield told, parent, here
        yield from _walk(told, below, index, here, made)
