"""Answers about what went wrong: JSON for programs, a page for people."""

from collections.abc import Mapping

import msgspec
from starlette.responses import Response

from errata.errors import NotReadyError
from errata.render.blocks_html import page_text
from errata.server.exchange import Page
from errata.server.layout import framed
from errata.text.outgoing import for_user

HTML, JSON = "text/html; charset=utf-8", "application/json"
API = ("/api/", "/mcp", "/events")
"""Addresses of programs."""


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """An error of the API."""

    error: str
    hint: str
    id: str = ""
    """Of a bug: to be named in a report of it."""


WAIT = 3
"""Seconds after which it is worth to ask again."""


def not_ready(path: str, error: NotReadyError, progress: str) -> Response:
    """What a large run needs is not derived yet; the page loads itself again."""
    headers = {"Retry-After": str(WAIT)}
    message = f"{error.message} ({progress})" if progress else error.message
    if path.startswith(API):
        return problem(path, 503, message, error.hint, headers=headers)
    body = (
        f"<h1>{page_text(error.message)}</h1>{waiting_notice(error.run, progress)}"
        "<p>This page needs them. It is loaded again when they are there.</p>"
    )
    page = Page(title="Not ready yet", body=body, scripts=("waiting.js",))
    # without script, the browser asks again by itself
    return Response(framed(page), 503, headers={**headers, "Refresh": "10"}, media_type=HTML)


def waiting_notice(run_id: str, progress: str) -> str:
    """`waiting.js` keeps the words up to date, and loads the page again in the end."""
    words = page_text(progress or "Waiting for its turn")
    return f'<p class="waiting" role="status" data-waiting="{page_text(run_id)}">{words}</p>'


def problem(
    path: str, status: int, message: str, hint: str = "", *, id: str = "", headers: Mapping[str, str] | None = None
) -> Response:
    if path.startswith(API):
        content = msgspec.json.encode(Problem(for_user(message), for_user(hint), id))
        return Response(content, status, headers=headers, media_type=JSON)
    body = f"<h1>{page_text(message)}</h1>" + (f"<p>{page_text(hint)}</p>" if hint else "")
    return Response(framed(Page(title="Problem", body=body)), status, headers=headers, media_type=HTML)
