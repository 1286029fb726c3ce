"""Runs, their failures, attempts and scores, search, and what is remembered: what the commands print with `--json`."""

import msgspec

from errata.compare.comparison import ComparisonOptions
from errata.errors import NotFoundError, SettingsError
from errata.json_output.comparison import json_comparison
from errata.json_output.review import action_output, bucket_output, details_output
from errata.json_output.runs import analysis_output, run_outputs
from errata.json_output.scores import json_scores
from errata.model import Packet
from errata.model.listing import Facets, SearchHit
from errata.model.output.analyze import AnalysisOutput
from errata.model.output.buckets import BucketDetailsOutput, BucketOutput
from errata.model.output.compare import ComparisonOutput
from errata.model.output.failures import FailureOutput
from errata.model.output.memory import ActionListOutput, KnownListOutput
from errata.model.output.report import RunReportOutput
from errata.model.output.runs import ListedRunOutput
from errata.model.output.score import RunScoresOutput
from errata.model.output.show import ShownAttemptOutput
from errata.model.record import Struct
from errata.model.step import Step
from errata.server.exchange import Endpoint, Exchange
from errata.server.pages.run_query import RunQuery, read_cursor, written_cursor
from errata.server.pages.search import SearchQuery, address_of
from errata.verbs.action import list_actions, list_gaps
from errata.verbs.analyze import analyze_stored, attempt_named, show
from errata.verbs.buckets import bucket_named, list_buckets, show_bucket
from errata.verbs.compare import compare, score
from errata.verbs.pages import count_indexed, facets_of_run, failure_block, is_large, known_run, readiness, search
from errata.verbs.report import run_facts
from errata.verbs.review import packet_of
from errata.verbs.store import all_runs, stored_runs

MOST_KNOWN = 1_000


class BucketsQuery(Struct, forbid_unknown_fields=True):
    runs: str = ""
    """Names or ids, separated by commas; default: all runs."""
    alone: bool = False
    """Also buckets of one failure."""


class GapsQuery(Struct, forbid_unknown_fields=True):
    suite: str = ""


class BucketList(msgspec.Struct, frozen=True):
    buckets: tuple[BucketOutput, ...]
    waiting: tuple[str, ...] = ()
    """Runs that are still being grouped: their failures are missing here, or grouped as before."""


class ActionList(msgspec.Struct, frozen=True):
    actions: tuple[ActionListOutput, ...]


class GapList(msgspec.Struct, frozen=True):
    gaps: tuple[KnownListOutput, ...]


def buckets_in(exchange: Exchange) -> BucketList:
    query = exchange.arguments(BucketsQuery)
    runs = stored_runs(filter(None, query.runs.split(",")), exchange.store)
    table = list_buckets(exchange.store, runs, alone=query.alone, limit=MOST_KNOWN)
    return BucketList(tuple(map(bucket_output, table.listed)), table.waiting)


def bucket_details(exchange: Exchange) -> BucketDetailsOutput:
    bucket = bucket_named(exchange.values["bucket"], exchange.store)
    return details_output(show_bucket(bucket, exchange.store, most=MOST_KNOWN))


def actions_in(exchange: Exchange) -> ActionList:
    return ActionList(tuple(map(action_output, list_actions(exchange.store))))


def gaps_in(exchange: Exchange) -> GapList:
    records = list_gaps(exchange.store, suite=exchange.arguments(GapsQuery).suite)
    return GapList(tuple(KnownListOutput(gap=record.gap, cases=record.cases, was=None, runs=()) for record in records))


MEMORY = (
    Endpoint(
        path="/api/buckets",
        handler=buckets_in,
        query=BucketsQuery,
        gives=BucketList,
        summary="List the causes of failures, the largest first.",
    ),
    Endpoint(
        path="/api/buckets/{bucket}",
        handler=bucket_details,
        gives=BucketDetailsOutput,
        summary="Show a cause with its failures and its history.",
    ),
    Endpoint(path="/api/actions", handler=actions_in, gives=ActionList, summary="List fixes and whether they worked."),
    Endpoint(
        path="/api/known",
        handler=gaps_in,
        query=GapsQuery,
        gives=GapList,
        summary="List accepted limitations of suites.",
    ),
)


class AddressedHit(Struct):
    """A hit with the address of its page."""

    hit: SearchHit
    address: str


class SearchResult(Struct):
    hits: tuple[AddressedHit, ...]
    runs: int
    indexed: int
    """Runs whose texts can be searched; the others are being indexed."""


