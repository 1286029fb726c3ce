"""The API: what the commands print with `--json`, under `/api`."""

from errata.server.api import (
    attempts,
    failures,
    live,
    memory,
    review,
    runs,
    scores,
    search,
)
from errata.server.exchange import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (
    *runs.ENDPOINTS,
    *failures.ENDPOINTS,
    *search.ENDPOINTS,
    *scores.ENDPOINTS,
    *attempts.ENDPOINTS,
    *memory.ENDPOINTS,
    *review.ENDPOINTS,
    *live.ENDPOINTS,
)
