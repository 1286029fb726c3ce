"""A review as the pipeline carries it out: how many at once, what is inherited, what a second reader gets."""

import asyncio
import json
from contextlib import asynccontextmanager

import msgspec
import pytest

from errata.model import Reviewer, Usage
from errata.model.filters import Filters
from errata.model.times import now_as_text
from errata.review.choose_reviewer import ChosenReviewer, no_price
from errata.review.plan import ReviewRequest
from errata.review.protocols import ReviewerAnswer, ReviewFailedError
from errata.review.run import ReviewTally
from errata.review.spending import Limits
from errata.runs.importing import import_paths
from errata.runs.standings import standing_of
from errata.runs.view import RunView
from errata.store.ledger import calls_of
from errata.store.reviews import keep_verdicts, verdicts_of
from errata.store.runs import find_run
from errata.verbs.review import first_prompt, plan_review, run_review

NOW = "2026-03-10T12:00:00Z"


class Reader:
    """Gives every packet the same label, and notes what it was asked."""

    def __init__(self, name="reader", label="MODEL_FAULT", owner=None, quote=None, together=1):
        self.identity = Reviewer(kind="llm", name=name)
        self.label, self.owner, self.quote = label, owner, quote
        self.together, self.all_there = together, asyncio.Event()
        """So many have to be there before anybody is answered."""
        self.asked = []
        self.at_once = self.most_at_once = 0

    async def ask(self, _prompt, packet):
        self.asked.append(packet.attempt_id)
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        if self.at_once >= self.together:
            self.all_there.set()
        await self.all_there.wait()
        await asyncio.sleep(0)
        self.at_once -= 1
        place = next(place for place in packet.places if place.place == "status")
        answer = {
            "label": self.label,
            "owner": self.owner,
            "cause": "Something else than the task asks for",
            "reasoning": "The status says so.",
            "evidence": [{"place": "status", "quote": self.quote or place.text}],
            "confidence": "likely",
        }
        return ReviewerAnswer(json.dumps(answer), Usage(input=100, output=10, cost=0.001, cost_source="reported"))

    @property
    def chosen(self):
        @asynccontextmanager
        async def opened(_limits, _tools):
            yield self

        return ChosenReviewer(identity=self.identity, goes_to="a test", open=opened, price=no_price)


def planned(stored, store, reader, **more):
    return plan_review([stored], store, ReviewRequest(chosen=reader.chosen, **more), now=NOW)


def carried_out(stored, store, reader, **more):
    plan = planned(stored, store, reader, **more)
    tally = ReviewTally(plan.packets)
    run_review(plan, store, tally, lambda _: None)
    return tally


@pytest.fixture
def convex(store, fixtures):
    import_paths([fixtures / "sources/convex_evals/run_b/data"], store)
    return find_run(store, "jn7mqywb")


@pytest.fixture
def unavailable(store, fixtures):
    """25 evals that failed with one and the same error."""
    import_paths([fixtures / "sources/convex_evals/run_c/data"], store)
    return find_run(store, "jn7h2dcx")


@pytest.mark.req("C-08")
def test_each_failed_eval_is_investigated_once_and_four_at_a_time(convex, store):
    reader = Reader(together=4)

    carried_out(convex, store, reader)

    assert len(reader.asked) == len(set(reader.asked)) == 9
    assert reader.most_at_once == 4


def test_as_many_at_once_as_are_wanted(convex, store):
    reader = Reader(together=7)

    carried_out(convex, store, reader, limits=Limits(parallel=7))

    assert reader.most_at_once == 7


@pytest.mark.req("J-02")
def test_a_verdict_comes_from_a_packet_that_was_read(convex, store):
    carried_out(convex, store, Reader())

    verdicts = verdicts_of(store, convex.run.id)

    assert len(verdicts) == 9
    assert all(verdict.evidence and verdict.packet_hash and verdict.prompt_hash for verdict in verdicts)
    assert all(verdict.inherited_from is None for verdict in verdicts)


@pytest.mark.parametrize("parallel", [1, 4, 25])
def test_of_the_same_crash_one_is_read_and_the_others_inherit(unavailable, store, parallel):
    reader = Reader(label="none", owner="provider")

    tally = carried_out(unavailable, store, reader, limits=Limits(parallel=parallel))

    assert len(reader.asked) == 1
    assert (tally.reviewed, tally.inherited, tally.spared, tally.remaining) == (1, 24, 24, 0)


def test_while_one_of_the_same_crash_is_read_others_are_read_beside_it(convex, unavailable, store):
    """Ten failures have to be read: the nine of one run, and one of the 25 that are the same crash."""
    reader = Reader(label="none", owner="provider", together=4)
    plan = plan_review([unavailable, convex], store, ReviewRequest(chosen=reader.chosen), now=NOW)
    tally = ReviewTally(plan.packets)
    run_review(plan, store, tally, lambda _: None)

    assert reader.most_at_once == 4
    assert sum(attempt.startswith(unavailable.run.id) for attempt in reader.asked) == 1
    assert tally.remaining == 0


