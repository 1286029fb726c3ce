"""`errata report` about a batch: the folder with exact numbers, root causes, an issue for every test and the script."""

import json
import os
import re
import subprocess
from statistics import fmean, median

import pytest

from report_pages import (
    BATCH,
    CONVERSATIONS,
    DAY,
    RUN_A,
    RUN_B,
    folded,
    plain,
    reported,
    section,
    table,
    tables,
    working_in,
)
from terminal import done, errata, import_fixtures

SUMMARY = json.loads((BATCH / "batch_summary.json").read_text())
RESULTS = {row["test_id"]: row for row in SUMMARY["results"]}
FAILED = sorted(name for name, row in RESULTS.items() if row["status"] != "pass")
PASSED = sorted(set(RESULTS) - set(FAILED))


class Folder:
    def __init__(self, path, said):
        self.path, self.said = path, said

    def text(self, name):
        return (self.path / name).read_text()

    def names(self, pattern):
        return sorted(path.name for path in self.path.glob(pattern))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with working_in(tmp_path_factory.mktemp("batch")) as place:
        result = reported(BATCH, "-o", "analysis")
        return Folder(place / "analysis", result)


def cost(text):
    return float(text.lstrip("$").replace(",", ""))


@pytest.mark.req("S-19", "S-03")
def test_the_analysis_lies_in_a_folder_with_failures_and_issues(folder):
    assert sorted(path.name for path in folder.path.iterdir()) == [
        "README.md",
        "analysis.md",
        "comments",
        "failures",
        "file_issues.sh",
        "issues",
    ]


@pytest.mark.req("S-03")
def test_nothing_is_filed(tmp_path, monkeypatch):
    """A `gh` that would tell."""
    (tmp_path / "bin").mkdir()
    gh = tmp_path / "bin" / "gh"
    gh.write_text(f"#!/bin/sh\ntouch {tmp_path}/called\n")
    gh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    result = reported(BATCH, "-o", "analysis")

    assert not (tmp_path / "called").exists()
    assert "Nothing was filed, and no other file was changed." in result.out


@pytest.mark.req("S-39")
def test_all_files_are_written_by_one_process(tmp_path, monkeypatch):
    import_fixtures(BATCH, store="errata.db")

    def refused(*_arguments, **_named):
        raise AssertionError("another process was started")

    monkeypatch.setattr(subprocess, "Popen", refused)
    monkeypatch.setattr(os, "fork", refused)
    done("report", "batch-0214", "-o", "analysis", "--date", DAY, "--store", "errata.db")

    assert len(list((tmp_path / "analysis").rglob("*.md"))) == 1 + 1 + 1 + 23 + 1 + 47 + 1


@pytest.mark.req("S-20", "S-32", "S-41")
def test_the_results_table_has_every_test_in_order_with_exact_numbers(folder):
    rows = table(section(folder.text("README.md"), "Results"))

    assert [row["test"] for row in rows] == sorted(RESULTS)
    for row in rows:
        result = RESULTS[row["test"]]
        assert row["status"] == result["status"].upper()
        assert row["cost"] == f"${result['total_cost']:.4f}"
        assert row["seconds"] == f"{result['total_duration']:.1f}"
        assert row["score"] == f"{result['best_score']:.3f}"
        if result["status"] == "pass":
            assert row["CoP"] == f"${result['frontier_cop']:.4f}"


@pytest.mark.req("S-32")
def test_the_front_page_has_the_configuration(folder):
    rows = {row["setting"]: row["value"] for row in table(section(folder.text("README.md"), "Configuration"))}

    assert rows["model"] == "sonnet"
    assert rows["judge"] == "opus"
    assert rows["tiers"] == "T0, T1"
    assert rows["runs"] == "1"
    assert rows["max subtests"] == "3"


@pytest.mark.req("S-32", "S-35", "S-45")
def test_the_aggregate_is_the_published_one(folder):
    rows = {row["metric"]: row["value"] for row in table(section(folder.text("README.md"), "Aggregate"))}
    prices = [RESULTS[name]["frontier_cop"] for name in PASSED]

    assert rows["tests"] == "47"
    assert rows["passed"].startswith("24 (51.1 %)")
    assert rows["failed"].startswith("23 (48.9 %)")
    assert rows["cost, all"] == "$54.18"
    assert rows["cost, passes"] == "$35.46"
    assert rows["mean cost of pass"] == f"${fmean(prices):.2f} (24 passes)" == "$0.37 (24 passes)"
    assert rows["median cost of pass"] == f"${median(prices):.2f} (24 passes)" == "$0.17 (24 passes)"


