"""The pages. Each works without script; its module holds its endpoints and what it shows."""

from errata.server.endpoints import Endpoint
<<<<<<< HEAD
from errata.server.pages import compare, leaderboard, runs

ENDPOINTS: tuple[Endpoint, ...] = (
    *runs.ENDPOINTS,
    *compare.ENDPOINTS,
    *leaderboard.ENDPOINTS,
)
=======
from errata.server.pages import login, runs

ENDPOINTS: tuple[Endpoint, ...] = (*runs.ENDPOINTS, *login.ENDPOINTS)
>>>>>>> api
