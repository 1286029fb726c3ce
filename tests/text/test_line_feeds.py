from hypothesis import example, given
from hypothesis import strategies as st

from errata.text.line_feeds import count_line_feeds, has_line_over

_data = st.lists(st.sampled_from([b"\n", b"a", b"{}\n", b"x" * 40, b"y" * 300, b"\n" * 20]), max_size=80).map(b"".join)


@given(_data, st.integers(0, 4_000))
def test_line_feeds_are_counted_as_count_does(data: bytes, end: int) -> None:
    assert count_line_feeds(data) == data.count(b"\n")
    assert count_line_feeds(bytearray(data), min(end, len(data))) == data[:end].count(b"\n")


@given(_data, st.integers(0, 400))
@example(b"aa\naaa", 2)
@example(b"aa\naa\n", 2)
@example(b"aaa", 2)
@example(b"", 0)
def test_a_line_that_is_too_long_is_noticed(data: bytes, most: int) -> None:
    assert has_line_over(data, most) == (max(map(len, data.split(b"\n"))) > most)
