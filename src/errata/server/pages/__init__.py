"""The pages. Each works without script; its module holds its endpoints and what it shows."""

from errata.server.endpoints import Endpoint
from errata.server.pages import (
    compare,
    leaderboard,
    login,
    runs,
)

ENDPOINTS: tuple[Endpoint, ...] = (
    *runs.ENDPOINTS,
    *compare.ENDPOINTS,
    *leaderboard.ENDPOINTS,
    *login.ENDPOINTS,
)
