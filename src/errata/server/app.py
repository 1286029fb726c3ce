"""The application: endpoints become routes, each answered in a worker thread; errors become answers in words."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from datetime import UTC, datetime
from hashlib import sha256

import msgspec
from starlette.applications import Starlette
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Send
from starlette.types import Scope as HttpScope

from errata.errors import ConflictError, ErrataError, NotFoundError, NotReadyError
from errata.model.token import Scope
from errata.server import api, pages
from errata.server.access import COOKIE, Access, DeniedError
from errata.server.deriving import LargeRuns
from errata.server.events import OLDEST_PAGE, EventStream
from errata.server.exchange import Answer, Bytes, Caller, Endpoint, Exchange, MountedApp, Page, Redirect, ServerOptions
from errata.server.indexing import Indexer
from errata.server.layout import MEDIA_TYPES, framed, static_file
from errata.server.pages.addresses import login_page
from errata.server.problems import HTML, JSON, not_ready, problem
from errata.server.publishing import Publisher
from errata.server.security import MOST_ANSWER, MOST_BODY, SECONDS, Guard
from errata.server.workers import Workers
from errata.settings import Settings
from errata.text.crash_file import write_crash
from errata.text.outgoing import tree_for_user
from errata.verbs.shown_ids import original_values
from errata.verbs.store import Store


class _NameConvertor(PathConvertor):
    """A name in an address, as `{case:name}`: with slashes like a path, and also of several lines."""

    regex = r"[\s\S]*"


register_url_convertor("name", _NameConvertor())
AHEAD = "x-errata-ahead"
"""Sent by `list.js` for a row that somebody points at."""


class Backend(msgspec.Struct, frozen=True):
    """What the handlers of one server share."""

    settings: Settings
    options: ServerOptions
    workers: Workers
    access: Access
    events: EventStream
    publisher: Publisher
    indexer: Indexer
    large_runs: LargeRuns


def build_app(
    settings: Settings, options: ServerOptions | None = None, *, agent_tools: MountedApp | None = None
) -> Starlette:
    """`agent_tools` answers at `/mcp`."""
    chosen = options or ServerOptions()
    large_runs = LargeRuns(settings, deployment=chosen.deployment)
    workers = Workers(settings, deployment=chosen.deployment, is_derived_here=large_runs.has_given_up)
    publisher = Publisher(settings, workers.open, stuck_after=chosen.stuck_after)
    events, indexer = EventStream(workers.open), Indexer(settings, deployment=chosen.deployment)
    backend = Backend(settings, chosen, workers, Access(settings, chosen), events, publisher, indexer, large_runs)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        publisher.start()
        await backend.events.start()
        indexer.start()
        large_runs.start()
        async with agent_tools.running() if agent_tools is not None else nullcontext():
            yield
        await backend.events.close()
        await asyncio.to_thread(publisher.close)
        await asyncio.to_thread(large_runs.close)
        await asyncio.to_thread(indexer.close)
        await asyncio.to_thread(backend.workers.close)

    routes = [
        Route("/static/{name}", _static, methods=["GET"]),
        Route("/events", _listening(backend), methods=["GET"]),
    ]
    for endpoint in (*api.ENDPOINTS, *pages.ENDPOINTS):
        answer = _answering(endpoint, backend)
        routes.append(Route(endpoint.path, answer, methods=[endpoint.method], name=endpoint.handler.__name__))
    if agent_tools is not None:
        routes.append(Route("/mcp", _Mounted(agent_tools, backend), methods=["POST"]))
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[Middleware(Guard, hosts=chosen.hosts)],
        exception_handlers={HTTPException: _no_route},
    )
    app.state.events, app.state.workers = backend.events, backend.workers
    return app


def _answering(endpoint: Endpoint, backend: Backend) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        path = request.url.path
        try:
            body = await asyncio.wait_for(_body_of(request), SECONDS)
        except TimeoutError:
            return problem(path, 408, f"The request took longer than {SECONDS:.0f} s to arrive")
        if body is None:
            return problem(path, 413, f"The request is longer than {MOST_BODY:,} bytes")
        handled = asyncio.get_running_loop().run_in_executor(
            backend.workers.pool, _handle, endpoint, backend, request, body
        )
        try:
            # a thread can't be stopped: it ends by itself, and nobody waits for it
            return await asyncio.wait_for(asyncio.shield(handled), SECONDS)
        except TimeoutError:
            return problem(path, 503, f"The answer took longer than {SECONDS:.0f} s", "ask for less, or again later")

    return answer


def _handle(endpoint: Endpoint, backend: Backend, request: Request, body: bytes) -> Response:
    """In a worker thread."""
    path = request.url.path
    try:
        return backend.workers.work(lambda store: _response_of(endpoint, backend, request, body, store))
    except DeniedError as denied:
        if denied.status == 401 and endpoint.is_page and request.method == "GET":
            return Response(status_code=303, headers={"Location": login_page(_target(request))})
        return problem(path, denied.status, denied.message, denied.hint, headers=denied.headers)
    except NotFoundError as error:
        return problem(path, 404, error.message, error.hint)
    except NotReadyError as error:
        backend.large_runs.derive_soon(error.run)
        return not_ready(path, error, str(backend.large_runs.progress_of(error.run) or ""))
    except ConflictError as error:
        return problem(path, 409, error.message, error.hint)
    except ErrataError as error:
        return problem(path, 400, error.message, error.hint)
    except Exception as error:  # noqa: BLE001 one of the five places: the door of the server
        return _bug(error, request)


def _response_of(endpoint: Endpoint, backend: Backend, request: Request, body: bytes, store: Store) -> Response:
    now, address = datetime.now(UTC), request.client.host if request.client else ""
    cookie = request.cookies.get(COOKIE)
    if endpoint.is_open:
        caller = Caller(name="", scopes=frozenset(), is_local=False)
    else:
        caller = backend.access.caller(request.headers, cookie, address, endpoint.scope, store, now)
    exchange = Exchange(
        store=store,
        settings=backend.settings,
        caller=caller,
        access=backend.access,
        publisher=backend.publisher,
        large_runs=backend.large_runs,
        server=backend.options,
        now=now,
        path=request.url.path,
        values=original_values({name: str(value) for name, value in request.path_params.items()}, store),
        query={name: ",".join(request.query_params.getlist(name)) for name in request.query_params},
        headers=dict(request.headers),
        address=address,
        is_encrypted=request.url.scheme == "https",
        body=body,
    )
    answered = endpoint.handler(exchange)
    to_review = backend.indexer.count_unreviewed(store) if isinstance(answered, Page) and caller.scopes else None
    return _response(answered, endpoint, caller, request, to_review=to_review)


def _listening(backend: Backend) -> Callable[[Request], Awaitable[Response]]:
    async def listen(request: Request) -> Response:
        if refused := await denied(backend, request, "read"):
            return refused
        age = request.query_params.get("age", "")
        answer = backend.events.answer(
            request.headers.get("last-event-id", ""), min(float(age), OLDEST_PAGE) if age.isdecimal() else 0.0
        )
        if answer is None:
            return problem("/events", 503, "Too many pages listen", "close some", headers={"Retry-After": "30"})
        return answer

    return listen


class _Mounted:
    """Another application, which sees only requests of those who may."""

    def __init__(self, mounted: MountedApp, backend: Backend) -> None:
        self._mounted, self._backend = mounted, backend

    async def __call__(self, scope: HttpScope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        body = await _body_of(request)
        if body is None:
            refused: Response | None = problem("/mcp", 413, f"The request is longer than {MOST_BODY:,} bytes")
        else:
            refused = await denied(self._backend, request, self._mounted.scope_of(body))
        if refused is not None:
            await refused(scope, receive, send)
            return
        first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive_again() -> Message:
            return first.pop() if first else await receive()

        await self._mounted.app(scope, receive_again, send)


async def denied(backend: Backend, request: Request, scope: Scope) -> Response | None:
    """For what is not answered in a worker thread: the refusal, if there is one."""
    address = request.client.host if request.client else ""

    def check() -> Response | None:
        try:
            backend.workers.work(
                lambda store: backend.access.caller(
                    request.headers, request.cookies.get(COOKIE), address, scope, store, datetime.now(UTC)
                )
            )
        except DeniedError as refused:
            return problem(request.url.path, refused.status, refused.message, refused.hint, headers=refused.headers)
        return None

    return await asyncio.get_running_loop().run_in_executor(backend.workers.pool, check)


async def _body_of(request: Request) -> bytes | None:
    """None where there is more of it than the server takes."""
    parts, length = [], 0
    async for part in request.stream():
        length += len(part)
        if length > MOST_BODY:
            return None
        parts.append(part)
    return b"".join(parts)


def _response(
    answered: Answer, endpoint: Endpoint, caller: Caller, request: Request, *, to_review: int | None
) -> Response:
    match answered:
        case Page():
            account = "" if caller.is_local else caller.name
            content = framed(answered, account=account, to_review=to_review).encode("utf-8")
            return _sent(content, HTML, request, status=answered.status)
        case Redirect():
            return Response(status_code=answered.status, headers={**answered.headers, "Location": answered.target})
        case Bytes():
            return Response(answered.content, answered.status, headers=answered.headers, media_type=answered.media_type)
        case _:
            content = msgspec.json.encode(tree_for_user(msgspec.to_builtins(answered)))
            return _sent(content, JSON, request, status=endpoint.status)


def _sent(content: bytes, media_type: str, request: Request, *, status: int = 200) -> Response:
    """With a mark of its content: whoever has it already gets no second copy."""
    if len(content) > MOST_ANSWER:
        hint = "ask for less: with filters, or page by page"
        return problem(request.url.path, 413, f"The answer is longer than {MOST_ANSWER:,} bytes", hint)
    mark = f'"{sha256(content).hexdigest()[:20]}"'
    # what a list loads ahead is shown if it is opened at once
    is_ahead = request.headers.get(AHEAD) is not None
    headers = {"ETag": mark, "Cache-Control": "private, max-age=5" if is_ahead else "no-cache"}
    if status == 200 and request.headers.get("if-none-match") == mark:
        return Response(status_code=304, headers=headers)
    return Response(content, status_code=status, headers=headers, media_type=media_type)


def _bug(error: Exception, request: Request) -> Response:
    """The traceback stays on this machine; the answer names the file."""
    path = write_crash(error, f"request: {request.method} {request.url.path}")
    name = path.stem.removeprefix("errata-crash-")
    hint = f"report it with the id {name}; details are in `{path.name}` in the server's temporary folder"
    return problem(request.url.path, 500, f"errata has a bug: {type(error).__name__}", hint, id=name)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    content = static_file(name)
    if content is None:
        return problem(request.url.path, 404, "There is no such file")
    media_type = MEDIA_TYPES["." + name.rpartition(".")[2]]
    return Response(content, headers={"Cache-Control": "max-age=31536000, immutable"}, media_type=media_type)


async def _no_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    path = request.url.path
    if error.status_code == 405:
        return problem(path, 405, f"`{request.method}` is not possible here", headers=error.headers)
    return problem(path, error.status_code, "There is no page here", f"`{path}`")


def _target(request: Request) -> str:
    query = request.url.query
    return f"{request.url.path}?{query}" if query else request.url.path
