"""The pages. Each works without script; its module holds its endpoints and what it shows."""

from errata.server import openapi
from errata.server.endpoints import Endpoint
from errata.server.pages import (
    buckets,
    compare,
    doctor,
    leaderboard,
    login,
    review,
    run,
    runs,
)

ENDPOINTS: tuple[Endpoint, ...] = (
    *runs.ENDPOINTS,
    *run.ENDPOINTS,
    *review.ENDPOINTS,
    *compare.ENDPOINTS,
    *buckets.ENDPOINTS,
    *leaderboard.ENDPOINTS,
    *doctor.ENDPOINTS,
    *login.ENDPOINTS,
    *openapi.ENDPOINTS,
)
