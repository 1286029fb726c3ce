"""The Python API: few names, the numbers of the commands, tables for every library, and safe HTML."""

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import html5lib
import pyarrow
import pytest

import errata
from errata import api
from errata.export.tables import PREVIEW, DataTable
from errata.model.output.failures import FailureOutput
from errata.verbs.store import bundled_example
from terminal import errata as command

ROOT = Path(__file__).parent.parent
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
HOSTILE = f'<script>alert(1)</script>\x1b[31m\u202e key {SECRET} & "quoted"'


@pytest.fixture
def logs(at_home, fixtures):
    """Two runs of one suite: the bundled example, and an earlier run."""
    shutil.copytree(bundled_example(), at_home / "logs" / "run-b")
    shutil.copytree(fixtures / "sources" / "convex_evals" / "run_a", at_home / "logs" / "run-a")
    return at_home / "logs"


@pytest.fixture
def run(logs):
    [imported] = errata.analyze(logs / "run-b")
    return imported


def test_the_code_of_the_guide_runs_and_gives_what_it_shows(logs):
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    names, shown = {}, 0
    for block in re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        exec(block, names)
        for line in block.splitlines():
            expression, arrow, value = line.partition("# → ")
            if arrow:
                assert str(eval(expression, names)) == value, line
                shown += 1

    assert shown >= 10


def test_the_api_has_few_names_and_the_package_offers_them_all():
    assert len(api.__all__) <= 20
    assert sorted(errata.__all__) == sorted([*api.__all__, "__version__"])
    assert all(getattr(errata, name) is getattr(api, name) for name in api.__all__)
    assert set(api.__all__) <= set(dir(errata))
    with pytest.raises(AttributeError):
        errata.no_such_name  # noqa: B018


def test_importing_the_package_imports_nothing_else():
    program = "import errata, sys; print([name for name in sys.modules if name.startswith(('errata.', 'msgspec'))])"

    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "[]"


def test_failures_are_those_of_the_command(run):
    rows = list(run.failures())

    assert [row.attempt_id for row in rows] == [row["attempt_id"] for row in command("failures", run.id, "--json").rows]
    assert [row.attempt_id for row in run.failures(owner="model")] == [
        row["attempt_id"] for row in command("failures", run.id, "--owner", "model", "--json").rows
    ]


def test_scores_are_those_of_the_command(run):
    printed = command("score", run.id, "--json").row

    for policy, score in printed["scores"].items():
        row = run.score(policy)
        assert (row.passed, row.total, row.rate) == (score["passed"], score["total"], score["rate"])
        assert [row.low, row.high] == (score["interval"] or [None, None])
    by_category = [row for row in run.scores() if row.category is not None]
    assert {row.category for row in by_category} == set(printed["categories"])


def test_a_comparison_is_that_of_the_command(run, logs):
    store = errata.open()
    [earlier] = store.import_(logs / "run-a")

    made = store.compare(earlier, run)
    printed = command("compare", earlier.id, run.id, "--json").row

    assert made.regressed == tuple(printed["flips"]["regressed"])
    assert made.fixed == tuple(printed["flips"]["fixed"])
    assert made.failed_by_all == tuple(printed["failed_by_all"]["runs"])
    [pair] = printed["pairs"]
    assert [(row.is_clean, row.p) for row in made.pairs()] == [(False, pair["all"]["p"]), (True, pair["clean"]["p"])]
    states = [state for row in printed["matrix"] for state in row["states"]]
    assert [row.state for row in made.cells()] == states
    assert {file.name for file in made.report("compared")} >= {"deep_error_analysis.md"}


def test_the_store_lists_and_finds_its_runs(run, logs):
    with errata.open() as store:
        store.import_(logs / "run-a")

        assert len(store) == len(list(store)) == len(store.runs()) == 2
        assert store.run(run.name).id == run.id
        [row] = [row for row in store.runs() if row.run_id == run.id]
        assert (row.model, row.attempts, row.passed, row.failures) == (run.model, 25, 16, 9)
        assert store.run(row.name).id == run.id
        with pytest.raises(errata.NotFoundError):
            store.run("no-such-run")


