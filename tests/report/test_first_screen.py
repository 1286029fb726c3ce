"""The first screen of a run's page: what it counts, its bounds, and what speaks against the score."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from errata.compare.scores import LeftOutGroup, Score
from errata.model.output.report.run import Repeat, RunFailure, RunReport, RunSubject
from errata.model.output.report.shared import ReviewCoverage, SuspiciousPasses
from errata.render.document import Paragraph, RankedCause, line
from errata.render.html import to_html
from errata.render.markdown import to_markdown
from errata.report.front import CLEAN, beside_words, causes_card, score_card
from errata.report.run_collect import _bounds
from errata.report.run_document import run_document
from errata.report.run_failure_section import failure_groups, ranked_causes
from errata.report.run_prose import answer_of
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


def test_the_answer_counts_no_failure_twice():
    report = a_report({"a": [False], "b": [False], "c": [False]})
    a, b, c = (replace(one, owner=owner, machinery=False)
               for one, owner in zip(report.failures, ("grader", "task", "model"), strict=True))  # fmt: skip
    back = Repeat(reports=1, should_be_gone=True)

    both = replace(report, failures=(replace(a, repeat=back), replace(b, repeat=back), c))
    assert answer_of(both).endswith("2 point to the eval itself and should already be fixed: a, b.")
    some = replace(report, failures=(replace(a, repeat=back), b, c))
    assert answer_of(some).endswith("2 point to the eval itself: a, b. Of these, 1 should already be fixed: a.")


def test_what_clean_still_counts_against_the_model_is_stated_with_the_rate_without_it():
    def beside(**counts):
        groups = tuple(LeftOutGroup(why=why, unnamed=count) for why, count in counts.items())
        return beside_words(score_lines({"clean": Score(policy="clean", passed=16, total=23, beside=groups)}))

    assert beside(grader=1, task=1) == "Still counted as failed in clean: 1 grader, 1 task; without them 16/21 (76.2 %)"
    assert beside(model=2) == "Still counted as failed in clean: 2 time limit; without them 16/21 (76.2 %)"
    assert beside() == ""


def test_the_score_explains_what_clean_leaves_out_where_it_differs():
    scores = {"strict": Score(policy="strict", passed=1, total=4), "clean": Score(policy="clean", passed=1, total=3)}

    def explained(*names):
        lines = list(score_lines({name: scores[name] for name in names}))
        return [words(one.line) for one in score_card(lines).blocks if isinstance(one, Paragraph)]

    assert explained("strict", "clean") == [CLEAN]
    assert explained("strict") == []


def words(parts):
    return "".join(part.text for part in parts)


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
