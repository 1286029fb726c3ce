"""The whole road against a provider that does its worst: over HTTP, through the ledger, into the store."""

import json
from collections import Counter

import msgspec
import pytest
from soak.answers import PLANT, VERDICTS
from soak.books import Request, compare
from soak.failing_run import EVERY, PLANTED_LABEL, failing_run, imported
from soak.plans import in_turn
from soak.provider import running
from soak.reviewing import planned, reviewed

from errata.llm.spec import ModelSpec
from errata.model.standing import final
from errata.model.verdict import Reviewer
from errata.review.passages import fold
from errata.review.spending import Limits
from errata.store.ledger import calls_of
from errata.store.reviews import refusals_of, verdicts_of

FALSE = ("invented", "altered", "wrong_place", "own_words")


class Road:
    """What one review left in the store, and what the provider saw of it."""

    def __init__(self, folder, plan, failures, **changes):
        self.store, self.stored = failing_run(folder, failures, **{"turns": 1} | changes)
        self.plan = plan

    def go(self, **limits):
        with running(self.plan) as self.provider:
            spec = ModelSpec(name="m", base_url=self.provider.url)
            plan = planned(self.store, self.stored, spec, Limits(**{"parallel": 16, "timeout": 5.0} | limits))
            self.tally = reviewed(self.store, plan)
        return self

    @property
    def ends(self):
        return self.tally.reviewed, self.tally.refused, self.tally.failed

    @property
    def verdicts(self):
        return verdicts_of(self.store, self.stored.run.id)

    @property
    def refusals(self):
        return refusals_of(self.store, self.stored.run.id)

    @property
    def calls(self):
        return list(calls_of(self.store))

    def books(self):
        requests = [Request(one.asked.about, one.asked.round, one.kind, one.tokens) for one in self.provider.seen]
        compare(self.calls, requests)
        return len(requests)


def test_a_friendly_provider_is_asked_once_for_each_failure(tmp_path):
    road = Road(tmp_path, in_turn("holds"), 12).go()

    assert road.ends == (12, 0, 0)
    assert len(road.verdicts) == 12
    assert road.books() == 12


def test_two_hundred_false_quotes_and_none_of_them_is_kept(tmp_path):
    """Each packet gets two answers that are false in one of four ways."""
    turns = {}

    def plan(about, before):
        return turns.setdefault((about, before), FALSE[len(turns) % len(FALSE)])

    road = Road(tmp_path, plan, 100, planted=False).go()

    assert Counter(turns.values()) == dict.fromkeys(FALSE, 50)
    assert road.verdicts == []
    assert road.ends == (0, 100, 0)
    assert len(road.refusals) == 100
    assert all(refusal.reasons for refusal in road.refusals)


def test_after_a_false_quote_the_true_one_is_taken(tmp_path):
    road = Road(tmp_path, in_turn("invented", "holds"), 5).go()

    assert road.ends == (5, 0, 0)
    assert not any("03:14" in quote.quote for verdict in road.verdicts for quote in verdict.evidence)
    assert [call.round for call in road.calls if call.state == "answered"].count(2) == 5


@pytest.mark.parametrize("kind", ["wrong_label", "unproven", "too_short"])
def test_a_verdict_that_is_not_borne_out_is_refused_with_the_reason(tmp_path, kind):
    road = Road(tmp_path, in_turn(kind), 2, planted=False).go()

    assert road.ends == (0, 2, 0)
    assert road.verdicts == []


@pytest.mark.parametrize("kind", ["empty", "no_content", "prose", "cut_short", "deep"])
def test_what_is_no_verdict_at_all_is_refused(tmp_path, kind):
    road = Road(tmp_path, in_turn(kind), 2).go()

    assert road.ends == (0, 2, 0)
    assert [call.state for call in road.calls] == ["answered"] * 4


@pytest.mark.parametrize("kind", ["fenced", "array", "long", "half_characters", "no_usage"])
def test_a_good_verdict_in_odd_clothes_is_taken(tmp_path, kind):
    road = Road(tmp_path, in_turn(kind), 2).go()

    assert road.ends == (2, 0, 0)


@pytest.mark.filterwarnings("ignore::pydantic_ai.exceptions.UsageExtractionFailedWarning")
def test_absurd_figures_of_usage_are_not_written_down(tmp_path):
    road = Road(tmp_path, in_turn("absurd_usage"), 2).go()

    assert road.ends == (2, 0, 0)
    assert [call.usage.tokens for call in road.calls] == [None, None]


def test_a_verdict_that_quotes_a_planted_instruction_is_refused(tmp_path):
    road = Road(tmp_path, in_turn("obeys"), 1).go()

    assert road.ends == (0, 1, 0)
    assert "it talks to the reviewer" in road.refusals[0].reasons[0]