def find(exchange: Exchange) -> SearchResult:
    query = exchange.arguments(SearchQuery)
    hits = search(query.q, exchange.store) if query.q.strip() else []
    return SearchResult(
        hits=tuple(AddressedHit(hit=hit, address=address_of(hit)) for hit in hits),
        runs=len(all_runs(exchange.store)),
        indexed=count_indexed(exchange.store),
    )


SEARCH = (
    Endpoint(
        path="/api/search",
        handler=find,
        query=SearchQuery,
        gives=SearchResult,
        summary="Search errors, answers, reasons, names of cases and runs.",
    ),
)


class CompareQuery(Struct, forbid_unknown_fields=True):
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


SCORES = (
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


MOST_STEPS = 100


class AttemptQuery(Struct, forbid_unknown_fields=True):
    attempt: str
    """Its id, or RUN/CASE; `#2` after it means the second attempt at the case."""


class StepsQuery(AttemptQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    start: int = 0
    """How many steps to skip."""
    limit: int = MOST_STEPS


class StepPage(Struct):
    attempt: str
    steps: tuple[Step, ...]
    total: int
    next: int | None
    """`start` of the following page; null after the last one."""


def show_attempt(exchange: Exchange) -> ShownAttemptOutput:
    named = exchange.arguments(AttemptQuery).attempt
    shown = show(named, exchange.store).as_json()
    if not isinstance(shown, ShownAttemptOutput):
        raise NotFoundError(f"`{named}` names a run, not an attempt", hint="name a case of it: RUN/CASE")
    return shown


def show_steps(exchange: Exchange) -> StepPage:
    query = exchange.arguments(StepsQuery)
    attempt = attempt_named(query.attempt, exchange.store)
    start, limit = max(0, query.start), min(max(1, query.limit), MOST_STEPS)
    total = len(attempt.steps)
    following = start + limit if start + limit < total else None
    return StepPage(attempt=attempt.id, steps=attempt.steps[start : start + limit], total=total, next=following)


def show_packet(exchange: Exchange) -> Packet:
    attempt = attempt_named(exchange.arguments(AttemptQuery).attempt, exchange.store)
    return packet_of(attempt.id, exchange.store)


ATTEMPTS = (
    Endpoint(
        path="/api/attempt",
        handler=show_attempt,
        query=AttemptQuery,
        gives=ShownAttemptOutput,
        summary="Show an attempt with everything known about it.",
    ),
    Endpoint(
        path="/api/attempt/steps",
        handler=show_steps,
        query=StepsQuery,
        gives=StepPage,
        summary="List the steps of an attempt, at most 100 at a time.",
    ),
    Endpoint(
        path="/api/attempt/packet",
        handler=show_packet,
        query=AttemptQuery,
        gives=Packet,
        summary="Show the packet about an attempt, as a reviewer gets it.",
    ),
)


MOST = 500
"""Failures of one answer."""


class FailureQuery(RunQuery, frozen=True, kw_only=True):
    """The filters of the page of a run, and how many failures an answer holds."""

    limit: int = 100


class FailureList(Struct):
    """A page of failures."""

    total: int
    """Failures that fit the filters."""
    failures: tuple[FailureOutput, ...]
    next: str | None
    """The `cursor` of the next page; null on the last one."""


def list_failures(exchange: Exchange) -> FailureList:
    stored = known_run(exchange.values["run"], exchange.store)
    query = exchange.arguments(FailureQuery)
    if not 1 <= query.limit <= MOST:
        raise SettingsError(f"`limit` is {query.limit}", hint=f"it can be 1 to {MOST}")
    block = failure_block(
        stored,
        exchange.store,
        query.filters,
        order=query.sort,
        after=read_cursor(query.cursor),
        limit=query.limit,
    )
    following = written_cursor(block.following) if block.following is not None else None
    return FailureList(total=block.total, failures=tuple(one.as_json() for one in block.failures), next=following)


def list_facets(exchange: Exchange) -> Facets:
    stored = known_run(exchange.values["run"], exchange.store)
    return facets_of_run(stored, exchange.store, exchange.arguments(RunQuery).filters)


FAILURES = (
    Endpoint(
        path="/api/runs/{run}/failures",
        handler=list_failures,
        query=FailureQuery,
        gives=FailureList,
        summary="List failures of a run by filters, a page at a time.",
    ),
    Endpoint(
        path="/api/runs/{run}/facets",
        handler=list_facets,
        query=RunQuery,
        gives=Facets,
        summary="Count the failures of a run by owner, check, signal, review state and category.",
    ),
)


class RunList(msgspec.Struct, frozen=True):
    runs: tuple[ListedRunOutput, ...]


class RunReadiness(Struct):
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
