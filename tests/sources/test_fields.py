"""Fields are taken once, and what nobody took is left over."""

import pytest

from errata.sources.shared.fields import JsonFields


def test_what_nobody_took_is_left_over_in_the_order_of_the_log():
    fields = JsonFields({"id": 1, "b": 2, "a": 3})

    assert fields.take("id") == 1
    assert list(fields.rest().items()) == [("b", 2), ("a", 3)]


def test_looking_at_a_field_does_not_take_it():
    fields = JsonFields({"id": 1})

    assert fields["id"] == 1
    assert fields.rest() == {"id": 1}


def test_a_field_that_is_required_and_missing_raises():
    with pytest.raises(KeyError, match="id"):
        JsonFields({}).require("id")


def test_dropped_fields_are_read_elsewhere():
    fields = JsonFields({"id": 1, "steps": []})
    fields.drop("steps", "missing")

    assert fields.rest() == {"id": 1}
