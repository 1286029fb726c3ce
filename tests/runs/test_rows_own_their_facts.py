"""What a row asks and expects belongs to its attempt, where the rows of one case differ."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rows_fixtures import WRITERS, Line, findings, owners, view_of
from tests.length import LONG

from errata.compare.comparison import ComparisonOptions
from errata.runs.runset import RunSet
from errata.triage.stored.peers import look_across

TWO_GOLDS = [Line("7", "How many?", "4", "4"), Line("7", "How many?", "7", "4"), Line("8", "Which?", "red", "blue")]


def expected_by_row(view):
    return [(attempt.output.text, getattr(view.case_for(attempt), "expected", None)) for attempt in view.attempts()]


@pytest.mark.parametrize("source", sorted(WRITERS))
def test_each_row_is_held_against_its_own_gold(tmp_path, source):
    view = view_of(tmp_path, TWO_GOLDS, source=source)

    assert expected_by_row(view) == [("4", "4"), ("4", "7"), ("blue", "red")]


def test_the_list_of_failures_shows_the_gold_of_each_row(tmp_path):
    view = view_of(tmp_path, [*TWO_GOLDS[:2], *(Line(str(at), "q", f"g{at}", "a") for at in range(60))])

    shown = [failure.expected for failure in view.failures()][:2]

    assert shown[1] == "7"
    assert shown[0] in ("", "4")


def test_the_order_of_two_rows_with_different_gold_decides_nothing(tmp_path):
    one, other = view_of(tmp_path / "a", TWO_GOLDS), view_of(tmp_path / "b", TWO_GOLDS[::-1])

    assert owners(one) == owners(other)
    assert {decided[0] for *_, decided in owners(one)} >= {"model"}


@pytest.mark.req("B-20")
def test_a_finding_quotes_both_rows(tmp_path):
    view = view_of(tmp_path, TWO_GOLDS)

    (finding,) = [one for one in view.health.findings if one.name == "rows_differ"]

    assert finding.text == "rows of one case differ in what they expect: 1 case (7)"
    assert finding.severity == "warning"
    assert [(one.stated, one.quote, one.ref.line) for one in finding.evidence] == [
        ("7 expected", "4", 1),
        ("7 expected", "7", 2),
    ]


def test_ids_that_name_several_questions_are_an_error(tmp_path):
    lines = [Line(str(at), f"{who} question {at}", "x", "x", True) for who in ("first", "second") for at in range(5)]

    (finding,) = [one for one in view_of(tmp_path, lines).health.findings if one.name == "rows_differ"]

    assert finding.severity == "error"
    assert finding.text.endswith("; these ids do not identify a question")


def test_a_row_that_lacks_a_fact_gets_it_where_the_others_agree(tmp_path):
    lines = [Line("1", "q", None, "a"), Line("1", "q", "4", "b"), Line("1", None, "4", "c")]
    view = view_of(tmp_path, lines)

    assert expected_by_row(view) == [("a", "4"), ("b", "4"), ("c", "4")]
    assert not [one for one in view.health.findings if one.name == "rows_differ"]


def test_a_row_that_lacks_a_fact_gets_none_where_the_others_disagree(tmp_path):
    lines = [Line("1", "q", None, "a"), Line("1", "q", "4", "b"), Line("1", "q", "7", "c")]

    assert expected_by_row(view_of(tmp_path, lines)) == [("a", None), ("b", "4"), ("c", "7")]


def test_rows_that_return_to_the_first_description_have_it_again(tmp_path):
    golds = ["4", "7", "4", "9", "7", "4"]
    view = view_of(tmp_path, [Line("1", "q", gold, gold) for gold in golds])

    assert expected_by_row(view) == [(gold, gold) for gold in golds]


def test_equal_rows_make_no_version_and_no_finding(tmp_path):
    view = view_of(tmp_path, [Line("1", "q", "4", str(at)) for at in range(5)])

    assert {attempt.case_version for attempt in view.attempts()} == {""}
    assert not [one for one in view.health.findings if one.name == "rows_differ"]


def test_another_attempts_pass_at_another_question_is_no_evidence(tmp_path):
    same = [Line("1", "q", "4", "4", True), Line("1", "q", "4", "5")]
    other = [Line("1", "other q", "4", "4", True), Line("1", "q", "4", "5")]

    def passed_by(lines, name):
        view = view_of(tmp_path / name, lines)
        return look_across(view.stored, view.store).passed_by.get("sums/1")

    assert passed_by(same, "same") == "another attempt of this run"
    assert passed_by(other, "other") is None


def compared(tmp_path, store, *tables):
    runs = RunSet([view_of(tmp_path / str(at) / f"run{at}", one, store=store) for at, one in enumerate(tables)], store)
    return runs, runs.compare(ComparisonOptions())


def test_ids_that_are_unique_only_within_a_run_are_not_paired(tmp_path, store):
    own = [Line(str(at), f"shared question {at}", "x", "x", at != 3) for at in range(3, 12)]
    first, second = [Line("1", "first's own", "x", "x", True)], [Line("1", "second's own", "x", "y")]

    _, comparison = compared(tmp_path, store, [*own, *first], [*own, *second])
    (pair,) = comparison.pairings

    assert comparison.edited == ("sums/1",)
    assert (pair.all.shared, pair.all.only_second_fails) == (9, 0)


def test_a_case_whose_rows_differ_is_not_paired_even_where_both_runs_have_the_same_rows(tmp_path, store):
    own = [Line(str(at), f"shared question {at}", "x", "x", True) for at in range(3, 12)]
    twice = [Line("1", "q", "4", "4", True), Line("1", "another q", "7", "4")]

    runs, comparison = compared(tmp_path, store, [*own, *twice], [*own, *twice])

    assert comparison.edited == ("sums/1",)
    assert comparison.pairings[0].all.shared == 9
    assert all(study.study.changed == ("sums/1",) for study in runs.consistency().studies)


LINES = st.builds(
    Line,
    id=st.sampled_from(["1", "2"]),
    question=st.sampled_from(["How many?", "Which one?", None]),
    gold=st.sampled_from(["4", "7", None]),
    answer=st.sampled_from(["4", "The answer is 7.", ""]),
    correct=st.booleans(),
)


@pytest.mark.parametrize("source", sorted(WRITERS))
@settings(max_examples=60 if LONG else 4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_the_order_of_rows_changes_no_owner_no_count_and_no_finding(tmp_path_factory, source, data):
    lines = data.draw(st.lists(LINES, min_size=2, max_size=7))
    if source == "ragas":
        lines = [line._replace(question=line.question or "How many?") for line in lines]
    shuffled = data.draw(st.permutations(lines))
    one = view_of(tmp_path_factory.mktemp("one"), lines, source=source)
    other = view_of(tmp_path_factory.mktemp("other"), list(shuffled), source=source)

    assert owners(one) == owners(other)
    assert one.stored.counts == other.stored.counts
    assert findings(one) == findings(other)
