"""The API: what the commands print with `--json`, under `/api`."""

from errata.server.api import (
    live,
    review,
    runs,
)
from errata.server.endpoints import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (
    *runs.ENDPOINTS,
    *review.ENDPOINTS,
    *live.ENDPOINTS,
)
