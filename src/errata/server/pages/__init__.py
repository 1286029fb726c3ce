"""The pages. Each works without script; its module holds its endpoints and what it shows."""

from errata.server import openapi
from errata.server.exchange import Endpoint
from errata.server.pages import (
    attempt,
    buckets,
    case,
    compare,
    leaderboard,
    login,
    review,
    run,
    runs,
    search,
)

ENDPOINTS: tuple[Endpoint, ...] = (
    *runs.ENDPOINTS,
    *run.ENDPOINTS,
    *runs.PASSES,
    *attempt.ENDPOINTS,
    *case.ENDPOINTS,
    *search.ENDPOINTS,
    *review.ENDPOINTS,
    *compare.ENDPOINTS,
    *buckets.ENDPOINTS,
    *leaderboard.ENDPOINTS,
    *login.DOCTOR,
    *login.ENDPOINTS,
    *openapi.ENDPOINTS,
)