def test_what_is_not_inherited_is_read_as_many_at_once_as_are_wanted(unavailable, store):
    class Together(Reader):
        async def ask(self, prompt, packet):
            if len(self.asked) == 1:  # the first was alone, the others have to come together
                self.together, self.all_there = 4, asyncio.Event()
            return await super().ask(prompt, packet)

    reader = Together()

    carried_out(unavailable, store, reader)

    assert len(reader.asked) == 25
    assert reader.most_at_once == 4


def test_when_the_first_of_the_same_crash_can_not_be_judged_the_next_is_read(unavailable, store):
    class Stumbling(Reader):
        async def ask(self, prompt, packet):
            if not self.asked:
                self.asked.append(packet.attempt_id)
                raise ReviewFailedError("too long")
            return await super().ask(prompt, packet)

    reader = Stumbling(label="none", owner="provider")
    tally = carried_out(unavailable, store, reader)

    assert len(reader.asked) == 2
    assert (tally.failed, tally.reviewed, tally.inherited) == (1, 1, 23)


def test_what_a_model_did_is_never_inherited(unavailable, store):
    reader = Reader()

    tally = carried_out(unavailable, store, reader)

    assert (tally.reviewed, tally.inherited) == (25, 0)


def test_an_inherited_verdict_says_whose_it_is(unavailable, store):
    carried_out(unavailable, store, Reader(label="none", owner="provider"))

    verdicts = verdicts_of(store, unavailable.run.id)
    own = {verdict.id for verdict in verdicts if verdict.inherited_from is None}

    assert {verdict.inherited_from for verdict in verdicts} - {None} <= own
    assert not any(
        result.standing.final
        for result in standing_of(store, unavailable.run.id).values()
        if result.verdicts[0].inherited_from
    )


def test_a_second_opinion_is_not_inherited(unavailable, store):
    carried_out(unavailable, store, Reader(label="none", owner="provider"))
    second = Reader("other", label="none", owner="provider")

    tally = carried_out(unavailable, store, second, wanted="second")

    assert tally.inherited == 0
    assert len(second.asked) == 1  # only what the first one read has one opinion already


def test_a_second_reader_does_not_see_what_the_first_said(convex, store):
    before = first_prompt(planned(convex, store, Reader()), store)
    carried_out(convex, store, Reader())
    after = first_prompt(planned(convex, store, Reader("other"), wanted="second"), store)

    assert after.data.replace(after.marker, "") == before.data.replace(before.marker, "")


def test_the_same_reader_has_no_second_opinion(convex, store):
    carried_out(convex, store, Reader())

    assert planned(convex, store, Reader("READER "), wanted="second").packets == 0


def test_answers_in_the_ledger_are_counted_as_known(convex, store):
    carried_out(convex, store, Reader(quote="this was never written by anybody"))

    estimate = planned(convex, store, Reader()).estimate

    assert (estimate.packets, estimate.cached, estimate.calls) == (9, 9, 0)


def test_a_verdict_that_needs_a_second_does_not_count_in_a_score(convex, store):
    carried_out(convex, store, Reader())
    first, *others = verdicts_of(store, convex.run.id)
    keep_verdicts(
        store, [msgspec.structs.replace(first, id="x", needs_second=True, supersedes=first.id, at=now_as_text())]
    )

    assert set(RunView(convex, store).counting_verdicts) == {verdict.attempt for verdict in others}


def test_what_needs_a_second_comes_first_when_one_is_asked_for(convex, store):
    carried_out(convex, store, Reader())
    last = verdicts_of(store, convex.run.id)[-1]
    keep_verdicts(
        store, [msgspec.structs.replace(last, id="x", needs_second=True, supersedes=last.id, at=now_as_text())]
    )

    plan = planned(convex, store, Reader("other"), wanted="second")

    assert plan.parts[0].first[0] == last.attempt


def test_failures_are_read_in_the_order_of_the_plan(convex, store):
    carried_out(convex, store, Reader())
    last = verdicts_of(store, convex.run.id)[-1]
    keep_verdicts(
        store, [msgspec.structs.replace(last, id="x", needs_second=True, supersedes=last.id, at=now_as_text())]
    )
    second = Reader("other")

    carried_out(convex, store, second, wanted="second", limits=Limits(parallel=1))

    assert second.asked[0] == last.attempt


def test_what_was_spent_is_counted_and_in_the_ledger(convex, store):
    tally = carried_out(convex, store, Reader())

    calls = list(calls_of(store, convex.run.id))
    assert (tally.calls, len(calls)) == (9, 9)
    assert tally.cost == pytest.approx(sum(call.usage.cost for call in calls)) == pytest.approx(0.009)
    assert tally.tokens == 990


def test_a_reader_who_breaks_down_ends_neither_the_review_nor_the_ledger(convex, store):
    class Broken(Reader):
        async def ask(self, prompt, packet):
            if "pick_primitive" in packet.case_key:
                raise RuntimeError("boom")
            return await super().ask(prompt, packet)

    tally = carried_out(convex, store, Broken())

    assert (tally.reviewed, tally.failed) == (8, 1)
    assert "boom" in next(iter(tally.reasons))
    assert not [call for call in calls_of(store, convex.run.id) if call.state == "intended"]


def test_a_filter_and_a_limit_hold_together(convex, store):
    plan = planned(convex, store, Reader(), filters=Filters(owner="model"), at_most=2)

    assert (plan.packets, sum(plan.left_out.values())) == (2, 4)
