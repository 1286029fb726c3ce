"""Tokens in the store: their hashes, scopes and last use."""

from typing import Any

from sqlalchemy import Row, insert, select, update

from errata.model.token import Token
from errata.store import engine
from errata.store.database import Store
from errata.store.schema import tokens


def keep_token(store: Store, token: Token, digest: str) -> bool:
    """False where a token of this name exists that was not revoked."""
    with store.writing() as connection:
        taken = select(tokens.c.id).where(tokens.c.name == token.name, tokens.c.revoked_at.is_(None))
        if connection.execute(taken).first() is not None:
            return False
        values = {"id": token.id, "name": token.name, "hash": digest, "scopes": " ".join(token.scopes)}
        made = {"created_at": token.created_at, "created_by": token.created_by}
        connection.execute(insert(tokens).values(**values, **made))
    return True


def all_tokens(store: Store) -> list[Token]:
    """Oldest first; revoked ones too."""
    with store.reading() as connection:
        return [_token(row) for row in connection.execute(select(tokens).order_by(engine.ROW))]


def token_with_hash(store: Store, token_id: str) -> tuple[Token, str] | None:
    with store.reading() as connection:
        row = connection.execute(select(tokens).where(tokens.c.id == token_id)).first()
        return None if row is None else (_token(row), str(row.hash))


def keep_last_use(store: Store, token_id: str, at: str) -> None:
    with store.writing() as connection:
        connection.execute(update(tokens).where(tokens.c.id == token_id).values(last_used_at=at))


def keep_revocation(store: Store, token_id: str, at: str) -> None:
    with store.writing() as connection:
        unrevoked = update(tokens).where(tokens.c.id == token_id, tokens.c.revoked_at.is_(None))
        connection.execute(unrevoked.values(revoked_at=at))


def _token(row: Row[Any]) -> Token:
    return Token(
        id=row.id,
        name=row.name,
        scopes=tuple(row.scopes.split()),
        created_at=row.created_at,
        created_by=row.created_by,
        last_used_at=row.last_used_at,
        revoked_at=row.revoked_at,
    )
