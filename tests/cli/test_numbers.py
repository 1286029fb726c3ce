"""A run of numbers without a threshold: no command states a pass rate, and each that shows a score has the mean."""

import csv
import json
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


def an_inspect_log(folder: Path, *values: float | str) -> Path:
    """The demo log with other values of its only scorer."""
    (path,) = (FIXTURES / "inspect_ai" / "demo_json" / "data").glob("*.json")
    log = json.loads(path.read_text())
    name = log["eval"]["scorers"][0]["name"]
    log["eval"]["scorers"], samples = log["eval"]["scorers"][:1], []
    for number, value in enumerate(values):
        sample = json.loads(json.dumps(log["samples"][0]))
        sample |= {"id": f"q{number}", "uuid": f"u{number}", "epoch": 1, "error": None, "limit": None}
        sample["scores"] = {name: {"value": value, "answer": f"answer {number}"}}
        samples.append(sample)
    log["samples"], log["reductions"] = samples, None
    log["eval"]["dataset"] = {"name": "demo", "samples": len(samples), "sample_ids": [one["id"] for one in samples]}
    log["results"] = {"total_samples": len(samples), "completed_samples": len(samples), "scores": []}
    written = folder / path.name
    written.write_text(json.dumps(log))
    return written


LOGS = {
    "a table": a_table,
    "a table with repeats": lambda folder: a_table(folder, tries=3),
    "Inspect": lambda folder: an_inspect_log(folder, 0.25, 0.5, 1.0, 0.0, 0.75, 0.3),
    "Inspect with a scale": lambda folder: an_inspect_log(folder, 2.5, 7.0, 1.0, 0.0, 9.5, 3.0),
    "Inspect with letters": lambda folder: an_inspect_log(folder, "C", "P", "P", "C", "P", "C"),
}


@pytest.mark.req("N-03")
@pytest.mark.parametrize("log", LOGS)
def test_no_command_has_a_pass_rate_of_a_run_of_numbers(log, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done("import", LOGS[log](tmp_path))
    (row,) = done("runs", "--json").rows
    mean = row["counts"]["mean"]
    assert mean is not None
    assert row["counts"]["failures"] == 0
    for command in COMMANDS:
        said = errata(*(row["run_id"] if word == "RUN" else word for word in command))
        text = f"{said.out}\n{said.err}"
        assert said.code == 0, (command, text)
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
