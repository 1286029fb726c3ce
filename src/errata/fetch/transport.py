"""Query a Convex deployment by its address: queries and actions, no mutations; no redirects, everything bounded."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPMessage, HTTPResponse, HTTPSConnection
from ipaddress import ip_address
from pathlib import Path
from socket import SHUT_RDWR, gaierror
from ssl import SSLError
from threading import Timer, local
from typing import IO, Any, Literal, NamedTuple, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import (
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
)

import msgspec

from errata.errors import FetchError
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex

PROD, DEV = "prod", "dev"
DEPLOYMENTS: Mapping[str, str] = {
    PROD: "https://fabulous-panther-525.convex.cloud",
    DEV: "https://brazen-pelican-414.convex.cloud",
}
"""The deployments for scheduled runs and for local work."""
VISUALIZERS: Mapping[str, str] = {"convex-evals.netlify.app": PROD}

_RUN = lazy_regex(r"/run/(?P<run>[a-z0-9]{20,64})(?:/(?P<category>[^/?#]+)(?:/(?P<eval>[a-z0-9]{20,64}))?)?/?$")
_ID = lazy_regex(r"[a-z0-9]{20,64}")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Target(NamedTuple):
    """A run, or one eval of it."""

    run: str
    eval: str = ""
    category: str = ""
    deployment: str = ""
    """Its name or address; empty if only an id was given."""


def is_address(text: str) -> bool:
    return text.startswith(("https://", "http://"))


def is_run_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def target_of(text: str) -> Target:
    """An address of the visualizer (old and new form), or a bare id."""
    if is_run_id(text):
        return Target(text)
    parts = split(text)
    match = _RUN.search(parts.path)
    if match is None:
        raise FetchError(
            f"`{text}` does not name a run",
            hint="use `https://convex-evals.netlify.app/experiment/default/run/RUN_ID`, or the id itself",
        )
    known = VISUALIZERS.get(parts.hostname or "", "")
    return Target(match["run"], match["eval"] or "", unquote(match["category"] or ""), known)


def deployment_address(named: str) -> str:
    """`prod`, `dev` or an address, as one without path or password."""
    if named in DEPLOYMENTS:
        return DEPLOYMENTS[named]
    if not is_address(named):
        raise FetchError(f"`{named}` is not a deployment", hint=f"use `{PROD}`, `{DEV}`, or an https:// address")
    parts = split(named)
    host = parts.hostname or ""
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise FetchError(f"`{named}` is not encrypted", hint="use `https://`")
    if is_private(host) and host not in _LOOPBACK:
        raise FetchError(f"`{named}` is a private address", hint="use the deployment's public address")
    return f"{parts.scheme}://{parts.netloc}"


def split(address: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        usable = bool(parts.hostname) and parts.scheme in ("http", "https") and not parts.username
        _ = parts.port
    except ValueError:
        usable = False
    if not usable:
        raise FetchError(f"`{address}` is not a valid address", hint="use one such as `https://example.convex.cloud`")
    return parts


def is_private(host: str) -> bool:
    try:
        return not ip_address(host).is_global
    except ValueError:
        return host.endswith((".local", ".internal", ".localhost")) or host == "localhost" or "." not in host


def belongs_to(address: str, deployment: str) -> bool:
    """Whether an address in an answer is on the requested deployment; no other address is ever opened."""
    try:
        theirs, ours = split(address), split(deployment)
    except FetchError:
        return False
    return (theirs.scheme, theirs.hostname, theirs.port) == (ours.scheme, ours.hostname, ours.port)


TIMEOUT = 30.0
"""Seconds without a byte."""
SLOWEST = 10
"""How many times longer a whole answer may take."""
LARGEST_ANSWER = 16 * 1024 * 1024
LARGEST_FILE = 256 * 1024 * 1024
LARGEST_TOTAL = 4 * 1024 * 1024 * 1024
LONGEST = 3_600.0
"""Seconds for all requests of one command."""
SHOWN = 300
"""Characters of a message of the deployment."""
PIECE = 256 * 1024
TRIES = 4
LONGEST_WAIT = 20.0
FUNCTION_ERROR = 560
"""Convex's status for an error inside a function; the body is a normal envelope."""
MAY_PASS = frozenset((408, 425, 429, 500, 502, 503, 504))

