"""`python -m bench.small_files`: import of very many small files, beside just reading them in the same run.

Two shapes: a folder of JUnit reports, one test each, and a Harbor job, one folder with a result for each trial.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench import measure

FILES = 100_000
AIM = 3.0
REPORT = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="suite" tests="1" failures="{failures}" time="0.1">
<testcase classname="tests.test_{group}" name="test_{number}" time="0.1">{body}</testcase>
</testsuite></testsuites>
"""


def junit_reports(folder: Path, files: int) -> Path:
    """One report for each test, a thousand in a folder."""
    for number in range(files):
        place = folder / "reports" / f"shard-{number // 1000}"
        if number % 1000 == 0:
            place.mkdir(parents=True)
        failed = number % 5 == 0
        body = f'<failure message="assert {number} == 0">assert {number} == 0</failure>' if failed else ""
        text = REPORT.format(failures=int(failed), group=number % 97, number=number, body=body)
        (place / f"TEST-{number}.xml").write_text(text, encoding="utf-8")
    return folder / "reports"


def harbor_job(folder: Path, files: int) -> Path:
    """Two files for each trial: its result, and the reward of its verifier."""
    job = folder / "job"
    job.mkdir(parents=True)
    trials = files // 2
    (job / "config.json").write_text(json.dumps({"job_name": "job", "n_attempts": 1}), encoding="utf-8")
    (job / "result.json").write_text(
        json.dumps({"id": "job-1", "started_at": "2026-03-01T10:00:00", "n_total_trials": trials}), encoding="utf-8"
    )
    for number in range(trials):
        trial = job / f"task-{number}__a1b2c3d"
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
    return job


def seconds_to_read(path: Path) -> float:
    """Every file is found, opened and read, and nothing is done with it."""
    started = time.perf_counter()
    for folder, _, names in os.walk(path):
        for name in names:
            Path(folder, name).read_bytes()
    return time.perf_counter() - started


SHAPES: dict[str, Callable[[Path, int], Path]] = {"junit": junit_reports, "harbor": harbor_job}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--only", choices=sorted(SHAPES))
    chosen = parser.parse_args()
    for name, make in SHAPES.items():
        if chosen.only not in (None, name):
            continue
        with tempfile.TemporaryDirectory(prefix="errata-bench-") as folder:
            path = make(Path(folder), chosen.files)
            bare = min(seconds_to_read(path) for _ in range(2))
            cost = measure.run(measure.errata("import", path, "--no-triage", "--store", Path(folder) / "small.db"))
            print(f"{name}: {chosen.files:,} files")
            print(f"  errata  {cost.seconds:6.1f} s   peak memory {cost.peak_mb:.0f} MB")
            print(
                f"  floor   {bare:6.1f} s   reading the same files: {cost.seconds / bare:.1f}× (aim: at most {AIM:.0f})"
            )


if __name__ == "__main__":
    main()
