"""When the next call may be made; time is handed in."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.review.spending import FIRST_GAP, LONGEST_GAP, LONGEST_WAIT, MINUTE, Limits, Pace


class Time:
    """A clock that goes on only while somebody sleeps."""

    def __init__(self):
        self.now = 1_000.0

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        self.now += seconds


def moments(limits, calls, *, tokens=0, hold=None):
    """Seconds after the start at which each call was let through."""
    time = Time()
    pace = Pace(limits, clock=time, sleep=time.sleep)
    if hold is not None:
        pace.hold(hold)

    async def go():
        found = []
        for _ in range(calls):
            await pace.wait_for_turn(tokens)
            found.append(time.now - 1_000.0)
        return found

    return asyncio.run(go())


def test_without_limits_nobody_waits():
    assert moments(Limits(), 100) == [0.0] * 100


@given(st.integers(min_value=1, max_value=20), st.integers(min_value=1, max_value=60))
def test_in_no_minute_are_there_more_calls_than_allowed(per_minute, calls):
    found = moments(Limits(per_minute=per_minute), calls)

    assert all(found[at + per_minute] - found[at] >= MINUTE - 1e-6 for at in range(calls - per_minute))


def test_tokens_are_limited_too():
    assert moments(Limits(tokens_per_minute=1_000), 3, tokens=600) == [0.0, pytest.approx(60.0), pytest.approx(120.0)]


def test_a_call_larger_than_a_minutes_tokens_goes_alone():
    assert moments(Limits(tokens_per_minute=1_000), 2, tokens=5_000) == [0.0, pytest.approx(60.0)]


def test_everybody_waits_as_long_as_the_provider_asked():
    assert moments(Limits(), 2, hold=7.0) == [7.0, pytest.approx(7.0 + FIRST_GAP)]


def gaps(*events):
    """Between one call and the next, after so many pauses were asked for and calls went well."""
    time = Time()
    pace = Pace(Limits(), clock=time, sleep=time.sleep)

    async def go():
        for event in events:
            if event == "hold":
                pace.hold(1.0)
                await pace.wait_for_turn(0)
            else:
                pace.went_well()
        await pace.wait_for_turn(0)
        start = time.now
        await pace.wait_for_turn(0)
        return time.now - start

    return asyncio.run(go())


def test_each_pause_makes_the_gap_wider_up_to_a_point():
    assert gaps("hold") < gaps("hold", "hold") < gaps("hold", "hold", "hold")
    assert gaps(*["hold"] * 100) == pytest.approx(LONGEST_GAP)


def test_the_gap_closes_again_while_calls_go_well():
    assert gaps("hold", "well") < gaps("hold")
    assert gaps("hold", *["well"] * 20) == 0.0


@given(st.integers(min_value=1, max_value=200))
def test_the_wait_after_a_failure_grows_and_ends_somewhere(failures):
    pace = Pace(Limits(), clock=Time(), seed=7)

    assert 0.25 <= pace.back_off(failures) <= LONGEST_WAIT
