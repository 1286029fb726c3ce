"""OpenAI's Batch API on loopback: files, batches and their rows, as the published API has them.

A test decides when batches are answered. Everything that arrived is recorded, and every request that was
accepted for a batch counts as paid.
"""

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from soak import answers
from soak.request import parse_request

HOST = "127.0.0.1"
FINAL = ("completed", "failed", "expired", "cancelled")

Row = dict[str, Any]
Answers = Callable[[Row], str]
"""A line of the input file → the kind of answer, see `soak.answers`."""


class BatchProvider:
    """State of the account at the provider; `url` is its address."""

    def __init__(self) -> None:
        self.url = ""
        self.files: dict[str, bytes] = {}
        self.names: dict[str, str] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.paid: Counter[str] = Counter()
        """Text of a request → in how many batches it is."""
        self.seen: list[tuple[str, str]] = []
        """Method and path of every request."""
        self.keys: set[str] = set()
        self.refuse: dict[tuple[str, str], tuple[int, str]] = {}
        """Method and path → status and message of an error."""
        self._number = 0

    def new_id(self, prefix: str) -> str:
        self._number += 1
        return f"{prefix}{self._number:06d}"

    def upload(self, name: str, content: bytes) -> dict[str, Any]:
        file = self.new_id("file-")
        self.files[file], self.names[file] = content, name
        return self._file(file)

    def _file(self, file: str) -> dict[str, Any]:
        size = len(self.files[file])
        return {"id": file, "object": "file", "bytes": size, "filename": self.names[file], "purpose": "batch"}

    def create(self, body: dict[str, Any]) -> dict[str, Any]:
        rows = self.rows_of(body["input_file_id"])
        assert body["completion_window"] == "24h"
        assert all(row["url"] == body["endpoint"] and row["method"] == "POST" for row in rows)
        for row in rows:
            self.paid[_question(row)] += 1
        batch = {
            "id": self.new_id("batch_"),
            "object": "batch",
            "endpoint": body["endpoint"],
            "input_file_id": body["input_file_id"],
            "completion_window": "24h",
            "status": "validating",
            "created_at": int(time.time()),
            "metadata": body.get("metadata"),
            "errors": None,
            "output_file_id": None,
            "error_file_id": None,
            "request_counts": {"total": len(rows), "completed": 0, "failed": 0},
        }
        self.batches[batch["id"]] = batch
        return batch

    def rows_of(self, file: str) -> list[Row]:
        return [json.loads(line) for line in self.files[file].splitlines()]

    def finish(self, status: str = "completed", kind: Answers = lambda _: "good", *, only: int | None = None) -> None:
        """Every open batch ends; `only` its first N requests are answered before."""
        for batch in self.batches.values():
            if batch["status"] not in FINAL:
                self._finish(batch, status, kind, only)

    def _finish(self, batch: dict[str, Any], status: str, kind: Answers, only: int | None) -> None:
        rows = self.rows_of(batch["input_file_id"])
        answered = rows if only is None else rows[:only]
        batch["status"] = status
        if status == "failed":
            error = {"code": "token_limit_exceeded", "message": "Enqueued token limit reached", "line": None}
            batch["errors"] = {"object": "list", "data": [error]}
            return
        good = [_answered(row, kind(row)) for row in answered if kind(row) != "rejected"]
        bad = [_rejected(row) for row in answered if kind(row) == "rejected"]
        if status == "expired":
            bad += [_expired(row) for row in rows[len(answered) :]]
        self.put_files(batch, good, bad)
        batch["request_counts"] |= {"completed": len(good), "failed": len(bad)}

    def put_files(self, batch: dict[str, Any], good: list[Row], bad: list[Row]) -> None:
        for name, rows in (("output_file_id", good), ("error_file_id", bad)):
            if rows:
                content = "".join(json.dumps(row) + "\n" for row in rows).encode()
                batch[name] = self.upload(f"{batch['id']}_{name}.jsonl", content)["id"]

    def handle(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> tuple[int, Any]:
        if (method, path) in self.refuse:
            status, message = self.refuse[method, path]
            return status, {"error": {"message": message, "type": "invalid_request_error"}}
        parts = path.strip("/").split("/")
        match [method, *parts]:
            case ["POST", "files"]:
                return 200, self.upload(*body)
            case ["GET", "files"]:
                return 200, {"object": "list", "data": [self._file(file) for file in self.files], "has_more": False}
            case ["GET", "files", file, "content"] if file in self.files:
                return 200, self.files[file]
            case ["DELETE", "files", file] if file in self.files:
                del self.files[file]
                return 200, {"id": file, "object": "file", "deleted": True}
            case ["POST", "batches"]:
                return 200, self.create(body)
            case ["GET", "batches"]:
                return 200, self._list(query)
            case ["GET", "batches", batch] if batch in self.batches:
                return 200, self.batches[batch]
            case ["POST", "batches", batch, "cancel"] if batch in self.batches:
                self.batches[batch]["status"] = "cancelling"
                return 200, self.batches[batch]
        return 404, {"error": {"message": f"No such resource: {path}", "type": "invalid_request_error"}}

    def _list(self, query: dict[str, list[str]]) -> dict[str, Any]:
        """Newest first, a page at a time."""
        newest = list(self.batches.values())[::-1]
        after = query.get("after", [""])[0]
        ids = [one["id"] for one in newest]
        start = ids.index(after) + 1 if after else 0
        page = newest[start : start + int(query["limit"][0])]
        return {"object": "list", "data": page, "has_more": start + len(page) < len(newest)}


def _question(row: Row) -> str:
    """Without the marker of the fence, which differs from one prompt to the next."""
    text = json.dumps(row["body"]["messages"])
    return re.sub(r"[0-9a-f]{16}", "", text)


def _body(row: Row, kind: str) -> Row:
    question = parse_request(row["body"])
    message = {"role": "assistant", "content": answers.content(kind, question)}
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": choices, "usage": usage}


def _answered(row: Row, kind: str) -> Row:
    response = {"status_code": 200, "request_id": "r", "body": _body(row, kind)}
    return {"id": "batch_req_1", "custom_id": row["custom_id"], "response": response, "error": None}


def _rejected(row: Row) -> Row:
    body = {"error": {"message": "This model's maximum context length is 10 tokens", "type": "invalid_request_error"}}
    response = {"status_code": 400, "request_id": "r", "body": body}
    return {"id": "batch_req_1", "custom_id": row["custom_id"], "response": response, "error": None}


def _expired(row: Row) -> Row:
    error = {"code": "batch_expired", "message": "This request could not be executed before the completion window."}
    return {"id": "batch_req_1", "custom_id": row["custom_id"], "response": None, "error": error}


@contextmanager
def running() -> Iterator[BatchProvider]:
    provider = BatchProvider()
    server = ThreadingHTTPServer((HOST, 0), _handler(provider))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    provider.url = f"http://{HOST}:{server.server_address[1]}/v1"
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(provider: BatchProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            address = urlsplit(self.path)
            path = address.path.removeprefix("/v1")
            content = self.rfile.read(int(self.headers.get("content-length") or 0))
            body = _parsed(content, self.headers.get("content-type") or "")
            provider.seen.append((self.command, path))
            provider.keys.add(self.headers.get("authorization") or "")
            status, reply = provider.handle(self.command, path, parse_qs(address.query), body)
            data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_DELETE = answer  # noqa: N815 the names of the standard library

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _parsed(content: bytes, kind: str) -> Any:
    """JSON; of a form with a file, the file's name and content."""
    if not kind.startswith("multipart/form-data"):
        return json.loads(content) if content else None
    boundary = kind.partition("boundary=")[2].encode()
    parts = content.split(b"--" + boundary)
    fields = {}
    for part in parts[1:-1]:
        head, _, data = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        name = re.search(rb' name="([^"]+)"', head)
        assert name is not None
        fields[name[1]] = (head, data.removesuffix(b"\r\n"))
    assert fields[b"purpose"][1] == b"batch"
    file_name = re.search(rb'filename="([^"]+)"', fields[b"file"][0])
    assert file_name is not None
    return file_name[1].decode(), fields[b"file"][1]
