"""Cases that a log describes several times: each attempt keeps the description it was made under."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from errata.model import Artefact, Attempt, Case
from errata.model.case_versions import completed, differing_facts, same_task
from errata.store import packing
from errata.store.attempts import attempts_of, case_of
from errata.store.case_versions import keys_with_versions, versions_of
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.store.removal import remove_run
from errata.store.runs import run_by_id
from errata.testing import a_run

RUN = a_run()


def a_case(expected=None, *, key="1", asked="q", **facts):
    return Case(run=RUN.id, suite="suite", native_id=key, input=asked, expected=expected, **facts)


def attempts(count, *, key="1", start=1):
    facts = {"execution": "completed", "measurement": "scored", "outcome": "fail"}
    return [Attempt(run=RUN.id, case=f"suite/{key}", index=start + at, **facts) for at in range(count)]


def imported(store, *streams):
    with Importing(store) as importing:
        for batch in seal(batch for items in streams for batch in pack_items([RUN, *items])):
            importing.add(batch)
        importing.finish()
    return run_by_id(store, RUN.id).pk


def expected(store, pk):
    every = attempts_of(store, pk)
    return [case_of(store, pk, attempt.case, attempt.case_version).expected for attempt in every]


def test_an_attempt_has_the_description_that_was_last_before_it(store):
    pk = imported(store, [a_case(4), *attempts(2), a_case(7), *attempts(2, start=3), a_case(4), *attempts(1, start=5)])

    assert expected(store, pk) == [4, 4, 7, 7, 4]
    assert keys_with_versions(store, [pk]) == {(pk, "suite/1")}


def test_an_attempt_may_name_its_description(store):
    """For logs that describe all cases before the first attempt."""
    one, other = a_case(4), a_case(7)
    named = [
        replace(attempt, case_version=case.digest) for attempt, case in zip(attempts(2), (one, other), strict=True)
    ]

    assert expected(store, imported(store, [one, other, *named])) == [4, 7]


def test_descriptions_of_other_cases_in_between_change_nothing(store):
    mixed = [a_case(4), a_case("x", key="2"), *attempts(1), a_case(7), *attempts(1, key="2"), *attempts(1, start=2)]

    assert expected(store, imported(store, mixed)) == [4, "x", 7]


def test_one_description_for_each_row_is_one_case_where_they_are_equal(store):
    rows = [item for at in range(5) for item in (a_case(4), *attempts(1, start=at + 1))]
    pk = imported(store, rows)

    assert [*versions_of(store, pk)] == []
    assert expected(store, pk) == [4] * 5


def test_descriptions_in_different_batches_are_kept(store, monkeypatch):
    monkeypatch.setattr(packing, "BATCH_ROWS", 1)
    rows = [item for at in range(6) for item in (a_case(at % 3), *attempts(1, start=at + 1))]

    assert expected(store, imported(store, rows)) == [0, 1, 2, 0, 1, 2]


def test_what_one_description_lacks_is_taken_from_the_others(store):
    pk = imported(store, [a_case(None), *attempts(1), a_case(4), *attempts(1, start=2)])

    assert expected(store, pk) == [4, 4]
    assert [*versions_of(store, pk)] == []


def test_the_text_of_a_file_is_that_of_the_attempts_own_version(store):
    def with_task(text):
        return a_case(4, artefacts=(Artefact(role="task", path="task.md", text=text),))

    pk = imported(store, [with_task("one"), *attempts(1), with_task("two"), *attempts(1, start=2)])
    texts = [case_of(store, pk, one.case, one.case_version).artefacts[0].text for one in attempts_of(store, pk)]

    assert texts == ["one", "two"]


def test_versions_go_with_their_run(store):
    pk = imported(store, [a_case(4), *attempts(1), a_case(7), *attempts(1, start=2)])
    remove_run(store, RUN.id)

    assert keys_with_versions(store, [pk]) == set()


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        (a_case(4), a_case("4"), []),
        (a_case(4.0), a_case(4), []),
        (a_case(0), a_case(7), ["expected"]),
        (a_case(4), a_case(None), []),
        (a_case(4, asked="a"), a_case(4, asked=[{"role": "user", "content": "a"}]), []),
        (a_case("A", choices=("x", "y")), a_case("B", choices=("y", "x")), []),
        (a_case("A", choices=("x", "y")), a_case("B", choices=("x", "z")), ["choices", "expected"]),
        (a_case(4, asked="a"), a_case(7, asked="b"), ["input", "expected"]),
    ],
)
def test_which_facts_differ(one, other, differ):
    assert differing_facts(one, other) == differ
    assert (same_task(one, other) is False) is bool(differ)


CASES = st.builds(a_case, st.sampled_from([None, 4, 7]), asked=st.sampled_from(["q", "r", None]))


@given(st.lists(CASES, min_size=1, max_size=5).flatmap(lambda some: st.tuples(st.just(some), st.permutations(some))))
def test_the_order_of_descriptions_does_not_change_what_they_lack(both):
    one, other = both

    def facts(cases):
        every = zip(cases, completed(cases), strict=True)
        return sorted(repr((old.input, old.expected, new.input, new.expected)) for old, new in every)

    assert facts(one) == facts(other)


@pytest.mark.req("N-02")
def test_a_task_with_another_checksum_of_its_harness_is_another_task():
    one, same, other = (
        Case(run="r", suite="s", native_id="a", digest=word, extra={"task_checksum": word}) for word in "aab"
    )

    assert same_task(one, same) is True
    assert same_task(one, other) is False
    assert same_task(one, Case(run="r", suite="s", native_id="a")) is None
