"""Many packets at once: what is asked, what is written down, what is paid, and how each one ends."""

import asyncio
import gc
import math
from collections import Counter
from itertools import pairwise

import pytest
from a_review import Fake, MemoryLedger, Time, judge, reviewed, some_packets, some_work, takes
from hypothesis import given
from hypothesis import strategies as st

from errata.errors import StoreError
from errata.model import Reviewer, Usage
from errata.review.fan_out import fan_out
from errata.review.protocols import RetryLaterError, ReviewerAnswer, ReviewerStoppedError, ReviewFailedError
from errata.review.spending import LONGEST_ASKED, Limits, Pace, Purse


def saying(*texts):
    """One after the other for each packet, and then the last for ever."""
    before = Counter()

    async def says(_prompt, packet):
        before[packet.id] += 1
        text = texts[min(before[packet.id], len(texts)) - 1]
        if isinstance(text, Exception):
            raise text
        return ReviewerAnswer(text, Usage(input=10, output=5, cost=0.01))

    return Fake(says)


async def slowly(prompt, packet):
    for _ in range(50):
        await asyncio.sleep(0)
    return await takes(prompt, packet)


def ends(found):
    return Counter(ended.end for ended in found)


@pytest.mark.req("C-08")
def test_every_packet_is_reviewed_once():
    reviewer = Fake(takes)

    found = reviewed(some_packets(30), some_work(reviewer))

    assert ends(found) == {"reviewed": 30}
    assert sorted(reviewer.asked) == sorted(packet.id for packet in some_packets(30))


def test_packets_are_asked_about_in_their_order():
    reviewer = Fake(takes)

    reviewed(some_packets(30), some_work(reviewer))

    assert reviewer.asked == [packet.id for packet in some_packets(30)]


@pytest.mark.req("C-08")
@given(st.integers(min_value=1, max_value=12), st.integers(min_value=0, max_value=40))
def test_never_more_are_asked_at_once_than_is_allowed(parallel, count):
    reviewer = Fake(slowly)

    reviewed(some_packets(count), some_work(reviewer, Limits(parallel=parallel)))

    assert reviewer.most_at_once == min(parallel, count)


@pytest.mark.req("C-08")
def test_unless_told_otherwise_four_are_read_at_once():
    assert Limits().parallel == 4


def test_packets_are_made_when_somebody_is_free_to_read_them():
    made = 0
    ahead = []

    def lazily():
        nonlocal made
        for packet in some_packets(50):
            made += 1
            yield packet

    async def count():
        done = 0
        async for _ in fan_out(lazily(), some_work(Fake(takes), Limits(parallel=4))):
            done += 1
            ahead.append(made - done)

    asyncio.run(count())

    assert max(ahead) <= 4


def test_an_intent_is_in_the_ledger_before_anything_is_asked():
    ledger = MemoryLedger()
    seen = []

    async def says(_prompt, packet):
        seen.append([call.state for call in ledger.of(packet)])
        return ReviewerAnswer("good")

    reviewed(some_packets(5), some_work(Fake(says), ledger=ledger))

    assert seen == [["intended"]] * 5
    assert ledger.states() == ["answered"] * 5


def test_the_answer_is_stored_before_it_is_judged():
    ledger = MemoryLedger()
    stored = []

    def judges(packet, prompt, answer):
        stored.append([call.answer for call in ledger.of(packet, "answered")])
        return judge(packet, prompt, answer)

    reviewed(some_packets(2), some_work(Fake(takes), ledger=ledger, judge=judges))

    assert stored == [["good"]] * 2


def test_what_was_answered_once_is_never_asked_again():
    ledger = MemoryLedger()
    reviewed(some_packets(8), some_work(Fake(takes), ledger=ledger))
    again = Fake(takes)

    found = reviewed(some_packets(8), some_work(again, ledger=ledger))

    assert again.asked == []
    assert ends(found) == {"reviewed": 8}
    assert all(ended.cached for ended in found)


def test_another_reviewer_is_asked_for_itself():
    ledger = MemoryLedger()
    ids = iter(range(100, 200))
    reviewed(some_packets(3), some_work(Fake(takes), ledger=ledger))
    other = Fake(takes)

    reviewed(
        some_packets(3),
        some_work(other, ledger=ledger, identity=Reviewer(kind="llm", name="other"), new_id=lambda: str(next(ids))),
    )

    assert len(other.asked) == 3


def test_an_answer_that_can_not_be_taken_gets_one_round_of_repair():
    reviewer = saying("bad", "good")

    (ended,) = reviewed(some_packets(1), some_work(reviewer))

    assert (ended.end, len(reviewer.asked)) == ("reviewed", 2)


