"""Verdicts, refusals, leases and the ledger of calls."""

import subprocess
import sys
from datetime import UTC, datetime

import msgspec
import pytest

from errata.model import ReviewCall, Reviewer, Usage, Verdict, attempt_id
from errata.model.verdict import Lease, Refusal
from errata.store.database import open_store, this_process
from errata.store.ledger import calls_of, find_lost, open_ledger
from errata.store.removal import remove_run
from errata.store.reviews import (
    end_lease,
    held_by,
    keep_refusal,
    keep_verdicts,
    leases_of,
    refusals_of,
    take_lease,
    verdicts_of,
)
from errata.store.schema import calls

RUN = "0123456789abcdef"
FIRST, SECOND = attempt_id(RUN, "suite/a"), attempt_id(RUN, "suite/b")
NOW, LATER = "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z"


@pytest.fixture
def store(tmp_path, empty_store):
    (tmp_path / "errata.db").write_bytes(empty_store)
    return open_store(tmp_path / "errata.db")


def a_verdict(**changes):
    reviewer = Reviewer(kind="person", name="ada")
    whole = {"id": "v1", "attempt": FIRST, "taxonomy": "owners", "label": "MODEL", "owner": "model", "cause": "slow"}
    return Verdict(**(whole | {"confidence": "likely", "reviewer": reviewer, "at": NOW} | changes))


def a_call(**changes):
    whole = {"id": "c1", "run": RUN, "attempt": FIRST, "reviewer": "llm:m", "cache_key": "k1", "started_at": NOW}
    return ReviewCall(**(whole | changes))


def test_a_verdict_is_kept_once(store):
    keep_verdicts(store, [a_verdict()])

    assert keep_verdicts(store, [a_verdict(cause="another"), a_verdict(id="v2")]) == 1
    assert [one.cause for one in verdicts_of(store, RUN)] == ["slow", "slow"]


def test_a_refusal_keeps_its_reasons_and_the_answer(store):
    refusal = Refusal(FIRST, "llm:m", "hash", ("no such label", "a quote is not there"), "{ not json \ud83d\ude00", NOW)
    keep_refusal(store, refusal)

    assert refusals_of(store, RUN)[0].reasons == refusal.reasons
    assert refusals_of(store, RUN)[0].answer.startswith("{ not json")


def test_two_who_ask_at_once_get_different_packets(store):
    got = [
        take_lease(store, RUN, (FIRST, SECOND), reviewer="agent:a", lease=Lease("", token, LATER), now=NOW)
        for token in ("t1", "t2", "t3")
    ]

    assert got == [FIRST, SECOND, ""]


def test_a_lease_ends_by_itself(store):
    take_lease(store, RUN, (FIRST,), reviewer="agent:a", lease=Lease("", "t1", LATER), now=NOW)

    assert leases_of(store, RUN, now=LATER) == {}
    assert take_lease(store, RUN, (FIRST,), reviewer="agent:a", lease=Lease("", "t2", LATER), now=LATER) == FIRST


def test_a_lease_is_ended_by_the_verdict(store):
    take_lease(store, RUN, (FIRST,), reviewer="agent:a", lease=Lease("", "t1", LATER), now=NOW)
    end_lease(store, FIRST, reviewer="agent:a")

    assert leases_of(store, RUN, now=NOW) == {}


def test_what_a_reviewer_holds_is_told_what_ends_first_first(store):
    for until, attempt in ((LATER, FIRST), ("2026-03-01T10:30:00Z", SECOND)):
        take_lease(store, RUN, (attempt,), reviewer="agent:a", lease=Lease("", until, until), now=NOW)

    held = held_by(store, RUN, reviewer="agent:a", now=NOW)

    assert [one.attempt for one in held] == [SECOND, FIRST]
    assert held_by(store, RUN, reviewer="agent:b", now=NOW) == []


def test_an_answer_is_found_by_its_key(store):
    with open_ledger(store) as ledger:
        ledger.intend(a_call())
        before = ledger.answered("k1")
        ledger.close(msgspec.structs.replace(a_call(), state="answered", answer="{}", usage=Usage(cost=0.5)))
        found = ledger.answered("k1")

    assert before is None
    assert found is not None
    assert found.usage.cost == 0.5


def test_an_intent_of_a_living_process_is_not_lost(store):
    with open_ledger(store) as ledger:
        ledger.intend(a_call(started_at=_now()))

    assert find_lost(store, now=LATER) == []


def test_an_intent_whose_process_is_gone_was_lost_and_is_told_once(store):
    with open_ledger(store) as ledger:
        ledger.intend(a_call(started_at=_now()))
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    place = this_process().rpartition(":")[0]
    with store.writing() as connection:
        connection.execute(calls.update().values(holder=f"{place}:{int(gone.stdout)}"))

    assert [call.id for call in find_lost(store, now=LATER)] == ["c1"]
    assert find_lost(store, now=LATER) == []
    assert [call.state for call in calls_of(store, RUN)] == ["lost"]


def held_by_another_process(store, pid=1):
    place = this_process().rpartition(":")[0]
    with store.writing() as connection:
        connection.execute(calls.update().values(holder=f"{place}:{pid}"))


def test_what_another_process_asks_is_not_asked_as_well(store):
    with open_ledger(store) as ledger:
        assert ledger.intend(a_call(started_at=_now()))
        held_by_another_process(store)

        assert not ledger.intend(a_call(id="c2", started_at=_now()), unless_since=NOW)

    assert [call.id for call in calls_of(store, RUN)] == ["c1"]


@pytest.mark.parametrize("since", [LATER, "9999"])
def test_what_was_asked_too_long_ago_is_asked_again(store, since):
    with open_ledger(store) as ledger:
        ledger.intend(a_call(started_at=NOW))
        held_by_another_process(store)

        assert ledger.intend(a_call(id="c2", started_at=_now()), unless_since=since)


def test_what_a_dead_process_asked_is_asked_again(store):
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    with open_ledger(store) as ledger:
        ledger.intend(a_call(started_at=_now()))
        held_by_another_process(store, pid=int(gone.stdout))

        assert ledger.intend(a_call(id="c2", started_at=_now()), unless_since=NOW)


def test_a_forgotten_run_takes_what_was_said_of_it_along(store):
    keep_verdicts(store, [a_verdict()])
    with open_ledger(store) as ledger:
        ledger.intend(a_call())
    remove_run(store, RUN)

    assert verdicts_of(store, RUN) == []
    assert list(calls_of(store)) == []


def _now():

    return datetime.now(UTC).isoformat()
