"""Callers of a server who want more than they may, or take what others need."""

import itertools
import json
import select
import socket
from contextlib import ExitStack, suppress
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import text
from starlette.testclient import TestClient

from errata.mcp.server import HttpTools
from errata.model import Reviewer, Verdict
from errata.model.filters import Filters
from errata.model.standing import are_two, standing
from errata.model.token import Caller
from errata.review.choose_reviewer import ReviewerFlags, choose
from errata.server.app import build_app
from errata.server.exchange import ServerOptions
from errata.settings import Settings
from errata.settings.reviewers import ReviewerSettings
from errata.verbs.analyze import list_failures
from errata.verbs.review import reader_for, verdicts_of
from errata.verbs.store import all_runs, open_store
from errata.verbs.tokens import create_token
from reading import an_answer
from terminal import errata

SCOPES = ("read", "review", "report", "admin")
CLOSED = ServerOptions(hosts=None, needs_token=True)
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
WRITTEN = ("verdicts", "leases", "refusals", "bucket_events", "tokens")
LEASE = '{"name":"next_packet","arguments":{"thing":"latest"}}'


@pytest.fixture
def mcp(tmp_path, served_store, now):
    """A server with tools, a token of each scope, and what is written."""
    path = tmp_path / "errata.db"
    path.write_bytes(served_store.read_bytes())
    store = open_store(path)
    tokens = {name: create_token(name, [name], store, now=now).secret for name in SCOPES}
    tokens["other"] = create_token("other", ["review"], store, now=now).secret
    settings = Settings(store=path)
    app = build_app(settings, CLOSED, agent_tools=HttpTools(settings))

    def written():
        with store.engine.connect() as connection:
            return [connection.execute(text(f"select count(*) from {table}")).scalar() for table in WRITTEN]

    def post(body, token, path="/mcp"):
        return client.post(path, content=body, headers=ACCEPT | {"Authorization": f"Bearer {tokens[token]}"})

    with TestClient(app, raise_server_exceptions=False) as client:
        yield post, written, store
    store.engine.dispose()


def ambiguous_bodies():
    """Calls of a writing tool in which one parser may see a reading one, or nothing at all."""
    call = f'"jsonrpc":"2.0","id":1,"method":"tools/call","params":{LEASE}'
    odd = ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1E400", "01", "1.", "+1", "0x1", "nan", "None", "'a'")
    odd += ('"\\ud800"', '"\\udfff\\ud800"', "[" * 3_000 + "]" * 3_000, "9" * 5_000, '"\x00"', "undefined", "/*a*/1")
    for value in odd:
        yield f'{{"x":{value},{call}}}'
        yield f'{{{call},"x":{value}}}'
        yield f'{{{call[:-1]},"_meta":{{"x":{value}}}}}}}'
        yield f"{{{call.replace('}}', f',{chr(34)}x{chr(34)}:{value}}}}}')}}}"
    harmless = (
        '"method":"tools/list"',
        '"method":"ping"',
        '"params":{"name":"runs","arguments":{}}',
        '"id":2',
        '"params":[]',
    )
    for other, spelled in itertools.product(
        harmless, (str, lambda part: part.replace('"m', '"\\u006d').replace('"p', '"\\u0070'))
    ):
        yield f"{{{spelled(other)},{call}}}"
        yield f"{{{call},{spelled(other)}}}"
    for name in (
        "runs",
        "check",
        " next_packet",
        "NEXT_PACKET",
        "next_packet\\u0000",
        "\\u006eext_packet",
        "next\\u005fpacket",
    ):
        named = LEASE.replace("next_packet", name)
        yield f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{named}}}'
        yield f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{named[:-1]},"name":"next_packet"}}}}'
        yield f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{LEASE[:-1]},"name":"{name}"}}}}'
    for tool in ("next_packet", "submit_verdict", "release"):
        given = {"thing": "latest"} if tool != "submit_verdict" else {"verdict": {"attempt_id": "x", "label": "y"}}
        one = json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": given}}
        )
        yield from (
            one,
            f"[{one}]",
            f"[[{one}]]",
            f"{one}{one}",
            f"{one}\n{one}",
            f"{one},",
            f" \t\n{one}",
            f"{one}//",
            f"{one}\x00",
        )
        yield from (
            f"\ufeff{one}",
            f"\ufeff\ufeff{one}",
            one.replace('"name"', '"Name"'),
            one.replace('"method"', '"Method"'),
        )
        yield from (
            one.replace('"id": 1', f'"id": {number}') for number in ("1.0", "null", "true", "1e2", "[]", '""', "1e999")
        )
        for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "utf-8-sig"):
            yield one.encode(encoding)
        for odd_bytes in (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe2\x82", b"\x80"):
            whole = one.encode()
            yield whole + odd_bytes
            yield odd_bytes + whole
            yield whole.replace(b'"params"', b'"x":"' + odd_bytes + b'","params"')


@pytest.mark.req("X-01")
def test_no_body_that_two_parsers_may_read_differently_writes_with_a_token_that_only_reads(mcp):
    post, written, _ = mcp
    bodies, before = [body.encode() if isinstance(body, str) else body for body in ambiguous_bodies()], written()

    for body, token in itertools.product(bodies, ("read", "report")):
        answer = post(body, token)
        assert answer.status_code < 500, (body[:200], answer.text)
        if answer.status_code != 202:
            assert answer.headers["content-type"].startswith("application/json"), body[:200]

    assert len(bodies) >= 200
    assert written() == before
    plain = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{LEASE}}}'
    assert post(plain, "read").json()["error"] == "The token `read` lacks the scope `review`"
    assert post(plain, "review").status_code == 200
    assert written() != before


