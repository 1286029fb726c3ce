"""Ids and times that differ where nothing else does."""

from hypothesis import example, given
from hypothesis import strategies as st

from errata.text.clean import clean
from errata.text.mask import _masked, mask, steady, without_ids
from errata.text.redact import redact


def test_ids_and_times_are_left_out_of_a_text_and_numbers_are_not():
    text = (
        'Sum 42, {"requestId":"3f2a77d0-0000-4000-8000-00000000%d"} at 2026-03-01 10:00:0%d, done 2026-03-01T10:00:0%dZ'
    )

    assert without_ids(text % (1234, 1, 2)) == without_ids(text % (9876, 3, 4))
    assert without_ids(text % (1234, 1, 2)) != without_ids(text.replace("42", "43") % (1234, 1, 2))
    assert without_ids("a quick internationalisation test") == "a quick internationalisation test"


@given(st.text("0129abfxXzT.,:-+_/\\'\" <~", max_size=60))
@example("0x1f 1x1f 12 and model-4 in v1.2 at 10.0.0.1")
def test_texts_that_differ_in_digits_only_share_a_mask_and_none_gets_that_of_another(text):
    folded = " ".join(redact(clean(steady(text))).split())

    for strings in (True, False):
        assert mask(text, strings=strings) == _masked(folded, strings)
