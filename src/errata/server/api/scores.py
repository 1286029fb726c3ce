"""Scores of a run, the comparison of several, and the facts of a report."""

import msgspec

from errata.compare.comparison import ComparisonOptions
from errata.json_output.comparison import json_comparison
from errata.json_output.scores import json_scores
from errata.model.output.compare import ComparisonOutput
from errata.model.output.report import RunReportOutput
from errata.model.output.score import RunScoresOutput
from errata.server.exchange import Endpoint, Exchange
from errata.verbs.analyze import analyze_stored
from errata.verbs.compare import compare, score
from errata.verbs.report import run_facts
from errata.verbs.store import stored_runs


class CompareQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    runs: str
    """Names or ids, separated by commas."""
    common: bool = False
    """Only cases that were measured in every run, even if the suites differ."""
    by_model: bool = False
    """One column per model."""
    category: str = ""


def show_scores(exchange: Exchange) -> RunScoresOutput:
    [stored] = stored_runs([exchange.values["run"]], exchange.store)
    return json_scores(score(stored, exchange.store, timeouts=exchange.settings.timeouts))


def show_comparison(exchange: Exchange) -> ComparisonOutput:
    query = exchange.arguments(CompareQuery)
    runs = stored_runs(filter(None, query.runs.split(",")), exchange.store)
    options = ComparisonOptions(
        common=query.common,
        by_model=query.by_model,
        category=query.category,
        timeouts=exchange.settings.timeouts,
    )
    return json_comparison(compare(runs, exchange.store, options))


def show_report(exchange: Exchange) -> RunReportOutput:
    """No file is written."""
    [stored] = stored_runs([exchange.values["run"]], exchange.store)
    [view] = analyze_stored([stored.run.id], exchange.store)
    facts = run_facts(view, day=exchange.now.date().isoformat())
    return RunReportOutput(run=view.run.native_id, run_id=view.run.id, written=(), report=facts)


ENDPOINTS = (
    Endpoint(
        path="/api/runs/{run}/scores",
        handler=show_scores,
        gives=RunScoresOutput,
        summary="Show the scores of a run under every policy.",
    ),
    Endpoint(
        path="/api/runs/{run}/report",
        handler=show_report,
        gives=RunReportOutput,
        summary="Show the facts of a report about a run.",
    ),
    Endpoint(
        path="/api/compare",
        handler=show_comparison,
        query=CompareQuery,
        gives=ComparisonOutput,
        summary="Compare runs case by case.",
    ),
)
