"""The first screen of a run's page: what it counts, its bounds, and what speaks against the score."""

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from errata.cli.report import _show_counts
from errata.compare.scores import LeftOutGroup, Score
from errata.model.output.report.run import Repeat, RunFailure, RunReport, RunSubject
from errata.model.output.report.shared import FindingFact, ReviewCoverage, SuspiciousPasses
from errata.render.charts import owner_strip
from errata.render.document import Paragraph, RankedCause, line
from errata.render.html import to_html
from errata.render.markdown import to_markdown
from errata.report.front import CLEAN, causes_card, score_card, strips_of, suspicious_card, with_suspicious
from errata.report.parts import name_list
from errata.report.run_collect import _bounds
from errata.report.run_document import run_document
from errata.report.run_groups import case_map
from errata.report.shared import score_lines


def a_report(tries, **changes):
    """Case → whether each of its attempts passed."""
    failures = tuple(
        RunFailure(case=case, owner="provider", confidence="certain", machinery=True, attempt=at, attempts=len(passed))
        for case, passed in tries.items()
        for at, one in enumerate(passed, 1)
        if not one
    )
    total = sum(map(len, tries.values()))
    subject = RunSubject(
        native_id="r",
        run_id="0123",
        source="promptfoo",
        model="echo",
        passed=total - len(failures),
        total=total,
        unit="attempts" if total > len(tries) else "cases",
    )
    reading = ReviewCoverage(failures=len(failures), read=0, final=0)
    return RunReport(subject=subject, made="2026-05-01", reading=reading, scores=(), failures=failures, **changes)


@given(st.dictionaries(st.text("abc", min_size=1), st.lists(st.booleans(), min_size=1, max_size=4), min_size=1))
def test_the_map_draws_every_failure_and_names_its_unit(tries):
    report = a_report(tries)
    drawn = case_map(report, {id(one): "k" for one in report.failures})

    (row,) = drawn.rows
    assert (len(row.failed), row.others) == (len(report.failures), report.subject.passed)
    assert row.note == f"{len(row.failed)} of {report.subject.total} {report.subject.unit} failed"


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_the_bounds_of_a_report_are_those_of_the_score_and_none_where_nothing_was_measured(passed, failed, out):
    groups = (LeftOutGroup(why="provider", unnamed=out),) if out else ()
    score = Score(policy="clean", passed=passed, total=passed + failed, groups=groups)

    found = _bounds(score_lines({"clean": score}))

    assert (found is None) == (not out or not score.total)
    if found is not None:
        assert (found.low, found.high) == score.bounds
    if not score.total:
        assert score.bounds is None


def test_a_page_shows_that_a_run_is_not_fit_and_what_passed_suspiciously():
    odd = SuspiciousPasses(name="empty", means="the answer is empty", cases=("a", "b"))
    report = a_report({"a": [True], "b": [False]}, fit=False, no_estimate="not_fit", suspicious=(odd,))
    page = to_html(run_document(report))
    first = page.partition("Failure Summary</h2>")[0]

    assert "<li>Look at 2 suspicious passes before you publish the score</li>" in first
    assert "NOT FIT for comparison" in first
    assert "no best estimate: run not fit for comparison" in first
    assert "2 suspicious passes" in first
    assert "the answer is empty" in first


def test_a_page_with_infrastructure_failures_alone_does_not_deny_them():
    page = to_html(run_document(a_report({"a": [False, False], "b": [True, True]})))

    assert "No measured failures" not in page
    assert "2 infrastructure or knock-on failures, listed below" in page


def test_a_case_that_failed_twice_is_named_once():
    assert name_list(["a", "a", "b", "c"], 2) == "a (2×), b and 1 more"


def test_a_small_screen_has_the_answers_before_the_cards():
    odd = SuspiciousPasses(name="empty", means="the answer is empty", cases=("c",))
    scores = tuple(score_lines({"clean": Score(policy="clean", passed=1, total=3)}))
    tried = a_report({"a": [False], "b": [False], "c": [True]}, suspicious=(odd,))
    report = msgspec.structs.replace(tried, scores=scores)
    page = to_html(run_document(report))
    short, _, rest = page.partition('<section class="card short">')[2].partition("</section>")

    assert re.findall("<dt>(.*?)</dt>", short) == ["Score", "Owners", "Causes", "To do"]
    assert "Who has to act" in rest
    assert "In short" not in to_markdown(run_document(report))


def test_suspicious_passes_are_the_last_entry_of_what_to_do_that_is_shown():
    odd = SuspiciousPasses(name="empty", means="the answer is empty", cases=("a",))
    advice = [line(str(number)) for number in range(7)]

    assert [words(one) for one in with_suspicious(advice, ())] == list("0123456")
    assert words(with_suspicious(advice, (odd,))[4]) == "Look at 1 suspicious pass before you publish the score"
    assert len(with_suspicious(advice, (odd,))) == 8


def test_causes_that_do_not_repeat_are_called_so():
    once, twice = (RankedCause(count, "model", line("x"), ()) for count in (1, 2))

    assert words(causes_card([once, once], {"model": 2}).note) == "no cause repeats"
    assert words(causes_card([twice, once], {"model": 4}).note) == "3 of 4 failures"
    assert causes_card([once], {"model": 1}).note == ()


