"""The tools for agents at `/mcp`, behind the same tokens."""

import httpx2
import pytest
from starlette.testclient import TestClient

from errata.mcp.server import HttpTools
from errata.server.app import build_app
from errata.server.exchange import ServerOptions
from errata.settings import Settings
from errata.verbs.store import open_store
from errata.verbs.tokens import create_token

HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}


@pytest.fixture
def call(tmp_path, served_store, now):
    path = tmp_path / "errata.db"
    path.write_bytes(served_store.read_bytes())
    store = open_store(path)
    tokens = {name: create_token(name, [name], store, now=now).secret for name in ("read", "review", "report")}
    store.engine.dispose()
    settings = Settings(store=path)
    app = build_app(settings, ServerOptions(hosts=None, needs_token=True), agent_tools=HttpTools(settings))
    with TestClient(app) as client:

        def ask(method: str, token: str = "", **params: object) -> httpx2.Response:
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            head = HEADERS | ({"Authorization": f"Bearer {tokens[token]}"} if token else {})
            return client.post("/mcp", json=body, headers=head)

        yield ask


def test_an_agent_lists_and_calls_tools_with_a_token(call):
    names = {tool["name"] for tool in call("tools/list", "read").json()["result"]["tools"]}
    listed = call("tools/call", "read", name="runs", arguments={}).json()["result"]["structuredContent"]

    assert "report" not in names
    assert "failures" in names
    assert len(listed["items"]) == 1


def test_without_a_token_or_its_scope_an_agent_gets_nothing(call):
    lease = {"name": "next_packet", "arguments": {"thing": "latest", "reviewer": "robot"}}

    assert call("tools/list").status_code == 401
    assert call("tools/list", "report").json()["error"] == "The token `report` lacks the scope `read`"
    assert call("tools/call", "read", **lease).json()["error"] == "The token `read` lacks the scope `review`"
    assert call("tools/call", "review", **lease).status_code == 200


def test_an_agent_on_another_machine_does_not_read_files_of_the_server(call, fixtures):
    path = str(fixtures / "sources/convex_evals/run_a/data")
    answer = call("tools/call", "read", name="analyze", arguments={"run": path}).json()["result"]

    assert answer["isError"]
    assert "No run matches" in answer["content"][0]["text"]