def test_the_reviewer_is_told_why_its_answer_could_not_be_taken():
    prompts = []

    async def says(prompt, _packet):
        prompts.append(prompt.data)
        return ReviewerAnswer("bad")

    reviewed(some_packets(1), some_work(Fake(says)))

    assert "bad ('`bad` is no verdict',)" in prompts[1]


def test_after_the_repair_it_is_refused_with_the_reasons_and_what_was_said():
    reviewer = saying("bad", "worse", "good")

    (ended,) = reviewed(some_packets(1), some_work(reviewer))

    assert (ended.end, ended.reasons) == ("refused", ("`worse` is no verdict",))
    assert [(one.answer, one.reasons) for one in ended.refused] == [("worse", ("`worse` is no verdict",))]
    assert len(reviewer.asked) == 2


def test_a_refusal_is_not_asked_about_again_either():
    ledger = MemoryLedger()
    reviewed(some_packets(1), some_work(saying("bad"), ledger=ledger))
    again = Fake(takes)

    (ended,) = reviewed(some_packets(1), some_work(again, ledger=ledger))

    assert (ended.end, ended.cached, again.asked) == ("refused", True, [])


def test_a_repair_that_was_broken_off_goes_on_where_it_was():
    ledger = MemoryLedger()
    reviewed(some_packets(1), some_work(saying("bad", ReviewFailedError("gone")), ledger=ledger))
    ids = iter(range(100, 200))
    again = saying("good")

    (ended,) = reviewed(some_packets(1), some_work(again, ledger=ledger, new_id=lambda: str(next(ids))))

    assert ended.end == "reviewed"
    assert [call.round for call in ledger.calls.values()] == [1, 2, 2]


def test_after_so_many_tries_it_is_given_up_with_the_reason():
    reviewer = saying(RetryLaterError("HTTP 503"))

    (ended,) = reviewed(some_packets(1), some_work(reviewer, Limits(tries=3)))

    assert (ended.end, ended.reasons) == ("failed", ("given up after 3 tries: HTTP 503",))
    assert len(reviewer.asked) == 3


def test_every_try_is_a_call_of_its_own_in_the_ledger():
    work = some_work(saying(RetryLaterError("HTTP 500"), RetryLaterError("HTTP 502"), "good"))

    reviewed(some_packets(1), work)

    assert [(call.state, call.why) for call in work.ledger.calls.values()] == [
        ("failed", "HTTP 500"),
        ("failed", "HTTP 502"),
        ("answered", ""),
    ]


def test_one_packet_that_fails_leaves_the_others_alone():
    async def says(prompt, packet):
        if packet.case_key == "case-3":
            raise ReviewFailedError("too long")
        return await takes(prompt, packet)

    found = reviewed(some_packets(6), some_work(Fake(says)))

    assert ends(found) == {"reviewed": 5, "failed": 1}


def test_a_mistake_of_ours_over_one_packet_is_told_and_the_others_are_read():
    def judges(packet, prompt, answer):
        if packet.case_key == "case-3":
            raise KeyError("label")
        return judge(packet, prompt, answer)

    found = reviewed(some_packets(6), some_work(Fake(takes), judge=judges))

    assert ends(found) == {"reviewed": 5, "failed": 1}
    assert [ended.reasons for ended in found if ended.end == "failed"] == [
        ("errata stumbled over it: KeyError: 'label'",)
    ]


def test_a_store_that_can_not_be_written_ends_everything():
    class Full(MemoryLedger):
        def close(self, call):
            raise StoreError(f"No space is left for {call.id}")

    with pytest.raises(StoreError):
        reviewed(some_packets(6), some_work(Fake(takes), ledger=Full()))


def test_when_the_reviewer_stops_the_rest_is_left_waiting():
    taken = []

    def watched():
        for packet in some_packets(40):
            taken.append(packet)
            yield packet

    found = reviewed(watched(), some_work(saying(ReviewerStoppedError("the key is refused")), Limits(parallel=4)))

    assert ends(found) == {"stopped": 4}
    assert len(taken) == 4
    assert found[0].reasons == ("the key is refused",)


def test_those_on_their_way_when_the_reviewer_stops_are_kept():
    async def says(prompt, packet):
        if packet.case_key == "case-0":
            raise ReviewerStoppedError("no more")
        for _ in range(5):
            await asyncio.sleep(0)
        return await takes(prompt, packet)

    found = reviewed(some_packets(40), some_work(Fake(says), Limits(parallel=4)))

    assert ends(found) == {"stopped": 1, "reviewed": 3}


def test_an_answer_that_takes_too_long_may_have_to_be_paid():
    async def says(_prompt, _packet):
        await asyncio.sleep(3_600)
        return ReviewerAnswer("good")

    work = some_work(Fake(says), Limits(timeout=0.01, tries=2))
    (ended,) = reviewed(some_packets(1), work)

    assert ended.reasons == ("given up after 2 tries: no answer within 0.01 s",)
    assert [(call.state, call.why) for call in work.ledger.calls.values()] == [("lost", "no answer within 0.01 s")] * 2