@pytest.mark.req("S-37")
def test_a_part_of_the_subtests_is_a_partial_pass(folder):
    rows = {row["test"]: row["owner"] for row in table(section(folder.text("README.md"), "Results"))}

    assert {name for name, owner in rows.items() if "partial" in owner} == {"test-009", "test-021", "test-036"}
    assert rows["test-009"] == "partial pass, 2 of 3 subtests"
    assert "3 of them partial: test-009 (2 of 3 subtests)" in folder.text("README.md")


@pytest.mark.req("S-37", "S-35")
def test_the_cost_of_a_pass_is_explained_and_infinite_where_none_passed(folder):
    text = section(folder.text("analysis.md"), "Costs")
    rows = {row["test"]: row["CoP"] for row in table(section(folder.text("README.md"), "Results"))}

    assert "Cost of pass = mean run cost ÷ pass rate" in text
    assert rows["test-003"] == "∞"
    assert rows["test-006"] == "–"
    assert "It is infinite for tests that spent money without a pass: test-003, test-008" in text


@pytest.mark.req("S-33")
def test_the_analysis_has_costs_durations_categories_and_recommendations(folder):
    text = folder.text("analysis.md")
    costs = {row["group"]: row for row in table(section(text, "Costs"))}
    seconds = {row["group"]: row for row in table(section(text, "Durations (seconds)"))}
    categories = table(section(text, "Failure categories"))

    assert (costs["failed, model"]["cost"], costs["failed, framework"]["cost"]) == ("$18.72", "$0.00")
    assert costs["passed"]["cost of pass, median"] == "$0.17"
    assert (seconds["passed (24)"]["min"], seconds["passed (24)"]["max"]) == ("291.4", "1245.3")
    assert [row["tests"] for row in categories] == ["11", "10", "2"]
    assert "A, 11 tests (stored results have a null" in section(text, "Recommendations")


@pytest.mark.req("S-16", "S-17", "S-18", "S-33", "S-42")
def test_the_analysis_tells_all_sessions_and_what_the_last_one_hides(folder):
    text = section(folder.text("analysis.md"), "What happened")
    rows = table(text)

    assert [(row["session"], row["passed"], row["cost"]) for row in rows] == [
        ("1", "29", "$69.59"),
        ("2", "0", "–"),
        ("3", "24", "$54.18"),
    ]
    assert "'pixi'" in rows[1]["pattern"]
    assert "**Passed in an earlier session, not now (5):** test-006, test-017, test-026, test-038, test-043." in text
    readme = folder.text("README.md")
    assert "Do not publish 51.1 %: it counts 13 failures that are not the model's." in readme
    assert "The best estimate is 29 of 45 (64.4 %, 95 % interval 49.8–76.8), provisional" in readme


@pytest.mark.req("S-34")
def test_the_summary_of_failures_has_a_table_for_each_category(folder):
    text = folder.text("failures/summary.md")

    listed = [row["test"] for rows in tables(text)[1:] for row in rows]
    assert sorted(listed) == FAILED
    assert [row["tests"] for row in tables(text)[0]] == ["11", "10", "2"]


@pytest.mark.req("S-34")
def test_every_failure_has_a_page_with_its_root_cause(folder):
    assert folder.names("failures/test-*.md") == [f"{name}.md" for name in FAILED]
    for name in FAILED:
        text = section(folder.text(f"failures/{name}.md"), "Root cause")
        assert len(text.split()) > 5


@pytest.mark.req("S-36", "S-40")
def test_the_root_cause_has_the_exact_error_with_its_place_and_a_fix_before_and_after(folder):
    text = folder.text("failures/test-006.md")

    assert section(text, "Root cause") == "Stored results have a null where the loader expects a dictionary."
    assert "`.get` returns its default only when the key is absent" in section(text, "Mechanism")
    error = section(text, "Exact error")
    assert "`thread_logs/thread_1.log:1126`, 6 of 6 hit" in error
    assert "criteria_scores\n  Input should be a valid dictionary [type=dict_type, input_value=None" in error
    fix = section(text, "Fix")
    assert '# before\ncriteria_scores=data.get("criteria_scores", {})\n' in fix
    assert '# after\ncriteria_scores=data.get("criteria_scores") or {}\n' in fix


@pytest.mark.req("S-36")
def test_where_no_fix_is_known_that_is_said(folder):
    text = folder.text("failures/test-019.md")

    assert section(text, "Fix").startswith("Unknown: no rule has a fix, and the failure is not reviewed.")
    assert "RuntimeError: git worktree add failed: fatal: invalid reference: task-base" in section(text, "Exact error")


