"""The pages. Each works without script; its module holds its endpoints and what it shows."""

from errata.server.endpoints import Endpoint
from errata.server.pages import attempt, case, run, runs, search

ENDPOINTS: tuple[Endpoint, ...] = (
    *runs.ENDPOINTS,
    *run.ENDPOINTS,
    *attempt.ENDPOINTS,
    *case.ENDPOINTS,
    *search.ENDPOINTS,
)
