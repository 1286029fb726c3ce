"""A packet as it leaves the machine."""

import tomllib
from pathlib import Path

import pytest
from a_packet import a_packet

from errata.model import FailureKey, LeftOut, PacketPlace, Signal
from errata.model.codec import to_json
from errata.review.redaction import packet_hash, redacted

CORPUS = tomllib.loads((Path(__file__).parents[1] / "fixtures/review/secrets.toml").read_text(encoding="utf-8"))
SECRETS = [(one["text"].replace("·", ""), one["gone"]) for one in CORPUS["secret"]]


def everywhere(text):
    return a_packet(
        places=(PacketPlace(place="run.log", source=text, text=text), PacketPlace(place=text, source="", text="x")),
        facts={"native_status": text, "deep": [{"reason": text}]},
        run={"id": "r", "origin": text},
        history=({"text": text},),
        signals=(Signal(name="s", where=text, quote=text),),
        left_out=(LeftOut(what=text, why=text),),
        failure_key=FailureKey(exact=text, coarse=text),
    )


@pytest.mark.parametrize(("text", "gone"), SECRETS)
def test_no_secret_leaves_in_any_part_of_a_packet(text, gone):
    assert gone not in to_json(redacted(everywhere(text))).decode()


def test_redacting_twice_changes_nothing_more():
    once = redacted(everywhere("/home/anna/x anna@lind.io"))

    assert redacted(once) == once


def test_a_packet_says_that_it_was_redacted():
    assert redacted(a_packet()).redacted


def test_ids_and_the_question_stay():
    packet = a_packet(case_key="suite/anna@lind.io", attempt_id="r:suite/anna@lind.io#1")

    left = redacted(packet)

    assert (left.case_key, left.attempt_id, left.question) == (packet.case_key, packet.attempt_id, packet.question)


def test_a_packet_has_the_same_hash_before_and_after():
    packet = everywhere("/home/anna/x")

    assert packet_hash(packet) == packet_hash(redacted(packet))


def test_the_hash_does_not_depend_on_the_order_in_a_dict():
    assert packet_hash(a_packet(facts={"a": 1, "b": 2})) == packet_hash(a_packet(facts={"b": 2, "a": 1}))


def test_another_text_is_another_hash():
    other = (PacketPlace(place="run.log", source="", text="other"),)

    assert packet_hash(a_packet()) != packet_hash(a_packet(places=other))