def test_what_is_broken_off_is_told_as_lost():
    work = some_work(Fake(lambda *_: asyncio.sleep(3_600)), Limits(parallel=3))

    async def broken_off():
        reviewing = asyncio.create_task(anext(fan_out(some_packets(9), work)))
        for _ in range(20):
            await asyncio.sleep(0)
        reviewing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reviewing

    asyncio.run(broken_off())

    assert work.ledger.states() == ["lost"] * 3
    assert {call.why for call in work.ledger.calls.values()} == {"broken off before the answer came"}


def test_who_stops_listening_leaves_nothing_open():
    async def says(prompt, packet):
        if packet.case_key != "case-0":
            await asyncio.sleep(3_600)
        return await takes(prompt, packet)

    work = some_work(Fake(says), Limits(parallel=3))

    async def first_only():
        ends = fan_out(some_packets(9), work)
        await anext(ends)
        await ends.aclose()

    asyncio.run(first_only())

    assert Counter(work.ledger.states()) == {"answered": 1, "lost": 2}


def test_when_one_is_told_to_wait_all_wait():
    time = Time()
    limits = Limits(parallel=4)
    moments = []
    result = iter([RetryLaterError("HTTP 429", 30.0)])

    async def says(_prompt, _packet):
        moments.append(time.now - 1_000.0)
        if error := next(result, None):
            raise error
        await asyncio.sleep(0)
        return ReviewerAnswer("good")

    reviewed(some_packets(12), some_work(Fake(says), limits, pace=Pace(limits, clock=time, sleep=time.sleep)))

    before = [at for at in moments if at < 30.0]
    assert len(before) <= 4  # those that were on their way
    assert len(moments) == 13


def test_after_a_pause_they_do_not_all_come_at_once():
    time = Time()
    limits = Limits(parallel=8)
    pace = Pace(limits, clock=time, sleep=time.sleep)
    served: Counter[int] = Counter()

    async def says(_prompt, _packet):
        """Two a second, as a strict provider has it."""
        second = int(time.now)
        served[second] += 1
        await asyncio.sleep(0)
        if served[second] > 2:
            raise RetryLaterError("HTTP 429", 1.0)
        return ReviewerAnswer("good")

    found = reviewed(some_packets(60), some_work(Fake(says), limits, pace=pace))

    assert ends(found) == {"reviewed": 60}


def test_a_provider_is_not_waited_for_a_day():
    reviewer = saying(RetryLaterError("HTTP 429: quota", 86_400.0))

    found = reviewed(some_packets(9), some_work(reviewer, Limits(parallel=2)))

    assert ends(found) == {"stopped": 2}
    assert found[0].reasons == ("the other side wants to be left alone for 1,440 minutes: HTTP 429: quota",)
    assert LONGEST_ASKED < 86_400


priced = st.integers(min_value=0, max_value=50).map(lambda tokens: Usage(input=tokens, output=0, cost=tokens / 1_000))
ways = st.sampled_from(["good", "bad", "turned away", "lost", "filtered"])


@given(
    st.lists(st.tuples(ways, priced), min_size=1, max_size=30),
    st.integers(min_value=0, max_value=400),
    st.booleans(),
    st.integers(min_value=1, max_value=8),
)
def test_no_cap_is_ever_exceeded(script, cap, by_money, parallel):
    """Whatever comes back, as long as no call costs more than the most that it can."""
    paid = 0
    left = list(script)

    async def says(_prompt, _packet):
        nonlocal paid
        way, usage = left.pop() if left else ("good", Usage(input=50, output=0, cost=0.05))
        await asyncio.sleep(0)
        if way == "turned away":
            raise RetryLaterError("HTTP 503")
        paid += usage.tokens
        if way == "lost":  # and the provider wants its money all the same
            raise RetryLaterError("half an answer", in_doubt=True)
        if way == "filtered":
            raise ReviewFailedError("filtered", usage=usage)
        return ReviewerAnswer(way, usage)

    limits = Limits(parallel=parallel, **({"max_cost": cap / 1_000} if by_money else {"max_tokens": cap}))
    most = Usage(input=50, output=0, cost=0.05)
    reviewed(some_packets(20), some_work(Fake(says), limits, most=lambda _: most))

    assert paid <= cap


def test_what_is_left_of_a_cap_is_used():
    """What calls may cost is held only until it is known what they did cost."""
    work = some_work(Fake(slowly), Limits(parallel=8, max_cost=0.20))

    found = reviewed(some_packets(40), work)

    assert ends(found)["reviewed"] == 16
    assert ends(found)["capped"] >= 1
    assert work.purse.cost == pytest.approx(0.16)


