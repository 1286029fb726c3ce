"""The application: endpoints become routes, each answered in a worker thread; errors become answers in words."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from hashlib import sha256

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from errata.errors import ConflictError, ErrataError, NotFoundError
from errata.render.blocks_html import page_text
from errata.server import api, pages
from errata.server.endpoints import Endpoint
from errata.server.exchange import Answer, Bytes, Caller, Exchange, Page, Redirect
from errata.server.layout import MEDIA_TYPES, framed, static_file
from errata.server.security import HEADERS, LOOPBACK, MOST_BODY, is_cross_site, is_foreign
from errata.server.workers import Workers
from errata.settings import Settings
from errata.text.outgoing import for_user, tree_for_user

HTML, JSON = "text/html; charset=utf-8", "application/json"
Handled = Callable[[Request], Awaitable[Response]]


def build_app(settings: Settings, *, hosts: frozenset[str] = LOOPBACK) -> Starlette:
    """`hosts` are the names by which the server may be called."""
    workers = Workers(settings)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(workers.close)

    routes = [Route("/static/{name}", _static, methods=["GET"])]
    for endpoint in (*api.ENDPOINTS, *pages.ENDPOINTS):
        answer = _answering(endpoint, settings, workers, hosts)
        routes.append(Route(endpoint.path, answer, methods=[endpoint.method], name=endpoint.handler.__name__))
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers={404: _no_route})


def _answering(endpoint: Endpoint, settings: Settings, workers: Workers, hosts: frozenset[str]) -> Handled:
    async def answer(request: Request) -> Response:
        if is_foreign(request.headers, hosts=hosts):
            return _problem(endpoint, 421, "This server is not called by that name")
        if endpoint.method != "GET" and is_cross_site(request.headers):
            return _problem(endpoint, 403, "The request came from a page of another site")
        body = await _body_of(request)
        if body is None:
            return _problem(endpoint, 413, f"The request is longer than {MOST_BODY:,} bytes")
        loop = asyncio.get_running_loop()

        def handle() -> Response:
            try:
                answered = workers.work(
                    lambda store: endpoint.handler(
                        Exchange(
                            store=store,
                            settings=settings,
                            caller=Caller(name=settings.author or "you"),
                            now=datetime.now(UTC),
                            path=request.url.path,
                            values={name: str(value) for name, value in request.path_params.items()},
                            query=dict(request.query_params),
                            headers=dict(request.headers),
                            body=body,
                        )
                    )
                )
                return _response(answered, endpoint, request)
            except NotFoundError as error:
                return _problem(endpoint, 404, error.message, error.hint)
            except ConflictError as error:
                return _problem(endpoint, 409, error.message, error.hint)
            except ErrataError as error:
                return _problem(endpoint, 400, error.message, error.hint)

        return await loop.run_in_executor(workers.pool, handle)

    return answer


async def _body_of(request: Request) -> bytes | None:
    """None where there is more of it than the server takes."""
    parts, length = [], 0
    async for part in request.stream():
        length += len(part)
        if length > MOST_BODY:
            return None
        parts.append(part)
    return b"".join(parts)


def _response(answered: Answer, endpoint: Endpoint, request: Request) -> Response:
    match answered:
        case Page():
            content = framed(answered).encode("utf-8")
            return _sent(content, HTML, request, status=answered.status)
        case Redirect():
            return Response(status_code=answered.status, headers={**HEADERS, "Location": answered.target})
        case Bytes():
            headers = {**HEADERS, **answered.headers}
            return Response(answered.content, answered.status, headers=headers, media_type=answered.media_type)
        case _:
            content = msgspec.json.encode(tree_for_user(msgspec.to_builtins(answered)))
            return _sent(content, JSON, request, status=endpoint.status)


def _sent(content: bytes, media_type: str, request: Request, *, status: int = 200) -> Response:
    """With a mark of its content: whoever has it already is told so."""
    mark = f'"{sha256(content).hexdigest()[:20]}"'
    headers = {**HEADERS, "ETag": mark, "Cache-Control": "no-cache"}
    if status == 200 and request.headers.get("if-none-match") == mark:
        return Response(status_code=304, headers=headers)
    return Response(content, status_code=status, headers=headers, media_type=media_type)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    content = static_file(name)
    if content is None:
        return Response("There is no such file.", 404, headers=HEADERS)
    media_type = MEDIA_TYPES["." + name.rpartition(".")[2]]
    return Response(content, headers={**HEADERS, "Cache-Control": "max-age=31536000, immutable"}, media_type=media_type)


async def _no_route(request: Request, _: Exception) -> Response:
    page = Page(
        title="Not found", body=f"<h1>There is no page here</h1><p><code>{page_text(request.url.path)}</code></p>"
    )
    return Response(framed(page), 404, headers=HEADERS, media_type=HTML)


class Problem(msgspec.Struct, frozen=True):
    """An error of the API."""

    error: str
    hint: str = ""


def _problem(endpoint: Endpoint, status: int, message: str, hint: str = "") -> Response:
    if endpoint.is_page:
        body = f"<h1>{page_text(message)}</h1>" + (f"<p>{page_text(hint)}</p>" if hint else "")
        return Response(framed(Page(title="Problem", body=body)), status, headers=HEADERS, media_type=HTML)
    content = msgspec.json.encode(Problem(for_user(message), for_user(hint)))
    return Response(content, status, headers=HEADERS, media_type=JSON)
