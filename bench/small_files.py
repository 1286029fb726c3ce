"""`python -m bench.small_files`: import of very many small files, beside reading and parsing them in the same run.

Four shapes: JUnit reports with one test each, Inspect logs with one sample each, a Harbor job with a folder for each
trial, and JSON documents with one attempt each, read with a mapping. The first two make a run of each file. All times
are seconds of the processor.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import orjson

from bench import measure

SIZES = (1_000, 10_000, 100_000)
AIM = 3.0
IN_A_FOLDER = 1_000
REPORT = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="suite" tests="1" failures="{failures}" time="0.1">
<testcase classname="tests.test_{group}" name="test_{number}" time="0.1">{body}</testcase>
</testsuite></testsuites>
"""
MAPPING = """suite = "bench"
rows = "."
files = "**/*.json"
[run]
model = "model"
[case]
name = "task"
[attempt]
passed = "passed"
answer = "answer"
"""


class SmallFiles(NamedTuple):
    path: Path
    options: tuple[str, ...] = ()
    """Of `errata import`."""


def junit_reports(folder: Path, files: int) -> SmallFiles:
    for number in range(files):
        failed = number % 5 == 0
        body = f'<failure message="assert {number} == 0">assert {number} == 0</failure>' if failed else ""
        text = REPORT.format(failures=int(failed), group=number % 97, number=number, body=body)
        _write(folder, number, f"TEST-{number}.xml", text)
    return SmallFiles(folder)


def inspect_logs(folder: Path, files: int, samples: int = 1) -> SmallFiles:
    for number in range(files):
        task, passed = f"task-{number % 97}", number % 5 > 0
        score = {"value": "C" if passed else "I", "answer": "Yes", "explanation": "Yes"}
        ids = [*range(1, samples + 1)]
        log = {
            "version": 2, "status": "success",
            "eval": {
                "eval_id": f"e{number}", "run_id": f"r{number}", "created": "2026-03-01T10:00:00+00:00", "task": task,
                "task_id": f"t{number}", "task_version": 0, "task_file": f"{task}.py", "model": "openai/gpt-4o-mini",
                "dataset": {"name": task, "samples": samples, "sample_ids": ids}, "config": {"epochs": 1},
                "scorers": [{"name": "match"}],
            },
            "plan": {"name": "plan", "steps": [{"solver": "generate", "params": {}}], "config": {}},
            "results": {
                "total_samples": samples, "completed_samples": samples,
                "scores": [{"name": "match", "scorer": "match", "params": {},
                            "metrics": {"accuracy": {"name": "accuracy", "value": float(passed)}}}],
            },
            "stats": {"started_at": "2026-03-01T10:00:00+00:00", "completed_at": "2026-03-01T10:00:02+00:00"},
            "samples": [{
                "id": sample, "epoch": 1, "input": f"Is {number} even?", "target": "Yes",
                "messages": [{"role": "user", "content": f"Is {number} even?"},
                             {"role": "assistant", "content": "Yes"}],
                "output": {"model": "gpt-4o-mini", "completion": "Yes",
                           "choices": [{"message": {"role": "assistant", "content": "Yes"}, "stop_reason": "stop"}]},
                "scores": {"match": score},
            } for sample in ids],
        }  # fmt: skip
        _write(folder, number, f"2026-03-01T10-00-00+00-00_{task}_{number:08}.json", json.dumps(log))
    return SmallFiles(folder)


