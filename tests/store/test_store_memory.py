"""Actions and known gaps are kept one by one, and told twice they are kept once."""

import msgspec
import pytest

from errata.errors import NotFoundError
from errata.model import Action, KnownGap
from errata.store.memory import (
    action_by_id,
    all_actions,
    forget_gap,
    keep_action,
    keep_gap,
    known_gaps,
)


def an_action(**changes):
    given = {"id": "abcd1234", "what": "allows it", "path": "lint.mjs", "addresses": ("s/1",), "date": "2026-03-04"}
    return Action(**given | changes)


def a_gap(**changes):
    return KnownGap(**{"id": "abcd1234", "suite": "s", "case_key": "s/1", "text": "too strict"} | changes)


def test_an_action_is_kept_once(store):
    keep_action(store, an_action(at="2026-03-04T10:00:00Z"))

    assert not keep_action(store, an_action(at="2026-03-04T11:00:00Z"))
    assert all_actions(store) == [an_action(at="2026-03-04T10:00:00Z")]


def test_the_report_that_an_action_was_written_into_is_added(store):
    keep_action(store, an_action())
    keep_action(store, an_action(report="reports/a.md"))
    keep_action(store, an_action())

    assert [one.report for one in all_actions(store)] == ["reports/a.md"]


def test_an_action_is_found_by_the_beginning_of_its_id(store):
    keep_action(store, an_action())

    assert action_by_id(store, "abcd") == an_action()


@pytest.mark.parametrize("name", ["", "abc", "%", "abce", "abcd12345"])
def test_what_begins_no_id_is_told_so(store, name):
    keep_action(store, an_action())

    with pytest.raises(NotFoundError, match="No action has the id"):
        action_by_id(store, name)


def test_a_gap_is_kept_until_it_is_forgotten(store):
    """E-12: the suites' own lists of gaps are gone; errata keeps its own."""
    gap = a_gap(author="ana", since="2026-03-04")

    assert keep_gap(store, gap) is None
    assert known_gaps(store) == [gap]
    forget_gap(store, gap.id)
    assert known_gaps(store) == []


def test_a_suite_has_its_own_gaps_and_those_of_every_suite(store):
    mine, others = a_gap(), a_gap(id="2", suite="t", case_key="t/1")
    everywhere = a_gap(id="3", suite="", case_key="", pattern="*/flaky")
    for gap in (mine, others, everywhere):
        keep_gap(store, gap)

    assert known_gaps(store, "s") == [everywhere, mine]
    assert len(known_gaps(store)) == 3


def test_a_gap_of_one_case_comes_before_that_of_a_pattern(store):
    of_pattern = msgspec.structs.replace(a_gap(id="1"), case_key="", pattern="s/*")
    keep_gap(store, of_pattern)
    keep_gap(store, a_gap(id="9"))

    assert [one.id for one in known_gaps(store, "s")] == ["9", "1"]