def test_names_that_do_not_exist_are_refused(run):
    with pytest.raises(errata.NotFoundError, match="`modle` is not a value of `owner`"):
        run.failures(owner="modle")
    with pytest.raises(errata.NotFoundError, match="No check is named"):
        list(run.failures(failed_check="no-such-check"))
    with pytest.raises(errata.NotFoundError, match="policy"):
        run.score("cleanest")


def test_every_library_reads_a_table_through_the_capsule(run):
    table = run.failures()

    import polars  # with pandas, two seconds of every worker

    assert polars.DataFrame(table).equals(table.to_polars())
    assert pyarrow.table(table).equals(table.to_arrow())
    assert pyarrow.schema(table) == table.to_arrow().schema
    assert table.to_pandas()["attempt_id"].tolist() == table.to_polars()["attempt_id"].to_list()


def test_whole_numbers_stay_whole_where_some_are_missing(run):
    import pandas

    assert isinstance(run.attempts().to_pandas()["session"].dtype, pandas.Int64Dtype)


def test_a_large_table_is_streamed(monkeypatch):
    monkeypatch.setattr("errata.export.tables.BATCH", 10)
    produced = []

    def read_rows():
        for number in range(35):
            produced.append(number)
            yield failure(case=str(number))

    reader = pyarrow.RecordBatchReader.from_stream(DataTable("failures", FailureOutput, read_rows))

    assert reader.read_next_batch().num_rows == 10
    assert len(produced) == 10
    assert sum(batch.num_rows for batch in reader) == 25


def failure(**changes):
    values = dict.fromkeys(FailureOutput.__struct_fields__)
    values |= {"run": "r", "run_id": "1", "model": "m", "case": "c", "case_key": "c", "attempt": 1, "attempt_id": "1"}
    values |= {"execution": "completed", "measurement": "scored", "outcome": "fail", "failed_checks": (), "also": ()}
    return FailureOutput(**(values | {"signals": (), "suggested_labels": {}} | changes))


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = set()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        assert not attributes


def test_hostile_text_is_harmless_in_a_notebook():
    rows = [failure(case=HOSTILE, reason=HOSTILE, failed_checks=(HOSTILE,))]
    html = DataTable("failures", FailureOutput, lambda: rows)._repr_html_()

    tags = Tags()
    tags.feed(html)
    assert tags.tags == {"div", "table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert not re.search("[\x00-\x08\x1b\u202e]", html)
    assert SECRET not in html
    html5lib.HTMLParser(strict=True).parseFragment(html)


def test_a_notebook_shows_the_first_rows_and_how_many_more():
    html = DataTable("failures", FailureOutput, lambda: [failure()] * (PREVIEW + 3))._repr_html_()

    assert html.count("<tr>") == PREVIEW + 1
    assert "3 more rows" in html


def test_a_notebook_shows_a_run_by_its_scores_as_a_whole(run):
    page = run._repr_html_()

    assert "<caption>jn7mqywbwe952an46zjcswtz9r7by5p7 · acme/nimbus-2-coder · 9 failures</caption>" in page
    assert page.count("<tr>") == 1 + 3
    assert "<td>clean</td><td>16</td><td>23</td>" in page


def test_runs_and_comparisons_have_a_page_for_notebooks(run, logs):
    store = errata.open()
    store.import_(logs / "run-a")

    for shown in (run, store.runs(), store.compare(*store)):
        assert "<table>" in shown._repr_html_()


def test_secrets_are_redacted_in_rows(at_home):
    log = at_home / "rows.jsonl"
    log.write_text(f'{{"id": "a", "passed": false, "error": "denied for {SECRET}"}}\n')
    mapping = at_home / "map.toml"
    mapping.write_text('suite = "s"\n[case]\nname = "id"\n[attempt]\npassed = "passed"\nerror = "error"\n')

    [run] = errata.open().import_(log, mapping=mapping)
    [row] = run.failures()
    assert SECRET not in f"{row} {list(run.attempts())}"
    assert "[redacted:" in f"{row}"
