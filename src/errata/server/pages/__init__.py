"""The pages. Each works without script; its module holds its endpoints and what it shows."""

from errata.server.endpoints import Endpoint
from errata.server.pages import review, runs

ENDPOINTS: tuple[Endpoint, ...] = (*runs.ENDPOINTS, *review.ENDPOINTS)
