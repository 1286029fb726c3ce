"""Load: several processes import into and read from one store at the same time."""

import json
import random
import subprocess
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import generate
from bench.measure import errata

MB = 1024 * 1024


def run(folder: Path, seed: str, *, writers: int = 4, size: int = 8 * MB) -> Counter[str]:
    with TemporaryDirectory(dir=folder) as place:
        return _load(Path(place), random.Random(seed).randrange(10**6), writers, size)


def _load(folder: Path, seed: int, writers: int, size: int) -> Counter[str]:
    paths = [generate.judged_run(folder / f"load-{number}", size, seed=seed + number) for number in range(writers)]
    store = folder / "load.db"
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
    listed = subprocess.run(errata("runs", "--json", "--store", store), capture_output=True, text=True, check=True)
    assert len(listed.stdout.splitlines()) == writers
    return Counter({"imports at once": writers, "reads meanwhile": reads})
