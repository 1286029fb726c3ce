"""What all records share, and how a place in a log is written."""

import pytest

import errata.model as model
from errata.model import Record, SourceRef


@pytest.mark.parametrize(
    ("ref", "text"),
    [
        (SourceRef(file="a.json"), "a.json"),
        (SourceRef(file="a.jsonl", line=3), "a.jsonl:3"),
        (SourceRef(file="a.json", pointer="/evals/0"), "a.json#/evals/0"),
        (SourceRef(file="a.zip", member="run.log", line=7), "a.zip!run.log:7"),
        (SourceRef(file="a.zip", member="x.jsonl", line=7, pointer="/a"), "a.zip!x.jsonl:7#/a"),
    ],
    ids=str,
)
def test_a_place_in_a_log_is_written_so_that_it_can_be_reopened(ref, text):
    assert str(ref) == text


RECORDS = [one for one in vars(model).values() if isinstance(one, type) and issubclass(one, Record)]


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_every_record_is_frozen_and_has_room_for_what_only_one_harness_has(kind):
    assert kind.__struct_config__.frozen
    assert {"extra", "ref"} <= set(kind.__struct_fields__)


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_records_are_built_by_keyword_alone(kind):
    with pytest.raises(TypeError, match="positional"):
        kind("a", "b")


def test_the_public_names_of_the_model_are_those_it_lists():
    assert all(hasattr(model, name) for name in model.__all__)
