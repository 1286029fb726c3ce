"""A run whose every text is hostile, through every profile and form: nothing gets out of its place."""

import csv
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from page_rules import check_folder, check_html, check_markdown
from tests.length import every

from bucket_runs import a_verdict, store_of_an_example
from documents import HOSTILE
from errata.compare.comparison import ComparisonOptions
from errata.model import Attempt, Case, Check, ErrorInfo, Judgement, Output, Run, SourceInfo, Subject, case_key
from errata.render.html import to_html
from errata.render.markdown import to_markdown
from errata.report import step_summary
from errata.report.batch_collect import batch_report
from errata.report.batch_document import batch_documents
from errata.report.batch_page import batch_page
from errata.report.comparison_collect import comparison_report
from errata.report.comparison_document import comparison_document
from errata.report.run_collect import run_report
from errata.report.run_document import run_document
from errata.runs.runset import RunSet
from errata.runs.view import RunView
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.store.reviews import keep_verdicts
from errata.store.runs import run_by_id
from errata.verbs.report import batch_files
from report_pages import DAY, working_in
from terminal import done

MAPPING = """
suite = "suite"
[run]
name = { column = "run" }
model = { column = "model" }
[case]
name = "id"
category = "topic"
input = "prompt"
expected = "gold"
[attempt]
output = "answer"
passed = "ok"
error = "exception"
[checks]
style = "style"
"""


def rows(model):
    for number, text in enumerate(HOSTILE):
        row = {"run": f"run {text}"[:60], "model": model, "id": f"{number} {text}", "topic": f"topic {text}"}
        row |= {"prompt": f"ask {text}", "gold": f"{text} gold", "answer": f"{text} answer", "ok": number % 5 == 0}
        row |= {"style": number % 2 == 0, "exception": text if number % 3 == 0 and number % 5 else None}
        yield {**row, "run": "hostile"}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Two runs of hostile texts, and every report about them."""
    with working_in(tmp_path_factory.mktemp("hostile")) as folder:
        for at, model in enumerate(("evil/<script>alert(1)</script> $(id) `x` [a](b)", "=cmd|' /C calc'!A0 @all #1")):
            (folder / f"{at}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows(model)))
            (folder / f"{at}.jsonl.map.toml").write_text(MAPPING)
        shared = ("--date", DAY, "--store", "errata.db")
        for at in range(2):
            done("report", f"{at}.jsonl", "--profile", "run", "--html", "-o", f"reports-{at}", *shared)
            done("report", f"{at}.jsonl", "--profile", "batch", "--html", "-o", f"analysis-{at}", *shared)
        done("report", "0.jsonl", "1.jsonl", "--profile", "comparison", "--html", "-o", "results", *shared)
        result = done("report", "0.jsonl", "--profile", "run", "-o", "reports-0", "--step-summary", *shared)
        (folder / "results" / "summary.md").write_text(result.out)
        return folder


@pytest.mark.trap(22)
@pytest.mark.parametrize(("part", "least"), [("reports-0", 3), ("reports-1", 3), ("results", 3), ("analysis-0", 80)])
def test_no_page_holds_anything_that_is_not_ours(written, part, least):
    assert check_folder(written / part) >= least


def test_no_file_lies_outside_of_its_folder(written):
    assert sorted(path.name for path in written.iterdir() if "errata.db" not in path.name) == [
        "0.jsonl",
        "0.jsonl.map.toml",
        "1.jsonl",
        "1.jsonl.map.toml",
        "analysis-0",
        "analysis-1",
        "reports-0",
        "reports-1",
        "results",
    ]


def test_no_cell_is_a_formula(written):
    with (written / "results" / "failure_review_rows.csv").open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]

    assert len(cells) > 500
    assert not [cell for cell in cells if cell.lstrip()[:1] in tuple("=+-@") and cell.strip()]


def test_every_case_has_its_page_and_its_line(written):
    (details,) = (written / "reports-0").rglob("*-details.md")
    failed = sum(number % 5 != 0 for number in range(len(HOSTILE)))

    assert details.read_text().count("- **Failed check**: ") == failed
    assert len(list((written / "analysis-0" / "issues").glob("*.md"))) == 1 + len(HOSTILE)


def a_hostile_run(text, store):
    """One failure and one pass, with the text wherever a record takes one, and a verdict that says it, too."""
    run = Run(
        native_id=f"run {text}",
        name=text,
        source=SourceInfo(name="test"),
        suite="suite",
        subject=Subject(model=f"m{text}", provider=text, agent=text),
        variant={"experiment": text},
    )
    items = [run]
    for name, outcome in ((f"a{text}", "fail"), (f"b{text}", "pass"), (f"c{text}", "none")):
        key = case_key(run.suite, name)
        items.append(
            Case(run=run.id, suite=run.suite, native_id=name, name=f"n{text}", input=text, expected=f"{text}!")
        )
        items.append(
            Attempt(
                run=run.id,
                case=key,
                execution="error" if outcome == "none" else "completed",
                measurement="not_run" if outcome == "none" else "scored",
                outcome=outcome,
                native_status=text,
                output=Output(text=text),
                errors=(ErrorInfo(type=text, message=text, traceback=text, phase="subject"),)
                if outcome == "none"
                else (),
                checks=(Check(name=f"k{text}", status="fail" if outcome == "fail" else "pass", explanation=text),),
                judgements=(Judgement(judge=text, reasoning=text),),
            )
        )
    with Importing(store) as importing:
        for batch in seal(pack_items(items)):
            importing.add(batch)
        importing.finish()
    stored = run_by_id(store, run.id)
    result = {"cause": text, "reasoning": text, "underlying_mistake": text, "consequences": (text,), "doubts": (text,)}
    snippets = {"model_snippet": text, "expected_snippet": text, "label": "model", "owner": "model"}
    keep_verdicts(store, [a_verdict(stored, f"a{text}", **result, **snippets)])
    return stored


@pytest.mark.parametrize("text", every(4, HOSTILE))
def test_a_hostile_text_wherever_a_record_takes_one(text, tmp_path):
    check_all(text, tmp_path)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30))
def test_no_text_at_all_gets_out_of_its_place(tmp_path_factory, text):
    check_all(text, tmp_path_factory.mktemp("any"))


def check_all(text: str, folder: Path) -> None:
    with working_in(folder), store_of_an_example() as store:
        view = RunView(a_hostile_run(text, store), store)
        run = run_report(view, made=DAY)
        comparison = comparison_report([view], RunSet([view], store).compare(ComparisonOptions(least=1)), made=DAY)
        batch = batch_report(view, made=DAY)
    documents = [
        run_document(run),
        comparison_document(comparison),
        *batch_documents(batch).values(),
        batch_page(batch),
        step_summary.of_run(run, [text]),
        step_summary.of_comparison(comparison, [text]),
        step_summary.of_batch(batch, [text]),
    ]
    for document in documents:
        check_markdown(to_markdown(document))
        check_html(to_html(document), beside=True)
    for name, content in batch_files(batch).items():
        assert "\n" not in name
        assert not name.startswith(("/", "."))
        if name.startswith("issues/") and name.endswith(".md"):
            assert content.startswith("# ")
            assert content.count("<!-- errata:") == 1


def test_titles_of_issues_are_as_short_as_trackers_take_them(tmp_path):
    with working_in(tmp_path), store_of_an_example() as store:
        stored = a_hostile_run("long " * 400, store)
        batch = batch_report(RunView(stored, store), made=DAY)

    titles = [text.partition("\n")[0] for name, text in batch_files(batch).items() if name.startswith("issues/")]

    assert len(titles) > 1
    assert max(map(len, titles)) <= 256
