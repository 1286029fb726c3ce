"""A provider of language models on loopback that speaks OpenAI's protocol: friendly, or as hostile as can be.

`python -m soak.provider --plan hostile --log FILE` prints its address and ends when nobody has asked for a while.
"""

import argparse
import asyncio
import json
import re
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Self, TextIO

from soak.answers import content, finish_reason
from soak.plans import Plan, plan_for
from soak.wire import WAYS, Line, properly

HOST = "127.0.0.1"
CHARACTERS_A_TOKEN = 4
_ATTEMPT = re.compile(r'"attempt_id":\s*("(?:[^"\\]|\\.)*")')


class Seen(NamedTuple):
    """One request, as it came in."""

    id: int
    at: float
    attempt: str
    before: int
    """How often this attempt was asked about already."""
    kind: str
    """Of the answer it got."""
    prompt: str
    schema: dict[str, Any] | None
    authorization: str
    tokens: int
    """That its answer says were used, where it says so."""


class Provider:
    """Listens while it is open, and remembers every request. Another listener stands where redirects lead."""

    def __init__(self, plan: Plan, *, latency: float = 0.0, log: TextIO | None = None, port: int = 0) -> None:
        self._plan, self._latency, self._log, self._port = plan, latency, log, port
        self._before: Counter[str] = Counter()
        self._busy: set[asyncio.Task[None]] = set()
        self._servers: list[asyncio.Server] = []
        self.seen: list[Seen] = []
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
                    await self._answer(*await _request(reader), Line(writer, self._elsewhere))
        finally:
            writer.close()
            self._busy.discard(task)

    async def _answer(self, headers: dict[str, str], body: bytes, line: Line) -> None:
        asked = json.loads(body)
        prompt = "\n".join(str(message.get("content") or "") for message in asked["messages"])
        found = _ATTEMPT.search(prompt)
        attempt = json.loads(found[1]) if found else ""
        kind = self._plan(attempt, self._before[attempt])
        answer, tokens = _completion(kind, asked, prompt)
        schema = asked.get("response_format", {}).get("json_schema")
        seen = Seen(
            len(self.seen), time.time(), attempt, self._before[attempt], kind, prompt, schema,
            headers.get("authorization", ""), tokens,
        )  # fmt: skip
        self._before[attempt] += 1
        self.last_asked = time.monotonic()
        self.seen.append(seen if self._log is None else seen._replace(prompt="", schema=None))
        self._write({name: value for name, value in seen._asdict().items() if name not in _NOT_LOGGED})
        await asyncio.sleep(self._latency)
        await WAYS.get(kind, properly)(line, answer)

    def _write(self, entry: dict[str, Any]) -> None:
        """Before the answer is sent, so that what was answered is in the log whatever happens then."""
        if self._log is not None:
            self._log.write(json.dumps(entry) + "\n")
            self._log.flush()


_NOT_LOGGED = ("prompt", "schema", "authorization")


async def _request(reader: asyncio.StreamReader) -> tuple[dict[str, str], bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    named = (line.partition(":") for line in head.split("\r\n")[1:] if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in named}
    return headers, await reader.readexactly(int(headers.get("content-length", 0)))


def _completion(kind: str, asked: dict[str, Any], prompt: str) -> tuple[bytes, int]:
    told = content(kind, packet_in(prompt)) if "attempt_id" in prompt else "hello"
    given, made = len(prompt) // CHARACTERS_A_TOKEN, len(told or "") // CHARACTERS_A_TOKEN
    answer = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": asked["model"],
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": told},
                "finish_reason": finish_reason(kind),
            }
        ],
        "usage": {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made},
    }
    return json.dumps(answer).encode(), given + made


def packet_in(prompt: str) -> dict[str, Any]:
    """The JSON object of the packet, wherever it stands in the prompt."""
    found = _ATTEMPT.search(prompt)
    at = found.start() if found else -1
    while (at := prompt.rfind("{", 0, at)) >= 0:
        with suppress(ValueError):
            value = json.JSONDecoder().raw_decode(prompt, at)[0]
            if "places" in value:
                return dict(value)
    raise ValueError("no packet in the prompt")


async def serve(plan: Plan, *, port: int, log: Path | None, latency: float, idle: float) -> None:
    with log.open("a", encoding="utf-8") if log else suppress() as file:
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
