"""A run with 300 failures: a report that people read, the details beside it, and a page of one file below 1 MB."""

import json
import re

import pytest
from page_rules import check_html, check_markdown

from errata.model.output.report.run import Advice, FailedCheck, RunFailure, RunReport, RunSubject
from errata.model.output.report.shared import FindingFact, QuotedEvidence, ReviewCoverage, ScoreLine, Snippets
from errata.render.html import to_html
from errata.render.markdown import to_markdown
from errata.render.paging import paged
from errata.report.run_document import run_document
from report_pages import working_in
from terminal import done

OWNERS = ("model", "model", "model", "provider", "environment", "grader", "unknown")
CODE = "\n".join(f'  const value_{at} = await ctx.db.query("table_{at}").collect();' for at in range(12))


def a_failure(number):
    owner = OWNERS[number % len(OWNERS)]
    error = f"AssertionError: expected {number} to equal {number + 1}" if number % 3 else "TypeError: x is undefined"
    return RunFailure(
        case=f"topic-{number % 12:02}/case-{number:04}",
        categories=(f"topic-{number % 12:02}",),
        attempt_id=f"run/case-{number}/1",
        checks=(FailedCheck(name="tests", share=0.5),),
        error=error,
        owner=owner,
        confidence="likely",
        proof="presumed" if owner == "model" else "",
        proof_reason="no_other_result" if owner == "model" else "",
        decided_by="default",
        reason=error,
        machinery=owner in ("provider", "environment"),
        evidence=(QuotedEvidence(place="run.log:7", quote=error), QuotedEvidence(place="task", quote="do this")),
        snippets=Snippets(model=CODE, expected=CODE.replace("query", "get"), path="a.ts", language="ts", differ=True),
        bucket=f"cause {number % 9}" if number % 10 else "",
    )


@pytest.fixture(scope="module")
def report():
    failures = tuple(map(a_failure, range(300)))
    rates = {"strict": (60, 360), "clean": (60, 280)}
    return RunReport(
        subject=RunSubject(native_id="run-300", run_id="r", source="test", model="acme/m", passed=60, total=360),
        made="2026-03-10",
        reading=ReviewCoverage(failures=300, read=0, final=0),
        scores=tuple(
            ScoreLine(policy=name, passed=passed, total=total, rate=passed / total, low=0.1, high=0.3)
            for name, (passed, total) in rates.items()
        ),
        failures=failures,
        advice=(Advice(group="none", kind="infrastructure", cases=tuple(one.case for one in failures[:50])),),
        findings=(FindingFact(name="errors", severity="warning", text="100 of 360 attempts had errors"),),
    )


@pytest.fixture(scope="module")
def page(report):
    return to_html(run_document(report))


@pytest.mark.req("B-81")
def test_the_page_is_one_file_below_a_megabyte(page):
    assert len(page.encode()) < 1_000_000
    assert page.count("AssertionError: expected") >= 100
    check_html(page)


def test_the_first_screen_has_score_owners_causes_and_what_to_do_before_any_section(page):
    first = page[: page.index(">Failure Summary</h2>")]

    titles = re.findall(r"<h2>(.*?)(?: <span.*?)?</h2>", first)
    cards = ["Score", "Who has to act", "Top causes", "What to do"]
    assert titles == ["Findings about the measurement", *cards]
    assert first.count('class="pt"') == 2
    assert re.findall(r'<svg class="seg (\w+)"', first) == ["M", "P", "E", "G", "U"]
    assert first.count('<b class="count">') == 5


@pytest.mark.req("C-23", "C-28")
def test_the_report_has_about_400_lines_and_the_details_have_all(report):
    pages = paged(run_document(report), "r-details.md")
    main, details = to_markdown(pages.main), to_markdown(pages.details)

    assert 300 < main.count("\n") <= 405
    assert "](r-details.md)" in main
    assert details.count("- **Failed step**: tests (50 %)") == 300
    assert main.rindex("\n## Actions taken\n") > main.rindex("\n## Net Impact\n")
    check_markdown(details)


@pytest.mark.req("B-80")
def test_analyze_leaves_one_file_and_names_it_in_its_last_line(tmp_path):
    rows = [{"model": "m", "id": f"c-{at}", "ok": False, "answer": str(at), "gold": "x"} for at in range(80)]
    (tmp_path / "r.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "r.jsonl.map.toml").write_text(
        '[run]\nname = "eighty"\nmodel = { column = "model" }\n[case]\nname = "id"\nexpected = "gold"\n'
        '[attempt]\noutput = "answer"\npassed = "ok"\n'
    )
    there = set(tmp_path.rglob("*"))
    with working_in(tmp_path):
        result = done("analyze", "r.jsonl", "--store", "errata.db")

    (report,) = [path for path in set(tmp_path.rglob("*")) - there if path.is_file() and "errata.db" not in path.name]
    assert result.out.rstrip().splitlines()[-1].split() == ["Report", report.relative_to(tmp_path).as_posix()]
    assert report.read_text().count("\n") <= 405
    assert "`errata report eighty`" in report.read_text()