Kind = Literal["query", "action"]
T = TypeVar("T")
READS: Mapping[str, Kind] = {
    "runs:getRunDetails": "query",
    "runs:getOutputUrl": "query",
    "debugQueries:getFailedEvalsForRun": "query",
    "debug:getEvalDebugInfo": "action",
}
"""The only functions that errata calls. All of them only read, and none takes a token."""


class ConvexAnswer(msgspec.Struct, frozen=True):
    """A successful envelope and its raw bytes."""

    value: Any
    raw: bytes


class FunctionError(FetchError):
    """The deployment answered that its function failed."""

    @property
    def is_not_public(self) -> bool:
        return "Could not find public function" in self.message


class _NoRedirects(HTTPRedirectHandler):
    """A redirect could send a key, or the request, to another host, so it is an error. Its address is not parsed."""

    def http_error_302(self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage) -> None:
        del req, fp, code, msg, headers

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


class _Deadline:
    """A connection that is cut when its time is over: a server can send headers as slowly as it likes."""

    sock: Any
    timeout: Any

    def connect(self) -> None:
        super().connect()  # type: ignore[misc]
        timer = Timer(SLOWEST * self.timeout, _cut, (self.sock,))
        timer.daemon = True
        timer.start()
        _of_request.timer = timer


_of_request = local()
"""The timer of the request that a thread has made last."""


def _cut(sock: Any) -> None:
    with suppress(OSError):
        sock.shutdown(SHUT_RDWR)


class _PlainConnection(_Deadline, HTTPConnection):
    pass


class _SecureConnection(_Deadline, HTTPSConnection):
    pass


class _Handler(HTTPHandler):
    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_PlainConnection, req)


class _SecureHandler(HTTPSHandler):
    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_SecureConnection, req)


class Transport:
    def __init__(
        self, deployment: str, *, key: str = "", timeout: float = TIMEOUT, wait: Callable[[float], None] = time.sleep
    ) -> None:
        self.deployment = deployment
        self._key = key
        self._timeout = timeout
        self._wait = wait
        self._opener: OpenerDirector = build_opener(_NoRedirects, _Handler, _SecureHandler, ProxyHandler())
        self._end = time.monotonic() + LONGEST
        self._saved = 0

    @property
    def has_key(self) -> bool:
        return bool(self._key)

    def call(self, function: str, args: Mapping[str, str]) -> ConvexAnswer:
        kind = READS[function]
        body = msgspec.json.encode({"path": function, "args": dict(args), "format": "json"})
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key and function.startswith("debug"):  # public functions need no key
            headers["Authorization"] = f"Convex {self._key}"
        address = f"{self.deployment}/api/{kind}"
        request = Request(address, data=body, headers=headers, method="POST")  # noqa: S310 its scheme was checked
        raw = self._with_retries(request, lambda response: _whole(response, self._until()), function)
        return _opened(raw, function)

    def download(self, address: str, path: Path) -> int:
        """Save a file of the deployment, completely or not at all; returns its size."""
        if not belongs_to(address, self.deployment):
            raise FetchError(
                f"`{_host(address)}` is not the requested deployment",
                hint="errata opens addresses in answers only if they are on the same host",
            )
        if self._saved > LARGEST_TOTAL:
            raise FetchError(
                f"The files of the run have more than {LARGEST_TOTAL // 1024**3} GB", hint="fetch single evals"
            )
        request = Request(address)  # noqa: S310 its scheme and host are the deployment's own
        size = self._with_retries(request, lambda response: _saved(response, path, self._until()), "a stored file")
        self._saved += size
        return size

    def _until(self) -> float:
        return min(time.monotonic() + SLOWEST * self._timeout, self._end)

    def _with_retries(self, request: Request, take: Callable[[HTTPResponse], T], what: str) -> T:
        for number in range(1, TRIES + 1):
            until = self._until()
            try:
                with self._opener.open(request, timeout=self._timeout) as response:
                    _refuse_compressed(response, what)
                    return take(response)
            except HTTPError as error:
                with error:
                    if error.code == FUNCTION_ERROR:
                        return take(error.fp)  # type: ignore[arg-type]
                    problem, again, pause = _http_error(error, what), error.code in MAY_PASS, _asked_pause(error)
            except (URLError, HTTPException, TimeoutError, OSError) as error:
                problem, again, pause = _unreached(error, self.deployment, what), True, None
            finally:
                if timer := getattr(_of_request, "timer", None):
                    timer.cancel()
            if not again or number == TRIES or time.monotonic() >= until:
                raise problem
            self._wait(min(LONGEST_WAIT, pause if pause is not None else 0.5 * 2**number))
        raise AssertionError("every try returns or raises")


