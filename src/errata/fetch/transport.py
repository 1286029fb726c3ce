"""Asking a Convex deployment over HTTP: queries and actions, never a mutation; no redirects, all of it bounded."""

import time
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

import msgspec

from errata.errors import FetchError
from errata.fetch.addresses import belongs_to

TIMEOUT = 30.0
"""Seconds without a byte; an answer that drips in has ten times as long in all."""
LARGEST_ANSWER = 64 * 1024 * 1024
LARGEST_FILE = 256 * 1024 * 1024
PIECE = 256 * 1024
TRIES = 4
LONGEST_WAIT = 20.0
FUNCTION_ERROR = 560
"""Convex's own status for an error inside of a function; its envelope is the answer."""
MAY_PASS = frozenset((408, 425, 429, 500, 502, 503, 504))

Kind = Literal["query", "action"]
T = TypeVar("T")
READS: Mapping[str, Kind] = {
    "runs:getRunDetails": "query",
    "runs:getOutputUrl": "query",
    "debugQueries:getFailedEvalsForRun": "query",
    "debug:getEvalDebugInfo": "action",
}
"""All that is ever called. Each of them only reads, and none takes a token."""


class Answer(msgspec.Struct, frozen=True):
    """A successful envelope, and the very bytes it came in."""

    value: Any
    raw: bytes


class FunctionError(FetchError):
    """The deployment was reached, and its function said no."""

    @property
    def is_not_public(self) -> bool:
        return "Could not find public function" in self.message


class _NoRedirects(HTTPRedirectHandler):
    """A redirect could lead a key, or us, to another host: it is an error like any other."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Transport:
    def __init__(
        self, deployment: str, *, key: str = "", timeout: float = TIMEOUT, wait: Callable[[float], None] = time.sleep
    ) -> None:
        self.deployment = deployment
        self._key = key
        self._timeout = timeout
        self._wait = wait
        self._opener: OpenerDirector = build_opener(_NoRedirects, ProxyHandler())

    @property
    def has_key(self) -> bool:
        return bool(self._key)

    def call(self, function: str, args: Mapping[str, str]) -> Answer:
        kind = READS[function]
        body = msgspec.json.encode({"path": function, "args": dict(args), "format": "json"})
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key and function.startswith("debug"):  # what is public needs no key, so none is sent
            headers["Authorization"] = f"Convex {self._key}"
        address = f"{self.deployment}/api/{kind}"
        request = Request(address, data=body, headers=headers, method="POST")  # noqa: S310 its scheme was checked
        raw = self._repeated(request, lambda response: _whole(response, self._until()), function)
        return _opened(raw, function)

    def download(self, address: str, path: Path) -> int:
        """A file of the deployment, whole or not at all; how many bytes it has."""
        if not belongs_to(address, self.deployment):
            raise FetchError(
                f"`{_host(address)}` is not the deployment that was asked",
                hint="addresses in answers are only opened where they lead back to the same host",
            )
        request = Request(address)  # noqa: S310 its scheme and host are the deployment's own
        return self._repeated(request, lambda response: _saved(response, path, self._until()), "a stored file")

    def _until(self) -> float:
        return time.monotonic() + 10 * self._timeout

    def _repeated(self, request: Request, take: Callable[[HTTPResponse], T], what: str) -> T:
        for number in range(1, TRIES + 1):
            try:
                with self._opener.open(request, timeout=self._timeout) as response:
                    return take(response)
            except HTTPError as error:
                with error:
                    if error.code == FUNCTION_ERROR:
                        return take(error.fp)  # type: ignore[arg-type]
                    problem, again, pause = _refused(error, what), error.code in MAY_PASS, _asked_pause(error)
            except (URLError, HTTPException, TimeoutError, OSError) as error:
                problem, again, pause = _unreached(error, self.deployment, what), True, None
            if not again or number == TRIES:
                raise problem
            self._wait(min(LONGEST_WAIT, pause if pause is not None else 0.5 * 2**number))
        raise AssertionError("every try returns or raises")


def _pieces(response: HTTPResponse, most: int, until: float) -> Iterator[bytes]:
    size = 0
    while piece := response.read1(PIECE):
        size += len(piece)
        if size > most:
            raise FetchError(f"The answer is larger than {most // 1024 // 1024} MB", hint="this is nothing of a run's")
        if time.monotonic() > until:
            raise TimeoutError("the answer drips in too slowly")
        yield piece
    _refuse_cut(response, size)


def _whole(response: HTTPResponse, until: float) -> bytes:
    return b"".join(_pieces(response, LARGEST_ANSWER, until))


def _saved(response: HTTPResponse, path: Path, until: float) -> int:
    new = path.with_name(f"{path.name}.part")
    try:
        with new.open("wb") as file:
            size = sum(file.write(piece) for piece in _pieces(response, LARGEST_FILE, until))
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
    return size


def _refuse_cut(response: HTTPResponse, size: int) -> None:
    told = response.headers.get("Content-Length", "")
    if told.isdigit() and int(told) != size:
        raise HTTPException(f"{size} of {told} bytes arrived")


def _opened(raw: bytes, function: str) -> Answer:
    try:
        envelope = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        raise FetchError(f"The answer to `{function}` is no JSON: {error}", hint=_WRONG_PLACE) from error
    status = envelope.get("status") if isinstance(envelope, dict) else None
    if status == "error":
        message = str(envelope.get("errorMessage") or "no reason given")
        raise FunctionError(
            f"`{function}` failed: {message}", hint="the deployment was reached; this is its own answer"
        )
    if status != "success" or "value" not in envelope:
        raise FetchError(f"The answer to `{function}` is no envelope of Convex", hint=_WRONG_PLACE)
    return Answer(envelope["value"], raw)


_WRONG_PLACE = "is this the address of a Convex deployment, such as `https://NAME.convex.cloud`?"


def _refused(error: HTTPError, what: str) -> FetchError:
    if 300 <= error.code < 400:
        where = _host(error.headers.get("Location", ""))
        return FetchError(
            f"{what}: redirected to `{where}`, which was not followed", hint="name that deployment itself"
        )
    told = ""
    try:
        said = msgspec.json.decode(error.read(4096))
        told = f": {said['code']}: {said['message']}" if isinstance(said, dict) and "message" in said else ""
    except (msgspec.DecodeError, OSError, HTTPException, KeyError, ValueError):
        pass
    return FetchError(f"{what}: HTTP {error.code}{told}", hint=_WRONG_PLACE)


def _unreached(error: Exception, deployment: str, what: str) -> FetchError:
    reason = getattr(error, "reason", None) or error
    return FetchError(
        f"{what}: `{_host(deployment)}` gave no whole answer: {reason}", hint="try again; what came is kept"
    )


def _asked_pause(error: HTTPError) -> float | None:
    told = error.headers.get("Retry-After", "")
    return float(told) if told.isdigit() else None


def _host(address: str) -> str:
    return address.partition("://")[2].partition("/")[0] or address or "nowhere"
