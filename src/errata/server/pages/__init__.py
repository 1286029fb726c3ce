"""The pages. Each works without script; its module holds its endpoints and what it shows."""

from errata.server import openapi
from errata.server.endpoints import Endpoint
from errata.server.pages import login, runs

ENDPOINTS: tuple[Endpoint, ...] = (*runs.ENDPOINTS, *login.ENDPOINTS, *openapi.ENDPOINTS)