@pytest.mark.req("S-02", "S-15", "S-12")
def test_what_cost_nothing_is_the_frameworks_and_what_cost_something_the_models(folder):
    rows = {row["test"]: row["owner"] for row in table(section(folder.text("README.md"), "Results"))}

    for name in FAILED:
        assert rows[name] == ("model" if RESULTS[name]["total_cost"] else "harness")


@pytest.mark.req("S-10", "S-11", "S-13")
def test_a_category_of_the_framework_shows_subtests_costs_durations_and_the_error(folder):
    text = folder.text("failures/summary.md")
    result = text.partition("\n## A. ")[2].partition("\n## B. ")[0]

    assert "- All subtests fail together in 11 of 11" in result
    assert "- $0.00 spent by 11: no model call was paid for" in result
    assert "- 8 ended at once without cost: 8.5 to 21.1 s" in result
    assert "- 3 ended later without cost, for example after a clone: 139.6 to 184.5 s" in result
    assert "ValidationError: 1 validation error for RunResult" in result


@pytest.mark.req("S-14")
def test_a_failure_of_the_model_tells_what_the_rubric_required(folder):
    text = section(folder.text("failures/test-003.md"), "What the task asked")

    assert "What the rubric requires:" in text
    assert "- F1: the requested behaviour works." in text
    assert "functional/F1: met 0 of 18 times" in text
    assert "The date range parser swaps day and month; F1 is not met." in text


@pytest.mark.req("S-17")
def test_a_failure_has_its_way_through_the_sessions(folder):
    rows = table(section(folder.text("failures/test-006.md"), "Timeline"))

    assert [row["session"] for row in rows] == ["1", "2", "3"]
    assert rows[0]["result"] == "PASS 1.000, $1.7462"
    assert rows[2]["place"] == "thread_logs/thread_1.log:1120"


@pytest.mark.req("S-22")
def test_there_is_an_issue_for_every_test_and_an_epic(folder):
    assert folder.names("issues/*.md") == ["epic.md", *(f"{name}.md" for name in sorted(RESULTS))]


@pytest.mark.req("S-21", "S-22")
def test_the_first_line_of_an_issue_is_its_title(folder):
    for name, row in RESULTS.items():
        first = folder.text(f"issues/{name}.md").split("\n")[0]
        assert first == f"# [E2E] {name}: {row['test_name']} - {row['status'].upper()}"


@pytest.mark.req("S-22")
def test_the_epic_tells_the_whole_and_what_is_to_do(folder):
    text = folder.text("issues/epic.md")

    assert text.startswith("# [E2E] batch-0214: 24 of 47 pass, 13 of 23 failures are not the model's\n")
    assert "Total cost $54.18, passes $35.46, mean cost of pass $0.37, median $0.17 (24 passes)." in text
    assert re.search(r"^- \[ \] Fix the harness, then rerun: A, 11 tests ", text, re.MULTILINE)


@pytest.mark.req("S-04", "S-30")
def test_one_script_for_the_whole_batch_can_be_read_and_run(folder):
    script = folder.path / "file_issues.sh"

    assert os.access(script, os.X_OK)
    assert subprocess.run(["bash", "-n", "file_issues.sh"], cwd=folder.path, check=False).returncode == 0
    lines = folder.text("issues/manifest.tsv").splitlines()
    assert [line.split("\t")[:2] for line in lines[:2]] == [["label", "evaluation"], ["epic", "epic"]]
    assert [line.split("\t")[1] for line in lines if line.startswith("issue\t")] == sorted(RESULTS)


@pytest.mark.req("S-31")
def test_a_dry_run_tells_every_title_and_body(folder):
    result = subprocess.run([folder.path / "file_issues.sh", "--dry-run"], capture_output=True, text=True, check=True)

    for name, row in RESULTS.items():
        assert f"[E2E] {name}: {row['test_name']} - {row['status'].upper()}\n" in result.stdout
        assert f"body from issues/{name}.md\n" in result.stdout
    assert result.stdout.endswith("dry run: 1 epic, 47 issues, 2 comments; nothing was sent\n")


@pytest.mark.req("S-44")
def test_what_can_be_done_next_is_named(folder):
    text = section(folder.text("analysis.md"), "Next")

    for command in ("./file_issues.sh", "errata rerun batch-0214", "errata check batch-0214", "errata review next"):
        assert command in text
    assert "one call a second" in text


