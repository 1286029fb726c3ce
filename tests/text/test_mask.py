"""Ids and times that differ where nothing else does."""

from errata.text.mask import without_ids


def test_ids_and_times_are_left_out_of_a_text_and_numbers_are_not():
    text = (
        'Sum 42, {"requestId":"3f2a77d0-0000-4000-8000-00000000%d"} at 2026-03-01 10:00:0%d, done 2026-03-01T10:00:0%dZ'
    )

    assert without_ids(text % (1234, 1, 2)) == without_ids(text % (9876, 3, 4))
    assert without_ids(text % (1234, 1, 2)) != without_ids(text.replace("42", "43") % (1234, 1, 2))
    assert without_ids("a quick internationalisation test") == "a quick internationalisation test"
