"""How the people of a harness call it, and what it counts."""

from typing import NamedTuple

from errata.model import Run


class Words(NamedTuple):
    harness: str
    counted: str
    """One of what it counts; empty where it has no word of its own."""


OF_SOURCE: dict[str, Words] = {
    "harbor": Words("Harbor", "trial"),
    "inspect-ai": Words("Inspect", "sample"),
    "convex-evals": Words("convex-evals", "eval"),
    "conversation-bench": Words("conversation-bench", "turn"),
    "scylla": Words("ProjectScylla", ""),
    "promptfoo": Words("promptfoo", ""),
}


def harness_of(run: Run) -> str:
    known = OF_SOURCE.get(run.source.name)
    return known.harness if known else run.source.name


def counted_in(run: Run, unit: str) -> str:
    """`trial`, `eval`, `turn`; else `case` or `attempt`."""
    known = OF_SOURCE.get(run.source.name)
    return known.counted if known and known.counted else unit.removesuffix("s")
