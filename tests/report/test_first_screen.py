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
from errata.report.front import CLEAN, beside_words, by_count, causes_card, score_card, strips_of, with_last
from errata.report.parts import name_list
from errata.report.run_collect import _bounds
from errata.report.run_document import run_document
from errata.report.run_failure_section import case_map, failure_groups, ranked_causes
from errata.report.run_prose import answer_of, owner_notes
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
    odd_passes = {"suspicious": (odd,), "suspicious_passes": 2}
    page = to_html(run_document(a_report({"a": [True], "b": [False]}, fit=False, no_estimate="not_fit", **odd_passes)))
    first = page.partition("Failure Summary</h2>")[0]

    assert "<ol><li>Look at 2 suspicious passes before you publish this score</li>" in first
    assert "NOT FIT for comparison" in first
    assert "no best estimate: run not fit for comparison" in first
    assert "<li>2 passes are suspicious: the answer is empty</li>" in first


def test_a_page_with_infrastructure_failures_alone_does_not_deny_them():
    page = to_html(run_document(a_report({"a": [False, False], "b": [True, True]})))

    assert "No measured failures" not in page
    assert "2 infrastructure or knock-on failures, listed below" in page


def test_a_case_that_failed_twice_is_named_once():
    assert name_list(["a", "a", "b", "c"], 2) == "a (2×), b and 1 more"


def test_a_small_screen_has_the_answers_before_the_cards():
    odd = SuspiciousPasses(name="empty", means="the answer is empty", cases=("c",))
    scores = tuple(score_lines({"clean": Score(policy="clean", passed=1, total=3)}))
    tried = a_report(
        {"a": [False], "b": [False], "c": [True]}, no_estimate="suspicious", suspicious=(odd,), suspicious_passes=1
    )
    report = msgspec.structs.replace(tried, scores=scores)
    page = to_html(run_document(report))
    before, _, after = page.partition('<section class="card short">')
    short, _, rest = after.partition("</section>")

    assert '<section class="alert blocking">' in before
    assert re.findall("<dt>(.*?)</dt>", short) == ["Score", "Owners", "Causes", "To do"]
    assert "<dd>no best estimate: suspicious passes</dd>" in short
    assert "<dd>1. Look at 1 suspicious pass before you publish this score</dd>" in short
    assert "Who has to act" in rest
    assert "In short" not in to_markdown(run_document(report))


def test_what_must_not_be_cut_off_is_the_last_of_what_is_shown():
    advice = [line(str(number)) for number in range(7)]

    assert "".join(map(words, with_last(advice, [line("x"), line("y")]))) == "012xy3456"
    assert "".join(map(words, with_last(advice[:2], [line("x")]))) == "01x"
    assert "".join(map(words, with_last(advice, [line("x")], 3))) == "01x23456"


def test_causes_that_do_not_repeat_are_called_so():
    once, twice = (RankedCause(count, "model", line("x"), ()) for count in (1, 2))

    assert words(causes_card([once, once], {"model": 2}).note) == "each cause occurs once"
    assert words(causes_card([once, once], {"model": 2}, again=1).note) == "each cause occurs once; 1 failed before"
    assert words(causes_card([twice, once], {"model": 4}).note) == "3 of 4 failures shown"
    assert causes_card([once], {"model": 1}).note == ()


def test_knock_on_failures_are_shown_with_the_cause_that_they_follow_from():
    cause = RankedCause(1, "model", line("x"), (), followers=5)

    assert causes_card([cause], {"model": 1, "collateral": 5}).note == ()


def test_a_cause_states_that_it_failed_before_and_leads_to_its_failure():
    report = a_report({"a": [False], "b": [False], "c": [False]})
    repeats = (Repeat(), Repeat(reports=2), Repeat(runs=1, otherwise=True))
    failures = [replace(one, repeat=repeat, bucket=f"why {one.case}", bucket_slug=one.case)
                for one, repeat in zip(report.failures, repeats, strict=True)]  # fmt: skip
    keys = {id(one): one.case for one in failures}

    causes = list(ranked_causes(failure_groups(failures), keys))
    assert [words(one.title) for one in causes] == ["why a", "why b", "why c"]
    assert ["failed before" in words(one.note) for one in causes] == [False, True, False]
    assert "; failed before (2 reports)" in words(causes[1].note)
    assert [one.title[0].target for one in causes] == ["#a", "#b", "#c"]


def test_a_title_that_was_cut_is_shown_as_the_log_has_it():
    report = a_report({"a": [False]})
    failure = replace(
        report.failures[0], bucket="expected one, got…", bucket_slug="x", reason="Error: expected one, got two"
    )

    (cause,) = ranked_causes(failure_groups([failure]), {id(failure): "k"})
    assert words(cause.title) == "expected one, got two"


def test_the_answer_counts_no_failure_twice():
    report = a_report({"a": [False], "b": [False], "c": [False]})
    a, b, c = (replace(one, owner=owner, machinery=False)
               for one, owner in zip(report.failures, ("grader", "task", "model"), strict=True))  # fmt: skip
    back = Repeat(reports=1, should_be_gone=True)

    both = replace(report, failures=(replace(a, repeat=back), replace(b, repeat=back), c))
    assert answer_of(both).endswith("2 point to the eval itself and should already be fixed: a, b.")
    some = replace(report, failures=(replace(a, repeat=back), b, c))
    assert answer_of(some).endswith("2 point to the eval itself: a, b. Of these, 1 should already be fixed: a.")


def test_each_owner_states_how_sure_it_is():
    report = a_report({"a": [False], "b": [False], "c": [False]})
    first, second, third = (replace(one, rule_means="a server error") for one in report.failures)

    assert owner_notes([first])["provider"] == "certain: a server error"
    weak = [first, second, replace(third, confidence="weak")]
    assert owner_notes(weak)["provider"] == "2 certain, 1 weak: a server error"
    assert owner_notes([replace(first, reviewed=True, cause="it broke")])["provider"] == "reviewed: it broke"


def test_what_clean_still_counts_against_the_model_is_stated_with_the_rate_without_it():
    def beside(**counts):
        groups = tuple(LeftOutGroup(why=why, unnamed=count) for why, count in counts.items())
        return beside_words(score_lines({"clean": Score(policy="clean", passed=16, total=23, beside=groups)}))

    assert beside(grader=1, task=1) == "Still counted as failed in clean: 1 grader, 1 task; without them 16/21 (76.2 %)"
    assert beside(model=2) == "Still counted as failed in clean: 2 time limit; without them 16/21 (76.2 %)"
    assert beside() == ""


def test_owners_of_one_count_are_in_the_order_of_legends():
    assert [owner for owner, _ in by_count({"grader": 1, "environment": 1, "harness": 2, "provider": 1})] == [
        "harness", "provider", "environment", "grader"
    ]  # fmt: skip


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


def test_a_case_without_a_result_is_not_drawn_as_a_pass():
    made = a_report({"a": [True], "b": [False]})
    report = replace(made, subject=replace(made.subject, total=3, missing=("c",)))
    page = to_html(run_document(report))

    assert page.count('<rect class="pass"') == 2
    assert page.count("<title>no result</title>") == 1
    assert "1 of 3 cases failed, 1 without a result" in page
    assert "did not fail" not in page
