"""Records to bytes and back, whatever a log holds."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.model import Attempt, Case, Check, Output, Run, Step, Usage, UsageByRole
from errata.model.codec import from_json, pack, pack_into, to_json, to_whole, unpack
from errata.model.step import Actor
from errata.testing import a_run, an_attempt
from record_strategies import attempts

HUGE = 2**100


@given(attempts)
def test_an_attempt_comes_back_from_bytes_as_it_was(attempt):
    assert unpack(pack(attempt), Attempt) == attempt


@given(attempts)
def test_an_attempt_comes_back_from_json_as_it_was(attempt):
    assert from_json(to_json(attempt), Attempt) == attempt


@given(st.lists(attempts, max_size=3))
def test_records_are_appended_to_a_buffer(many):
    buffer = bytearray()
    for one in many:
        pack_into(one, buffer)

    assert bytes(buffer) == b"".join(pack(one) for one in many)


def test_an_integer_over_64_bits_is_kept_as_text():
    back = unpack(pack(an_attempt(extra={"id": HUGE, "list": [-HUGE]})), Attempt)

    assert back.extra == {"id": str(HUGE), "list": [str(-HUGE)]}


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63), 2**63, 2**64 - 1])
def test_an_integer_of_64_bits_stays_a_number(value):
    assert unpack(pack(an_attempt(extra={"id": value})), Attempt).extra == {"id": value}


def test_a_lone_surrogate_is_stored_as_a_question_mark():
    back = unpack(pack(an_attempt(output=Output(text="a\ud800b"), extra={"\udcff": "\udcff"})), Attempt)

    assert (back.output.text, back.extra) == ("a?b", {"?": "?"})


@pytest.mark.parametrize("text", ["true", "1", "1.0", "null", "nan"])
def test_what_stands_beside_a_lone_surrogate_is_not_changed(text):
    attempt = an_attempt(
        checks=(Check(name="c", status="pass", value=text),),
        output=Output(text=text, structured=text, answer=text),
        native_status="\ud800",
    )

    back = unpack(pack(attempt), Attempt)

    assert back == msgspec.structs.replace(attempt, native_status="?")


@pytest.mark.parametrize(
    "record",
    [
        an_attempt(seed=HUGE),
        an_attempt(exit_code=-HUGE),
        an_attempt(usage=UsageByRole(subject=Usage(input=HUGE))),
        an_attempt(checks=(Check(name="c", status="fail", value=HUGE),)),
        a_run(expected_cases=HUGE),
    ],
    ids=["seed", "exit code", "tokens", "check value", "expected cases"],
)
def test_a_huge_number_in_a_numbered_field_is_no_crash(record):
    assert unpack(pack(record), type(record)).ref == record.ref


def test_a_buffer_is_left_as_it_was_by_what_had_to_be_packed_twice():
    buffer = bytearray(b"before")
    attempt = an_attempt(extra={"a": "x" * 1000, "id": HUGE})

    pack_into(attempt, buffer)

    assert buffer.startswith(b"before")
    assert unpack(bytes(buffer[6:]), Attempt).extra["id"] == str(HUGE)


def test_a_transcript_with_a_lone_surrogate_is_packed_like_any_other():
    buffer = bytearray()

    pack_into((Step(index=0, actor=Actor(role="user"), text="\ud800"),), buffer)

    assert msgspec.msgpack.decode(bytes(buffer), type=tuple[Step, ...])[0].text == "?"


def test_absent_fields_are_not_written():
    assert set(msgspec.to_builtins(an_attempt())) == {"id", "run", "case", "execution", "measurement", "outcome"}


@pytest.mark.parametrize("record", [a_run(origin="/x"), Case(run="r", suite="s", native_id="n", input=[1, "a"])])
def test_runs_and_cases_come_back_too(record):
    kind: type[Run] | type[Case] = type(record)

    assert unpack(pack(record), kind) == record


@pytest.mark.parametrize(
    ("kind", "stored"),
    [
        (
            Attempt,
            {
                "id": "r:c#1",
                "run": "r",
                "case": "c",
                "execution": "completed",
                "measurement": "scored",
                "outcome": "pass",
            },
        ),
        (Run, {"id": "r", "native_id": "n", "source": {"name": "some-source"}}),
    ],
)
def test_a_record_that_was_written_before_a_field_was_there_is_read(kind, stored):
    back = unpack(msgspec.msgpack.encode(stored), kind)

    assert (back.id, back.parts) == (stored["id"], ())


def test_a_record_of_a_later_errata_is_read_without_the_field_that_is_not_known():
    stored = msgspec.to_builtins(an_attempt()) | {"not_yet_invented": 1}

    assert unpack(msgspec.msgpack.encode(stored), Attempt) == an_attempt()


@pytest.mark.parametrize(
    ("value", "whole"),
    [
        (("passed", "mixed"), ["passed", "mixed"]),
        ([1, None, True, 0.5], [1, None, True, 0.5]),
        (["passed", "caf\u00e9", "half \ud83d"], ["passed", "caf\u00e9", "half ?"]),
        ([("a", 1), {"b": ["\udc00"]}], [["a", 1], {"b": ["?"]}]),
    ],
)
def test_lists_are_written_whole_and_without_half_characters(value, whole):
    assert to_whole(value) == whole
