"""The tree that spans make: whatever was recorded, in whatever order, each span is told once and before its parts."""

from hypothesis import given
from hypothesis import strategies as st

from errata.model import ErrorInfo
from errata.sources.shared.spans import TraceSpan, Tree


def an_error(message: str = "503") -> ErrorInfo:
    return ErrorInfo(type="E", message=message, phase="subject")


def a_span(number: int, parent: int = 0, **more) -> TraceSpan:
    return TraceSpan(id=str(number), parent=str(parent) if parent else "", name=f"span {number}", order=number, **more)


@given(st.lists(st.tuples(st.integers(1, 12), st.integers(0, 14)), max_size=20))
def test_each_span_is_told_once_and_after_what_it_is_a_part_of(drawn):
    spans = [a_span(number, parent) for number, parent in drawn]
    places = Tree(spans).places

    assert sorted(id(place.span) for place in places) == sorted(map(id, spans))
    assert all(place.above < at for at, place in enumerate(places))


@given(st.permutations(range(1, 9)))
def test_the_order_in_which_spans_were_written_changes_nothing(order):
    parents = {1: 0, 2: 1, 3: 2, 4: 2, 5: 1, 6: 5, 7: 6, 8: 1}
    tree = Tree([a_span(number, parents[number]) for number in order])

    assert [place.span.id for place in tree.places] == [str(number) for number in range(1, 9)]


def test_what_is_below_a_judge_is_the_judges():
    tree = Tree([a_span(1), a_span(2, 1, kind="judge"), a_span(3, 2, kind="model"), a_span(4, 1)])

    assert [place.judged for place in tree.places] == [False, True, True, False]


def test_an_error_is_told_where_it_came_from():
    spans = [a_span(1, error=an_error("gave up")), a_span(2, 1, error=an_error()), a_span(3, 2, error=an_error())]

    assert [error.message for error in Tree(spans).errors()] == ["503", "gave up"]


def test_a_try_inside_of_a_call_that_went_well_is_made_good():
    inner = a_span(2, 1, kind="model", error=an_error())
    (error,) = Tree([a_span(1, kind="model", output="A"), inner]).errors()
    (kept,) = Tree([a_span(1, kind="agent", output="A"), inner]).errors()

    assert (error.recovered, kept.recovered) == (True, False)


def test_an_error_that_a_judge_met_ends_nothing():
    tree = Tree([a_span(1), a_span(2, kind="judge", error=an_error())])

    assert (tree.ended_by, len(tree.errors())) == (None, 1)
