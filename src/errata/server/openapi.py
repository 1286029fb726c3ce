"""The description of the API, made from the endpoints: `/api/openapi.json` for programs, `/api` for people."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec

from errata import __version__
from errata.render.blocks_html import page_text
from errata.server.exchange import Bytes, Endpoint, Exchange, Page
from errata.server.layout import table
from errata.server.problems import Problem
from errata.text.lazy_regex import lazy_regex

_PLACE = lazy_regex(r"\{(\w+)(?::\w+)?\}")
_SCHEMAS = "#/components/schemas/{name}"


def description(endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    """OpenAPI 3.1."""
    listed = [endpoint for endpoint in endpoints if not endpoint.is_page]
    records = {kind for endpoint in listed for kind in (endpoint.takes, endpoint.gives) if kind is not None}
    ordered = sorted(records | {Problem}, key=lambda kind: kind.__name__)
    refs, components = msgspec.json.schema_components(ordered, ref_template=_SCHEMAS)
    content = {kind: {"application/json": {"schema": ref}} for kind, ref in zip(ordered, refs, strict=True)}
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in listed:
        path = _PLACE.sub(r"{\1}", endpoint.path)
        paths.setdefault(path, {})[endpoint.method.lower()] = _operation(endpoint, content)
    return {
        "openapi": "3.1.0",
        "info": {"title": "errata", "version": __version__, "description": "The post-mortem for LLM eval runs."},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _operation(endpoint: Endpoint, content: dict[type, dict[str, Any]]) -> dict[str, Any]:
    assert endpoint.gives is not None
    operation: dict[str, Any] = {
        "operationId": endpoint.handler.__name__,
        "summary": endpoint.summary,
        "description": f"Scope: `{endpoint.scope}`.",
        "parameters": [*_in_path(endpoint), *_in_query(endpoint)],
        "responses": {
            str(endpoint.status): {"description": "The answer.", "content": content[endpoint.gives]},
            "default": {"description": "What is wrong, and what would be right.", "content": content[Problem]},
        },
    }
    if endpoint.scope == "report":
        operation["security"] = [{"token": []}]
    if endpoint.takes is not None:
        operation["requestBody"] = {"required": True, "content": content[endpoint.takes]}
    return operation


def _in_path(endpoint: Endpoint) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in _PLACE.findall(endpoint.path)
    ]


def _in_query(endpoint: Endpoint) -> list[dict[str, Any]]:
    if endpoint.query is None:
        return []
    [schema], components = msgspec.json.schema_components([endpoint.query])
    whole = components.get(endpoint.query.__name__, schema)
    required = whole.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in required, "schema": part}
        for name, part in whole.get("properties", {}).items()
    ]


# --- the two addresses; both need the list of all endpoints, which is complete only after every module is loaded


@cache
def _all_endpoints() -> tuple[Endpoint, ...]:
    from errata.server import api  # noqa: PLC0415 it imports this module

    return api.ENDPOINTS


@cache
def _encoded() -> bytes:
    return msgspec.json.encode(description(_all_endpoints()), order="deterministic")


def openapi_document(_: Exchange) -> Bytes:
    return Bytes(content=_encoded(), media_type="application/json", headers={"Cache-Control": "no-cache"})


def api_page(_: Exchange) -> Page:
    listed = [endpoint for endpoint in _all_endpoints() if not endpoint.is_page]
    rows = (
        (
            f"<code>{endpoint.method} {page_text(endpoint.path)}</code>",
            page_text(endpoint.summary),
            page_text(", ".join(_names(endpoint.query))) or "–",
            page_text(", ".join(_names(endpoint.takes))) or "–",
            f"<code>{endpoint.scope}</code>",
        )
        for endpoint in listed
    )
    body = (
        "<h1>API</h1><p>The answers are those of the commands with <code>--json</code>. Errors are "
        "<code>{&quot;error&quot;, &quot;hint&quot;}</code>. Programs send a token as "
        '<code>Authorization: Bearer TOKEN</code>. Whole description: <a href="/api/openapi.json">OpenAPI 3.1</a>. '
        'Changes: <a href="/events">server-sent events</a>.</p>'
        + table(("Call", "Answer", "Query", "Body", "Scope"), rows, label="Calls of the API")
    )
    return Page(title="API", body=body, command="curl http://127.0.0.1:8731/api/openapi.json")


def _names(kind: type | None) -> list[str]:
    return [field.encode_name for field in msgspec.structs.fields(kind)] if kind is not None else []


ENDPOINTS = (
    Endpoint(path="/api/openapi.json", handler=openapi_document, summary="Describe the API."),
    Endpoint(path="/api", handler=api_page, summary="Describe the API to people."),
)
