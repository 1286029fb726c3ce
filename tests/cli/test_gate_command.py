"""`errata gate`, and `compare --format`: exit codes, the page, comments and JUnit."""

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from errata.report.gate_comment import MOST
from suite_of_runs import write_logs
from terminal import FIXTURES, done, errata, import_fixtures

RUN_A, RUN_B = "jn709tmj", "jn7mqywb"
CONVEX = (FIXTURES / "convex_evals/run_a/data", FIXTURES / "convex_evals/run_b/data")


@pytest.fixture(autouse=True)
def no_ci(monkeypatch, at_home):
    for name in ("GITHUB_REF_NAME", "GITHUB_HEAD_REF", "GITHUB_SHA", "GITHUB_SERVER_URL", "CI_JOB_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def convex():
    import_fixtures(*CONVEX)


def logs(**runs):
    """Two logs of one model, the baseline first."""
    write_logs(Path("logs"), runs, model="m")
    for name in runs:
        done("import", f"logs/{name}.jsonl")


def test_a_new_failure_of_the_model_exits_with_1_and_infrastructure_is_listed_apart(convex):
    result = errata("gate", RUN_B, "--baseline", RUN_A)

    assert result.code == 1
    assert "Gate FAILED: 3 cases passed in the baseline and fail now." in result.out
    assert re.search(r"Infrastructure: 2 .*\n.*\n001-data_modeling/000-user_table +provider", result.out)
    assert "not significant (exact McNemar, p = 1.00)" in " ".join(result.out.split())


def test_rows_that_disagree_are_the_reason_why_a_case_was_not_measured():
    import_fixtures(FIXTURES / "conversation_bench/comparison/data", FIXTURES / "conversation_bench/damaged/data")

    out = errata("gate", "0b1c2d3e", "--baseline", "9c0d1e2f").out

    assert re.search(r"Not measured: 1 .*\n.*\nturn-12 +1/1 → 1/2 +2 rows disagree\n", out)


def test_cases_that_only_another_model_failed_were_not_fixed():
    write_logs(Path("logs"), {"one": "+-", "two": "-+"})
    done("import", "logs")

    out = " ".join(errata("gate", "two", "--baseline", "one").out.split())

    assert "Now passing: 1 · Failed in the baseline, pass now." in out
    assert (
        "Of 2 cases without infrastructure failures, 1 fails only in this run and 1 only in the baseline: not "
        "significant (exact McNemar, p = 1.00). A gate fails on any new failure, significant or not."
    ) in out


def test_a_run_that_passes_is_green_for_the_next_one():
    logs(first="++++-", second="++++-")
    first = errata("gate", "first", "--baseline", "latest-green")
    bootstrap = errata("gate", "first", "--baseline", "latest-green", "--allow-no-baseline")
    second = errata("gate", "second", "--baseline", "latest-green", "--json")

    assert (first.code, bootstrap.code, second.code) == (4, 0, 0)
    assert "No earlier run of this suite and subject has passed a gate" in first.out
    assert second.row["baseline"] == "first"


def test_a_result_that_is_not_recorded_is_not_green():
    logs(first="++", second="++")
    done("gate", "first", "--no-record")

    assert errata("gate", "second", "--baseline", "latest-green").code == 4


def test_the_branch_comes_from_the_option_or_from_the_ci_job(monkeypatch):
    write_logs(Path("logs"), {"a": "+++", "b": "++-"}, model="m")
    done("import", "logs/a.jsonl", "--branch", "main", "--commit", "c0ffee")
    monkeypatch.setenv("GITHUB_REF_NAME", "7/merge")
    monkeypatch.setenv("GITHUB_HEAD_REF", "topic")
    monkeypatch.setenv("GITHUB_SHA", "badcafe")
    row = errata("gate", "logs/b.jsonl", "--baseline", "branch:main", "--json")
    done("import", "logs/a.jsonl")

    assert (row.code, row.row["baseline"]) == (1, "a")
    runs = {one["run"]: (one["branch"], one["commit"]) for one in done("runs", "--json").rows}
    assert runs == {"a": ("main", "c0ffee"), "b": ("topic", "badcafe")}


def test_runs_that_measured_different_things_exit_with_4(convex):
    import_fixtures(FIXTURES / "harbor/demo-job/data")
    other = next(one["run_id"] for one in done("runs", "--json").rows if one["source"] == "harbor")
    result = errata("gate", RUN_B, "--baseline", other)

    assert result.code == 4
    assert "Gate NOT COMPARABLE: the runs did not measure the same thing" in result.out
    assert "suite: " in result.out


def test_a_baseline_that_was_never_scored_is_named_as_the_reason():
    import_fixtures(FIXTURES / "conversation_bench/unjudged/data")
    unjudged = next(one["run_id"] for one in done("runs", "--json").rows)
    import_fixtures(FIXTURES / "conversation_bench/comparison/data")

    result = errata("gate", "1a2b3c4d", "--baseline", unjudged)

    assert result.code == 4
    assert "Gate NOT COMPARABLE: no attempt of the baseline was scored; choose another baseline" in result.out
    assert "the same thing" not in result.out


def test_an_allow_list_excuses_a_failure_and_complains_about_stale_entries():
    logs(before="+++", after="+--")
    Path("allowed.txt").write_text("# known\ncase-01 # the tool is down\ncase-02\n")
    excused = errata("gate", "after", "--baseline", "before", "--allow-list", "allowed.txt")
    Path("allowed.txt").write_text("case-00 # passes\ncase-01\ncase-02\n")
    stale = errata("gate", "after", "--baseline", "before", "--allow-list", "allowed.txt")

    assert (excused.code, stale.code) == (0, 1)
    assert "on the allow-list: 2" in excused.out
    assert "Stale allow-list entry in line 1: `case-00` passes now" in stale.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--allow-list", "nowhere.txt"), "can't be read"),
        (("--min-score", "80"), "is not a rate; write 0.8 or 80%"),
        (("-o", "x.md"), "`--output` needs `--format`"),
        (("--format", "github", "--json"), "both print to stdout"),
        (("--format", "github", "--format", "junit", "-o", "x"), "Several formats need a file each"),
        (("--baseline", "after"), "RUN and `--baseline after` are the same run"),
    ],
)
def test_what_can_be_fixed_exits_with_2(arguments, words):
    logs(after="++")
    result = errata("gate", "after", *arguments)

    assert (result.code, words in result.talk) == (2, True), result


