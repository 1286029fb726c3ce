"""Who asks, and whether they may: tokens in headers of programs and in cookies of browsers, scopes, failed logins."""

import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from math import ceil

from errata.model.token import Scope, allowed_by
from errata.server.exchange import Caller, ServerOptions
from errata.settings import Settings
from errata.verbs.store import Store
from errata.verbs.tokens import check_token

COOKIE = "errata_token"
BEARER = "bearer "
_CREATE = "`errata token create NAME --scope {scope}` creates one"


class DeniedError(Exception):
    """The request is refused; 401 where a token would help."""

    def __init__(self, status: int, message: str, hint: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.hint = status, message, hint
        self.headers = dict(headers or {})


class FailedLogins:
    """Wrong tokens per address: after a few, the next try has to wait."""

    MOST, WINDOW, ADDRESSES = 5, 60.0, 10_000

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failed: dict[str, list[float]] = {}

    def seconds_to_wait(self, address: str) -> int:
        """0 where a try is allowed."""
        now = self._clock()
        with self._lock:
            recent = self._recent(address, now)
            return ceil(recent[0] + self.WINDOW - now) if len(recent) >= self.MOST else 0

    def note(self, address: str) -> None:
        now = self._clock()
        with self._lock:
            recent = self._recent(address, now)
            self._failed.pop(address, None)
            self._failed[address] = [*recent, now][-self.MOST :]
            while len(self._failed) > self.ADDRESSES:
                self._failed.pop(next(iter(self._failed)))

    def _recent(self, address: str, now: float) -> list[float]:
        return [at for at in self._failed.get(address, ()) if now - at < self.WINDOW]


class Access:
    def __init__(self, settings: Settings, options: ServerOptions) -> None:
        self._options = options
        self._local = Caller(name=settings.author or "you")
        self.failed = FailedLogins()

    def caller(
        self, headers: Mapping[str, str], cookie: str | None, address: str, scope: Scope, store: Store, now: datetime
    ) -> Caller:
        """Whoever asks and may; `DeniedError` for everybody else."""
        caller = self._by_token(headers, cookie, address, store, now)
        if caller is None:
            if self._options.needs_token or scope == "report":
                hint = f"{_CREATE.format(scope=scope)}; send it as `Authorization: Bearer TOKEN`"
                raise DeniedError(401, "This needs a token", hint, _CHALLENGE)
            return self._local
        if scope not in caller.scopes:
            hint = _CREATE.format(scope=scope)
            raise DeniedError(403, f"The token `{caller.name}` lacks the scope `{scope}`", hint)
        return caller

    def log_in(self, secret: str, address: str, store: Store, now: datetime) -> Caller:
        """With the token that somebody typed."""
        if wait := self.failed.seconds_to_wait(address):
            raise too_many(wait)
        token = check_token(secret, store, now=now)
        if token is None:
            self.failed.note(address)
            raise DeniedError(401, "This token is unknown or was revoked", "`errata token list` lists the tokens")
        return Caller(name=token.name, scopes=allowed_by(token.scopes), is_local=False)

    def _by_token(
        self, headers: Mapping[str, str], cookie: str | None, address: str, store: Store, now: datetime
    ) -> Caller | None:
        """None for a request without a token, and for a browser whose token was revoked since it logged in."""
        given = headers.get("authorization", "")
        if given[: len(BEARER)].lower() == BEARER:
            token = check_token(given[len(BEARER) :].strip(), store, now=now)
            if token is None:
                wait = self.failed.seconds_to_wait(address)
                self.failed.note(address)
                if wait:
                    raise too_many(wait)
                hint = "`errata token list` lists the tokens"
                raise DeniedError(401, "This token is unknown or was revoked", hint, _CHALLENGE)
        else:
            token = check_token(cookie, store, now=now) if cookie else None
        if token is None:
            return None
        return Caller(name=token.name, scopes=allowed_by(token.scopes), is_local=False)


def too_many(wait: int) -> DeniedError:
    return DeniedError(429, "Too many wrong tokens", f"try again in {wait} s", {"Retry-After": str(wait)})


_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="errata"'}
