"""OpenAI's Batch API: the same requests and answers as live, and errors that say what is to be done."""

import asyncio
import json

import msgspec
import pytest
from soak.batch_provider import running
from soak.plans import in_turn
from soak.provider import Provider

from errata.llm import batches
from errata.llm.asking import Asking
from errata.llm.batch_spec import BatchRequest, RemoteBatch, at_batch_price
from errata.llm.batches import BatchService, Offline
from errata.llm.spec import AskError, GoneError, ModelAnswer, ModelSpec, NoAccessError, NotNowError, cost_of
from llm.loopback import SCHEMA


@pytest.fixture
def provider():
    with running() as provider:
        yield provider


def done(provider, steps, **changes):
    async def through():
        service = BatchService(ModelSpec(**{"name": "m", "base_url": provider.url} | changes), timeout=5)
        try:
            return await steps(service)
        finally:
            await service.close()

    return asyncio.run(through())


def test_a_line_holds_exactly_what_a_live_call_sends():
    async def both():
        async with Provider(in_turn("good")) as live:
            spec = ModelSpec(name="m", base_url=live.url, temperature=0.5)
            service, asking, offline = BatchService(spec, timeout=5), Asking(spec, timeout=5, parallel=1), Offline(spec)
            line = json.loads(await service.line_for(BatchRequest("id-1", "Which label?", SCHEMA)))
            wire = await offline.request_for("Which label?", SCHEMA)
            await asking.ask("Which label?", SCHEMA)
            for one in (service, asking, offline):
                await one.close()
            return line, wire, live.seen[0]

    line, wire, live = asyncio.run(both())

    assert (line["custom_id"], line["method"], line["url"]) == ("id-1", "POST", "/v1/chat/completions")
    assert line["body"] == wire.body
    assert line["body"]["messages"][0]["content"] == live.asked.prompt == "Which label?"
    assert line["body"]["temperature"] == 0.5
    assert line["body"]["response_format"]["json_schema"]["schema"] == SCHEMA


def test_the_key_of_the_settings_is_sent_and_no_other(provider, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-mine")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-this-one")

    done(provider, lambda service: service.find("x", since=0), key_name="MY_KEY")

    assert provider.keys == {"Bearer sk-mine"}


def test_a_batch_is_found_again_by_its_mark_on_a_later_page(provider, monkeypatch):
    monkeypatch.setattr(batches, "PAGE", 3)

    async def steps(service):
        line = await service.line_for(BatchRequest("id-1", "text", SCHEMA))
        file = await service.upload("errata-x", [line])
        created = await service.create(file, "first")
        for number in range(7):
            await service.create(file, f"later-{number}")
        return created, await service.find("first", since=0), await service.find("none", since=0)

    created, found, missing = done(provider, steps)

    assert (created.mark, created.status, created.total) == ("first", "waiting", 1)
    assert found == created and missing is None


def test_a_stored_response_is_read_like_a_live_one():
    message = {"role": "assistant", "content": "hello"}
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": choices, "usage": usage}

    async def read():
        offline = Offline(ModelSpec(name="m", base_url="http://127.0.0.1:9/v1", price_in=1.0, price_out=10.0))
        rejected = {"error": {"message": "too long", "type": "invalid_request_error"}}
        try:
            return [await _outcome(offline, 200, body), await _outcome(offline, 400, rejected)]
        finally:
            await offline.close()

    answer, error = asyncio.run(read())

    assert isinstance(answer, ModelAnswer) and answer.text == "hello"
    assert (answer.usage.input, answer.usage.output, answer.usage.cost) == (1000, 100, pytest.approx(0.002))
    assert isinstance(error, AskError) and "too long" in str(error)


async def _outcome(offline, status, body):
    try:
        return await offline.answer_in(status, msgspec.json.encode(body))
    except AskError as error:
        return error


@pytest.mark.parametrize(
    ("status", "kind"), [(401, NoAccessError), (404, GoneError), (429, NotNowError), (500, NotNowError)]
)
def test_each_http_error_has_its_kind(provider, status, kind):
    provider.refuse["GET", "/batches/b"] = (status, "because")

    with pytest.raises(kind, match="because") as raised:
        done(provider, lambda service: service.get("b"))

    assert raised.value.in_doubt == (status == 500)


def test_files_that_cannot_be_deleted_are_no_error(provider):
    done(provider, lambda service: service.discard(["file-unknown", ""]))

    assert provider.seen == [("DELETE", "/files/file-unknown")]


def test_rows_of_a_file_that_is_gone_raise_that(provider):
    async def rows(service):
        batch = RemoteBatch(id="b", status="completed", word="completed", files=("file-1",))
        return [row async for row in service.rows(batch)]

    with pytest.raises(GoneError):
        done(provider, rows)


@pytest.mark.parametrize(
    ("changes", "factor"),
    [
        ({"name": "openai:gpt-5-mini"}, 0.5),
        ({"name": "openai:own", "price_in": 1.0, "price_out": 2.0}, 0.5),
        ({"name": "m", "base_url": "http://127.0.0.1:9/v1", "price_in": 1.0, "price_out": 2.0}, 1.0),
        ({"name": "deepseek:deepseek-chat"}, 1.0),
    ],
)
def test_a_batch_costs_half_only_where_the_provider_says_so(changes, factor):
    spec = ModelSpec(**changes)
    full = cost_of(spec, 1_000_000, 1_000_000)

    assert full
    assert cost_of(at_batch_price(spec), 1_000_000, 1_000_000) == pytest.approx(factor * full)