def harbor_job(folder: Path, files: int) -> SmallFiles:
    """Two files for each trial: its result, and the reward of its verifier."""
    trials = files // 2
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"job_name": "job", "n_attempts": 1}), encoding="utf-8")
    (folder / "result.json").write_text(
        json.dumps({"id": "job-1", "started_at": "2026-03-01T10:00:00", "n_total_trials": trials}), encoding="utf-8"
    )
    for number in range(trials):
        trial = folder / f"task-{number}__a1b2c3d"
        (trial / "verifier").mkdir(parents=True)
        reward = float(number % 5 > 0)
        result = {
            "id": f"trial-{number}", "task_name": f"task-{number}", "trial_name": trial.name, "source": "bench",
            "agent_info": {"name": "agent", "version": "1", "model_info": {"name": "m", "provider": "p"}},
            "verifier_result": {"rewards": {"reward": reward}}, "exception_info": None,
            "started_at": "2026-03-01T10:00:00", "finished_at": "2026-03-01T10:01:00",
        }  # fmt: skip
        (trial / "result.json").write_text(json.dumps(result), encoding="utf-8")
        (trial / "verifier" / "reward.txt").write_text(f"{reward:.0f}\n", encoding="utf-8")
    return SmallFiles(folder)


def mapped_documents(folder: Path, files: int) -> SmallFiles:
    for number in range(files):
        row = {"model": "m", "task": f"task-{number}", "passed": number % 5 > 0, "answer": f"the answer is {number}"}
        _write(folder, number, f"{number}.json", json.dumps(row))
    mapping = folder.with_suffix(".toml")
    mapping.write_text(MAPPING, encoding="utf-8")
    return SmallFiles(folder, ("--map", str(mapping)))


def _write(folder: Path, number: int, name: str, text: str) -> None:
    place = folder / f"part-{number // IN_A_FOLDER}"
    if number % IN_A_FOLDER == 0:
        place.mkdir(parents=True)
    (place / name).write_text(text, encoding="utf-8")


class Floor(NamedTuple):
    read: float
    parsed: float


def floor_of(path: Path) -> Floor:
    """Every file is found, opened and read; then the same, and its XML or JSON is parsed. Nothing is kept."""
    return Floor(min(_seconds(path, parse=False) for _ in range(2)), min(_seconds(path, parse=True) for _ in range(2)))


def _seconds(path: Path, *, parse: bool) -> float:
    started = time.process_time()
    for folder, _, names in os.walk(path):
        for name in names:
            data = Path(folder, name).read_bytes()
            if parse and name.endswith(".json"):
                orjson.loads(data)
            elif parse and name.endswith(".xml"):
                ElementTree.fromstring(data)
    return time.process_time() - started


SHAPES: dict[str, Callable[[Path, int], SmallFiles]] = {
    "junit": junit_reports,
    "inspect": inspect_logs,
    "harbor": harbor_job,
    "mapped": mapped_documents,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, nargs="+", default=SIZES)
    parser.add_argument("--only", choices=sorted(SHAPES))
    parser.add_argument("--triage", action="store_true", help="assign owners, too")
    chosen = parser.parse_args()
    for name, make in SHAPES.items():
        if chosen.only in (None, name):
            print(f"{name} (aim: at most {AIM:.0f}× reading)")
            for files in chosen.files:
                _measure(make, files, () if chosen.triage else ("--no-triage",))


def _measure(make: Callable[[Path, int], SmallFiles], files: int, options: tuple[str, ...]) -> None:
    with tempfile.TemporaryDirectory(prefix="errata-bench-") as folder:
        made = make(Path(folder) / "files", files)
        floor = floor_of(made.path)
        command = measure.errata("import", made.path, *made.options, *options, "--store", Path(folder) / "small.db")
        (first, peak_mb), (again, _) = _cpu_seconds(command), _cpu_seconds(command)
    print(
        f"  {files:7,} files {first:7.2f} s {1e6 * first / files:6.0f} µs each {peak_mb:5.0f} MB   again {again:.2f} s"
        f"   reading {floor.read:.2f} s: {first / floor.read:.1f}×"
        f"   reading and parsing {floor.parsed:.2f} s: {first / floor.parsed:.1f}×",
        flush=True,
    )


def _cpu_seconds(command: list[str]) -> tuple[float, float]:
    """Of the processor, so that other programs do not change it; with the peak of memory in MB."""
    before = os.times()
    cost = measure.run(command)
    after = os.times()
    return (
        after.children_user + after.children_system - before.children_user - before.children_system,
        cost.peak_mb,
    )


if __name__ == "__main__":
    main()
