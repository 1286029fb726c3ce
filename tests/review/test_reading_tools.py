"""Reading what is too long for a packet: only reading, redacted like the packet, and what is quoted is looked up."""

import json
from contextlib import asynccontextmanager

import pytest

from errata.model import Reviewer
from errata.review.choose_reviewer import ChosenReviewer
from errata.review.plan import ReviewRequest, at_most, estimated, prompt_of
from errata.review.protocols import ReviewerAnswer
from errata.review.reading_tools import WholePackets
from errata.review.redaction import redacted
from errata.review.run import ReviewTally
from errata.runs.importing import import_paths
from errata.runs.standings import quotes_found
from errata.store.reviews import verdicts_of
from errata.store.runs import all_runs
from errata.verbs.review import packet_of, packets_of, plan_review, run_review

DEEP = "the needle that decides is in the middle of it"
SECRET = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz"
NOW = "2026-03-10T12:00:00Z"


@pytest.fixture
def stored(store, tmp_path):
    filler = [f"line {number} says nothing at all of what went wrong" for number in range(4_000)]
    filler[1_900] = DEEP
    filler[1_901] = f"export KEY={SECRET}"
    (tmp_path / "rows.jsonl").write_text(json.dumps({"id": "one", "ok": False, "answer": "\n".join(filler)}) + "\n")
    (tmp_path / "map.toml").write_text('[case]\nname = "id"\n[attempt]\npassed = "ok"\noutput = "answer"\n')
    import_paths([tmp_path / "rows.jsonl"], store, map_path=tmp_path / "map.toml")
    (only,) = all_runs(store)
    return only


@pytest.fixture
def packet(stored, store):
    (only,) = packets_of(stored, store)
    return redacted(only)


@pytest.fixture
def tools(packet, store):
    whole = WholePackets(lambda attempt, options: redacted(packet_of(attempt, store, options=options)), blind=False)
    return {tool.name: tool for tool in whole.tools(packet)}


def test_what_is_looked_for_is_not_in_the_packet(packet):
    assert not any(DEEP in place.text for place in packet.places)


def test_a_search_finds_the_line_and_its_number(tools):
    assert f"output:1901: {DEEP}" in tools["search"].use({"text": "NEEDLE that decides"})


def test_a_place_is_read_from_a_line_on(tools):
    result = tools["read_place"].use({"place": "output", "first_line": 1901, "lines": 1})

    assert result.endswith(f"\n{DEEP}")


def test_all_places_are_listed(tools):
    assert "output: 4,000 lines" in tools["list_places"].use({})


def test_what_is_read_is_redacted_and_said_to_be_data(tools):
    result = tools["read_place"].use({"place": "output", "first_line": 1900, "lines": 5})

    assert SECRET not in result and "[redacted:" in result
    assert result.startswith("This is data from the run")


def test_a_tool_gives_no_more_than_a_reader_can_hold(tools):
    assert len(tools["read_place"].use({"place": "output", "first_line": 1, "lines": 10**9})) < 13_000
    assert len(tools["search"].use({"text": "line"})) < 13_000


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("read_place", {"place": "../../etc/passwd", "first_line": 1, "lines": 1}, "There is no place"),
        ("read_place", {"place": "output", "first_line": 10**6, "lines": 1}, "It has 4,000 lines"),
        ("read_place", {"place": "output"}, "can't be used"),
        ("read_place", {"place": "output", "first_line": "x", "lines": 1}, "can't be used"),
        ("search", {"text": " "}, "nothing to look for"),
        ("search", {"text": "no such thing"}, "No text contains that"),
    ],
)
def test_a_slip_is_told_to_the_model(tools, name, given, says):
    assert says in tools[name].use(given)


def chosen(*, reads_more, quote=DEEP):
    class Searching:
        identity = Reviewer(kind="llm", name="reader", version="tools" if reads_more else "")

        async def ask(self, _prompt, _packet):
            answer = {
                "label": "model",
                "cause": "It is in the middle",
                "reasoning": "It was found there.",
                "evidence": [{"place": "output", "quote": quote}],
                "confidence": "likely",
            }
            return ReviewerAnswer(json.dumps(answer))

    @asynccontextmanager
    async def opened(_limits, _tools):
        yield Searching()

    return ChosenReviewer(
        identity=Searching.identity,
        goes_to="a test",
        open=opened,
        price=lambda a, b: (a + b) / 1e6,
        reads_more=reads_more,
    )


@pytest.mark.parametrize("reads_more", [True, False])
@pytest.mark.parametrize(("quote", "ends"), [(DEEP, (1, 0)), ("nothing of the kind was said", (0, 1))])
def test_quotes_are_looked_up_in_the_whole_attempt(stored, store, reads_more, quote, ends):
    plan = plan_review([stored], store, ReviewRequest(chosen=chosen(reads_more=reads_more, quote=quote)), now=NOW)
    tally = ReviewTally(plan.packets)
    run_review(plan, store, tally, lambda _: None)

    assert (tally.reviewed, tally.refused) == ends


@pytest.mark.req("verified")
def test_what_was_quoted_beyond_the_packet_is_found_again(stored, store):
    plan = plan_review([stored], store, ReviewRequest(chosen=chosen(reads_more=True)), now=NOW)
    run_review(plan, store, ReviewTally(1), lambda _: None)

    found = quotes_found(stored, store, verdicts_of(store, stored.run.id))

    assert (found.quotes, found.verified, found.stale) == (1, 1, ())


def test_reading_more_is_estimated_as_more_and_capped_by_the_most(packet):
    prompt = prompt_of(packet)
    plain, more = chosen(reads_more=False), chosen(reads_more=True)

    costs = [estimated(plain, prompt), at_most(plain, prompt), estimated(more, prompt), at_most(more, prompt)]

    assert [one.cost for one in costs] == sorted(one.cost for one in costs)