@pytest.mark.req("X-01")
@pytest.mark.parametrize(
    "body", [b'{"x":NaN}', b'{"x":1e999}', b'{"a":1,"a":2}', b'{"x":"\xff"}', b'{"x":"\\ud800"}', b"{"]
)
def test_every_way_in_refuses_the_same_json(mcp, body, tmp_path):
    post, _, _ = mcp
    whole = body.replace(b"{", b'{"quote":"a","place":"output",', 1)
    file = tmp_path / "verdict.json"
    file.write_bytes(body)

    assert post(body, "review").json()["error"]["code"] == -32700
    refused = post(whole, "review", "/api/review/a%2Fb%231/quote")
    assert (refused.status_code, refused.json()["error"][:18]) == (400, "The body is wrong:")
    assert errata("review", "submit", file).code == 2


@pytest.mark.req("X-05")
def test_a_body_that_is_not_text_gets_json_with_an_id(mcp):
    answer = mcp[0](b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', "read")

    assert (answer.status_code, answer.json()["id"], answer.json()["error"]["code"]) == (400, None, -32700)


@pytest.mark.req("X-05")
def test_no_address_breaks_the_server(served):
    for path in (
        "/static/__init__.py",
        "/static/x.zip",
        "/runs/latest?run=latest",
        "/?page=1e9",
        "/runs/latest?attempt=1",
        "/api/runs/%2Ftmp%2Fa.json",
    ):
        assert served.client.get(path).status_code < 500, path


@pytest.mark.req("X-05")
def test_whatever_breaks_is_json_with_an_id_also_where_another_application_answers(mcp, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("errata.server.app.strict_json", lambda _: {}["/logs/a.json"])

    answer = mcp[0](b"{}", "read")

    assert (answer.status_code, answer.json()["error"]) == (500, "errata has a bug: KeyError")
    assert list(tmp_path.glob(f"*{answer.json()['id']}*"))


# who is whose second opinion


def verdict_by(reviewer, number=0):
    content = {"taxonomy": "t", "label": "OVERLY_STRICT", "owner": "grader", "cause": "c", "confidence": "likely"}
    needs_second = reviewer.kind != "person"
    return Verdict(
        id=f"{number}",
        attempt="r:c#1",
        at=f"2026-01-0{number + 1}",
        reviewer=reviewer,
        needs_second=needs_second,
        **content,
    )


def local(name="", model="", kind="agent"):
    return reader_for(name, Settings(store=Path("x.db"), author="ada"), kind=kind, model=model)


def bearer(name="", token="a", kind="agent", model=""):
    caller = Caller(name=token, scopes=frozenset(["review"]), token=f"{token}1")
    return reader_for(name, Settings(store=Path("x.db")), kind=kind, caller=caller, model=model)


def asked(name="", **how):
    known = {"a": ReviewerSettings(**how), "b": ReviewerSettings(**how)}
    return choose(ReviewerFlags(reviewer=name), known).identity


MODEL = {"kind": "llm", "model": "openai:gpt-5"}
PROGRAM = {"kind": "command", "command": ("/bin/claude-reader", "--model", "x")}


@pytest.mark.req("X-02")
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (bearer("one"), bearer("two")),
        (bearer("one", model="m@1"), bearer("two", model="other@1")),
        (bearer("one"), bearer(kind="person")),
        (local("one"), local("two")),
        (local(), local("two", kind="file")),
        (local("one", kind="file"), local("two", kind="file")),
        (local("one", "claude-opus-4-1@1"), local("two", "anthropic:Claude-Opus-4.1-20250805@2")),
        (local("one", "gpt-5@1"), asked("a", **MODEL)),
        (asked("a", **MODEL), asked("b", **MODEL)),
        (asked("a", **PROGRAM), asked("b", **PROGRAM)),
        (local("ada", kind="person"), local("ben", kind="person")),
        (Reviewer(kind="agent", name="one"), Reviewer(kind="llm", name="One ")),
    ],
)
def test_nobody_is_a_second_opinion_on_their_own_verdict(first, second):
    for one, other in ((first, second), (second, first)):
        stood = standing([verdict_by(one), verdict_by(other, 1)])

        assert not are_two(one, other)
        assert stood.final == (stood.verdict.reviewer.kind == "person")


