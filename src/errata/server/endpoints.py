"""What the server answers: each endpoint is a row with its path, its handler, and the records that it takes and gives.

The routes, the checks of scopes and the OpenAPI description are made from these rows.
"""

from collections.abc import Callable
from typing import Literal

import msgspec

from errata.model.token import Scope
from errata.server.exchange import Answer, Exchange


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    handler: Callable[[Exchange], Answer]
    summary: str
    """A sentence for the description of the API."""
    method: Literal["GET", "POST", "PUT", "DELETE"] = "GET"
    scope: Scope = "read"
    query: type | None = None
    takes: type | None = None
    """The record in the body."""
    gives: type | None = None
    """The record that is sent as JSON; none for a page."""
    status: int = 200
    is_open: bool = False
    """Answers everybody, without a token: the way to log in."""

    @property
    def is_page(self) -> bool:
        return self.gives is None
