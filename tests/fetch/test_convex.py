"""Fetching a run from a real server that speaks the protocol, behaves badly, and writes down what it was asked."""

import json
from pathlib import Path
from socket import gaierror
from ssl import SSLError
from urllib.error import URLError

import pytest
from deployment import ADMIN_KEY, Deployment, redirected, silent, status, truncated

import errata.fetch
from errata.errors import FetchError, NotFoundError
from errata.fetch.convex import fetch_run
from errata.fetch.transport import READS, Target, Transport

RUN_A = "jn709tmjsmt0gc4p4ysp6m6ztabx3hw2"
EVAL = "jh75912hmfp1gw3mc8190aexnr22mc2h"
WHEN = "2026-03-10T00:00:00+00:00"


@pytest.fixture
def deployment():
    with Deployment("run_a") as running:
        yield running


def transport(deployment, **more):
    return Transport(deployment.address, **{"timeout": 2.0, "wait": lambda _: None, **more})


def fetched(deployment, folder, target=None, **more):
    return fetch_run(target or Target(RUN_A), transport(deployment, **more), folder, when=WHEN)


@pytest.mark.req("C-06", "C-09")
def test_a_run_is_saved_with_its_answers_and_the_files_of_its_failures(deployment, tmp_path):
    made = fetched(deployment, tmp_path)

    assert (made.evals, made.failed, made.problems) == (24, 10, ())
    assert json.loads((tmp_path / "getRunDetails.envelope.json").read_text())["value"]["_id"] == RUN_A
    assert made.files == made.new == len(list((tmp_path / "storage").glob("*.zip"))) > 0
    assert json.loads((tmp_path / "fetch.json").read_text())["deployment"] == deployment.address


@pytest.mark.req("A-02", "A-03")
def test_nothing_is_asked_but_queries_and_no_token_is_sent(deployment, tmp_path):
    fetched(deployment, tmp_path, key=ADMIN_KEY)

    assert {call["endpoint"].split("/")[2] for call in deployment.calls} == {"query", "storage"}
    assert {call["key"] for call in deployment.calls} == {""}  # what is public needs none
    assert not any("token" in call.get("args", {}) for call in deployment.calls)


@pytest.mark.req("A-03")
def test_there_is_no_way_to_write_to_a_deployment():
    code = "".join(path.read_text() for path in Path(errata.fetch.__file__).parent.glob("*.py"))

    assert set(READS.values()) == {"query", "action"}
    assert not any(name.partition(":")[0] == "admin" for name in READS)
    assert "api/mutation" not in code
    assert "/api/function" not in code


@pytest.mark.req("A-03")
@pytest.mark.parametrize("function", ["admin:deleteRun", "runs:createRun", "evals:updateEvalStatus", "auth:addToken"])
def test_what_is_no_known_read_is_refused_before_anything_is_sent(deployment, function):
    with pytest.raises(KeyError):
        transport(deployment, key=ADMIN_KEY).call(function, {"runId": RUN_A})

    assert deployment.calls == []


def test_what_is_there_already_is_not_fetched_again(deployment, tmp_path):
    first = fetched(deployment, tmp_path)
    second = fetched(deployment, tmp_path)

    assert (second.files, second.new) == (first.files, 0)
    assert set(deployment.seen.values()) == {1}


@pytest.mark.req("E-01")
def test_of_one_eval_only_its_own_files_are_fetched(deployment, tmp_path):
    made = fetched(deployment, tmp_path, Target(RUN_A, EVAL))

    assert 1 <= made.files <= 2


def test_an_eval_that_the_run_has_not_is_told(deployment, tmp_path):
    with pytest.raises(NotFoundError, match="has no eval"):
        fetched(deployment, tmp_path, Target(RUN_A, "jh7" + "0" * 29))


def test_an_unknown_run_is_told_with_where_else_it_may_be(deployment, tmp_path):
    with pytest.raises(NotFoundError) as result:
        fetched(deployment, tmp_path, Target("jn7" + "0" * 29))

    assert "dev" in result.value.hint


def test_what_the_deployment_does_not_take_for_an_id_is_told(deployment, tmp_path):
    with pytest.raises(FetchError, match="rejects"):
        fetched(deployment, tmp_path, Target("x" * 32))


@pytest.mark.parametrize(
    "trick",
    [status(503), status(429, Retry_After="0"), status(500), truncated, silent(2.5)],
    ids=["503", "429", "500", "truncated", "silent"],
)
@pytest.mark.parametrize("where", ["runs:getRunDetails", "runs:getOutputUrl", "download"])
def test_what_passes_by_is_asked_again(deployment, tmp_path, where, trick):
    deployment.misbehave[where] = [trick]
    timeout = 0.5 if trick.__qualname__.startswith("silent") else 5.0

    assert fetched(deployment, tmp_path, Target(RUN_A, EVAL), timeout=timeout).problems == ()


