"""How a packet is kept within its budget, and that nothing is cut in silence."""

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.record_strategies import attempts, texts

from errata.model import (
    Actor,
    Artefact,
    Attempt,
    Attribution,
    Check,
    ErrorInfo,
    FailureKey,
    Judgement,
    Output,
    Signal,
    Step,
)
from errata.model.codec import to_json
from errata.review.excerpts import weight
from errata.review.labels import OWNERS
from errata.review.material import Material
from errata.review.packet import packet_for
from errata.review.redaction import packet_hash
from errata.testing import a_run, an_attempt

RUN = a_run(context=(Artefact(role="context", path="system_prompt.txt", text="Rules. " * 900),))

long_texts = st.builds(lambda text, times: f"{text}\n" * times, texts, st.integers(0, 800))


def large(attempt: Attempt, output: str, log: str, reason: str) -> Attempt:
    return msgspec.structs.replace(
        attempt,
        output=Output(text=output),
        artefacts=(*attempt.artefacts, Artefact(role="log", path="run.log", text=log)),
        checks=(*attempt.checks, Check(name="tests", status="fail", explanation=reason)),
        steps=(*attempt.steps, *(Step(index=at, actor=Actor(role="assistant"), text=reason[at:]) for at in range(50))),
    )


failures = st.builds(large, attempts, long_texts, long_texts, long_texts)


def made(attempt: Attempt, budget: int, *, blind: bool = False, before: tuple[Attempt, ...] = ()):
    return packet_for(Material(run=RUN, attempt=attempt, before=before), OWNERS, budget=budget, blind=blind)


@given(failures, st.integers(1, 20_000), st.booleans(), st.lists(attempts, max_size=3))
def test_no_packet_is_larger_than_its_budget_unless_what_must_be_there_is(attempt, budget, blind, before):
    smallest = made(attempt, 1, blind=blind, before=tuple(before))
    packet = made(attempt, budget, blind=blind, before=tuple(before))

    assert packet.size["tokens_estimated"] <= max(budget, smallest.size["tokens_estimated"])


@given(failures, st.integers(1, 20_000))
def test_the_size_that_is_told_is_that_of_the_texts_and_of_all_else(attempt, budget):
    packet = made(attempt, budget)
    rest = msgspec.structs.replace(packet, places=(), size={})

    assert packet.size["characters"] == sum(len(place.text) for place in packet.places)
    spent = len(to_json(rest)) + sum(weight(place.text) for place in packet.places)
    assert packet.size["tokens_estimated"] >= spent // 4 - 5


@given(failures, st.integers(1, 20_000), st.booleans())
def test_the_same_failure_gives_the_same_bytes(attempt, budget, blind):
    assert to_json(made(attempt, budget, blind=blind)) == to_json(made(attempt, budget, blind=blind))


@given(failures, st.integers(1, 20_000))
def test_no_name_of_a_place_repeats(attempt, budget):
    names = [place.place for place in made(attempt, budget).places]

    assert len(names) == len(set(names))


@given(st.text("ab \n", min_size=2_000, max_size=9_000), st.integers(600, 3_000))
def test_what_is_cut_says_so_in_its_place_and_is_listed(output, budget):
    packet = made(an_attempt(output=Output(text=output)), budget)
    (place,) = [place for place in packet.places if place.place == "output"]

    result = sum(
        int(count.replace(",", "")) for count in re.findall(r"\[… ([\d,]+) characters left out …\]", place.text)
    )
    listed = [one.what for one in packet.left_out if one.what.startswith("output: ")]
    assert listed == ([f"output: {result:,} of {len(output):,} characters"] if result else [])


def test_what_must_be_there_is_there_whatever_the_budget():
    attempt = an_attempt(
        output=Output(text="answer " * 5_000),
        errors=(ErrorInfo(type="E", message="broke", phase="subject"),),
        judgements=(Judgement(judge="j", reasoning="wrong " * 5_000),),
        artefacts=(Artefact(role="log", path="run.log", text="noise " * 5_000),),
    )
    names = [place.place for place in made(attempt, 1).places]

    assert names == ["error", "output", "judge_reasoning"]


