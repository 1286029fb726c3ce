"""A set of turn numbers: what it lacks, and a set of all first turns."""

from hypothesis import given
from hypothesis import strategies as st

from errata.sources.conversation_bench.turn_set import PAGE, TurnSet, first_turns

ends = st.one_of(st.integers(0, 40), st.integers(PAGE - 20, PAGE + 20), st.integers(2 * PAGE - 9, 2 * PAGE + 9))


@given(ends, ends, st.sets(st.integers(0, 2 * PAGE + 30), max_size=20))
def test_absent_turns_are_those_that_were_not_added(count, end, added):
    turns = TurnSet()
    turns.join(first_turns(count))
    for turn in added:
        turns.add(turn)

    assert list(turns.absent_below(end)) == [turn for turn in range(count, end) if turn not in added]


@given(ends, st.integers(0, 2 * PAGE + 30))
def test_the_first_turns_are_those_below_the_number(count, turn):
    turns, other = TurnSet(), TurnSet()
    turns.join(first_turns(count))
    other.add(turn)

    assert (turn in turns) == (turn < count)
    assert turns.join(other.pages()) == (turn >= count)


some = st.one_of(
    st.sets(st.integers(0, 2 * PAGE + 30), max_size=20),
    st.tuples(ends, st.integers(0, 60)).map(lambda span: set(range(span[0], span[0] + span[1]))),
)


@given(some, some, st.randoms())
def test_many_turns_at_once_are_as_each_of_them(known, added, chance):
    turns, singly = TurnSet(), TurnSet()
    turns.update(known)
    is_disjoint = turns.isdisjoint(added)
    turns.update(chance.sample(sorted(added), len(added)))
    for turn in known | added:
        singly.add(turn)

    assert is_disjoint == known.isdisjoint(added)
    assert turns.pages() == singly.pages()
