"""LangSmith: the rows of an experiment (run, example and evaluator feedback), as lines or as a list."""

from collections.abc import Iterator
from pathlib import Path

from errata.model import Harness, Item
from errata.sources.base import Match, head_of
from errata.text.lazy_regex import lazy_regex

NAME = "langsmith"
TITLE = "LangSmith: the rows of an experiment with `run`, `example` and `evaluation_results`"
HARNESS = Harness(name=NAME, title="LangSmith")

HEAD = 256 * 1024
_OPENING = lazy_regex(rb'\s*(?:\[\s*)?\{\s*"(?:run|example|evaluation_results)"\s*:\s*[\[{]')
_RUN = lazy_regex(rb'"(?<!\\")(?:dotted_order|run_type|reference_example_id)"\s*:')
_ROW = lazy_regex(rb'"(?<!\\")(?:example|evaluation_results)"\s*:\s*[\[{n]')


def recognise(path: Path) -> Match | None:
    head = head_of(path, HEAD)
    # a run may be longer than the head of the file: then its example comes later
    if _OPENING.match(head) and _RUN.search(head) and (_ROW.search(head) or len(head) == HEAD):
        return Match.sure("rows with `run`, `example` and `evaluation_results`")
    return None


def read(path: Path) -> Iterator[Item]:
    from errata.sources.langsmith.reader import read as read_log

    return read_log(path)
