"""The API: what the commands print with `--json`, under `/api`."""

from errata.server.api import live, runs
from errata.server.endpoints import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (*runs.ENDPOINTS, *live.ENDPOINTS)
