"""The faster decoder of Inspect samples says what the usual one says."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.sources.base import DEPTH_CAP, decode
from errata.sources.inspect_ai.shallow import LEVELS, decode_shallow

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=20,
)


def nested(levels):
    return b'{"a":' * levels + b"1" + b"}" * levels


@given(VALUES)
def test_any_value_is_decoded_alike(value):
    data = json.dumps(value).encode()

    assert decode_shallow(data) == decode(data)


@pytest.mark.parametrize("levels", [LEVELS - 1, LEVELS, LEVELS + 1, DEPTH_CAP - 1])
def test_what_is_deeper_than_usual_is_decoded_all_the_same(levels):
    assert decode_shallow(nested(levels)) == decode(nested(levels))


@pytest.mark.parametrize("data", [nested(DEPTH_CAP + 1), b"[" * 100_000, b'{"a":', b"\xff", b""])
def test_what_is_too_deep_or_damaged_is_refused_with_the_same_words(data):
    with pytest.raises(ValueError) as usual:
        decode(data)

    with pytest.raises(ValueError) as shallow:
        decode_shallow(data)

    assert str(shallow.value) == str(usual.value)


def test_bare_constants_are_read():
    assert decode_shallow(b'{"value": Infinity}') == {"value": float("inf")}
