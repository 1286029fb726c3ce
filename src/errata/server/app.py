"""The application: endpoints become routes, each answered in a worker thread; errors become answers in words."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, nullcontext
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from typing import TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Send
from starlette.types import Scope as HttpScope

from errata.errors import ConflictError, ErrataError, NotFoundError, NotReadyError
from errata.model.codec import strict_json
from errata.model.token import Caller, Scope
from errata.server import api, pages
from errata.server.access import Access, lacking
from errata.server.deriving import LargeRuns
from errata.server.events import OLDEST_PAGE, EventStream
from errata.server.exchange import Answer, Bytes, Endpoint, Exchange, MountedApp, Page, Redirect, ServerOptions
from errata.server.indexing import Indexer
from errata.server.layout import MEDIA_TYPES, framed, static_file
from errata.server.pages.addresses import login_page
from errata.server.problems import HTML, JSON, not_ready, problem
from errata.server.publishing import Publisher
from errata.server.security import (
    MOST_ANSWER,
    MOST_BODY,
    MOST_OPEN_BODY,
    SECONDS,
    Bodies,
    DeniedError,
    Guard,
    address_of,
)
from errata.settings import Settings, using_store
from errata.text.crash_file import write_crash
from errata.text.outgoing import tree_for_user
from errata.verbs.pages import large_runs_in_background
from errata.verbs.shown_ids import original_values
from errata.verbs.store import Store, names_only, open_store

Result = TypeVar("Result")
THREADS = 8


class Workers:
    def __init__(
        self,
        settings: Settings,
        threads: int = THREADS,
        *,
        deployment: str = "",
        is_derived_here: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """`is_derived_here`: of a large run, whether requests derive it after all."""
        self._settings = settings
        self._deployment = deployment
        self._is_derived_here = is_derived_here
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="errata")
        self._own = threading.local()
        self._opened: list[tuple[Store, ExitStack]] = []
        self._lock = threading.Lock()

    @property
    def pool(self) -> ThreadPoolExecutor:
        return self._pool

    def work(self, handler: Callable[[Store], Result]) -> Result:
        """In a thread of the pool: the handler with the store of this thread."""
        with using_store(self._settings.store), names_only(), large_runs_in_background(self._is_derived_here):
            return handler(self._store())

    def open(self) -> Store:
        """The store, for a thread beside those of the pool."""
        return open_store(self._settings.store, deployment=self._deployment)

    def _store(self) -> Store:
        store: Store | None = getattr(self._own, "store", None)
        if store is None:
            store, connections = self.open(), ExitStack()
            connections.enter_context(store.kept_open())
            with self._lock:
                self._opened.append((store, connections))
            self._own.store = store
        return store

    def close(self) -> None:
        """After the last request: wait for the threads, then close their connections."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        for store, connections in self._opened:
            connections.close()
            store.engine.dispose()


class _NameConvertor(PathConvertor):
    """A name in an address, as `{case:name}`: with slashes like a path, and also of several lines."""

    regex = r"[\s\S]*"


register_url_convertor("name", _NameConvertor())
T = TypeVar("T")
PARSE_ERROR = -32700
"""Of JSON-RPC."""


class Backend(msgspec.Struct, frozen=True):
    """What the handlers of one server share."""

    settings: Settings
    options: ServerOptions
    workers: Workers
    access: Access
    bodies: Bodies
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
    backend = Backend(
        settings, chosen, workers, Access(settings, chosen), Bodies(), events, publisher, indexer, large_runs
    )

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
        middleware=[Middleware(Guard, hosts=chosen.hosts, on_bug=_bug)],
        exception_handlers={HTTPException: _no_route},
    )
    app.state.events, app.state.workers = backend.events, backend.workers
    return app


def _answering(endpoint: Endpoint, backend: Backend) -> Callable[[Request], Awaitable[Response]]:
    """Who asks is known before a byte of the body is kept."""

    def in_worker(work: Callable[[Store], T], request: Request) -> Awaitable[T | Response]:
        task = partial(_worked, endpoint, backend, request, work)
        return asyncio.get_running_loop().run_in_executor(backend.workers.pool, task)

    async def answer(request: Request) -> Response:
        path = request.url.path
        if not has_body(request):
            return await within(
                path, in_worker(lambda store: _response_of(endpoint, backend, request, b"", store), request)
            )
        caller = await in_worker(lambda store: _caller(endpoint, backend, request, store), request)
        if isinstance(caller, Response):
            return caller
        async with backend.bodies.of(request, most=MOST_OPEN_BODY if endpoint.is_open else MOST_BODY) as body:
            handled = in_worker(lambda store: _response_of(endpoint, backend, request, body, store, caller), request)
            return await within(path, handled)

    return answer


async def within(path: str, handled: Awaitable[Response]) -> Response:
    try:
        # a thread can't be stopped: it ends by itself, and nobody waits for it
        return await asyncio.wait_for(asyncio.shield(handled), SECONDS)
    except TimeoutError:
        return problem(path, 503, f"The answer took longer than {SECONDS:.0f} s", "ask for less, or again later")