@pytest.mark.parametrize(
    "trick",
    [
        status(200, b"<html>"),
        status(200, b"[]"),
        status(200, b'{"status": "odd"}'),
        status(400, b'{"code": "BadJsonBody", "message": "no"}'),
    ],
)
def test_an_answer_that_is_none_is_told(deployment, tmp_path, trick):
    deployment.misbehave["runs:getRunDetails"] = [trick] * 9

    with pytest.raises(FetchError):
        fetched(deployment, tmp_path)
    assert not (tmp_path / "getRunDetails.envelope.json").exists()


def test_a_file_that_can_t_be_had_is_noted_and_the_rest_is_saved(deployment, tmp_path):
    deployment.broken = {"kg2rxtdv8bsrgmc2ccdwwk05wztsqszd"}

    made = fetched(deployment, tmp_path)
    assert len(made.problems) == 1
    assert "kg2rxtdv8bsrgmc2ccdwwk05wztsqszd.zip" in made.problems[0]
    assert made.files > 5
    assert not list(tmp_path.rglob("*.part"))


def test_a_redirect_to_another_host_is_not_followed(deployment, tmp_path):
    with Deployment("run_a") as other:
        deployment.misbehave["runs:getRunDetails"] = [redirected(f"{other.address}/api/query")]
        with pytest.raises(FetchError, match="not followed"):
            fetched(deployment, tmp_path, key=ADMIN_KEY)
        assert other.calls == []


def test_an_address_of_another_host_in_an_answer_is_not_opened(deployment, tmp_path):
    with Deployment("run_a") as other:
        for each in deployment.zips:
            deployment.urls[each] = f"{other.address}/api/storage/{each}"
        made = fetched(deployment, tmp_path)
        assert other.calls == []
    assert made.files == 0
    assert all("not the requested deployment" in problem for problem in made.problems)


@pytest.mark.req("C-06", "C-09")
def test_where_the_public_queries_are_closed_a_key_opens_the_debug_functions(tmp_path):
    with Deployment("run_a", public=False) as closed:
        made = fetched(closed, tmp_path, key=ADMIN_KEY)
        keys = {call["path"]: call["key"] for call in closed.calls}

    assert (made.evals, made.failed, made.problems) == (24, 10, ())
    assert keys["debugQueries:getFailedEvalsForRun"] == f"Convex {ADMIN_KEY}"
    assert len(list((tmp_path / "getEvalDebugInfo").iterdir())) == 10


def test_without_a_key_closed_queries_are_told(tmp_path):
    with Deployment("run_a", public=False) as closed, pytest.raises(FetchError) as result:
        fetched(closed, tmp_path)

    assert "key for this host" in result.value.hint


@pytest.mark.req("B-56")
@pytest.mark.parametrize(
    ("code", "hint"),
    [
        (401, "check the key"),
        (403, "check the key"),
        (404, "is this the address of a Convex deployment"),
        (429, "limits or delays requests"),
        (500, "the deployment itself has a problem"),
        (503, "the deployment itself has a problem"),
    ],
)
def test_the_hint_fits_the_status(deployment, tmp_path, code, hint):
    deployment.misbehave["runs:getRunDetails"] = [status(code)] * 4
    with pytest.raises(FetchError) as result:
        fetched(deployment, tmp_path)

    assert f"HTTP {code}" in result.value.message
    assert hint in result.value.hint


@pytest.mark.parametrize(
    ("reason", "message", "hint"),
    [
        (gaierror(-2, "Name or service not known"), "can't be resolved", "check the address and your network"),
        (ConnectionRefusedError(111, "Connection refused"), "refuses the connection", "proxy or VPN"),
        (SSLError("certificate verify failed"), "no secure connection", "SSL_CERT_FILE"),
        (TimeoutError("timed out"), "did not answer completely", "try again"),
    ],
)
def test_the_hint_fits_what_kept_the_connection_from_being_made(reason, message, hint, monkeypatch, tmp_path):
    refused = Transport("https://nowhere.example", wait=lambda _: None)

    def fail(*_, **__):
        raise URLError(reason)

    monkeypatch.setattr(refused._opener, "open", fail)
    with pytest.raises(FetchError, match=message) as result:
        fetch_run(Target(RUN_A), refused, tmp_path, when=WHEN)

    assert hint in result.value.hint
