"""deepeval: a test run that it saved, or the result of `evaluate` as somebody wrote it to a file."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from errata.model import Item, Unreadable
from errata.sources.base import Match, Numbering, convert_each, head_of, of_run
from errata.sources.deepeval.cases import items_of
from errata.sources.deepeval.layout import HEAD, HIDDEN, NAME, is_result, is_test_run, latest_in, runs_near
from errata.sources.deepeval.results import results_at, same_run
from errata.sources.deepeval.runs import run_of

__all__ = ["NAME", "TITLE", "explain", "fuller", "read", "recognise"]

TITLE = "deepeval: `test_run_*.json`, the folder `.deepeval`, the result of `evaluate` as JSON"


def recognise(path: Path) -> Match | None:
    try:
        if path.is_dir():
            return Match.sure("the last run of deepeval") if latest_in(path) else None
    except (OSError, ValueError):
        return None
    head = head_of(path, HEAD)
    if is_test_run(head):
        return Match.sure("`testCases` with `metricsData`")
    if is_result(head):
        return Match.sure("`test_results` with `metrics_data`")
    return None


def explain(path: Path) -> str | None:
    """A hint for what lies in the hidden folder."""
    try:
        hidden = path.is_dir() and latest_in(path / HIDDEN)
    except (OSError, ValueError):
        return None
    return f"deepeval keeps its last run in `{path / HIDDEN}`: import that" if hidden else None


def fuller(path: Path) -> Path | None:
    """The test run whose result was written to this file."""
    try:
        if not is_result(head_of(path, HEAD)):
            return None
        return next((file for file in runs_near(path) if same_run(path, file)), None)
    except (OSError, ValueError):
        return None


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    root = path if path.is_dir() else path.parent
    seen: set[str] = set()
    for file in latest_in(path) if path.is_dir() else [path]:
        results = results_at(file, root)
        if isinstance(results, Unreadable):
            yield results
            continue
        run = run_of(results, root)
        if run.id in seen:
            continue
        seen.add(run.id)
        yield run
        yield from of_run(run.id, iter(results.problems))
        yield from of_run(run.id, convert_each(results.rows(), partial(items_of, run, Numbering()), source=NAME))