@pytest.mark.req("S-32", "S-35")
def test_the_words_tell_the_numbers_and_the_categories(folder):
    result = folded(folder.said)

    assert "batch-0214 · sonnet · 24/47 passed" in result
    assert "PROVISIONAL: owners assigned by rules; 0 of 23 failures reviewed" in result
    assert "A 11× Stored results have a null where the loader expects a dictionary · harness cost $0.00" in result
    assert "cost $54.18 total · $35.46 on passes cost of pass at the cheapest tier: mean $0.37, median" in result
    assert "issues 1 for each test: 23 failed, 24 passed · 1 epic" in result
    assert "analysis/file_issues.sh --dry-run" in result


def test_what_a_reader_found_goes_into_category_page_and_issue(tmp_path):
    import_fixtures(BATCH, store="errata.db")
    result = done("review", "next", "batch-0214/test-022", "--reviewer", "r", "--store", "errata.db").row
    place = next(one for one in result["packet"]["places"] if one["place"] not in ("task", "history", "facts"))
    quote = max(place["text"].split("\n"), key=len).strip()
    answer = result["answer"] | {
        "label": "fixture",
        "cause": "The fixture asks for rows that its data does not hold",
        "reasoning": "The quoted line shows it. Nothing the model could do would pass.",
        "evidence": [{"place": place["place"], "quote": quote}],
        "confidence": "likely",
    }
    (tmp_path / "v.json").write_text(json.dumps(answer))
    done("review", "submit", "v.json", "--reviewer", "r", "--store", "errata.db")
    reported("batch-0214", "-o", "analysis")

    page = (tmp_path / "analysis" / "failures" / "test-022.md").read_text()
    results = section((tmp_path / "analysis" / "README.md").read_text(), "Results")
    rows = {row["test"]: row["owner"] for row in table(results)}
    assert "The fixture asks for rows that its data does not hold" in section(page, "Root cause")
    assert rows["test-022"] == "task"
    assert "task, likely" in page
    assert "(by rule" not in page


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory):
    """Every failure has a verdict, without a fix."""
    with working_in(tmp_path_factory.mktemp("reviewed")) as place:
        import_fixtures(BATCH, store="errata.db")
        words = ("review", "next", "batch-0214", "--reviewer", "r", "--store", "errata.db", "--json")
        while (result := done(*words).row)["packet"]:
            (place / "v.json").write_text(json.dumps(_verdict(result)))
            done("review", "submit", "v.json", "--reviewer", "r", "--store", "errata.db")
        return Folder(place / "analysis", reported("batch-0214", "-o", "analysis"))


def _verdict(told):
    place = told["packet"]["places"][0]
    is_error = place["place"] == "error"
    label, bucket, sure = (
        ("framework", "null-criteria-scores", "certain") if is_error else ("model", "swaps-day-and-month", "weak")
    )
    if not is_error:
        place = next(one for one in told["packet"]["places"] if one["place"].startswith("thread_logs"))
    quote = max(place["text"].split("\n"), key=len).strip()
    return told["answer"] | {
        "label": label,
        "bucket": bucket,
        "confidence": sure,
        "cause": f"The reviewer's cause: {bucket}",
        "reasoning": "The quoted line shows it. Nothing else in the packet explains it.",
        "evidence": [{"place": place["place"], "quote": quote}],
        "recommendation": {"group": "config", "text": f"The reviewer's advice on {bucket}", "target_path": None},
        "doubts": [f"The packet lacks the code about {bucket}"],
    }


def test_every_file_of_a_reviewed_batch_has_the_same_status(reviewed):
    pages = ["README.md", "analysis.md", "comments/analysis.md", "failures/summary.md", "issues/epic.md"]
    pages += [f"failures/{name}" for name in reviewed.names("failures/test-*.md")]

    for page in pages:
        assert "PROVISIONAL" not in reviewed.text(page) and "not yet reviewed" not in reviewed.text(page), page
        assert "**Status**: reviewed." in reviewed.text(page) or "Status: reviewed." in plain(reviewed.text(page)), page
    assert "Owners come from verdicts" in reviewed.said.out and "PROVISIONAL" not in reviewed.said.out


def test_titles_advice_and_confidence_of_a_reviewed_batch_come_from_the_verdicts(reviewed):
    for page in (
        "analysis.md",
        "comments/analysis.md",
        "failures/summary.md",
        "issues/epic.md",
        "failures/test-004.md",
    ):
        assert "data.get" not in reviewed.text(page), page
        assert "Stored results have a null" not in reviewed.text(page), page
    epic, summary = reviewed.text("issues/epic.md"), table(reviewed.text("failures/summary.md"))
    assert "failed: null criteria scores (harness)" in epic
    assert "failed: swaps day and month (probably model)" in epic
    assert "The reviewer's advice on null-criteria-scores" in epic
    assert [row["what to do"] for row in summary] == [
        "The reviewer's advice on null-criteria-scores",
        "The reviewer's advice on swaps-day-and-month",
    ]


