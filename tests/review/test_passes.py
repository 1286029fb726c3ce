"""Two passes: two independent readings of a failure, and an adjudication where they differ."""

import json

import msgspec
import pytest
from tests.review.test_run import NOW, Reader

from errata.model import Reviewer, Usage
from errata.model.standing import standing
from errata.model.verdict import word_for
from errata.review.agreement import agreement
from errata.review.plan import ReviewRequest
from errata.review.protocols import ReviewerAnswer, ReviewerStoppedError
from errata.review.run import ReviewTally
from errata.review.spending import Limits
from errata.runs.importing import import_paths
from errata.runs.standings import standing_of
from errata.store.ledger import calls_of
from errata.store.reviews import refusals_of, verdicts_of
from errata.store.runs import find_run
from errata.verbs.review import plan_review, run_review

WHERE_THEY_DIFFER = 4
OTHER = "AMBIGUOUS_TASK"


class Doubtful(Reader):
    """Reads some failures differently the second time, and notes what it was sent."""

    def __init__(self, differing=WHERE_THEY_DIFFER, decides=OTHER, **more):
        super().__init__(**more)
        self.differing, self.decides = differing, decides
        self.prompts = []
        self.seen = {}
        self.stop_after = self.usage = None

    async def ask(self, prompt, packet):
        if self.stop_after is not None and len(self.prompts) >= self.stop_after:
            raise ReviewerStoppedError("the key is gone")
        self.prompts.append(prompt)
        times = self.seen[packet.attempt_id] = self.seen.get(packet.attempt_id, 0) + 1
        order = list(self.seen).index(packet.attempt_id)
        is_adjudication = "<reading-" in prompt.data
        other = self.decides if is_adjudication else OTHER if times == 2 and order < self.differing else self.label
        answer = await super().ask(prompt, packet)
        return ReviewerAnswer(json.dumps(json.loads(answer.text) | {"label": other}), self.usage or answer.usage)


@pytest.fixture
def convex(store, fixtures):
    import_paths([fixtures / "sources/convex_evals/run_b/data"], store)
    return find_run(store, "jn7mqywb")


def planned(stored, store, reader, second=None, **more):
    chosen = second.chosen if second else None
    request = ReviewRequest(chosen=reader.chosen, second=chosen, passes=2, **more)
    return plan_review([stored], store, request, now=NOW)


def carried_out(stored, store, reader, second=None, **more):
    plan = planned(stored, store, reader, second, **more)
    tally = ReviewTally(plan.packets)
    run_review(plan, store, tally, lambda _: None)
    return tally


def words(stored, store):
    return {word_for(one.reviewer) for one in verdicts_of(store, stored.run.id)}


def test_every_failure_is_read_twice_and_only_differences_are_adjudicated(convex, store):
    reader = Doubtful()
    tally = carried_out(convex, store, reader, limits=Limits(parallel=1))

    assert (tally.reviewed, tally.adjudicated) == (9, WHERE_THEY_DIFFER)
    assert len(reader.prompts) == tally.calls == 9 + 9 + WHERE_THEY_DIFFER
    assert words(convex, store) == {"llm:reader", "llm:reader#2", "llm:reader#adjudication"}


@pytest.mark.parametrize(("decides", "is_final"), [("MODEL_FAULT", True), (OTHER, False)])
def test_the_adjudicated_verdict_stands_and_both_readings_are_kept(convex, store, decides, is_final):
    """One that clears the model is not final: whoever read twice and decided may have fallen for the same text."""
    carried_out(convex, store, Doubtful(differing=9, decides=decides), limits=Limits(parallel=1))
    reviews = standing_of(store, convex.run.id)

    assert len(reviews) == 9
    for review in reviews.values():
        current = review.standing
        assert (current.verdict.label, current.verdict.reviewer.reading) == (decides, "adjudication")
        assert {one.label for one in current.readings} == {"MODEL_FAULT", OTHER}
        assert set(current.verdict.adjudicates) == {one.id for one in current.readings}
        assert not current.is_disputed and not current.disagreeing
        assert current.final is is_final


def test_both_readings_are_measured_in_the_agreement_and_the_adjudication_is_not(convex, store):
    carried_out(convex, store, Doubtful(), limits=Limits(parallel=1))
    measured = agreement(verdicts_of(store, convex.run.id))

    (pair,) = measured.pairs
    assert (pair.first, pair.other, pair.both, pair.same) == ("llm:reader", "llm:reader#2", 9, 9 - WHERE_THEY_DIFFER)