def _pieces(response: HTTPResponse, most: int, until: float) -> Iterator[bytes]:
    size = 0
    while piece := response.read1(PIECE):
        size += len(piece)
        if size > most:
            raise FetchError(
                f"The answer is larger than {most // 1024 // 1024} MB", hint="no file of a run is that large"
            )
        if time.monotonic() > until:
            raise TimeoutError("the answer arrives too slowly")
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
    length = response.headers.get("Content-Length", "")
    if _is_number(length) and length.lstrip("0") != str(size).lstrip("0"):
        raise HTTPException(f"{size} of {length[:20]} bytes arrived")


def _refuse_compressed(response: HTTPResponse, what: str) -> None:
    """Nothing compressed was requested: an answer that unfolds to a thousand times its size is not unfolded."""
    encoding = response.headers.get("Content-Encoding", "identity")
    if encoding.strip().lower() not in ("", "identity"):
        raise FetchError(
            f"{what}: the answer is compressed (`{encoding[:40]}`), which was not requested", hint=_WRONG_PLACE
        )


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _opened(raw: bytes, function: str) -> ConvexAnswer:
    try:
        envelope = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        raise FetchError(f"The answer to `{function}` is not JSON: {error}", hint=_WRONG_PLACE) from error
    status = envelope.get("status") if isinstance(envelope, dict) else None
    if status == "error":
        message = one_line(str(envelope.get("errorMessage") or "no reason given"), SHOWN)
        raise FunctionError(f"`{function}` failed: {message}", hint="the deployment answered with this error")
    if status != "success" or "value" not in envelope:
        raise FetchError(f"The answer to `{function}` is not a Convex envelope", hint=_WRONG_PLACE)
    return ConvexAnswer(envelope["value"], raw)


_WRONG_PLACE = "is this the address of a Convex deployment, such as `https://NAME.convex.cloud`?"


def _http_error(error: HTTPError, what: str) -> FetchError:
    if 300 <= error.code < 400:
        where = _host(error.headers.get("Location", ""))
        return FetchError(f"{what}: redirected to `{where}`, not followed", hint="use the address of that deployment")
    detail = ""
    try:
        body = msgspec.json.decode(error.read(4096))
        detail = f": {body['code']}: {body['message']}" if isinstance(body, dict) and "message" in body else ""
        detail = one_line(detail, SHOWN)
    except (msgspec.DecodeError, OSError, HTTPException, KeyError, ValueError):
        pass
    return FetchError(f"{what}: HTTP {error.code}{detail}", hint=_hint_for_status(error.code))


_AGAIN = "try again; fetched files are kept"


def _hint_for_status(code: int) -> str:
    if code in (401, 403):
        return "the deployment refuses access: check the key that is named for this host (`docs/fetching.md`)"
    if code in (407, 511):
        return "a proxy asks for a login: check `HTTPS_PROXY`"
    if code in (408, 425, 429):
        return f"the deployment limits or delays requests: {_AGAIN}"
    if code >= 500:
        return f"the deployment itself has a problem: {_AGAIN}"
    if code == 400:
        return "the deployment rejects the request: is the id of the run complete?"
    return _WRONG_PLACE


def _unreached(error: Exception, deployment: str, what: str) -> FetchError:
    reason = getattr(error, "reason", None) or error
    host = _host(deployment)
    if isinstance(reason, gaierror):
        return FetchError(
            f"{what}: the name `{host}` can't be resolved: {reason}", hint="check the address and your network"
        )
    if isinstance(reason, SSLError):
        return FetchError(
            f"{what}: no secure connection to `{host}`: {reason}",
            hint="a proxy may replace certificates: name its certificate in `SSL_CERT_FILE`",
        )
    if isinstance(reason, ConnectionRefusedError):
        return FetchError(
            f"{what}: `{host}` refuses the connection", hint="check the address, and whether a proxy or VPN is needed"
        )
    return FetchError(f"{what}: `{host}` did not answer completely: {reason}", hint=_AGAIN)


def _asked_pause(error: HTTPError) -> float | None:
    seconds = error.headers.get("Retry-After", "")
    return float(seconds) if _is_number(seconds) else None


def _host(address: str) -> str:
    return address.partition("://")[2].partition("/")[0] or address or "nowhere"
