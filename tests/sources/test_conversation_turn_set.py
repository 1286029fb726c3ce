"""A set of turn numbers: what it lacks."""

from hypothesis import given
from hypothesis import strategies as st

from errata.sources.conversation_bench.turns import PAGE, TurnSet

ends = st.one_of(st.integers(0, 40), st.integers(PAGE - 20, PAGE + 20))


@given(ends, ends, st.sets(st.integers(0, 2 * PAGE + 30), max_size=20))
def test_absent_turns_are_those_that_were_not_added(count, end, added):
    turns = TurnSet()
    for turn in (*range(count), *added):
        turns.add(turn)

    assert list(turns.absent_below(end)) == [turn for turn in range(count, end) if turn not in added]
