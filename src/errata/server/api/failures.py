"""Failures of a run by filters, and their counts."""

import msgspec

from errata.errors import SettingsError
from errata.model.listing import Facets
from errata.model.output.failures import FailureOutput
from errata.server.exchange import Endpoint, Exchange
from errata.server.pages.run_query import RunQuery, read_cursor, written_cursor
from errata.verbs.pages import facets_of_run, failure_block, known_run

MOST = 500
"""Failures of one answer."""


class FailureQuery(RunQuery, frozen=True, kw_only=True):
    """The filters of the page of a run, and how many failures an answer holds."""

    limit: int = 100


class FailureList(msgspec.Struct, frozen=True, kw_only=True):
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


ENDPOINTS = (
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
