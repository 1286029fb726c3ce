"""Who asks, and whether they may: tokens in headers of programs and in cookies of browsers, scopes, failed logins."""

import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from hashlib import sha256
from math import ceil

from starlette.requests import Request

from errata.model.token import SCOPES, Caller, Scope, Token, allowed_by
from errata.server.exchange import ServerOptions
from errata.server.security import DeniedError, address_of
from errata.settings import Settings
from errata.verbs.store import Store
from errata.verbs.tokens import check_token

COOKIE = "errata_token"
BEARER = "bearer "
_CREATE = "`errata token create NAME --scope {scope}` creates one"


class WrongTokens:
    """How often each was tried, and how many came from an address: both are asked to wait. A right token is looked up
    first, and is never asked to."""

    MOST, MOST_OF_ADDRESS, WINDOW, KEPT = 5, 20, 60.0, 10_000

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._tries: dict[str, list[float]] = {}

    def seconds_to_wait(self, secret: str, address: str) -> int:
        """0 for the first few tries, which this counts."""
        digest, now = sha256(secret.encode("utf-8", "replace")).hexdigest(), self._clock()
        with self._lock:
            limits = (f"{address} {digest}", self.MOST), (address, self.MOST_OF_ADDRESS)
            return max(self._wait(key, most, now) for key, most in limits)

    def _wait(self, key: str, most: int, now: float) -> int:
        recent = [at for at in self._tries.pop(key, ()) if now - at < self.WINDOW]
        self._tries[key] = [*recent, now][-most:]
        while len(self._tries) > self.KEPT:
            self._tries.pop(next(iter(self._tries)))
        return ceil(recent[-most] + self.WINDOW - now) if len(recent) >= most else 0


class Access:
    def __init__(self, settings: Settings, options: ServerOptions) -> None:
        self._options = options
        self._local = Caller(name=settings.author or "you", scopes=frozenset(SCOPES))
        self._wrong = WrongTokens()

    def caller(self, request: Request, scope: Scope, store: Store, now: datetime) -> Caller:
        """Whoever asks and may; `DeniedError` for everybody else."""
        caller = self._by_token(request.headers, request.cookies.get(COOKIE), address_of(request), store, now)
        if caller is None:
            if self._options.needs_token or scope == "report":
                hint = f"{_CREATE.format(scope=scope)}; send it as `Authorization: Bearer TOKEN`"
                raise DeniedError(401, "This needs a token", hint, _CHALLENGE)
            return self._local
        if scope not in caller.scopes:
            raise lacking(caller, scope)
        return caller

    def log_in(self, secret: str, address: str, store: Store, now: datetime) -> Caller:
        """With the token that somebody typed or a program sent."""
        token = check_token(secret, store, now=now)
        if token is not None:
            return _bearer_of(token)
        if wait := self._wrong.seconds_to_wait(secret, address):
            raise DeniedError(429, "Too many wrong tokens", f"try again in {wait} s", {"Retry-After": str(wait)})
        hint = "`errata token list` lists the tokens"
        raise DeniedError(401, "This token is unknown or was revoked", hint, _CHALLENGE)

    def _by_token(
        self, headers: Mapping[str, str], cookie: str | None, address: str, store: Store, now: datetime
    ) -> Caller | None:
        """None for a request without a token, and for a browser whose token was revoked since it logged in."""
        given = headers.get("authorization", "")
        if given[: len(BEARER)].lower() == BEARER:
            return self.log_in(given[len(BEARER) :].strip(), address, store, now)
        token = check_token(cookie, store, now=now) if cookie else None
        return _bearer_of(token) if token is not None else None


def lacking(caller: Caller, scope: Scope) -> DeniedError:
    hint = _CREATE.format(scope=scope)
    return DeniedError(403, f"The token `{caller.name}` lacks the scope `{scope}`", hint)


def _bearer_of(token: Token) -> Caller:
    return Caller(name=token.name, scopes=allowed_by(token.scopes), token=token.id)


_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="errata"'}
