"""The decoder that refuses what is nested deeper than usual says of all else what the usual one says."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.sources.base import DEPTH_CAP, decode
from errata.sources.inspect_ai import events

LEVELS = 12
decode_shallow = msgspec.json.Decoder(events.nested(LEVELS)).decode

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=LEVELS - 2,
)


def nested(levels):
    return b'{"a":' * levels + b"1" + b"}" * levels


@given(VALUES)
def test_any_value_is_decoded_alike(value):
    data = json.dumps([value, [1, "two"]]).encode()

    assert decode_shallow(data) == decode(data)


@pytest.mark.parametrize("levels", [1, LEVELS])
def test_what_is_as_deep_as_usual_is_decoded(levels):
    assert decode_shallow(nested(levels)) == decode(nested(levels))


@pytest.mark.parametrize("data", [nested(LEVELS + 1), nested(DEPTH_CAP + 1), b"[" * 100_000, b'{"a":', b"\xff", b"NaN"])
def test_what_is_deeper_or_damaged_is_refused(data):
    with pytest.raises((ValueError, RecursionError)):
        decode_shallow(data)
