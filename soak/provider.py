"""A provider of language models on loopback that speaks OpenAI's protocol: friendly, or as hostile as can be.

`python -m soak.provider --plan hostile --log FILE` prints its address and ends when nobody has asked for a while.
"""

import argparse
import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self, TextIO

from soak import answers
from soak.plans import Plan, plan_for
from soak.request import PacketRequest, parse_request
from soak.wire import WAYS, Line, properly

HOST = "127.0.0.1"


class RecordedRequest(NamedTuple):
    """One request, as it came in, and the kind of answer that it gets."""

    at: float
    asked: PacketRequest
    headers: dict[str, str]
    kind: str
    tokens: int | None
    """The usage that its answer reports."""


class Provider:
    """Listens while it is open, and records every request. Another listener is the target of redirects."""

    def __init__(self, plan: Plan, *, latency: float = 0.0, log: TextIO | None = None, port: int = 0) -> None:
        self._plan, self._latency, self._log, self._port = plan, latency, log, port
        self._before: Counter[str] = Counter()
        self._busy: set[asyncio.Task[None]] = set()
        self._servers: list[asyncio.Server] = []
        self.seen: list[RecordedRequest] = []
        """Where there is no log."""
        self.count = 0
        self.strayed = 0
        """Connections to the other listener: nobody may ever follow a redirect there."""
        self.last_asked = time.monotonic()

    async def __aenter__(self) -> Self:
        self._servers = [
            await asyncio.start_server(self._serve, HOST, self._port),
            await asyncio.start_server(self._stray, HOST, 0),
        ]
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in self._servers:
            server.close()
        for task in tuple(self._busy):
            task.cancel()
        await asyncio.gather(*self._busy, return_exceptions=True)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._servers[0].sockets[0].getsockname()[1]}/v1"

    @property
    def _elsewhere(self) -> str:
        return f"http://{HOST}:{self._servers[1].sockets[0].getsockname()[1]}/v1/chat/completions"

    async def _stray(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.strayed += 1
        self._write({"strayed": self.strayed})
        writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._busy.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while not writer.is_closing():
                    await self._answer(*await _request(reader), writer)
        finally:
            writer.close()
            self._busy.discard(task)

    async def _answer(self, headers: dict[str, str], body: bytes, writer: asyncio.StreamWriter) -> None:
        request = json.loads(body)
        question = parse_request(request)
        kind = self._plan(question.about, self._before[question.about])
        self._before[question.about] += 1
        completion = _completion(kind, request["model"], question)
        used = completion["usage"]
        seen = RecordedRequest(time.time(), question, headers, kind, used["total_tokens"] if used else None)
        self._remember(seen)
        await asyncio.sleep(self._latency)
        await WAYS.get(kind, properly)(Line(writer, json.dumps(completion).encode(), self._elsewhere))

    def _remember(self, seen: RecordedRequest) -> None:
        """Before the answer is sent, so that what was answered is in the log whatever happens then."""
        self.count += 1
        self.last_asked = time.monotonic()
        if self._log is None:
            self.seen.append(seen)
        else:
            about, number = seen.asked.about, seen.asked.round
            entry = {"id": self.count, "at": seen.at, "about": about, "round": number, "kind": seen.kind}
            self._write(entry | {"tokens": seen.tokens})

    def _write(self, entry: dict[str, Any]) -> None:
        if self._log is not None:
            self._log.write(json.dumps(entry) + "\n")
            self._log.flush()


@contextmanager
def running(plan: Plan) -> Iterator[Provider]:
    """A provider in a thread of its own, for those who can't wait for it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    provider = Provider(plan)
    try:
        asyncio.run_coroutine_threadsafe(provider.__aenter__(), loop).result()
        yield provider
    finally:
        asyncio.run_coroutine_threadsafe(provider.__aexit__(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _request(reader: asyncio.StreamReader) -> tuple[dict[str, str], bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    named = (line.partition(":") for line in head.split("\r\n")[1:] if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in named}
    return headers, await reader.readexactly(int(headers.get("content-length", 0)))


def _completion(kind: str, model: str, question: PacketRequest) -> dict[str, Any]:
    reply = answers.content(kind, question) if question.places else "hello"
    choice = {"index": 0, "message": {"role": "assistant", "content": reply}}
    if question.tools and (kind == "reads_for_ever" or (kind == "reads_first" and not question.read)):
        wanted = {"name": "read", "arguments": '{"place": "output"}'}
        calls = [{"id": "call-1", "type": "function", "function": wanted}]
        choice["message"] = {"role": "assistant", "content": None, "tool_calls": calls}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [choice | {"finish_reason": answers.finish_reason(kind)}],
        "usage": answers.usage(kind, question.prompt, reply),
    }


async def serve(plan: Plan, *, port: int, log: Path | None, latency: float, idle: float) -> None:
    with ExitStack() as stack:
        file = stack.enter_context(log.open("a", encoding="utf-8")) if log else None
        async with Provider(plan, latency=latency, log=file, port=port) as provider:
            print(provider.url, flush=True)
            while time.monotonic() - provider.last_asked < idle:
                await asyncio.sleep(0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plan", default="friendly", help="friendly, hostile, or kinds with commas between them")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--idle", type=float, default=60.0, help="seconds without a request after which it ends")
    chosen = parser.parse_args()
    plan = plan_for(chosen.plan, chosen.seed)
    asyncio.run(serve(plan, port=chosen.port, log=chosen.log, latency=chosen.latency, idle=chosen.idle))


if __name__ == "__main__":
    main()