def test_where_both_agree_nobody_is_asked_a_third_time(convex, store):
    reader = Doubtful(differing=0)
    tally = carried_out(convex, store, reader)

    assert (tally.reviewed, tally.adjudicated, tally.calls) == (9, 0, 18)
    assert not any("<reading-" in prompt.data for prompt in reader.prompts)


def test_the_adjudicator_sees_both_verdicts_without_names(convex, store):
    reader = Doubtful(differing=9, name="careful-reader")
    carried_out(convex, store, reader, limits=Limits(parallel=1))
    asked = [prompt for prompt in reader.prompts if "<reading-" in prompt.data]

    assert len(asked) == 9
    for prompt in asked:
        readings = prompt.data.split("<reading-")[1:]
        assert len(readings) == 2
        assert {'"label":"MODEL_FAULT"' in one for one in readings} == {True, False}
        assert all('"decisive_step"' in one and '"quote"' in one and '"cause"' in one for one in readings)
        assert "careful-reader" not in prompt.text
        assert "Two reviewers have read this packet independently and disagree." in prompt.after


def test_readings_do_not_see_each_other(convex, store):
    reader = Doubtful(differing=0)
    carried_out(convex, store, reader)

    assert all("Something else than the task asks for" not in prompt.text for prompt in reader.prompts)


def test_two_reviewers_keep_their_own_names(convex, store):
    second = Reader(name="other", label=OTHER)
    tally = carried_out(convex, store, Doubtful(differing=0), second)

    assert tally.adjudicated == 9
    assert words(convex, store) == {"llm:reader", "llm:other", "llm:reader#adjudication"}


def test_an_interrupted_review_goes_on_without_paying_twice(convex, store):
    reader = Doubtful(differing=9)
    reader.stop_after = 5
    carried_out(convex, store, reader, limits=Limits(parallel=1))
    reader.stop_after = None
    tally = carried_out(convex, store, reader, limits=Limits(parallel=1))

    assert tally.reviewed + len(standing_of(store, convex.run.id)) >= 9
    assert len(standing_of(store, convex.run.id)) == 9
    answered = [call for call in calls_of(store, convex.run.id) if call.state == "answered"]
    assert len(answered) == len({call.cache_key for call in answered}) == 27


def test_the_estimate_counts_all_passes(convex, store):
    once = plan_review([convex], store, ReviewRequest(chosen=Reader().chosen), now=NOW).estimate
    twice = planned(convex, store, Reader()).estimate

    assert (once.calls, twice.calls) == (9, 27)
    assert twice.tokens_in == 3 * once.tokens_in
    assert twice.packets == once.packets == 9


def test_a_cap_holds_over_all_passes(convex, store):
    reader = Doubtful(differing=9)
    reader.usage = Usage(input=20_000, output=1_000)
    tally = carried_out(convex, store, reader, limits=Limits(parallel=1, max_tokens=150_000))

    assert "--max-tokens" in tally.capped
    assert 0 < tally.reviewed < len(reader.prompts) / 3 + 1 < 9
    assert tally.tokens <= 150_000
    assert not [
        one for one in verdicts_of(store, convex.run.id) if one.attempt not in standing_of(store, convex.run.id)
    ]


def test_where_one_reading_is_refused_the_other_stands(convex, store):
    bad = Reader(name="other", quote="words that are in no packet at all")
    tally = carried_out(convex, store, Reader(), bad)

    assert (tally.reviewed, tally.adjudicated) == (9, 0)
    assert words(convex, store) == {"llm:reader"}
    assert {one.reviewer for one in refusals_of(store, convex.run.id)} == {"llm:other"}


def test_a_second_reading_by_the_same_reviewer_is_not_the_second_opinion_that_hostile_text_needs(convex, store):
    carried_out(convex, store, Doubtful(differing=0))
    by_attempt = {}
    for verdict in verdicts_of(store, convex.run.id):
        by_attempt.setdefault(verdict.attempt, []).append(msgspec.structs.replace(verdict, needs_second=True))

    for verdicts in by_attempt.values():
        assert not standing(verdicts).final
        other = msgspec.structs.replace(verdicts[0], id="x", reviewer=Reviewer(kind="llm", name="another"))
        assert standing([*verdicts, other]).final
