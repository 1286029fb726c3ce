"""A run of numbers without a threshold: no command states a pass rate, and each that shows a score has the mean."""

import csv
import random
import re
from pathlib import Path

import pytest

from terminal import FIXTURES, done, errata

NO_RATE = re.compile(
    r"\b0/\d+\b|\b0 of \d+ pass|\b\d+/\d+ passed|\b0(\.0)? %|Nothing failed, but|100\.0 %|\b0 failures\b"
)
"""What would treat a number as a failure or as a pass."""
SCORES = ("runs", "analyze", "score", "check", "show", "failures", "report")
"""Commands that show a score."""
COMMANDS = (
    *(("runs",), ("analyze", "RUN"), ("score", "RUN"), ("score", "RUN", "--by-category"), ("check", "RUN")),
    *(("failures", "RUN"), ("show", "RUN"), ("sessions", "RUN"), ("rerun", "RUN"), ("review", "status", "RUN")),
    *(
        ("buckets", "list", "RUN"),
        ("consistency", "RUN"),
        ("report", "RUN", "--html"),
        ("report", "RUN", "--step-summary"),
    ),
    ("known", "list"),
)


def a_table(folder: Path, *, tries: int = 1) -> Path:
    values = random.Random(3)
    table = folder / "scores.csv"
    with table.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["case", "model", "category", "f1", "answer", "run"])
        for number in range(20):
            for try_ in range(1, tries + 1):
                value = round(values.uniform(0.2, 0.9), 3)
                writer.writerow([f"c{number}", "kestrel", "ab"[number % 2], value, f"answer {number}", try_])
    done("map", table)
    return table


NUMBERS = FIXTURES.parent / "numbers"
LOGS = {
    "a table": a_table,
    "a table with repeats": lambda folder: a_table(folder, tries=3),
    **{path.name: path for path in sorted(NUMBERS.iterdir()) if re.search(r"-(alpha|narrow)\.", path.name)},
}


@pytest.mark.req("N-03")
@pytest.mark.parametrize("log", LOGS)
def test_no_command_has_a_pass_rate_of_a_run_of_numbers(log, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = LOGS[log]
    done("import", made if isinstance(made, Path) else made(tmp_path))
    (row,) = done("runs", "--json").rows
    mean = row["counts"]["mean"]
    assert mean is not None
    for command in COMMANDS:
        result = errata(*(row["run_id"] if word == "RUN" else word for word in command))
        # what the harness itself calls a pass is its own count
        text = re.sub("(?m)^.*as.reported.*$", "", f"{result.out}\n{result.err}")
        assert result.code == 0, (command, text)
        assert not NO_RATE.search(text), (command, text)
        if command[0] in SCORES:
            assert f"{mean:.4g}".rstrip("0") in text, (command, text)
    (report,) = tmp_path.glob("reports/*/*/*.md")
    for written in (report, report.with_suffix(".html")):
        text = written.read_text().partition("<body")[2] or written.read_text()
        assert f"{mean:.4g}" in text
        assert "passed</" not in text
    assert "██" in report.read_text()
    assert "<svg" in report.with_suffix(".html").read_text()


@pytest.mark.req("N-03")
@pytest.mark.parametrize("pair", ["answers", "coverage", "judged", "rubric", "tries"])
def test_a_report_that_compares_runs_of_numbers_says_by_how_much_their_means_differ(pair, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done("import", *sorted(NUMBERS.glob(f"{pair}-*")))
    rows = done("runs", "--json").rows
    result = done("report", *(row["run_id"] for row in rows), "--html")

    assert " minus " in result.out
    (report,) = tmp_path.rglob("deep_error_analysis.md")
    for text in (result.out, report.read_text(), report.with_suffix(".html").read_text()):
        assert " points" not in text
        assert "paired t-test" in text
    if not any(row["counts"]["failures"] for row in rows):
        assert not NO_RATE.search(re.sub("(?m)^.*as reported.*$", "", report.read_text()))
    for row in rows:
        assert f"{row['counts']['mean']:.4g}" in report.read_text()


@pytest.mark.req("N-03")
def test_labels_without_an_order_are_counts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done("import", NUMBERS / "labels.eval")
    (row,) = done("runs", "--json").rows
    assert row["counts"]["labels"] == {"left": 4, "both": 4, "right": 4}
    for command in COMMANDS:
        result = errata(*(row["run_id"] if word == "RUN" else word for word in command))
        text = f"{result.out}\n{result.err}"
        assert result.code == 0, (command, text)
        assert not NO_RATE.search(text), (command, text)
        if command[0] in {*SCORES} - {"score", "check"}:
            assert re.search("left 4.*both 4.*right 4", text), (command, text)
    scores = done("score", row["run_id"], "--json").row["scores"]
    assert {score["total"] for score in scores.values()} == {0}


@pytest.mark.req("N-03")
@pytest.mark.parametrize("log", LOGS)
def test_the_table_that_errata_exports_has_the_same_mean(log, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = LOGS[log]
    done("import", made if isinstance(made, Path) else made(tmp_path))
    (row,) = done("runs", "--json").rows
    done("export", row["run_id"], "-o", "tables")
    done("map", "tables/attempts.csv")
    done("import", "tables/attempts.csv", "--store", "again.db")
    (again,) = done("runs", "--json", "--store", "again.db").rows

    assert again["counts"]["mean"] == pytest.approx(row["counts"]["mean"])
    assert again["counts"]["values"] == row["counts"]["values"]


@pytest.mark.req("N-03")
def test_beside_numbers_an_attempt_that_broke_off_is_no_result_and_the_runs_still_differ(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"c{at},{model},{value + at / 100}," for model, value in (("a", 0.3), ("b", 0.7)) for at in range(12)]
    lines[4] = "c4,a,,ConnectionError: connection refused by the provider"
    Path("f1.csv").write_text("\n".join(("case,model,f1,error", *lines)) + "\n")
    Path("f1.csv.map.toml").write_text(
        '[run]\nmodel = { column = "model" }\n[case]\nname = "case"\n[attempt]\nscore = "f1"\nerror = "error"\n'
    )
    done("import", "f1.csv")
    names = [row["run_id"] for row in done("runs", "--json").rows]
    compared = done("compare", *names)
    done("report", *names)

    (report,) = tmp_path.rglob("deep_error_analysis.md")
    for text in (compared.out, report.read_text()):
        assert "over 11 cases" in text
        assert re.search("[ab] is better", re.sub(r"\s+", " ", text))
        assert "No two runs" not in text
        assert not re.search(r"\bc4\b.* 0\b(?!\.)", text), text
    (row,) = (row for row in done("compare", *names, "--json").row["matrix"] if row["case"] == "c4")
    assert sorted(row["values"], key=str) == [0.74, None]
