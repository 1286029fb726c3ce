"""OpenTelemetry traces as OTLP JSON: one document, or the lines that a collector writes to a file."""

from collections.abc import Iterator
from pathlib import Path

from errata.model import Harness, Item
from errata.sources.base import Match, head_of
from errata.text.lazy_regex import lazy_regex

NAME = "otlp"
TITLE = "OpenTelemetry traces (OTLP JSON): GenAI conventions and OpenInference"
HARNESS = Harness(name=NAME, title="OpenTelemetry")

HEAD = 64 * 1024
# a collector's file may begin with other signals
_TRACES = lazy_regex(rb'(?:\A|\n)[^\S\n]*\{\s*"resourceSpans"\s*:\s*\[')


def recognise(path: Path) -> Match | None:
    return Match.sure("`resourceSpans`") if _TRACES.search(head_of(path, HEAD)) else None


def read(path: Path) -> Iterator[Item]:
    from errata.sources.otlp.reader import read as read_log

    return read_log(path)
