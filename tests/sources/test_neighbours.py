"""Which run is charged with what can't be read: the one that it is known to belong to, or none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.model import Run, SourceRef, Unreadable
from errata.sources import errata_jsonl, generic
from errata.sources.base import Row, convert_each, unreadable
from errata.sources.shared.runs import by_neighbours
from errata.testing import a_run, an_attempt

BAD = unreadable("some-source", SourceRef(file="rows.jsonl", line=3), "malformed")
MAP = '[run]\nmodel = { column = "model" }\n[case]\nname = "id"\n[attempt]\nscore = "score"\n'


def charged(order):
    """`x` is what can't be read, any other letter an attempt of the run with that name."""
    items = [BAD if letter == "x" else an_attempt(run=letter) for letter in order]
    return [item.run for item in by_neighbours(items) if isinstance(item, Unreadable)]


@pytest.mark.parametrize(
    ("order", "run"),
    [("aaxaa", "a"), ("aaxxaa", "aa"), ("aaxaxaa", "aa"), ("abbxbbc", "b")],
)
def test_a_row_between_two_and_two_of_one_run_belongs_to_it(order, run):
    assert charged(order) == list(run)


@pytest.mark.parametrize("order", ["axa", "abaxab", "aaxab", "aaxbb", "abxbb", "xaaaa", "aaaax", "aax", "abcxabc"])
def test_a_row_whose_neighbours_do_not_agree_is_nobody_s(order):
    assert charged(order) == [""]


@given(st.lists(st.sampled_from("abx"), max_size=40))
def test_nothing_is_lost_or_made(order):
    items = [BAD if letter == "x" else an_attempt(run=letter, index=at + 1) for at, letter in enumerate(order)]
    found = list(by_neighbours(items))

    assert [item for item in found if not isinstance(item, Unreadable)] == [item for item in items if item is not BAD]
    assert sum(isinstance(item, Unreadable) for item in found) == order.count("x")


def test_a_row_that_tells_its_run_is_charged_to_it(tmp_path):
    rows = [
        {"model": "alpha", "id": "one", "score": 1},
        {"model": "beta", "id": "one", "score": 1},
        {"model": "alpha", "score": 1},
    ]
    found = read_generic(tmp_path, "".join(json.dumps(row) + "\n" for row in rows))

    assert whose(found) == ["alpha"]


def test_a_line_of_which_nothing_can_be_read_is_charged_to_nobody(tmp_path):
    found = read_generic(
        tmp_path, '{"model": "alpha", "id": "one", "score": 1}\n{"model":\n{"model": "beta", "id": "one", "score": 1}\n'
    )

    assert whose(found) == [""]


def test_a_record_of_errata_s_own_is_charged_to_the_run_that_it_names(tmp_path):
    first, second = a_run(native_id="first"), a_run(native_id="second")
    lines = [*errata_jsonl.write([first, second])]
    broken = {"errata": 1, "kind": "attempt", "record": {"run": first.id, "case": 5}}
    (tmp_path / "own.jsonl").write_bytes(b"".join(lines) + json.dumps(broken).encode())
    (bad,) = [item for item in errata_jsonl.read(tmp_path / "own.jsonl") if isinstance(item, Unreadable)]

    assert bad.run == first.id


def test_a_row_that_breaks_even_the_question_whose_it_is_is_nobody_s():
    def broken(_row):
        raise KeyError("model")

    (item,) = convert_each([Row({}, BAD.ref)], broken, source="some-source", owner=broken)

    assert item.run == ""


def read_generic(folder, content):
    (folder / "rows.jsonl").write_text(content)
    (folder / "map.toml").write_text(MAP)
    return list(generic.with_map(folder / "map.toml").read(folder / "rows.jsonl"))


def whose(found):
    models = {item.id: item.subject.model for item in found if isinstance(item, Run)} | {"": ""}
    return [models[item.run] for item in found if isinstance(item, Unreadable)]