@pytest.mark.req("X-02")
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (bearer(token="a"), bearer(token="b")),
        (bearer(), local("one", "gpt-5@1")),
        (local("worker", "claude-opus-4-1@20250805"), local("worker", "gpt-5@2025-08-07")),
        (local("one", "claude-opus-4-1@1"), local("two", "claude-sonnet-4@1")),
        (local(), local("two", "claude-sonnet-4@1")),
        (local("one", "claude-opus-4-1@1"), asked("a", **MODEL)),
        (asked("a", **MODEL), asked("b", **PROGRAM)),
        (Reviewer(kind="agent", name="one"), Reviewer(kind="agent", name="two")),
    ],
)
def test_two_who_differ_are_two_opinions(first, second):
    stood = standing([verdict_by(first), verdict_by(second, 1)])

    assert stood.final
    assert not standing([verdict_by(first)]).final


def opinion(mcp, token, name, attempt):
    """By the tools of `/mcp`."""
    post, _, _ = mcp

    def call(tool, **arguments):
        params = {"name": tool, "arguments": arguments | {"reviewer": name}}
        answer = post(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}), token)
        return answer.json()["result"]["structuredContent"]["items"][0]

    packet = call("next_packet", thing=attempt)
    answer = an_answer(packet, label="OVERLY_STRICT")
    assert call("submit_verdict", verdict=answer)["accepted"]


@pytest.mark.req("X-02")
def test_a_token_is_one_reviewer_under_all_names(mcp):
    store = mcp[2]
    run = all_runs(store)[0].run.id
    attempt = next(one.attempt.id for one in list_failures(run, store, Filters(owner="model")))

    def stood():
        return standing(one for one in verdicts_of(store, run) if one.attempt == attempt)

    opinion(mcp, "review", "one", attempt)
    opinion(mcp, "review", "two", attempt)
    assert stood().verdict.needs_second and not stood().final
    assert stood().verdict.reviewer.name == "review/two"
    assert stood().verdict.reviewer.caller.startswith("token:review@")
    opinion(mcp, "other", "one", attempt)
    assert stood().final


# what one caller may take from others


