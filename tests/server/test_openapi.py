"""The description of the API, and that the API keeps to it, whatever is asked."""

import shutil
import warnings

import pytest
from hypothesis import HealthCheck, given, settings

from errata.server import api
from errata.server.app import build_app
from errata.server.exchange import ServerOptions
from errata.server.openapi import description
from errata.server.problems import Problem
from errata.settings import Settings
from errata.verbs.store import open_store
from errata.verbs.tokens import create_token

EXAMPLES = max(2, settings.default.max_examples // 20)
"""Two of each call in CI; `make properties` asks for more."""


def test_every_call_of_the_api_is_described(served):
    described = served.client.get("/api/openapi.json").json()
    calls = {(path, method.upper()) for path, ways in described["paths"].items() for method in ways}

    assert calls == {(endpoint.path.replace(":name}", "}"), endpoint.method) for endpoint in api.ENDPOINTS}
    names = [way["operationId"] for ways in described["paths"].values() for way in ways.values()]
    assert len(names) == len(set(names))
    assert "POST /api/live/attempts" in served.page("/api")


def test_a_record_of_the_same_name_in_another_module_has_a_schema_of_its_own():
    schemas = description(api.ENDPOINTS)["components"]["schemas"]

    assert Problem.__name__ in schemas
    assert all(schema.get("type") == "object" or "anyOf" in schema or "enum" in schema for schema in schemas.values())


@pytest.fixture
def asked(tmp_path, served_store, now):
    """The API over a copy of the store, asked without a network."""
    path = tmp_path / "errata.db"
    shutil.copyfile(served_store, path)
    store = open_store(path)
    token = create_token("robot", ["admin"], store, now=now).secret
    store.engine.dispose()
    app = build_app(Settings(store=path), ServerOptions(hosts=None))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import schemathesis  # two seconds of every worker
    yield schemathesis.openapi.from_asgi("/api/openapi.json", app), {"Authorization": f"Bearer {token}"}
    app.state.workers.close()


def test_whatever_is_asked_the_answer_is_as_described(asked):
    schema, headers = asked
    for operation in schema.get_all_operations():
        ask_often(operation.ok(), headers)


def ask_often(operation, headers) -> None:
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance

    checks = [not_a_server_error, content_type_conformance, response_schema_conformance]

    @settings(max_examples=EXAMPLES, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy())
    def ask(case) -> None:
        case.call_and_validate(headers=headers, checks=checks)

    ask()
