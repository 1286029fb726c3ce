"""Load: several processes import into and read from one store at the same time."""

import json
import subprocess
import time
from pathlib import Path

from bench import generate
from bench.measure import errata

from soak.commands import printed

MB = 1024 * 1024
PAUSE = 0.05
"""Seconds between two reads: a reader that never rests takes the time of the writers."""


def run(folder: Path, writers: int, size: int) -> None:
    paths = [generate.judged_run(folder / f"load-{number}", size, seed=100 + number) for number in range(writers)]
    store = folder / "load.db"
    started = time.perf_counter()
    processes = [
        subprocess.Popen(errata("import", path, "--store", store), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for path in paths
    ]
    reads = 0
    while any(process.poll() is None for process in processes):
        for line in printed("runs", "--json", "--store", store).splitlines():
            row = json.loads(line)
            lines = (folder / row["run"] / "openai_judged.jsonl").read_bytes().count(b"\n")
            assert row["counts"]["counted"] == lines, "a run was seen before it was whole"
        reads += 1
        time.sleep(PAUSE)
    for process in processes:
        _, errors = process.communicate()
        assert process.returncode == 0, errors.decode()
    seconds = time.perf_counter() - started
    assert len(printed("runs", "--json", "--store", store).splitlines()) == writers
    print(
        f"load: {writers} imports of {size // MB} MB at once into one store in {seconds:.0f} s, {reads} reads meanwhile"
    )
