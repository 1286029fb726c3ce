"""A server that many press at once: idle connections, half-sent bodies, wrong tokens behind a proxy.

`python -m soak.crowd` prints the slowest answer to a right token and the server's memory; `make soak` asserts both.
"""

import contextlib
import json
import random
import resource
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import httpx2

from errata.verbs.analyze import import_logs
from errata.verbs.store import bundled_example, open_store
from errata.verbs.tokens import create_token
from soak.served import server_process

CROWD, BODY, SENT = 500, 16_000_000, 8_000_000
SECONDS, GROWTH = 1.0, 100.0
"""The longest a right token waits, and the megabytes by which the server may grow."""
PARTS = 64 * 1024


def run(folder: Path, seed: str) -> dict[str, int]:
    figures = measure(folder, random.Random(seed))
    slow = {name: each for name, each in figures.items() if each["slowest"] > SECONDS or each["grown"] > GROWTH}
    assert not slow, slow
    return {"clients that press": CROWD * len(figures)}


def measure(folder: Path, chance: random.Random) -> dict[str, dict[str, float]]:
    path = folder / "crowd.db"
    store = open_store(path)
    import_logs([bundled_example()], store)
    secret = create_token("right", ["review", "report"], store, now=datetime.now(UTC)).secret
    store.engine.dispose()
    with server_process(path, "--require-token") as (server, url):
        pressures: dict[str, Callable[[socket.socket], None]] = {
            "idle": lambda _: None,
            "half a body, no token": lambda one: _half(one, "/api/live/runs", ""),
            "half a body, a right token": lambda one: _half(one, "/api/live/runs", secret),
            "half a body on /mcp": lambda one: _half(one, "/mcp", secret),
            "a wrong token": lambda one: _wrong(one, chance.randrange(10**9)),
        }
        with httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {secret}"}, timeout=30) as client:
            for _ in range(20):
                client.get("/api/runs").raise_for_status()
            return {name: _under(url, press, client, server.pid) for name, press in pressures.items()}


def _under(url: str, press: Callable[[socket.socket], None], client: httpx2.Client, pid: int) -> dict[str, float]:
    before, times, most = _memory(pid), [], 0.0
    with contextlib.ExitStack() as opened:
        crowd = [opened.enter_context(_connected(url)) for _ in range(CROWD)]
        threads = [threading.Thread(target=_pressing, args=(press, crowd[at::20]), daemon=True) for at in range(20)]
        for thread in threads:
            thread.start()
        end = time.monotonic() + 8
        while time.monotonic() < end:
            began = time.monotonic()
            # a new connection each time: a crowd keeps out those who are not in yet
            answer = httpx2.get(f"{url.rstrip('/')}/api/runs", headers=dict(client.headers), timeout=30)
            answer.raise_for_status()
            times.append(time.monotonic() - began)
            most = max(most, _memory(pid))
            time.sleep(0.05)
        for connection in crowd:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
    time.sleep(2)
    return {"slowest": max(times), "answers": len(times), "grown": most - before, "left": _memory(pid) - before}


def _connected(url: str) -> socket.socket:
    host, port = url.removeprefix("http://").strip("/").split(":")
    return socket.create_connection((host, int(port)), timeout=10)


def _pressing(press: Callable[[socket.socket], None], crowd: list[socket.socket]) -> None:
    for connection in crowd:
        with contextlib.suppress(OSError):
            press(connection)


def _half(connection: socket.socket, path: str, secret: str) -> None:
    token = f"Authorization: Bearer {secret}\r\n" if secret else ""
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {BODY}\r\n{token}\r\n"
    connection.settimeout(2)
    connection.sendall(head.encode())
    for _ in range(SENT // PARTS):
        connection.sendall(b" " * PARTS)


def _wrong(connection: socket.socket, number: int) -> None:
    head = (
        f"Host: x\r\nAuthorization: Bearer errata_{number:012x}_{'a' * 43}\r\nX-Forwarded-For: 192.0.2.{number % 250}"
    )
    connection.sendall(f"GET /api/runs HTTP/1.1\r\n{head}\r\n\r\n".encode())
    connection.settimeout(2)
    connection.recv(65_536)


def _memory(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


if __name__ == "__main__":
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    with tempfile.TemporaryDirectory() as place:
        for pressure, figures in measure(Path(place), random.Random(1)).items():
            print(f"{pressure:<28}", json.dumps({name: round(value, 3) for name, value in figures.items()}))
