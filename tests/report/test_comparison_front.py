"""The first screen about several runs: what is shown as the models', what is only presumed, and what to do about it."""

import re

import pytest
from msgspec.structs import replace

from errata.model.output.report.comparison import ComparisonReport, Mistake, Mode, ReportedRun
from errata.model.output.report.shared import FindingFact, ReviewCoverage, ScoreLine, SuspiciousPasses
from errata.render.html import to_html
from errata.render.markdown import to_markdown
from errata.report.comparison_document import comparison_document
from errata.report.comparison_front import answer_sentences

SCORES = tuple(
    ScoreLine(policy=policy, passed=6, total=total, rate=6 / total, low=0.4, high=0.9)
    for policy, total in (("strict", 10), ("clean", 8))
)


def a_run(label, **changes):
    given = {"handle": label, "native_id": label, "model": label, "rows": 10, "judged": 10, "passed": 6, "failed": 4}
    given |= {"no_verdict": (), "missing": (), "patterns": {}, "dimensions": {}, "scores": SCORES}
    given |= {"owners": {"model": 3, "provider": 1}, "supported": 1, "presumed": {"nobody_passed": 2}}
    given |= {"how_sure": {"model": {"weak": 3}, "provider": {"likely": 1}}}
    return ReportedRun(label=label, **given | changes)


def a_mode(title, cases, following=((), ()), owner="model"):
    count = {"rows": sum(map(len, cases)), "followers": sum(map(len, following))}
    rest = {"label": "", "status": "provisional", "dimensions": {}, "read": 0, "needed": 1, "mistake": Mistake()}
    rest |= {"triggers": (), "more_triggers": 0, "datapoints": ()}
    return Mode(title=title, owners=(owner,), cases=cases, following=following, **count, **rest)


MODES = (
    a_mode("It hung up", ((), ("7",)), ((), ("8", "9", "10"))),
    a_mode("It did half", (("1",), ("1", "2"))),
    a_mode("No answer", (("3",), ("4",)), owner="provider"),
)


@pytest.fixture
def report():
    given = {"suite": "s", "cases": 10, "case_word": "turn", "conversations": False, "made": "2026-05-01"}
    given |= {"reading": ReviewCoverage(failures=8, read=0, final=0), "runs": (a_run("x"), a_run("y")), "models": ()}
    given |= {"dimensions": (), "modes": MODES, "failed_by_all_runs": ("1",), "failed_by_all_models": ("1",)}
    return ComparisonReport(**given, knock_on_in={}, uniques=(), asks={}, pairs=())


def front(report):
    return to_html(comparison_document(report)).partition(">Summary</h2>")[0]


def shown(page):
    return re.sub(r"<[^>]+>", "", page)


def test_what_was_reviewed_is_not_called_presumed_or_at_fault(report):
    runs = tuple(replace(one, supported=0, presumed={}) for one in report.runs)
    reviewed = replace(report, runs=runs, reading=ReviewCoverage(failures=8, read=8, final=8))

    assert answer_sentences(reviewed)[:2] == [
        "8 failed rows: 6 the models' by review, 2 infrastructure.",
        "Turn 1 fails in every run.",
    ]
    assert "Check the task and the grader" not in front(reviewed)


def test_causes_are_ranked_by_their_own_rows_with_knock_on_failures_apart(report):
    page = front(report)
    causes = page[page.index("Top causes") : page.index("What to do")]

    assert re.findall(r'<b class="count">(\d+)</b>', causes) == ["3", "2", "1"]
    assert "turn 7; and 3 knock-on; only y" in shown(causes)
    assert "turns 1, 2; 2 of 2 runs; turn 1 fails in every run" in shown(causes)


def test_findings_about_the_measurement_lead_to_something_to_do(report):
    mismatch = FindingFact(name="aggregate_mismatch", severity="warning", text="29 of 30", run="y")
    runs = (report.runs[0], replace(report.runs[1], no_verdict=("5",)))
    to_do = shown(front(replace(report, runs=runs, findings=(mismatch,))).partition(">What to do")[2])

    assert "Check the task and the grader of turn 1, which fails in every run" in to_do
    assert "Rerun 2 rows lost to provider failures; judge again turn 5 of y" in to_do
    assert "Recompute the summary files that differ from the rows: y" in to_do


def test_suspicious_passes_come_before_the_scores_on_every_page(report):
    odd = SuspiciousPasses(name="empty", means="the answer is empty", by_run={"x": 6, "y": 6})
    runs = tuple(replace(one, suspicious=6, no_estimate="suspicious") for one in report.runs)
    doubted = replace(report, runs=runs, suspicious=(odd,))
    page, text = front(doubted), to_markdown(comparison_document(doubted))

    warning = "All 12 passes are suspicious: the answer is empty"
    assert page.index(warning) < page.index("<p>8 failed rows") < page.index(">Score")
    assert text.index(warning) < text.index("\n8 failed rows")
    assert "no best estimate: suspicious passes" in page
    assert '<div class="best">' not in page
    assert "<ol><li>Look at 12 suspicious passes (of 12) before you publish these scores</li>" in page
    assert '<div class="best">' in front(report)
