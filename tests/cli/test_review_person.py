"""A person at the terminal: the packet is shown, label, cause and note are asked for, until it can be taken."""

import pytest

from errata.cli.review.next_ import quote_at
from errata.model import Packet, PacketPlace, Question
from errata.settings import machine_user
from reading import RUN_B, at_a_terminal
from terminal import done, import_fixtures


@pytest.fixture
def imported():
    import_fixtures(RUN_B)


def test_a_person_gives_label_cause_evidence_and_note(imported):
    answers = ["MODEL", "Forgets the order", "output/convex/books.ts:1", "", "No order is asked for", "none", ""]

    code, shown = at_a_terminal("review", "next", "jn7mqywb/002-queries/001-text_lookup", answers=answers)

    assert code == 0, shown
    assert "Write a query `findByTitle`" in shown
    assert "The owner by rules is hidden" in " ".join(shown.split())
    verdict = done("show", "jn7mqywb/002-queries/001-text_lookup", "--json").row["standing"]["verdict"]
    assert (verdict["label"], verdict["cause"]) == ("MODEL_FAULT", "Forgets the order")
    assert verdict["evidence"][0]["place"] == "output/convex/books.ts"
    caller = f"user:{machine_user()}/ada"
    assert verdict["reviewer"] == {"kind": "person", "name": "ada", "version": "", "reading": "", "caller": caller}
    assert (verdict["doubts"], verdict["confidence"]) == (["none"], "likely")


def test_a_person_is_asked_again_where_it_can_not_be_taken(imported):
    cause = "Forgets the order. And the rest of it as well, which is another sentence"
    first = ["1", cause, "", "", "", ""]
    second = ["1", "Forgets the order", "", "", "", ""]

    code, shown = at_a_terminal("review", "next", "jn7mqywb/002-queries/001-text_lookup", answers=first + second)

    assert code == 0, shown
    assert "more than one sentence" in shown


def test_a_person_who_stops_gives_the_packet_back(imported):
    code, shown = at_a_terminal("review", "next", "latest", interrupt=True)

    assert code == 130, shown
    assert done("review", "status", "latest", "--json").row["in_hand"] == 0


PACKET = Packet(
    id="p",
    run={},
    case_key="c",
    attempt=1,
    attempt_id="r:c#1",
    facts={},
    question=Question(taxonomy="t", labels=(), rule=""),
    places=(
        PacketPlace(place="run.log", source="", text="one\n  two\nthree\n"),
        PacketPlace(place="a:b", source="", text="x"),
    ),
)


@pytest.mark.parametrize(
    ("given", "quote"),
    [
        ("run.log:2", "two"),
        ("run.log:1-3", "one\n  two\nthree"),
        ("a:b:1", "x"),
        ("run.log:0", None),
        ("run.log:9", None),
        ("run.log:4", None),
        ("other:1", None),
        ("run.log", None),
    ],
)
def test_lines_are_quoted_by_their_numbers(given, quote):
    found = quote_at(PACKET, given)

    assert (found and found["quote"]) == quote
