"""`errata report` about batches of both generations that these tests write: only what happened is stated."""

import json
import re
from pathlib import Path

import click
import pytest
from tests.scylla_batches import (
    ALL_FAILED,
    FINAL,
    JUDGE,
    NO_VERDICT,
    Batch,
    Logged,
    Tried,
    failed,
    judge,
    passed,
    stage,
    worked,
    worker,
    write_entries,
    write_experiment,
    write_report,
    write_run,
)

from report_pages import RUN_B, folded, reported, section, table
from terminal import done

LEFT = "RuntimeError: Failed to create worktree at /data/w: fatal: a branch named 'T0_00_run_01' already exists"
UNJUDGED = [stage("T0_00", "AGENT"), Logged("WARNING", JUDGE, ALL_FAILED), stage("T0_00", "JUDGE", "Complete (3.0s)")]
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?!https?://)[^)]*\)")


def crash(test: str, what: str) -> Tried:
    return Tried(test, [worker("T0/00", what)], exit_code=1, seconds=9.0)


@pytest.fixture(scope="module")
def batch(tmp_path_factory) -> Path:
    """One pass, three tests that were paid for and judged by nobody, a crash with two followers; then again."""
    folder = tmp_path_factory.mktemp("results") / "batch-0310"
    crashes = [
        crash("test-005", "AttributeError: no attribute 'language'"),
        *(crash(f"test-00{at}", LEFT) for at in (6, 7)),
    ]
    timeout = Logged(
        "ERROR", FINAL, "Judge 1 failed with model opus: Command '['claude']' timed out after 1200 seconds"
    )
    first = [Tried("test-001", worked("T0_00"), passed(0.8, 0.2)), Tried("test-002", UNJUDGED, failed(1.5))]
    second = [
        Tried("test-001", worked("T0_00"), passed(0.8, 0.2)),
        Tried("test-002", UNJUDGED, failed(1.5)),
        Tried("test-003", [*UNJUDGED, timeout], failed(0.5)),
        Tried("test-004", [stage("T0_00", "AGENT"), timeout], failed(0.25)),
        *crashes,
    ]
    third = [Tried(one.test, one.lines, one.scored, one.exit_code, one.seconds) for one in second[1:]]
    return Batch(folder, threads=1, sessions=[first, second, third]).write()


@pytest.fixture(scope="module")
def said(batch, tmp_path_factory):
    store = tmp_path_factory.mktemp("store") / "errata.db"
    return done("report", batch, "--date", "2026-03-12", "--store", store), store


def page(batch: Path, name: str) -> str:
    return (batch / "analysis" / name).read_text()


def test_the_output_names_the_folder_of_the_results_and_how_to_write_elsewhere(batch, said):
    text = folded(said[0])

    assert "this is the folder of the results; `-o DIR` writes elsewhere" in text
    assert "Nothing was filed, and no other file was changed." in text


@pytest.mark.req("B-71")
def test_a_report_in_the_results_changes_nothing_about_the_batch(batch, said):
    again = done("import", batch, "--store", said[1])

    assert "unchanged" in folded(again) or "already" in folded(again)


@pytest.mark.req("B-67")
def test_a_session_of_commands_that_could_not_start_is_called_so(tmp_path):
    lines = ["ERROR: [Errno 2] No such file or directory: 'pixi'"]
    tried = [Tried(f"test-00{at}", lines, exit_code=-1, seconds=0.1) for at in (1, 2)]
    folder = Batch(tmp_path / "b", sessions=[tried]).write()
    reported(folder)

    assert "first command can't start: session 1 measured none of its 2 tests" in page(folder, "analysis.md")


def test_the_file_of_a_knock_on_failure_states_how_it_follows(tmp_path):
    full = "OSError: [Errno 28] No space left on device"
    ended = "RuntimeError: aborted: test-002 failed with OSError"
    tried = [crash("test-002", full), crash("test-003", full), crash("test-004", ended)]
    folder = Batch(tmp_path / "b", threads=1, sessions=[tried]).write()
    reported(folder)

    assert "The disk was full since test-002" in page(folder, "failures/test-003.md")
    assert "The failure of test-002 ended this test or was in its way" in page(folder, "failures/test-004.md")


@pytest.mark.req("B-69")
def test_a_rate_over_fewer_than_five_tests_is_not_called_supported(batch, said):
    assert "Do not publish 14.3 %: only 1 test was measured, too few for a rate." in folded(said[0])
    assert "support" not in page(batch, "README.md")


@pytest.mark.req("S-34", "S-36")
def test_the_page_of_every_failure_has_cause_mechanism_evidence_and_fix(batch, said):
    pages = sorted((batch / "analysis" / "failures").glob("test-*.md"))

    assert len(pages) == 6
    for text in (path.read_text() for path in pages):
        for title in ("Root cause", "Mechanism", "Exact error", "Fix", "Evidence"):
            assert section(text, title)
    assert "rerun only the judging" in section(page(batch, "failures/test-002.md"), "Fix")
    assert section(page(batch, "failures/test-006.md"), "Fix") == "Fix test-005 first, then rerun this test."
    assert section(page(batch, "failures/test-005.md"), "Fix").startswith("Unknown: no rule has a fix")


