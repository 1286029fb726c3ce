"""Runs: the list, and the analysis of one."""

import msgspec

from errata.json_output.runs import analysis_output, run_outputs
from errata.model.output.analyze import AnalysisOutput
from errata.model.output.runs import ListedRunOutput
from errata.server.exchange import Endpoint, Exchange
from errata.verbs.analyze import analyze_stored
from errata.verbs.pages import is_large, known_run, readiness
from errata.verbs.store import stored_runs


class RunList(msgspec.Struct, frozen=True):
    runs: tuple[ListedRunOutput, ...]


class RunReadiness(msgspec.Struct, frozen=True, kw_only=True):
    """How far a server is with a large run."""

    is_ready: bool
    """Whether its page has everything that it shows."""
    text: str = ""
    """What is being worked out; empty where it waits for its turn."""
    done: int = 0
    total: int = 0
    """Failures; 0 where that is not counted."""


def show_progress(exchange: Exchange) -> RunReadiness:
    stored = known_run(exchange.values["run"], exchange.store)
    ready = readiness(stored, exchange.store)
    if not is_large(stored) or (ready.rows and ready.digest) or exchange.large_runs is None:
        return RunReadiness(is_ready=True)
    progress = exchange.large_runs.progress_of(stored.run.id)
    if progress is None:
        return RunReadiness(is_ready=False)
    return RunReadiness(is_ready=False, text=str(progress), done=progress.done, total=progress.total)


def list_runs(exchange: Exchange) -> RunList:
    return RunList(tuple(run_outputs(exchange.store)))


def show_run(exchange: Exchange) -> AnalysisOutput:
    [stored] = stored_runs([exchange.values["run"]], exchange.store)
    [view] = analyze_stored([stored.run.id], exchange.store)
    return analysis_output(view.summary, None)


ENDPOINTS = (
    Endpoint(path="/api/runs", handler=list_runs, gives=RunList, summary="List the runs, the newest first."),
    Endpoint(path="/api/runs/{run}", handler=show_run, gives=AnalysisOutput, summary="Show the analysis of a run."),
    Endpoint(
        path="/api/runs/{run}/progress",
        handler=show_progress,
        gives=RunReadiness,
        summary="Show how far the server is with a large run.",
    ),
)
