"""Langfuse: traces, observations, scores and dataset runs, as its API gives them or as it exports them to a bucket."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from errata.model import Item
from errata.sources.base import Match
from errata.sources.langfuse.layout import NAME, Export, kind_of, looks_like_one
from errata.sources.langfuse.reading import Reading

__all__ = ["NAME", "TITLE", "explain", "read", "recognise"]

TITLE = "Langfuse: traces with observations and scores, saved from the API or exported; dataset runs"

_ALONE = {
    "trace": "traces with `timestamp`, `observations` or `sessionId`",
    "observation": "observations with `traceId` and `parentObservationId`",
    "experiment_item": "items of an experiment with `traceId`",
}


def recognise(path: Path) -> Match | None:
    if path.is_dir():
        return Match.sure("traces or observations, and scores or runs") if looks_like_one(path) else None
    because = _ALONE.get(kind_of(path) or "")
    return Match.sure(because) if because else None


def explain(path: Path) -> str | None:
    """A hint for what says nothing without the traces that it is about."""
    if path.is_file() and kind_of(path) in ("score", "run", "run_item", "item"):
        return "it belongs to traces of Langfuse: import the folder that holds these, too"
    return None


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    with ExitStack() as stack:
        yield from Reading(Export(path), stack).items()