@pytest.mark.req("B-68")
def test_an_inherited_verdict_says_so_and_brings_its_fix(tmp_path):
    lines = [crash(f"test-00{at}", "AttributeError: 'TierConfig' object has no attribute 'language'") for at in (1, 2)]
    folder = Batch(tmp_path / "batch", threads=1, sessions=[lines]).write()
    done("import", folder, "--store", "errata.db")
    row = done("review", "next", "batch-0310/test-001", "--reviewer", "r", "--store", "errata.db").row
    place = next(one for one in row["packet"]["places"] if "TierConfig" in one["text"])
    quote = next(one for one in place["text"].split("\n") if "TierConfig" in one).strip()
    answer = row["answer"] | {
        "label": "framework",
        "cause": "The tier's configuration has no language",
        "reasoning": "The loader reads a field that old tiers do not have. The quoted line shows it.",
        "evidence": [{"place": place["place"], "quote": quote}],
        "fix": {"path": "scylla/e2e/models.py", "before": "", "after": 'language: str = "python"'},
        "confidence": "likely",
    }
    (tmp_path / "v.json").write_text(json.dumps(answer))
    assert done("review", "submit", "v.json", "--reviewer", "r", "--store", "errata.db", "--json").row["inherited"] == 1
    reported("batch-0310")

    text = page(folder, "failures/test-002.md")
    assert "inherited from the review of test-001: the same crash" in text
    assert "The loader reads a field that old tiers do not have." in section(text, "Mechanism")
    assert '# after\nlanguage: str = "python"' in section(text, "Fix")
    assert "thread_logs/thread_0.log" in section(text, "Evidence")


def test_grader_failures_are_not_among_the_models_costs(batch, said):
    groups = {row["group"]: row["cost"] for row in table(section(page(batch, "analysis.md"), "Costs"))}

    assert groups == {"passed": "$0.80", "failed, framework": "$2.25", "all": "$3.05"}


@pytest.mark.req("S-28", "B-72")
def test_the_comment_on_the_epic_has_no_links_into_the_folder(batch, said):
    comment = page(batch, "comments/analysis.md")

    assert LINK.search(page(batch, "analysis.md"))
    assert not LINK.search(comment)
    assert "## Failure categories" in comment
    assert "comments/analysis.md" in page(batch, "issues/manifest.tsv")
    assert not any(LINK.search(path.read_text()) for path in (batch / "analysis" / "issues").glob("*.md"))


def entry_batch(folder: Path) -> Path:
    """The second generation: what counts is in the folders of the experiments."""
    at = "2026-03-21T08:{:02}:00.000000+00:00".format
    write_entries(folder, [
        ("test-001", "success", at(0), ""), ("test-002", "success", at(5), ""), ("test-003", "success", at(10), ""),
        ("test-004", "error", at(20), "RateLimitError: Rate limit from agent: You've hit your limit"),
        ("test-003", "error", at(40), "KeyboardInterrupt"),
    ])  # fmt: skip
    results = {"001": (0.92, [judge(score=0.92)]), "002": (0.0, [NO_VERDICT]), "003": (0.8, [judge(score=0.8)])}
    for number, (score, judges) in results.items():
        experiment = write_experiment(folder, f"2026-03-21T08-0{number[-1]}-00-test-{number}", version="3.1")
        run = experiment / "completed" / "T0" / "00" / "run_01"
        write_run(run, cost=0.3, score=score, judges=judges, at=at(12))
        write_report(experiment, best="T0" if score else "", score=score, cost=0.3)
    return folder


@pytest.mark.req("S-16", "S-18", "B-70")
def test_the_second_generation_gets_the_same_report(tmp_path):
    folder = entry_batch(tmp_path / "batch-0321")
    result = folded(reported(folder))

    assert "1 of 4 pass. 1 of 3 failures is knock-on, 1 is the grader's, 1 is the provider's." in result
    rows = {row["test"]: row for row in table(section(page(folder, "README.md"), "Results"))}
    assert {test: (row["owner"], row["cost"]) for test, row in rows.items()} == {
        "test-001": ("", "$0.3000"),
        "test-002": ("grader", "$0.3000"),
        "test-003": ("collateral", "$0.3000"),
        "test-004": ("provider", "–"),
    }
    assert rows["test-003"]["earlier"] == "PASS 0.800 $0.3000 in session 1"
    sessions = table(section(page(folder, "analysis.md"), "What happened"))
    assert [(row["session"], row["tests"], row["passed"]) for row in sessions] == [("1", "4", "2"), ("2", "1", "0")]


def asked(monkeypatch, *, answer: bool) -> list[str]:
    """A person at a terminal; returns what they were asked."""
    questions: list[str] = []

    def confirm(text, **_):
        questions.append(text)
        return answer

    monkeypatch.setattr(click, "confirm", confirm)
    monkeypatch.setattr("errata.cli.report.is_at_a_terminal", lambda: True)
    return questions


@pytest.mark.parametrize("answer", [True, False])
def test_a_person_is_asked_once_before_the_folder_of_a_batch_is_written_about_another_run(
    tmp_path, monkeypatch, answer
):
    questions = asked(monkeypatch, answer=answer)
    reported(RUN_B, "--profile", "batch")

    assert len(questions) == 1
    assert "is not a batch: this writes more than 34 files" in questions[0]
    assert (tmp_path / "analysis").exists() is answer


def test_a_script_is_never_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(click, "confirm", lambda *_, **__: pytest.fail("asked"))
    reported(RUN_B, "--profile", "batch")

    assert (tmp_path / "analysis" / "file_issues.sh").is_file()


def test_nobody_is_asked_about_a_batch(tmp_path, monkeypatch):
    questions = asked(monkeypatch, answer=False)
    reported(entry_batch(tmp_path / "batch-0321"), "--profile", "batch")

    assert questions == []
