"""Answers about what went wrong: JSON for programs, a page for people."""

from collections.abc import Mapping

import msgspec
from starlette.responses import Response

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


def problem(
    path: str, status: int, message: str, hint: str = "", *, id: str = "", headers: Mapping[str, str] | None = None
) -> Response:
    if path.startswith(API):
        content = msgspec.json.encode(Problem(for_user(message), for_user(hint), id))
        return Response(content, status, headers=headers, media_type=JSON)
    body = f"<h1>{page_text(message)}</h1>" + (f"<p>{page_text(hint)}</p>" if hint else "")
    return Response(framed(Page(title="Problem", body=body)), status, headers=headers, media_type=HTML)
