"""The API: what the commands print with `--json`, under `/api`."""

from errata.server.api import live, review, runs
from errata.server.exchange import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (
    *runs.ENDPOINTS,
    *runs.FAILURES,
    *runs.SEARCH,
    *runs.SCORES,
    *runs.ATTEMPTS,
    *runs.MEMORY,
    *review.ENDPOINTS,
    *live.ENDPOINTS,
)
