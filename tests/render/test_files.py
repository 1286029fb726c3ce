"""What may stand in a path, a file name or a key."""

from hypothesis import given
from hypothesis import strategies as st

from errata.render.files import slug, unique_keys
from errata.report.batch_collect import RESERVED


@given(st.text(max_size=200))
def test_a_slug_is_never_empty_and_never_long(text):
    assert 0 < len(slug(text)) <= 80


def test_keys_are_safe_and_each_its_own():
    names = ["a b", "a/b", "../x", "", "EPIC", "epic", "ü", "a-b", "x" * 300]
    made = unique_keys(names, reserved=RESERVED)

    assert len({key.lower() for key in made}) == len(names)
    assert all(not key.startswith(".") and "/" not in key and len(key) <= 110 for key in made)
    assert not {"epic", "links", "analysis"} & {key.lower() for key in made}
