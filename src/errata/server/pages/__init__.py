"""The pages. Each works without script; its module holds its endpoints and what it shows."""

from errata.server.endpoints import Endpoint
from errata.server.pages import (
    buckets,
    compare,
    doctor,
    leaderboard,
    login,
    runs,
)

ENDPOINTS: tuple[Endpoint, ...] = (
    *runs.ENDPOINTS,
    *compare.ENDPOINTS,
    *buckets.ENDPOINTS,
    *doctor.ENDPOINTS,
    *leaderboard.ENDPOINTS,
    *login.ENDPOINTS,
)