def test_what_is_left_out_altogether_is_listed_with_a_way_to_get_it():
    attempt = an_attempt(artefacts=(Artefact(role="log", path="run.log", text="noise " * 5_000),))
    (log, prompt) = made(attempt, 1).left_out

    assert (log.what, prompt.what) == ("run.log", "system_prompt")
    assert log.why == f"too long; errata show '{attempt.id}' --full"


def test_failed_checks_that_are_too_many_are_counted():
    checks = tuple(Check(name=f"test-{number}", status="fail", explanation=f"no {number}") for number in range(50))

    assert [one.what for one in made(an_attempt(checks=checks), 12_000).left_out] == [
        "reasons of 30 more failed checks"
    ]


def test_a_file_that_an_error_names_comes_before_others():
    files = tuple(Artefact(role="output", path=f"src/{name}.ts", text=name * 9_000) for name in ("first", "guilty"))
    checks = (Check(name="tsc", status="fail", explanation="src/guilty.ts(5,3): error TS2322"),)
    packet = made(an_attempt(artefacts=files, checks=checks), 800)

    assert [place.place for place in packet.places] == ["checks/tsc", "output/src/guilty.ts"]


def test_the_lines_of_a_log_that_tell_survive_the_cutting():
    log = "noise\n" * 20_000 + "AssertionError: expected 3, got 4\n" + "noise\n" * 20_000
    checks = (Check(name="tests", status="fail", explanation="tests failed"),)
    attempt = an_attempt(checks=checks, artefacts=(Artefact(role="log", path="run.log", text=log),))

    (shown,) = [place.text for place in made(attempt, 12_000).places if place.place == "run.log"]
    assert "AssertionError: expected 3, got 4" in shown


def test_no_log_fills_a_packet_alone():
    attempt = an_attempt(artefacts=(Artefact(role="log", path="run.log", text="noise\n" * 50_000),))

    assert made(attempt, 12_000).size["tokens_estimated"] < 6_000


def test_facts_do_not_grow_with_what_a_log_says():
    long = "x" * 1_000_000
    attempt = an_attempt(native_status=long, stop_reason=long, checks=(Check(name=long, status="fail", value=long),))

    assert made(attempt, 1).size["tokens_estimated"] < 2_000


@pytest.mark.parametrize("hostile", ["\ud800" * 900, "\x00" * 900, "\u202e" * 900, "[… 9 characters left out …]" * 90])
def test_hostile_texts_make_a_packet_all_the_same(hostile):
    attempt = an_attempt(
        native_status=hostile,
        output=Output(text=hostile),
        checks=(Check(name=hostile, status="fail", explanation=hostile, value=hostile),),
        artefacts=(Artefact(role="log", path=hostile, text=hostile),),
    )

    assert to_json(made(attempt, 400))


OTHER_RUNS = tuple({"run": f"r{number}", "model": "other/model", "outcome": "fail"} for number in range(17))
SIGNALS = tuple(Signal(name=f"s{number}", where="other runs", quote="passed by another model") for number in range(12))


@pytest.mark.parametrize("size", [20, 40_000, 44_000, 60_000, 400_000])
def test_what_other_runs_and_the_rules_tell_makes_no_other_packet(size):
    """Else an answer that was paid for would be paid for again as soon as another run is imported."""
    result = Attribution(
        attempt="a", owner="model", confidence="weak", failure_key=FailureKey(exact="e", coarse="c"), signals=SIGNALS
    )
    attempt = an_attempt(output=Output(text="word " * (size // 5)), checks=(Check(name="t", status="fail"),))
    alone = Material(run=RUN, attempt=attempt)
    with_others = Material(run=RUN, attempt=attempt, history=OTHER_RUNS, attribution=result)

    assert packet_hash(packet_for(alone, OWNERS)) == packet_hash(packet_for(with_others, OWNERS))


def test_the_size_that_is_told_counts_what_is_remembered():
    attempt = an_attempt(output=Output(text="word"))
    alone = packet_for(Material(run=RUN, attempt=attempt), OWNERS)
    with_others = packet_for(Material(run=RUN, attempt=attempt, history=OTHER_RUNS), OWNERS)

    assert with_others.size["tokens_estimated"] > alone.size["tokens_estimated"] + 100