def test_a_cap_leaves_the_rest_waiting_and_says_so():
    found = reviewed(some_packets(40), some_work(Fake(takes), Limits(parallel=1, max_tokens=50)))

    assert ends(found) == {"reviewed": 1, "capped": 1}
    assert found[-1].reasons == ("the next call could go over `--max-tokens`",)


def test_a_cap_on_money_can_not_be_kept_without_a_price():
    reviewer = Fake(takes)

    found = reviewed(
        some_packets(3), some_work(reviewer, Limits(parallel=1, max_cost=5.0), most=lambda _: Usage(input=9))
    )

    assert reviewer.asked == []
    assert found[0].reasons == ("`--max-cost` can't be enforced: the price of a call is unknown",)


def test_answers_out_of_the_ledger_cost_nothing():
    ledger = MemoryLedger()
    reviewed(some_packets(8), some_work(Fake(takes), ledger=ledger))
    limits = Limits(max_tokens=0)

    found = reviewed(some_packets(8), some_work(Fake(takes), limits, ledger=ledger, purse=Purse(limits)))

    assert ends(found) == {"reviewed": 8}


# --- hostile times and figures ---------------------------------------------------------------------------------------


def waits_after(*afters):
    """How long each try came after the one before."""
    time = Time()
    limits = Limits(parallel=1, tries=len(afters) + 1)
    moments = []
    result = iter([RetryLaterError("HTTP 429", after) for after in afters])

    async def says(_prompt, _packet):
        moments.append(time.now)
        if error := next(result, None):
            raise error
        return ReviewerAnswer("good")

    pace = Pace(limits, clock=time, sleep=time.sleep, seed=3)
    found = reviewed(some_packets(1), some_work(Fake(says), limits, pace=pace))
    return found, [after - before for before, after in pairwise(moments)]


@pytest.mark.parametrize("after", [None, 0.0, -5.0, -1e300, math.nan, 1e-9])
def test_a_time_that_is_none_does_not_make_the_tries_a_storm(after):
    found, waits = waits_after(*[after] * 5)

    assert ends(found) == {"reviewed": 1}
    assert all(wait >= 0.25 for wait in waits)
    assert waits[-1] > waits[0]


@pytest.mark.parametrize("after", [math.inf, 1e300, LONGEST_ASKED + 1])
def test_a_time_beyond_all_patience_stops_the_review(after):
    found, _ = waits_after(after)

    assert ends(found) == {"stopped": 1}


def test_a_time_that_can_be_waited_for_is_waited_for():
    _, waits = waits_after(7.0, 30.0)

    assert waits[0] >= 7.0 and waits[1] >= 30.0


@given(
    st.lists(st.sampled_from([Usage(input=20), Usage(output=20), Usage(requests=1), Usage()]), min_size=1, max_size=12),
    st.integers(min_value=40, max_value=400),
)
def test_what_an_answer_does_not_tell_stays_held(script, cap):
    """Each call may cost 40 tokens, and does; the provider tells half of it or nothing."""
    asked = 0
    left = list(script)

    async def says(_prompt, _packet):
        nonlocal asked
        asked += 1
        return ReviewerAnswer("good", left.pop() if left else Usage())

    most = Usage(input=20, output=20)
    reviewed(some_packets(20), some_work(Fake(says), Limits(parallel=1, max_tokens=cap), most=lambda _: most))

    assert asked * 40 <= cap


def test_a_reviewer_that_breaks_down_in_the_middle_may_have_to_be_paid():
    async def says(_prompt, _packet):
        raise RuntimeError("boom")

    work = some_work(Fake(says), Limits(parallel=1, max_tokens=100), most=lambda _: Usage(input=40, output=0))
    found = reviewed(some_packets(9), work)

    assert [call.state for call in work.ledger.calls.values()] == ["lost", "lost"]
    assert ends(found) == {"failed": 2, "capped": 1}


def test_nothing_in_place_of_a_packet_means_later():
    """What is held back comes when one that is being reviewed has ended."""
    first, second, third = some_packets(3)
    ended = []

    def packets():
        yield first
        while not ended:
            yield None
        yield from (second, third)

    async def all_of_them():
        async for one in fan_out(packets(), some_work(Fake(slowly), Limits(parallel=3))):
            ended.append(one.packet.id)

    asyncio.run(all_of_them())

    assert ended[0] == first.id
    assert set(ended[1:]) == {second.id, third.id}


def test_when_the_store_fails_under_several_at_once_no_error_is_left_behind(caplog):
    class Full(MemoryLedger):
        def close(self, call):
            raise StoreError(f"No space is left for {call.id}")

    with pytest.raises(StoreError):
        reviewed(some_packets(6), some_work(Fake(takes), Limits(parallel=4), ledger=Full()))
    gc.collect()

    assert caplog.text == ""