def test_what_the_reviewer_recommends_and_doubts_is_on_the_page_and_in_the_issue(reviewed):
    page, issue = reviewed.text("failures/test-004.md"), reviewed.text("issues/test-004.md")

    assert section(page, "Fix").startswith("The reviewer's advice on null-criteria-scores.")
    assert "**Fix.** The reviewer's advice on null-criteria-scores." in issue
    assert section(page, "Doubts of the reviewer") == "- The packet lacks the code about null-criteria-scores"
    assert "**Doubts of the reviewer.**\n\n- The packet lacks the code about null-criteria-scores" in issue


def test_nobody_is_asked_to_review_what_was_reviewed(reviewed):
    assert "errata review" not in reviewed.text("analysis.md")


def test_issues_can_be_made_of_any_run(tmp_path):
    result = done("issues", RUN_B, "-o", "todo", "--date", DAY)

    assert len(list((tmp_path / "todo" / "issues").glob("*.md"))) == 26
    text = (tmp_path / "todo" / "issues" / "002-queries-001-text_lookup.md").read_text()
    assert text.startswith("# [E2E] 002-queries/001-text_lookup - FAILED\n")
    assert "AssertionError: expected \\[ 1, 2, 3 \\] to deeply equal" in text
    assert "16/25 passed" in result.out


def test_the_epic_of_any_run_counts_every_failure_that_is_not_the_models(tmp_path):
    import_fixtures(RUN_A)
    done("known", "add", "002-queries/006-pagination_shape", "--text", "accepted", "--author", "reader")
    result = done("issues", RUN_A, "-o", "todo", "--date", DAY)
    epic = (tmp_path / "todo" / "issues" / "epic.md").read_text()

    whose = "2 of 10 failures are the provider's, 1 is the environment's, 1 is the grader's, 1 is the task's,"
    assert whose in folded(result)
    assert epic.splitlines()[0].endswith(": 13 of 25 pass, 5 of 10 failures are not the model's")
    assert "(model acme/nimbus-2-coder, from 2026-03-02 10:00:00 to 2026-03-02 10:22:10 UTC)" in epic
    assert "Total cost $0.37, passes $0.22.\n" in epic


def test_no_rate_is_stated_of_a_single_measured_test(tmp_path):
    cascade = CONVERSATIONS.parent / "scylla" / "batch-cascade" / "data"
    reported(cascade, "--profile", "batch", "-o", "analysis", "--html")
    page = next((tmp_path / "analysis").rglob("index.html")).read_text()
    clean = table(next((tmp_path / "analysis").rglob("README.md")).read_text().partition("\n## ")[0])[-1]

    assert '<span class="count">1 of 1 measured</span>' in page
    assert "<b>100.0 %</b>" not in page
    assert (clean["score"], clean["passed"], clean["rate"], clean["95 % interval"]) == ("clean", "1/1", "–", "–")
    assert "clean: 1 of 1 measured; " in next((tmp_path / "analysis").rglob("epic.md")).read_text()


def test_what_is_true_of_some_failures_of_an_owner_is_an_example(tmp_path):
    reported(BATCH, "-o", "analysis", "--html")
    page = (tmp_path / "analysis" / "index.html").read_text()

    assert '<span class="note">likely: e.g. stored results have a null' in page


def test_what_an_earlier_report_left_is_told_and_not_deleted(tmp_path):
    reported(BATCH, "-o", "analysis")
    old = tmp_path / "analysis" / "failures" / "test-999.md"
    old.write_text("# old\n")
    result = reported(BATCH, "-o", "analysis")

    assert "1 file of an earlier report is still there: failures/test-999.md" in result.talk
    assert old.is_file()


def test_what_was_filed_stays_recorded(tmp_path):
    reported(BATCH, "-o", "analysis")
    (tmp_path / "analysis" / "filed.tsv").write_text("filed\tepic\thttps://example.com/issues/1\n")
    reported(BATCH, "-o", "analysis")

    assert (tmp_path / "analysis" / "filed.tsv").read_text() == "filed\tepic\thttps://example.com/issues/1\n"


def test_an_unfinished_batch_has_no_report(tmp_path):
    (tmp_path / "thread_logs").mkdir()
    (tmp_path / "thread_logs" / "thread_0.log").write_text((BATCH / "thread_logs" / "thread_0.log").read_text()[:4000])

    assert errata("report", tmp_path).code == 2
