"""Transcripts that no packet holds whole: every step is in the timeline, and every step can be quoted."""

import json
from datetime import UTC, datetime

import pytest
from tests.length import every

from errata.model import Reviewer
from errata.review.stored.lease import LeaseRequest
from errata.review.submit import AcceptedVerdict, RejectedVerdict, read_submission
from errata.runs.importing import import_paths
from errata.store.runs import all_runs
from errata.verbs.review import lease_next, submit_verdict

NOW = datetime(2026, 3, 1, tzinfo=UTC)
READER = Reviewer(kind="agent", name="reader")
STEPS = 300
MAPPING = """
suite = "harbour"
[case]
name = "task"
[attempt]
passed = "solved"
messages = "messages"
"""


def line(at: int) -> str:
    """What only this step says, in the middle of a long message."""
    return f"berth {at} of the {at * 7 % 97}th pier is taken by ship {at * 13}"


@pytest.fixture
def run(store, tmp_path):
    filler = "the tide goes out and comes in again, and nobody writes it down. " * 12
    messages = [
        {"role": ("assistant", "user")[at % 2], "content": f"{at}: {filler}{line(at)}. {filler}"} for at in range(STEPS)
    ]
    row = {"task": "moor", "solved": False, "messages": messages}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "rows.jsonl.map.toml").write_text(MAPPING)
    import_paths([tmp_path / "rows.jsonl"], store)
    return all_runs(store)[0]


def submitted(store, leased, place, quote):
    answer = {
        "attempt_id": leased.packet.attempt_id,
        "lease": leased.token,
        "label": "model",
        "cause": "It misses the pier",
        "reasoning": "It was said there.",
        "evidence": [{"place": place, "quote": quote}],
        "confidence": "likely",
    }
    return submit_verdict(read_submission(json.dumps(answer)), store, READER, now=NOW)


@pytest.mark.req("B-33")
def test_three_hundred_steps_are_all_in_the_timeline_within_the_budget(run, store):
    packet = lease_next(run.run.native_id, store, LeaseRequest(reviewer=READER), now=NOW).packet

    assert [int(one.partition(" ")[0]) for one in packet.timeline] == list(range(STEPS))
    assert packet.size["tokens_estimated"] <= 12_000
    shown = {place.place for place in packet.places}
    assert {"steps/0", "steps/1", f"steps/{STEPS - 1}"} <= shown
    assert f"steps/{STEPS // 2}" not in shown


@pytest.mark.req("B-34")
def test_honest_quotes_of_steps_that_the_packet_leaves_out_are_accepted(run, store):
    leased = lease_next(run.run.native_id, store, LeaseRequest(reviewer=READER), now=NOW)
    shown = {place.place for place in leased.packet.places}
    middle = [at for at in range(100, 200, 2) if f"steps/{at}" not in shown][:40]

    assert len(middle) == 40
    middle = every(5, middle)
    for at in middle:
        taken = submitted(store, leased, f"steps/{at}", line(at))
        assert isinstance(taken, AcceptedVerdict), taken
        (quote,) = taken.kept.verdict.evidence
        assert (quote.place, quote.lines) == (f"steps/{at}", (1, 1))
        assert line(at) in quote.quote


def test_invented_quotes_and_quotes_of_another_step_are_refused(run, store):
    leased = lease_next(run.run.native_id, store, LeaseRequest(reviewer=READER), now=NOW)

    invented = submitted(store, leased, "steps/150", "berth 150 is free for any ship")
    assert isinstance(invented, RejectedVerdict)
    elsewhere = submitted(store, leased, "steps/150", line(152))
    assert isinstance(elsewhere, RejectedVerdict) and "it is in `steps/152`" in elsewhere.reasons[0]


def test_a_quote_of_the_timeline_is_answered_with_the_step_to_quote(run, store):
    leased = lease_next(run.run.native_id, store, LeaseRequest(reviewer=READER), now=NOW)
    refused = submitted(store, leased, "timeline", "150: the tide goes out and comes in again")

    assert isinstance(refused, RejectedVerdict)
    assert "errata's own words; quote `steps/150`" in refused.reasons[0]
