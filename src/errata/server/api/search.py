"""Search over all runs."""

import msgspec

from errata.model.listing import SearchHit
from errata.server.exchange import Endpoint, Exchange
from errata.server.pages.search import SearchQuery, address_of
from errata.verbs.pages import count_indexed, search
from errata.verbs.store import all_runs


class AddressedHit(msgspec.Struct, frozen=True, kw_only=True):
    """A hit with the address of its page."""

    hit: SearchHit
    address: str


class SearchResult(msgspec.Struct, frozen=True, kw_only=True):
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


ENDPOINTS = (
    Endpoint(
        path="/api/search",
        handler=find,
        query=SearchQuery,
        gives=SearchResult,
        summary="Search errors, answers, reasons, names of cases and runs.",
    ),
)