def test_a_verdict_on_a_planted_packet_never_counts_alone(tmp_path):
    road = Road(tmp_path, in_turn("persuaded"), EVERY + 1).go()
    planted = [verdict for verdict in road.verdicts if verdict.needs_second]

    assert {verdict.label for verdict in planted} == {PLANTED_LABEL}
    assert len(planted) == 2
    assert [final([verdict]) for verdict in planted] == [None, None]
    assert all(final([verdict]) == verdict for verdict in road.verdicts if not verdict.needs_second)


def test_it_counts_once_another_reviewer_agrees(tmp_path):
    (verdict,) = Road(tmp_path, in_turn("persuaded"), 1).go().verdicts
    other = msgspec.structs.replace(verdict, id="other", reviewer=Reviewer(kind="person", name="ada"))

    assert final([verdict, other]) is not None


def test_outside_of_the_fence_not_a_byte_differs_with_and_without_the_plant(tmp_path):
    with_plant = Road(tmp_path / "a", in_turn("holds"), EVERY, planted=True).go()
    without = Road(tmp_path / "b", in_turn("holds"), EVERY, planted=False).go()
    seen = [one.asked for road in (with_plant, without) for one in road.provider.seen]

    assert sum(PLANT in asked.prompt for asked in seen) == 1
    assert len({asked.outside for asked in seen}) == 1
    assert not any(PLANT in asked.outside for asked in seen)


def test_nor_in_the_round_of_repair(tmp_path):
    road = Road(tmp_path, in_turn("invented"), EVERY).go()
    second = [one.asked for one in road.provider.seen if one.asked.round == 2]

    assert len(second) == EVERY
    assert len({asked.outside for asked in second}) == 1


def test_a_redirect_stops_the_review_and_nobody_follows_it(tmp_path):
    road = Road(tmp_path, in_turn("redirect"), 30).go(parallel=3)

    assert road.tally.stopped.startswith("it redirects to")
    assert road.ends == (0, 0, 0)
    assert road.provider.strayed == 0
    assert len(road.provider.seen) == 3


@pytest.mark.parametrize("kind", ["hang", "slow_drip"])
def test_who_takes_too_long_is_left_and_may_have_to_be_paid(tmp_path, kind):
    road = Road(tmp_path, in_turn(kind, "holds"), 2).go(timeout=0.3)

    assert road.ends == (2, 0, 0)
    assert Counter(call.state for call in road.calls) == {"lost": 2, "answered": 2}


def test_hostile_answers_of_every_kind_and_the_books_agree(tmp_path):
    wire = ("rate_limited", "internal_error", "half_closed", "truncated", "other_shape", "bomb", "html", "not_http")
    kinds = [*wire, *VERDICTS, "holds"]

    def plan(about, before):
        return kinds[(sum(map(ord, about)) + 5 * before) % len(kinds)]

    road = Road(tmp_path, plan, 30).go()

    assert sum(road.ends) == 30
    assert road.ends[:2] == (len(road.verdicts), len(road.refusals))
    assert road.books() > 30


def test_every_quote_that_is_kept_stands_in_the_prompt_that_was_sent(tmp_path):
    kinds = list(VERDICTS)
    road = Road(tmp_path, lambda about, before: kinds[(len(about) + before) % len(kinds)], 20).go()
    places = {(one.asked.about, name): fold(text) for one in road.provider.seen for name, text in one.asked.places}

    for verdict in road.verdicts:
        about = verdict.attempt.partition(":")[2]
        assert all(fold(quote.quote) in places[about, quote.place] for quote in verdict.evidence)


def test_nothing_is_asked_again_on_the_next_start(tmp_path):
    road = Road(tmp_path, in_turn("holds"), 6).go()
    again = Road(tmp_path, in_turn("holds"), 6).go()

    assert road.ends == (6, 0, 0)
    assert again.tally.planned == 0
    assert again.provider.seen == []


def test_a_refusal_costs_nothing_and_is_counted_once_on_the_next_start(tmp_path):
    Road(tmp_path, in_turn("prose"), 6).go()
    again = Road(tmp_path, in_turn("prose"), 6).go()

    assert again.ends == (0, 6, 0)
    assert again.provider.seen == []
    assert len(again.refusals) == 6


def test_what_leaves_the_machine_holds_no_secret_of_the_log(tmp_path):
    road = Road(tmp_path, in_turn("holds"), 1)
    row = json.loads((tmp_path / "attempts.jsonl").read_text())
    row["answer"] += "\nexport GITHUB_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    road.store, road.stored = imported(tmp_path, [row])
    prompt = road.go().provider.seen[0].asked.prompt

    assert "GITHUB_TOKEN" in prompt
    assert "ghp_abcdef" not in prompt
