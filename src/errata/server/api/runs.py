"""Runs: the list, and the analysis of one."""

import msgspec

from errata.json_output.analysis import analysis_output
from errata.json_output.runs import run_outputs
from errata.model.output.analyze import AnalysisOutput
from errata.model.output.runs import ListedRunOutput
from errata.server.endpoints import Endpoint
from errata.server.exchange import Exchange
from errata.verbs.analyze import analyze_stored
from errata.verbs.store import stored_runs


class RunList(msgspec.Struct, frozen=True):
    runs: tuple[ListedRunOutput, ...]


def list_runs(exchange: Exchange) -> RunList:
    return RunList(tuple(run_outputs(exchange.store)))


def show_run(exchange: Exchange) -> AnalysisOutput:
    [stored] = stored_runs([exchange.values["run"]], exchange.store)
    [view] = analyze_stored([stored.run.id], exchange.store)
    return analysis_output(view.summary, None)


ENDPOINTS = (
    Endpoint(path="/api/runs", handler=list_runs, gives=RunList, summary="List the runs, the newest first."),
    Endpoint(path="/api/runs/{run}", handler=show_run, gives=AnalysisOutput, summary="Show the analysis of a run."),
)
