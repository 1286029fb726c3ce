"""The shapes of `--json` for tokens."""

from typing import Literal

from errata.model.record import Struct
from errata.model.token import Scope, Token


class TokenOutput(Struct):
    id: str
    """The public part of the token."""
    name: str
    scopes: tuple[Scope, ...]
    state: Literal["active", "revoked"]
    created_at: str
    created_by: str
    last_used_at: str | None
    """In steps of a minute; null if it was never used."""
    revoked_at: str | None


class TokenCreateOutput(Struct):
    token: TokenOutput
    secret: str
    """The token itself. It can't be shown again."""


def token_output(token: Token) -> TokenOutput:
    return TokenOutput(
        id=token.id,
        name=token.name,
        scopes=token.scopes,
        state="revoked" if token.revoked_at else "active",
        created_at=token.created_at,
        created_by=token.created_by,
        last_used_at=token.last_used_at,
        revoked_at=token.revoked_at,
    )


SHAPES: dict[str, type] = {
    "token create": TokenCreateOutput,
    "token list": TokenOutput,
    "token revoke": TokenOutput,
}
