"""Entries of earlier reports about the same failure: by case and check, or by text."""

import pytest

from errata.memory.history import FailureSign, ReportQuery, find_entries
from errata.memory.spelling import CaseSpellings
from errata.model.prior_report import PriorFailure, PriorReport, PriorRun

KEYS = ("evals/002-queries/001-lookup", "evals/002-queries/002-range")


def a_query(text="", **fields):
    sought = {
        "is_similar": lambda words: "sort" in words,
        "case": KEYS[0],
        "names": CaseSpellings(KEYS, suite="evals"),
        "sign": FailureSign(checks=frozenset(("tests",)), key="tests failed"),
    }
    return ReportQuery(**{**sought, "text": text, **fields})


def a_report(*failures, path="reports/a.md", date="2026-02-01", **fields):
    return PriorReport(path=path, digest=path, date=date, failures=failures, **fields)


def found(reports, query):
    return [(one.match, one.case, one.mention.date) for one in find_entries(reports, query)]


@pytest.mark.parametrize(
    ("check", "match"), [("tests", ["same_check"]), ("", ["same_case"]), ("eslint", [])], ids=["same", "none", "other"]
)
def test_an_entry_on_the_case_has_to_be_about_the_same_check(check, match):
    report = a_report(PriorFailure(case="002-queries/001-lookup", failed_check=check))

    assert [one.match for one in find_entries([report], a_query())] == match


def test_an_outage_on_the_same_case_is_another_failure():
    outage = a_report(PriorFailure(case="002-queries/001-lookup", label="PROVIDER", owner="provider"))

    assert found([outage], a_query()) == []
    assert found([outage], a_query(infrastructure=True, sign=FailureSign())) == [
        ("same_case", "002-queries/001-lookup", "2026-02-01")
    ]


def test_an_entry_on_another_case_matches_by_its_text():
    report = a_report(
        PriorFailure(case="002-queries/002-range", failed_check="tests", reasoning="wrong sort order"),
        PriorFailure(case="002-queries/002-range", failed_check="tests", reasoning="no index"),
        patterns=("models forget to sort",),
    )

    assert found([report], a_query()) == [
        ("similar_text", "002-queries/002-range", "2026-02-01"),
        ("similar_text", "", "2026-02-01"),
    ]


def test_the_nearest_come_first_and_then_the_newest():
    old = a_report(PriorFailure(case="001-lookup", failed_check="tests"), path="reports/old.md", date="2026-01-01")
    new = a_report(
        PriorFailure(case="002-range", reasoning="sort"),
        PriorFailure(case="001-lookup", failed_check="tests"),
        path="reports/new.md",
    )

    assert found([old, new], a_query()) == [
        ("same_check", "001-lookup", "2026-02-01"),
        ("same_check", "001-lookup", "2026-01-01"),
        ("similar_text", "002-range", "2026-02-01"),
    ]


def test_the_very_words_of_a_text_are_nearer_than_similar_ones():
    report = a_report(PriorFailure(case="x", reasoning="Bad SORT order of rows"))
    query = ReportQuery(is_similar=lambda _: True, text="sort order")

    assert [one.match for one in find_entries([report], query)] == ["same_text"]


def test_what_a_report_states_of_the_failure_itself_is_not_another_one():
    report = a_report(
        PriorFailure(case="001-lookup", failed_check="tests", reasoning="sort"),
        PriorFailure(case="002-range", failed_check="tests", reasoning="sort"),
    )

    assert found([report], a_query(is_own=lambda _: True)) == [("similar_text", "002-range", "2026-02-01")]


def test_an_entry_names_the_model_of_its_run():
    runs = (PriorRun(id="r1", model="acme/one"), PriorRun(id="r2", model="acme/two"))
    report = a_report(PriorFailure(case="001-lookup", failed_check="tests", run="r2"), runs=runs, model="acme/one")

    (entry,) = find_entries([report], a_query())

    assert (entry.mention.run, entry.mention.model) == ("r2", "acme/two")
