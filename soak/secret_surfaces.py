"""What leaves errata without a command: pages and answers of the server, tools of agents, tables, crash files."""

import asyncio
import csv
import html
import io
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import msgspec
import pyarrow.parquet

import errata.api
from errata.errors import ErrataError
from errata.mcp.server import listed_resources, read_resource
from errata.mcp.tools import TOOLS, Call
from errata.server import api
from errata.server.app import build_app
from errata.settings import Settings
from errata.text.crash_file import write_crash
from errata.verbs.store import open_store

MOST_PAGES = 60
_LINK = re.compile(r"""(?:href|src|action|data-[a-z-]+)="(/[^"]*)\"""")


def surfaces(folder: Path, run: str, attempts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Name and text of each."""
    settings = Settings(store=folder / "store.db", author="soak")
    yield from asyncio.run(_served(settings, run, attempts))
    yield from _for_agents(settings, run, attempts)
    yield from _tables(folder / "store.db")
    for file in sorted(folder.rglob("*.parquet")):
        yield f"table {file.name}", _text_of(pyarrow.parquet.read_table(file).to_pydict())
    yield "crash file", _crash(folder)


async def _served(settings: Settings, run: str, attempts: Sequence[str]) -> list[tuple[str, str]]:
    """Pages by following their links, then every answer of the API that only reads."""
    app = build_app(settings)
    answers: dict[str, str] = {}
    linked: set[str] = set()
    waiting = ["/", "/review", "/compare", "/buckets", "/leaderboard", "/doctor", "/search?q=rejected", f"/runs/{run}"]
    waiting += [f"/review/{quote(attempt, safe='')}" for attempt in attempts[:3]]
    fields = {"run": run, "attempt": quote(attempts[0], safe=""), "runs": run}
    for endpoint in api.ENDPOINTS:
        path = re.sub(r"\{(\w+)(?::\w+)?\}", lambda name: fields.get(name[1], "no-such"), endpoint.path)
        waiting += [path] if endpoint.method == "GET" else []
    waiting += [f"/api/compare?runs={run},{run}", "/api/search?q=rejected"]
    transport = httpx2.ASGITransport(app=app, client=("127.0.0.1", 1))
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
    ):
        while waiting and len(answers) < MOST_PAGES:
            address = waiting.pop(0)
            if address in answers or address.startswith(("/static", "/events")):
                continue
            answer = await client.get(address, follow_redirects=True)
            assert answer.status_code < (400 if address in linked else 500), f"{address}: {answer.text[:500]}"
            answers[address] = f"{answer.headers}\n{answer.text}"
            if "text/html" in answer.headers.get("content-type", ""):
                links = {html.unescape(link).partition("#")[0] for link in _LINK.findall(answer.text)}
                waiting += sorted(links - linked)
                linked |= links
    return [(f"GET {address[:60]}", text) for address, text in answers.items()]


def _for_agents(settings: Settings, run: str, attempts: Sequence[str]) -> Iterator[tuple[str, str]]:
    store = open_store(settings.store)
    with store.kept_open():
        call = Call(store=store, settings=settings, now=datetime.now(UTC))
        given: dict[str, Any] = {"run": run, "runs": [run], "thing": attempts[0], "attempt": attempts[0]}
        for name, tool in TOOLS.items():
            if tool.writes:
                continue
            taken = {field: given[field] for field in tool.takes.__struct_fields__ if field in given}
            try:
                page = TOOLS[name].run(call, msgspec.convert(taken, TOOLS[name].takes))
            except ErrataError as error:
                yield f"tool {name}", f"{error.message} {error.hint}"
            else:
                yield f"tool {name}", _text_of(page.items)
        resources, _ = listed_resources(call, "")
        for number, resource in enumerate(resources):
            yield f"resource {number}", f"{resource.uri} {resource.name} {resource.description}"
            if number < len(attempts):
                yield f"resource {number} as read", read_resource(resource.uri, call)


def _tables(store: Path) -> Iterator[tuple[str, str]]:
    with errata.api.open(store) as opened:
        run = opened.run()
        tables = {"runs": opened.runs(), "failures": run.failures(), "attempts": run.attempts(), "checks": run.checks()}
        for name, table in tables.items():
            yield f"api {name}", f"{table!r}\n{table._repr_html_()}\n{_text_of(table.to_arrow().to_pylist())}"
        yield "api run", f"{opened!r}\n{run!r}\n{run._repr_html_()}"


def _crash(folder: Path) -> str:
    """Of an error whose message, arguments and variables hold what a log held."""
    line = next(iter((folder / "secrets.jsonl").read_text(encoding="utf-8").splitlines()[2:]), "")
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        try:
            raise KeyError(line)
        except KeyError as error:
            file = write_crash(error, f"errata import {line}")
    text = f"{file.name}\n{file.read_text(encoding='utf-8')}"
    file.unlink()
    return text + out.getvalue()


def _text_of(value: Any) -> str:
    """Also a cell as a person would read it: a table of quotes hides nothing."""
    cells = io.StringIO()
    if isinstance(value, list) and value and isinstance(value[0], dict):
        csv.writer(cells).writerows([str(item) for item in row.values()] for row in value)
    return json.dumps(value, ensure_ascii=False, default=str) + cells.getvalue()
