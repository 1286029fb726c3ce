"""The pages. Each works without script; its module holds its endpoints and what it shows."""

from errata.server.endpoints import Endpoint
from errata.server.pages import run, runs

ENDPOINTS: tuple[Endpoint, ...] = (*runs.ENDPOINTS, *run.ENDPOINTS)
