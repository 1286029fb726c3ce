"""A request as a handler sees it, and what a handler can answer. Handlers are plain functions of worker threads."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, TypeVar
from urllib.parse import parse_qs, parse_qsl

import msgspec

from errata.errors import SettingsError
from errata.model.codec import strict_json
from errata.model.record import Struct
from errata.model.token import Caller, Scope
from errata.settings import Settings
from errata.verbs.store import Store

if TYPE_CHECKING:
    from errata.server.access import Access
    from errata.server.deriving import LargeRuns
    from errata.server.publishing import Publisher


T = TypeVar("T")
LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]", "::1"})
STUCK_AFTER = 600.0


class ServerOptions(Struct):
    """How this server was started."""

    hosts: frozenset[str] | None = LOOPBACK
    """The names by which it may be called; none where every caller needs a token, which another site lacks."""
    needs_token: bool = False
    """Also to read. Reports of runs need one in any case."""
    deployment: str = ""
    stuck_after: float = STUCK_AFTER
    """Seconds without a report after which a run counts as stuck."""


class MountedApp(Protocol):
    """Another application behind the same tokens: the tools for agents. It finds the `Caller` in `state` of the scope,
    and names there as `lacks` the scope that a call needed."""

    @property
    def app(self) -> Callable[..., Awaitable[None]]: ...

    def running(self) -> AbstractAsyncContextManager[None]: ...


class Exchange(msgspec.Struct, kw_only=True):
    store: Store
    """Of this thread alone."""
    settings: Settings
    caller: Caller
    server: ServerOptions = ServerOptions()
    now: datetime
    path: str
    values: Mapping[str, str] = {}
    """The parts of the path that a route names."""
    query: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    address: str = ""
    """Of the other side."""
    is_encrypted: bool = False
    access: "Access | None" = None
    """What the page for logging in needs."""
    publisher: "Publisher | None" = None
    """Makes reported attempts visible."""
    large_runs: "LargeRuns | None" = None
    """Derives large runs in the background."""
    body: bytes = b""

    def arguments(self, takes: type[T]) -> T:
        """The query as a record; numbers and booleans may be written as words."""
        try:
            return msgspec.convert(dict(self.query), takes, strict=False)
        except msgspec.ValidationError as error:
            raise SettingsError(f"The query is wrong: {error}") from None

    def record(self, takes: type[T]) -> T:
        try:
            return msgspec.convert(strict_json(self.body), takes)
        except ValueError as error:
            raise SettingsError(f"The body is wrong: {error}") from None

    def form(self) -> dict[str, str]:
        """The body, sent by a form without files; of a repeated name the last value."""
        try:
            return dict(parse_qsl(self.body.decode("utf-8"), keep_blank_values=True, max_num_fields=1_000))
        except ValueError as error:
            raise SettingsError(f"The form is wrong: {error}") from None

    def form_values(self, name: str) -> list[str]:
        """Every value of a name that a form may repeat, such as ticked boxes."""
        return parse_qs(self.body.decode("utf-8", "replace"), max_num_fields=1_000).get(name, [])


class Page(Struct):
    """The content of a page, between the top bar and its end."""

    title: str
    body: str
    """HTML. Every text in it went through `page_text`."""
    section: str = ""
    """Which entry of the top bar is current: runs, review, compare, buckets or leaderboard."""
    command: str = ""
    """The command that shows the same on a terminal; a button copies it."""
    keys: tuple[tuple[str, str], ...] = ()
    """Its own keys and what they do, for the dialog of keys: `("j k", "Next or previous row")`."""
    scripts: tuple[str, ...] = ()
    """Modules of `static` beside those of every page."""
    status: int = 200


class Redirect(msgspec.Struct, frozen=True):
    target: str
    status: int = 303
    headers: dict[str, str] = {}


class Bytes(Struct):
    content: bytes
    media_type: str
    headers: dict[str, str] = {}
    status: int = 200


Answer: TypeAlias = Page | Redirect | Bytes | msgspec.Struct
"""A record that is none of the first three is sent as JSON."""


# --- endpoints: each is a row with its path, its handler, and the records that it takes and gives
# The routes, the checks of scopes and the OpenAPI description are made from these rows.


class Endpoint(Struct):
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