@pytest.fixture
def sent(closed):
    """Opens connections on which the beginning of a request was sent."""
    host, port = closed[0].url.removeprefix("http://").split(":")

    def send(head, body=b"", token=""):
        connection = opened.enter_context(socket.create_connection((host, int(port)), timeout=10))
        authorized = f"Authorization: Bearer {token}\r\n" if token else ""
        lines = f"{head} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n{authorized}" if head else ""
        connection.sendall(lines.encode() + body)
        return connection

    with ExitStack() as opened:
        yield send


def rest_of(connection):
    with suppress(ConnectionError):
        parts = iter(lambda: connection.recv(65536), b"")
        return b"".join(parts)
    return b""


@pytest.fixture
def closed(serve, now):
    served = serve(options=CLOSED, tools=True)
    store = open_store(served.settings.store)
    secret = create_token("ada", ["review", "report"], store, now=now).secret
    store.engine.dispose()
    return served, secret


def is_answered(served, secret):
    headers = {"Authorization": f"Bearer {secret}"}
    body = {"quote": "a", "place": "output"}
    read = served.client.get("/api/runs", headers=headers)
    return (
        read.status_code,
        served.client.post("/api/review/x%2Fy%231/quote", json=body, headers=headers).status_code,
    ) == (200, 404)


@pytest.mark.req("X-03")
@pytest.mark.parametrize("path", ["/mcp", "/api/live/runs", "/api/review/x%2Fy%231/verdict", "/login"])
def test_no_body_is_awaited_from_whoever_has_no_token(sent, closed, path):
    half = b"Content-Length: 16000000\r\nConnection: close\r\n\r\n" + b"x" * 100_000
    for token in ("", "wrong"):
        answer = rest_of(sent(f"POST {path}", half, token))

        assert answer.startswith((b"HTTP/1.1 401", b"HTTP/1.1 413" if path == "/login" else b"HTTP/1.1 401")), answer


@pytest.mark.req("X-03")
def test_what_half_sent_bodies_hold_has_a_bound_and_a_small_request_finds_room(sent, closed, monkeypatch):
    monkeypatch.setattr("errata.server.security.MOST_OF_ADDRESS", 1_000_000)
    served, secret = closed
    half = b"Content-Length: 16000000\r\n\r\n" + b"x" * 300_000
    waiting = [sent(f"POST {path}", half, secret) for path in ("/mcp", "/api/live/runs") for _ in range(10)]

    assert is_answered(served, secret)
    readable, _, _ = select.select(waiting, [], [], 5)
    assert len(readable) >= 10
    assert {one.recv(12) for one in readable} == {b"HTTP/1.1 503"}


@pytest.mark.req("X-04")
@pytest.mark.parametrize("path", ["/mcp", "/api/live/runs"])
def test_a_body_that_pauses_is_refused_as_json(sent, closed, monkeypatch, path):
    monkeypatch.setattr("errata.server.security.IDLE", 0.2)
    head, _, body = rest_of(sent(f"POST {path}", b"Content-Length: 9\r\n\r\n{", closed[1])).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 408")
    assert "paused" in msgspec.json.decode(body)["error"]


@pytest.mark.req("X-04")
@pytest.mark.parametrize("head", ["", "GET /api/runs"])
def test_a_connection_without_whole_headers_is_closed(sent, closed, monkeypatch, head):
    monkeypatch.setattr("errata.server.serving.HEADER_SECONDS", 0.2)

    assert rest_of(sent(head)) == b""


@pytest.mark.req("X-04")
def test_idle_connections_give_way(sent, closed, monkeypatch):
    monkeypatch.setattr("errata.server.serving.MOST_OF_ADDRESS", 20)
    served, secret = closed
    idle = [sent("") for _ in range(60)]

    assert is_answered(served, secret)
    assert rest_of(idle[0]) == b""


@pytest.mark.req("X-05")
def test_a_right_token_is_answered_behind_a_proxy_that_sends_wrong_ones(sent, closed):
    served, secret = closed
    answers = [
        served.client.get("/api/runs", headers={"Authorization": f"Bearer {n}", "X-Forwarded-For": f"192.0.2.{n}"})
        for n in range(60)
    ]

    assert [one.status_code for one in answers] == [401] * 20 + [429] * 40
    assert is_answered(served, secret)
    assert served.client.post("/login", data={"token": secret}).status_code == 303