def test_infrastructure_failures_that_are_not_among_the_causes_shown_are_counted():
    model, lost = (RankedCause(2, owner, line("x"), ()) for owner in ("model", "provider"))
    owners = {"model": 2, "provider": 4, "environment": 1, "collateral": 1}

    assert words(causes_card([model], owners).note) == "2 of 8 failures; 5 of the others are infrastructure"
    assert words(causes_card([model, lost], owners).note) == "4 of 8 failures; 3 of the others are infrastructure"


def test_suspicious_passes_state_of_how_many():
    odd = SuspiciousPasses(name="empty", means="the answer is empty", cases=("a", "b"))
    (card,) = suspicious_card((odd,), 12)

    assert card.title == "2 of 12 passes are suspicious"
    assert (
        words(with_suspicious((), (odd,), 12)[0]) == "Look at 2 suspicious passes (of 12) before you publish the score"
    )
    assert suspicious_card((odd,), 0)[0].title == "2 suspicious passes"


def test_strips_of_several_runs_share_one_scale():
    few, many, none = {"model": 2}, {"model": 3, "provider": 5}, {}

    strips = strips_of((("a", few), ("b", many), ("c", none)))
    assert [(one.label, one.total, one.scale) for one in strips] == [("a", 2, 8), ("b", 8, 8)]
    drawn = owner_strip(strips[0], str)
    assert 'width="25.00%"' in drawn


def test_the_score_explains_what_clean_leaves_out_where_it_differs():
    scores = {"strict": Score(policy="strict", passed=1, total=4), "clean": Score(policy="clean", passed=1, total=3)}

    def explained(*names):
        lines = list(score_lines({name: scores[name] for name in names}))
        return [words(one.line) for one in score_card(lines).blocks if isinstance(one, Paragraph)]

    assert explained("strict", "clean") == [CLEAN]
    assert explained("strict") == []


def words(parts):
    return "".join(part.text for part in parts)


def test_what_failed_before_in_another_way_is_no_repeat_in_the_words_of_the_command(capsys):
    report = a_report({"a": [False], "b": [False], "c": [False]})
    same, otherwise = Repeat(reports=1), Repeat(reports=1, otherwise=True)
    failures = [
        replace(one, repeat=repeat) for one, repeat in zip(report.failures, (same, otherwise, Repeat()), strict=True)
    ]

    _show_counts(replace(report, failures=tuple(failures)))
    assert "repeats  1 of 3: a; 1 failed before in another way\n" in capsys.readouterr().out


def test_a_markdown_report_shows_that_a_run_is_not_fit_in_its_head():
    gap = FindingFact(name="missing", severity="error", text="1 of 3 planned cases is not in the log: c")
    unfit = to_markdown(run_document(a_report({"a": [True], "b": [False]}, fit=False, findings=(gap,))))
    fit = to_markdown(run_document(a_report({"a": [True], "b": [False]})))

    assert "- **Checkup**: NOT FIT for comparison with other runs (1 problem)" in unfit
    assert "- **Checkup**: fit for comparison with other runs\n" in fit


def test_a_report_has_no_best_estimate_where_the_summary_has_none():
    scores = tuple(score_lines({"clean": Score(policy="clean", passed=1, total=1)}))
    few = msgspec.structs.replace(a_report({"a": [True], "b": [False]}, no_estimate="too_few"), scores=scores)
    enough = msgspec.structs.replace(few, no_estimate=None)

    assert "No best estimate: fewer than 5 results; clean, 100.0 % (1/1)" in to_markdown(run_document(few))
    assert "Best estimate: clean, 100.0 % (1/1)" in to_markdown(run_document(enough))


@pytest.mark.parametrize(
    ("reported", "stated", "words"),
    [
        ({"passed": 1, "total": 2, "stated": 0.5}, 0.5, "1/2 (50.0 %), as the harness counts"),
        ({"passed": 1, "total": 1, "stated": 1.0}, 1.0, "1/2 (50.0 %) strict; 1/1 (100.0 %) as the harness counts"),
        ({"passed": 1, "total": 2, "mean": 0.75}, None, "1/2 (50.0 %) strict; mean 0.75 as the harness counts"),
        ({"passed": 1, "total": 2, "stated": 0.9}, 0.9, "1/2 (50.0 %) strict; the harness reports 0.9"),
        ({}, 0.9, "1/2 (50.0 %) strict; the harness reports 0.9"),
        ({}, None, "1/2 (50.0 %) strict; the harness gives no number"),
    ],
)
def test_a_pass_rate_is_called_the_harness_own_only_where_it_is(reported, stated, words):
    scores = tuple(score_lines({"as_reported": Score(policy="as_reported", **reported)}))
    made = a_report({"a": [True], "b": [False]})
    report = replace(made, scores=scores, subject=replace(made.subject, stated=stated))

    assert f"- **Pass rate**: {words}\n" in to_markdown(run_document(report))
