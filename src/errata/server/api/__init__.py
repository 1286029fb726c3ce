"""The API: what the commands print with `--json`, under `/api`."""

from errata.server.api import (
    attempts,
    live,
    memory,
    review,
    runs,
    scores,
)
from errata.server.endpoints import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (
    *runs.ENDPOINTS,
    *scores.ENDPOINTS,
    *attempts.ENDPOINTS,
    *memory.ENDPOINTS,
    *review.ENDPOINTS,
    *live.ENDPOINTS,
)
