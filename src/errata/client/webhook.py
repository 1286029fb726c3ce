"""Post JSON to an address that the user named: no redirects, few tries, everything bounded."""

import time
from collections.abc import Callable
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from errata.errors import FetchError, SettingsError

TIMEOUT = 10.0
TRIES = 3
MAY_PASS = frozenset((408, 425, 429, 500, 502, 503, 504))


class RefusedRedirects(HTTPRedirectHandler):
    """A redirect could send a summary or a token to another host, so it is an error."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def check_address(address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingsError(f"`{address}` is not an address", hint="a webhook begins with `https://` or `http://`")


def post_json(
    address: str, body: bytes, *, timeout: float = TIMEOUT, wait: Callable[[float], None] = time.sleep
) -> None:
    """Again after a pause where the other side may recover; then an error that names the host, never the whole address.

    The path of a webhook is often its secret.
    """
    check_address(address)
    host = urlsplit(address).hostname
    opener = build_opener(RefusedRedirects)
    headers = {"Content-Type": "application/json", "User-Agent": "errata"}
    for number in range(1, TRIES + 1):
        request = Request(address, data=body, headers=headers, method="POST")  # noqa: S310 its scheme was checked
        try:
            with opener.open(request, timeout=timeout):
                return
        except HTTPError as error:
            with error:
                problem, may_pass = f"answered {error.code}", error.code in MAY_PASS
        except (URLError, HTTPException, TimeoutError, OSError) as error:
            reason = error.reason if isinstance(error, URLError) else error
            problem, may_pass = f"can't be reached: {reason}", True
        if not may_pass or number == TRIES:
            break
        wait(0.5 * 2**number)
    raise FetchError(f"The webhook at `{host}` {problem}", hint="check the address, and whether the service is up")
