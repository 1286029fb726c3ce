"""The API: what the commands print with `--json`, under `/api`."""

from errata.server.api import failures, runs, search
from errata.server.endpoints import Endpoint

ENDPOINTS: tuple[Endpoint, ...] = (*runs.ENDPOINTS, *failures.ENDPOINTS, *search.ENDPOINTS)
