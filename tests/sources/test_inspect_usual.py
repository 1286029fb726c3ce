"""Samples that are decoded no further than they are looked at give the same records as those decoded whole."""

import json

import pytest
from inspect_ai_logs import FOLDER, items, log, raw, rezipped

from errata.model import Attempt, Unreadable
from errata.model.codec import pack
from errata.sources.base import DEPTH_CAP, decode
from errata.sources.inspect_ai import decoding, logs
from errata.sources.inspect_ai.decoding import decode_usual
from errata.sources.inspect_ai.messages import UsualMessage

ARCHIVES = sorted(FOLDER.rglob("*.eval"))
SHORT, LONG = 0, 10**9


def read(path, monkeypatch, many):
    monkeypatch.setattr(logs, "MANY", many)
    return items(path)


def with_samples(tmp_path, change):
    """A copy of a log in which `change` was made to each sample."""

    def changed(name, data):
        return json.dumps(change(json.loads(data))).encode() if name.startswith("samples/") else data

    return rezipped(log("demo_eval"), tmp_path / "log.eval", changed)


def with_events(change):
    return lambda sample: sample | {"events": [event | change for event in sample["events"]]}


@pytest.mark.parametrize("path", ARCHIVES, ids=lambda path: path.stem[-40:])
def test_both_ways_give_the_same_records_of_every_log(path, monkeypatch):
    assert read(path, monkeypatch, SHORT) == read(path, monkeypatch, LONG)


def test_a_sample_as_inspect_writes_it_is_not_decoded_whole(monkeypatch):
    monkeypatch.setattr(decoding, "decode_exactly", lambda _: pytest.fail("decoded whole"))

    assert len([item for item in read(log("demo_eval"), monkeypatch, SHORT) if type(item) is Attempt]) == 14


@pytest.mark.parametrize(
    "change",
    [
        with_events({"span_id": 7, "id": 7}),
        with_events({"timestamp": 12, "completed": 12}),
        with_events({"error": {"type": ["no"], "message": {"deeper": {"still": 1}}}}),
        with_events({"output": None, "error": "the provider is gone"}),
        with_events({"output": {"choices": None, "usage": [], "error": 3}}),
        with_events({"failed": "yes", "view": {"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}}}),
        with_events({"event": None}),
        with_events({"event": "of a later version", "message": {"message": "told", "level": "info"}}),
        lambda sample: sample | {"events": [*sample["events"], None, "no event", []]},
        lambda sample: sample | {"events": None},
        lambda sample: sample | {"events": [], "transcript": {"events": sample["events"], "content": {}}},
        lambda sample: sample | {"messages": None},
        lambda sample: sample | {"attachments": None, "events_data": 3},
        lambda sample: {name: value for name, value in sample.items() if name != "id"},
        lambda sample: sample | {"metadata": {"a": {"b": [[[[1]]]]}}},
    ],
)
def test_an_unusual_sample_gives_the_same_records(change, tmp_path, monkeypatch):
    path = with_samples(tmp_path, change)
    short, long = read(path, monkeypatch, SHORT), read(path, monkeypatch, LONG)

    assert [item for item in short if type(item) is not Unreadable] == [
        item for item in long if type(item) is not Unreadable
    ]
    assert [(one.where, one.why) for one in short if type(one) is Unreadable] == [
        (one.where, one.why) for one in long if type(one) is Unreadable
    ]


CALL = {"id": "c1", "function": "look", "arguments": {"place": "pier", "deep": {"a": [1]}}, "type": "function"}
ASKED = {"id": "m1", "content": "I will look", "source": "generate", "role": "assistant", "tool_calls": [CALL]}
RESULT = {"id": "m2", "content": "fog", "role": "tool", "tool_call_id": "c1", "function": "look"}


@pytest.mark.parametrize(
    "messages",
    [
        [ASKED | {"model": "acme/nimbus"}, RESULT],
        [ASKED, RESULT | {"content": "", "error": {"type": "timeout", "message": "too slow"}}],
        [ASKED, RESULT | {"error": {}}],
        [ASKED | {"tool_calls": [CALL | {"parse_error": "no JSON", "view": {"format": "text"}, "type": "custom"}]}],
        [ASKED | {"tool_calls": [CALL | {"arguments": "not parsed"}]}, RESULT],
        [ASKED | {"tool_calls": [CALL | {"id": 7}]}, RESULT | {"tool_call_id": 7}],
        [ASKED | {"tool_calls": [CALL | {"arguments": {"place": "attachment://long"}}]}, RESULT],
        [ASKED | {"tool_calls": []}, RESULT | {"content": "attachment://long"}],
        [ASKED | {"content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "ok", "more": 1}]}],
        [ASKED | {"content": [{"type": "image", "image": "data:" + "x" * 2_000}]}],
        [{"role": "user", "content": "which?"}, {"role": "user", "content": "which?"}],
        [{"id": "m1", "content": "read this", "source": "input", "metadata": {"n": 1}, "role": "user"}],
        [{"content": "no role"}, {"role": "of a later version", "content": "new"}],
        [ASKED | {"content": None, "later": {"field": 1}}, None, RESULT | {"content": 3}],
    ],
)
def test_messages_of_every_form_give_the_same_steps(messages, tmp_path, monkeypatch):
    path = with_samples(tmp_path, lambda sample: sample | {"messages": messages, "attachments": {"long": "fog " * 99}})

    assert pack(read(path, monkeypatch, SHORT)) == pack(read(path, monkeypatch, LONG))


def test_messages_as_inspect_writes_them_do_not_become_dicts():
    _, samples = raw(log("demo_eval"))
    usual = [decode_usual(json.dumps(sample).encode())["messages"] for sample in samples]

    assert {type(message) for messages in usual for message in messages} == {UsualMessage}


def test_messages_that_only_a_call_refers_to_are_put_together_from_the_pools(tmp_path, monkeypatch):
    path = with_samples(tmp_path, lambda sample: sample | {"messages": []})
    short, long = read(path, monkeypatch, SHORT), read(path, monkeypatch, LONG)

    assert short == long
    assert any(step.kind == "message" for item in short if type(item) is Attempt for step in item.steps)


@pytest.mark.parametrize("data", [b"[]", b'{"events":', b"\xff", b"", b'{"metadata":' + b"[" * (DEPTH_CAP + 1)])
def test_what_is_no_sample_is_decoded_or_refused_as_ever(data):
    def told(decoding):
        try:
            return decoding(data)
        except ValueError as error:
            return str(error)

    assert told(decode_usual) == told(decode)
