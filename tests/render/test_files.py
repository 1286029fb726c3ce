"""What may stand in a path, a file name or a key."""

from errata.render.files import unique_keys
from errata.report.batch_collect import RESERVED


def test_keys_are_safe_and_each_its_own():
    names = ["a b", "a/b", "../x", "", "EPIC", "epic", "ü", "a-b", "x" * 300]
    made = unique_keys(names, reserved=RESERVED)

    assert len({key.lower() for key in made}) == len(names)
    assert all(not key.startswith(".") and "/" not in key and len(key) <= 110 for key in made)
    assert not {"epic", "links", "analysis"} & {key.lower() for key in made}
