"""Causes of failures, what was done about them, and accepted limitations."""

import msgspec

from errata.json_output.buckets import bucket_output, details_output
from errata.json_output.review import action_output
from errata.model.output.buckets import BucketDetailsOutput, BucketOutput
from errata.model.output.memory import ActionListOutput, KnownListOutput
from errata.server.exchange import Endpoint, Exchange
from errata.verbs.action import list_actions, list_gaps
from errata.verbs.buckets import bucket_named, list_buckets, show_bucket
from errata.verbs.store import stored_runs

MOST = 1_000


class BucketsQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    runs: str = ""
    """Names or ids, separated by commas; default: all runs."""
    alone: bool = False
    """Also buckets of one failure."""


class GapsQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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
    table = list_buckets(exchange.store, runs, alone=query.alone, limit=MOST)
    return BucketList(tuple(map(bucket_output, table.listed)), table.waiting)


def bucket_details(exchange: Exchange) -> BucketDetailsOutput:
    bucket = bucket_named(exchange.values["bucket"], exchange.store)
    return details_output(show_bucket(bucket, exchange.store, most=MOST))


def actions_in(exchange: Exchange) -> ActionList:
    return ActionList(tuple(map(action_output, list_actions(exchange.store))))


def gaps_in(exchange: Exchange) -> GapList:
    records = list_gaps(exchange.store, suite=exchange.arguments(GapsQuery).suite)
    return GapList(tuple(KnownListOutput(gap=record.gap, cases=record.cases, was=None, runs=()) for record in records))


ENDPOINTS = (
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
