"""Tokens of a store: create, list, revoke, and check the one that a request carries."""

import hmac
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from hashlib import sha256

import msgspec

from errata.errors import NotFoundError, SettingsError, did_you_mean
from errata.model.times import moment_of, to_text
from errata.model.token import SCOPES, Scope, Token
from errata.store.database import Store
from errata.store.server import all_tokens, keep_last_use, keep_revocation, keep_token, token_with_hash
from errata.text.lazy_regex import lazy_regex
from errata.text.shell import shell_word

SECRET_BYTES = 32
USE_NOTED_EVERY = timedelta(minutes=1)
"""Every request would be a write otherwise."""
_FORM = lazy_regex(r"errata_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")
_NAME = lazy_regex(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_NOBODY = sha256(b"").hexdigest()


class CreatedToken(msgspec.Struct, frozen=True, kw_only=True):
    token: Token
    secret: str
    """The whole token, which can't be shown again."""


def create_token(name: str, scopes: Iterable[Scope], store: Store, *, now: datetime, author: str = "") -> CreatedToken:
    if not _NAME.fullmatch(name):
        hint = "use up to 64 letters, digits, `.`, `_`, `@` and `-`: it is shown beside verdicts and reports"
        raise SettingsError(f"`{name}` can't be the name of a token", hint=hint)
    wanted = tuple(scope for scope in SCOPES if scope in set(scopes))
    if not wanted:
        raise SettingsError("A token needs at least one scope", hint="name one with `--scope read`")
    token_id = secrets.token_hex(6)
    secret = f"errata_{token_id}_{secrets.token_urlsafe(SECRET_BYTES)}"
    token = Token(id=token_id, name=name, scopes=wanted, created_at=to_text(now), created_by=author)
    if not keep_token(store, token, _hash(secret)):
        hint = f"choose another name, or revoke it first: `errata token revoke {shell_word(name)}`"
        raise SettingsError(f"There is a token `{name}` already", hint=hint)
    return CreatedToken(token=token, secret=secret)


def list_tokens(store: Store) -> list[Token]:
    return all_tokens(store)


def has_tokens(store: Store) -> bool:
    return any(token.revoked_at is None for token in all_tokens(store))


def revoke_token(named: str, store: Store, *, now: datetime) -> Token:
    """By its name or id; from the next request on it is refused."""
    known = [token for token in all_tokens(store) if token.revoked_at is None]
    meant = next((token for token in known if named in (token.name, token.id)), None)
    if meant is None:
        hint = did_you_mean(named, (token.name for token in known)) or "`errata token list` lists the tokens"
        raise NotFoundError(f"No token is called `{named}`", hint=hint)
    keep_revocation(store, meant.id, to_text(now))
    return msgspec.structs.replace(meant, revoked_at=to_text(now))


def check_token(secret: str, store: Store, *, now: datetime) -> Token | None:
    """The token that a request carries; none if it is unknown or revoked.

    A token is random, so a fast hash is enough. The comparison takes as long for a wrong token as for a right one.
    """
    form = _FORM.fullmatch(secret)
    known = token_with_hash(store, form[1]) if form else None
    token, digest = known or (None, _NOBODY)
    if not hmac.compare_digest(_hash(secret), digest) or token is None or token.revoked_at is not None:
        return None
    _note_use(token, store, now)
    return token


def _note_use(token: Token, store: Store, now: datetime) -> None:
    if store.is_read_only:
        return
    if token.last_used_at is None or now - moment_of(token.last_used_at) >= USE_NOTED_EVERY:
        keep_last_use(store, token.id, to_text(now))


def _hash(secret: str) -> str:
    return sha256(secret.encode("utf-8", "replace")).hexdigest()