# -- comments ---------------------------------------------------------------------------------------------------------


def test_a_comment_has_what_regressed_what_is_fixed_what_is_infrastructure_and_the_scores(convex):
    page = (
        MarkdownIt("commonmark")
        .enable("table")
        .render(errata("gate", RUN_B, "--baseline", RUN_A, "--format", "github").out)
    )

    assert "<h3>Gate FAILED: 3 cases passed in the baseline and fail now.</h3>" in page
    assert "<td>16/23 69.6 % [49.1, 84.4]</td>" in page
    assert page.index("New failures: 3") < page.index("Infrastructure: 2") < page.index("Fixed: 2")
    assert page.count("<details>") == page.count("</details>") == 3


def test_compare_writes_the_same_comment_without_a_verdict(convex):
    result = done("compare", RUN_A, RUN_B, "--format", "gitlab", "-o", "comment.md", "--format", "junit", "-o", "c.xml")

    text = Path("comment.md").read_text()
    assert "### 3 cases regressed, 2 fixed" in text
    assert "Gate" not in text
    assert Path("c.xml").read_text().startswith("<?xml")
    assert result.out == ""


def test_compare_takes_two_runs_for_a_comment(convex):
    import_fixtures(FIXTURES / "convex_evals/run_d/data")
    result = errata("compare", RUN_A, RUN_B, "jn7maewn", "--format", "github")

    assert (result.code, "compares two runs, and these are 3" in result.talk) == (2, True)


def test_a_comment_stays_below_the_limit_and_counts_what_is_left_out(monkeypatch):
    monkeypatch.setenv("CI_JOB_URL", "https://ci.example/job/7")
    logs(before=2500 * "+", after=2500 * "-")
    text = errata("gate", "after", "--baseline", "before", "--format", "gitlab").out

    assert len(text) <= MOST
    listed = text.count("| `case-")
    assert 100 < listed < 2500
    assert f"{2500 - listed:,} more cases did not fit; [the job](https://ci.example/job/7) lists them all." in text


def test_texts_of_logs_notify_nobody_and_link_nothing():
    hostile = "@everyone closes #12 !34 %56 <img src=x> [x](https://evil.example)"
    write_logs(Path("logs"), {"before": "+", "after": "-"}, model=f"m {hostile}", suite="s")
    done("import", "logs")
    text = errata("gate", "after", "--baseline", "before", "--format", "gitlab").out

    shown = MarkdownIt("commonmark").render(text)
    assert "<img" not in shown
    assert "evil.example</a>" not in shown
    for reference in ("@everyone", "#12", "!34", "%56"):
        assert reference not in text


# -- JUnit ------------------------------------------------------------------------------------------------------------


def test_junit_is_read_by_erratas_own_source(convex):
    errata("gate", RUN_B, "--baseline", RUN_A, "--format", "junit", "-o", "gate.xml")
    row = done("import", "gate.xml", "--json").row

    assert (row["source"], row["counted"], row["failures"]) == ("junit", 25, 5)
    listed = done("runs", "--source", "junit", "--json").row["counts"]["executions"]
    assert listed == {"completed": 18, "error": 2, "skipped": 5}