def _worked(endpoint: Endpoint, backend: Backend, request: Request, work: Callable[[Store], T]) -> T | Response:
    path = request.url.path
    try:
        return backend.workers.work(work)
    except DeniedError as refused:
        if refused.status == 401 and endpoint.is_page and request.method == "GET":
            return Response(status_code=303, headers={"Location": login_page(_target(request))})
        return refused.answer(path)
    except NotFoundError as error:
        return problem(path, 404, error.message, error.hint)
    except NotReadyError as error:
        backend.large_runs.derive_soon(error.run)
        return not_ready(path, error, str(backend.large_runs.progress_of(error.run) or ""))
    except ConflictError as error:
        return problem(path, 409, error.message, error.hint)
    except ErrataError as error:
        return problem(path, 400, error.message, error.hint)


def _caller(endpoint: Endpoint, backend: Backend, request: Request, store: Store) -> Caller:
    if endpoint.is_open:
        return Caller(name="", scopes=frozenset())
    return backend.access.caller(request, endpoint.scope, store, datetime.now(UTC))


def _response_of(
    endpoint: Endpoint, backend: Backend, request: Request, body: bytes, store: Store, known: Caller | None = None
) -> Response:
    caller = known or _caller(endpoint, backend, request, store)
    exchange = Exchange(
        store=store,
        settings=backend.settings,
        caller=caller,
        access=backend.access,
        publisher=backend.publisher,
        large_runs=backend.large_runs,
        server=backend.options,
        now=datetime.now(UTC),
        path=request.url.path,
        values=original_values({name: str(value) for name, value in request.path_params.items()}, store),
        query={name: ",".join(request.query_params.getlist(name)) for name in request.query_params},
        headers=dict(request.headers),
        address=address_of(request),
        # of a proxy; whoever claims it without one gets a cookie that the browser keeps to itself
        is_encrypted="https" in (request.url.scheme, request.headers.get("x-forwarded-proto")),
        body=body,
    )
    answered = endpoint.handler(exchange)
    to_review = backend.indexer.count_unreviewed(store) if isinstance(answered, Page) and caller.scopes else None
    return _response(answered, endpoint, caller, request, to_review=to_review)


def _listening(backend: Backend) -> Callable[[Request], Awaitable[Response]]:
    async def listen(request: Request) -> Response:
        await caller_of(backend, request, "read")
        age = request.query_params.get("age", "")
        answer = backend.events.answer(
            request.headers.get("last-event-id", ""), min(float(age), OLDEST_PAGE) if age.isdecimal() else 0.0
        )
        if answer is None:
            return problem("/events", 503, "Too many pages listen", "close some", headers={"Retry-After": "30"})
        return answer

    return listen


class _Mounted:
    """Another application, which sees only requests of those who may, as JSON that nobody reads in another way."""

    def __init__(self, mounted: MountedApp, backend: Backend) -> None:
        self._mounted, self._backend = mounted, backend

    async def __call__(self, scope: HttpScope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        caller = await caller_of(self._backend, request, "read")
        async with self._backend.bodies.of(request) as body:
            try:
                content = await asyncio.to_thread(lambda: msgspec.json.encode(strict_json(body)))
            except ValueError as error:
                wrong = {"code": PARSE_ERROR, "message": f"The body is wrong: {error}"}
                await JSONResponse({"jsonrpc": "2.0", "id": None, "error": wrong}, 400)(scope, receive, send)
                return
            first: list[Message] = [{"type": "http.request", "body": content, "more_body": False}]

            async def receive_again() -> Message:
                return first.pop() if first else await receive()

            state = scope["state"] = {"caller": caller, "lacks": ""}
            refused: Response | None = None

            async def send_if_allowed(message: Message) -> None:
                nonlocal refused
                if refused is None and state["lacks"] and message["type"] == "http.response.start":
                    refused = lacking(caller, state["lacks"]).answer(request.url.path)
                    await refused(scope, receive, send)
                elif refused is None:
                    await send(message)

            length = (b"content-length", str(len(content)).encode())
            headers = [
                *(pair for pair in scope["headers"] if pair[0] not in (b"content-length", b"transfer-encoding")),
                length,
            ]
            await self._mounted.app({**scope, "headers": headers}, receive_again, send_if_allowed)


async def caller_of(backend: Backend, request: Request, scope: Scope) -> Caller:
    """For what is not answered in a worker thread; `DeniedError` where nobody may."""

    def check() -> Caller:
        return backend.workers.work(lambda store: backend.access.caller(request, scope, store, datetime.now(UTC)))

    return await asyncio.get_running_loop().run_in_executor(backend.workers.pool, check)


def _response(
    answered: Answer, endpoint: Endpoint, caller: Caller, request: Request, *, to_review: int | None
) -> Response:
    match answered:
        case Page():
            account = caller.name if caller.token else ""
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
    headers = {"ETag": mark, "Cache-Control": "no-cache"}
    if status == 200 and request.headers.get("if-none-match") == mark:
        return Response(status_code=304, headers=headers)
    return Response(content, status_code=status, headers=headers, media_type=media_type)


def _bug(error: Exception, method: str, address: str) -> Response:
    """The traceback stays on this machine; the answer names the file."""
    path = write_crash(error, f"request: {method} {address}")
    name = path.stem.removeprefix("errata-crash-")
    hint = f"report it with the id {name}; details are in `{path.name}` in the server's temporary folder"
    return problem(address, 500, f"errata has a bug: {type(error).__name__}", hint, id=name)


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


def has_body(request: Request) -> bool:
    return request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers


def _target(request: Request) -> str:
    query = request.url.query
    return f"{request.url.path}?{query}" if query else request.url.path
