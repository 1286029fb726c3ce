"""LangSmith: the rows of an experiment, each a run, its example and what evaluators said, as lines or as a list."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from errata.model import Item
from errata.sources.base import Match, Numbering, head_of
from errata.sources.langsmith.experiments import NAME, experiment_named, runs_of, survey
from errata.sources.langsmith.rows import items_of
from errata.sources.shared.json_rows import json_rows
from errata.sources.shared.runs import items_of_runs

__all__ = ["NAME", "TITLE", "read", "recognise"]

TITLE = "LangSmith: the rows of an experiment with `run`, `example` and `evaluation_results`"

HEAD = 256 * 1024
_OPENING = re.compile(rb'\s*(?:\[\s*)?\{\s*"(?:run|example|evaluation_results)"\s*:\s*[\[{]')
_RUN = re.compile(rb'(?<!\\)"(?:dotted_order|run_type|reference_example_id)"\s*:')
_ROW = re.compile(rb'(?<!\\)"(?:example|evaluation_results)"\s*:\s*[\[{n]')


def recognise(path: Path) -> Match | None:
    head = head_of(path, HEAD)
    # a run may be longer than what is looked at: then its example comes later
    if _OPENING.match(head) and _RUN.search(head) and (_ROW.search(head) or len(head) == HEAD):
        return Match.sure("rows with `run`, `example` and `evaluation_results`")
    return None


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    experiments = survey(path)
    runs = runs_of(experiments, path)
    rows = json_rows(path, source=NAME, root=path.parent)
    convert = partial(items_of, runs, experiments, Numbering())
    yield from items_of_runs(runs, rows, convert, which=lambda row: experiment_named(row.data["run"]), source=NAME)
