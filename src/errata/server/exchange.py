"""A request as a handler sees it, and what a handler can answer. Handlers are plain functions of worker threads."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, TypeAlias, TypeVar

import msgspec

from errata.errors import SettingsError
from errata.settings import Settings
from errata.verbs.store import Store

T = TypeVar("T")
Scope: TypeAlias = Literal["read", "review", "report", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "review", "report", "admin")


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks: the name of a token, or the person at this machine."""

    name: str
    scopes: frozenset[Scope] = frozenset(SCOPES)
    is_local: bool = True


class Exchange(msgspec.Struct, kw_only=True):
    store: Store
    """Of this thread alone."""
    settings: Settings
    caller: Caller
    now: datetime
    path: str
    values: Mapping[str, str] = {}
    """The parts of the path that a route names."""
    query: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    body: bytes = b""

    def arguments(self, takes: type[T]) -> T:
        """The query as a record; numbers and booleans may be written as words."""
        try:
            return msgspec.convert(dict(self.query), takes, strict=False)
        except msgspec.ValidationError as error:
            raise SettingsError(f"The query is wrong: {error}") from None

    def record(self, takes: type[T]) -> T:
        """The body, which is JSON."""
        try:
            return msgspec.json.decode(self.body, type=takes)
        except msgspec.MsgspecError as error:
            raise SettingsError(f"The body is wrong: {error}") from None


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a page, between the top bar and its end."""

    title: str
    body: str
    """HTML, every text of which went through `page_text`."""
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


class Bytes(msgspec.Struct, frozen=True, kw_only=True):
    content: bytes
    media_type: str
    headers: dict[str, str] = {}


Answer: TypeAlias = Page | Redirect | Bytes | msgspec.Struct
"""A record that is none of the first three is sent as JSON."""
