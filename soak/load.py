"""Load: several processes import into and read from one store at the same time."""

import json
import subprocess
import time
from pathlib import Path

from bench import generate
from bench.measure import errata

MB = 1024 * 1024


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
        listed = subprocess.run(errata("runs", "--json", "--store", store), capture_output=True, text=True, check=True)
        for line in listed.stdout.splitlines():
            row = json.loads(line)
            lines = (folder / row["run"] / "openai_judged.jsonl").read_bytes().count(b"\n")
            assert row["counts"]["counted"] == lines, "a run was seen before it was whole"
        reads += 1
    for process in processes:
        _, errors = process.communicate()
        assert process.returncode == 0, errors.decode()
    seconds = time.perf_counter() - started
    listed = subprocess.run(errata("runs", "--json", "--store", store), capture_output=True, text=True, check=True)
    assert len(listed.stdout.splitlines()) == writers
    print(
        f"load: {writers} imports of {size // MB} MB at once into one store in {seconds:.0f} s, {reads} reads meanwhile"
    )
