"""Tokens: who may ask a server for what. The secret part is shown once and stored nowhere."""

from typing import Literal, TypeAlias

from errata.model.record import Struct

Scope: TypeAlias = Literal["read", "review", "report", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "review", "report", "admin")
_INCLUDES: dict[Scope, tuple[Scope, ...]] = {"review": ("read",), "admin": SCOPES}


def allowed_by(scopes: tuple[Scope, ...]) -> frozenset[Scope]:
    """Scopes with those that they include: `review` includes `read`, `admin` includes all."""
    return frozenset(scopes).union(*(_INCLUDES.get(scope, ()) for scope in scopes))


class Token(Struct):
    id: str
    name: str
    scopes: tuple[Scope, ...]
    created_at: str
    created_by: str
    last_used_at: str | None = None
    """In steps of a minute."""
    revoked_at: str | None = None


class Caller(Struct):
    """Who asks a server: the bearer of a token, or the person at this machine."""

    name: str
    scopes: frozenset[Scope]
    token: str = ""
    """The id of the token."""
